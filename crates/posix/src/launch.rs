//! Starting a program that is traced from its first event on.
//!
//! A stream needs a process, and a program has its own only when it runs. So the process is made first and
//! waits before it becomes the program; its controller makes the stream, and lets it go.
#![expect(unsafe_code, reason = "what runs between fork and exec is unsafe to choose")]

use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};

/// A process that is about to become a program.
#[derive(Debug)]
pub struct Held {
    process: i32,
    go: PipeWriter,
    child: JoinHandle<io::Result<Child>>,
}

impl Held {
    /// Makes the process of a command, which waits until it is released; where this one ends before that, so
    /// does it.
    ///
    /// # Errors
    /// Where no process can be made.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let (mut told, tells) = pipe()?;
        let (waits, go) = pipe()?;
        let unused = go.as_raw_fd();
        let hold = move || wait(&tells, &waits, unused);
        // SAFETY: the closure writes, reads and closes pipes and asks for the process's number; it does not
        // allocate, and takes no lock, so it may run between fork and exec of a program with threads.
        unsafe { command.pre_exec(hold) };
        // This does not come back before the process is the program.
        let child = thread::spawn(move || command.spawn());
        let mut number = [0; 4];
        match told.read_exact(&mut number) {
            Ok(()) => Ok(Self { process: i32::from_ne_bytes(number), go, child }),
            Err(error) => Err(join(child).err().unwrap_or(error)),
        }
    }

    /// The process's number.
    pub const fn process(&self) -> i32 {
        self.process
    }

    /// Lets the process become the program.
    ///
    /// # Errors
    /// Where the program cannot be run.
    pub fn release(mut self) -> io::Result<Child> {
        // A process that was killed meanwhile does not read.
        let _ = self.go.write_all(&[1]);
        join(self.child)
    }
}

/// What the process does before it is the program.
fn wait(mut tells: &PipeWriter, mut waits: &PipeReader, unused: RawFd) -> io::Result<()> {
    // Its own copy of the end that lets it go would keep it from seeing that its controller has ended.
    // SAFETY: between fork and exec nobody else uses the descriptors of this process, and the object that
    // owns this one is of the other process.
    unsafe { libc::close(unused) };
    tells.write_all(&std::process::id().to_ne_bytes())?;
    waits.read_exact(&mut [0])
}

fn join(child: JoinHandle<io::Result<Child>>) -> io::Result<Child> {
    child
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the thread that starts programs panicked")))
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
        let held = Held::start(command).unwrap();
        let process = held.process();
        assert!(!mark.exists(), "it waits");
        let mut child = held.release().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7));
        let told = std::fs::read_to_string(&mark).unwrap();
        assert_eq!(told.trim(), process.to_string());
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        let held = Held::start(Command::new("/no/such/program")).unwrap();
        assert_eq!(held.release().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
