//! Starts a program that is traced from its first event.
//!
//! A stream needs a process, but a program has no process before it runs. So the controller first
//! creates a process that waits before it executes the program. Then the controller creates the
//! stream and lets the process continue.
#![expect(unsafe_code, reason = "`pre_exec` is unsafe: few calls are allowed after fork")]

use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};

/// A process that is waiting to execute a program.
///
/// ```
/// use std::process::Command;
/// use tracewell_posix::{Attributes, Controller, HeldProcess};
///
/// let held = HeldProcess::start(Command::new("true"))?;
/// let controller = Controller::create(held.process(), &Attributes::default())?;
/// controller.stream().start(); // before the program's first instruction
/// assert!(held.release()?.wait()?.success());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct HeldProcess {
    process: i32,
    go: PipeWriter,
    child: JoinHandle<io::Result<Child>>,
}

impl HeldProcess {
    /// Creates the process for a command. The process waits until it is released. If the caller
    /// exits first, the waiting process exits as well.
    ///
    /// # Errors
    ///
    /// The error from creating the process.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let (mut reported, report) = pipe()?;
        let (waits, go) = pipe()?;
        let unused = go.as_raw_fd();
        let hold = move || wait(&report, &waits, unused);
        // SAFETY: the closure only writes to pipes, reads from them, closes them, and gets the
        // process id. It does not allocate and takes no lock, so it is safe between fork and exec
        // in a program with threads.
        unsafe { command.pre_exec(hold) };
        // `spawn` returns only after the process has executed the program.
        let child = thread::spawn(move || command.spawn());
        let mut number = [0; 4];
        match reported.read_exact(&mut number) {
            Ok(()) => Ok(Self { process: i32::from_ne_bytes(number), go, child }),
            Err(error) => Err(join(child).err().unwrap_or(error)),
        }
    }

    /// Returns the process id.
    pub const fn process(&self) -> i32 {
        self.process
    }

    /// Lets the process execute the program.
    ///
    /// # Errors
    ///
    /// The error from executing the program, such as a missing file.
    pub fn release(mut self) -> io::Result<Child> {
        // If the process was killed in the meantime, the pipe has no reader.
        let _ = self.go.write_all(&[1]);
        join(self.child)
    }
}

/// Runs in the new process before it executes the program: reports its id and waits.
fn wait(mut report: &PipeWriter, mut waits: &PipeReader, unused: RawFd) -> io::Result<()> {
    // If this process kept its copy of the write end, it would not notice that its controller
    // exited. SAFETY: nothing else uses this process's descriptors between fork and exec, and the
    // object that owns this descriptor belongs to the parent.
    unsafe { libc::close(unused) };
    report.write_all(&std::process::id().to_ne_bytes())?;
    waits.read_exact(&mut [0])
}

fn join(child: JoinHandle<io::Result<Child>>) -> io::Result<Child> {
    child
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the thread for starting programs panicked")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_process_becomes_the_program_with_the_same_number() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\"; exit 7"]).arg(&mark);
        let held = HeldProcess::start(command).unwrap();
        let process = held.process();
        assert!(!mark.exists(), "the process waits");
        let mut child = held.release().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7));
        let reported = std::fs::read_to_string(&mark).unwrap();
        assert_eq!(reported.trim(), process.to_string());
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        let held = HeldProcess::start(Command::new("/no/such/program")).unwrap();
        assert_eq!(held.release().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
