//! Signals that would end `record`: they go to the program, or end the recording of another process.

use std::fs::File;
use std::io;
use std::process::{Child, ExitStatus};
use std::thread;

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// Signals that end a program, which the program that is run gets in this one's place.
pub(super) struct Passed {
    signals: Signals,
}

impl Passed {
    /// From here on they do not end this process. Those that whoever started it ignores (`nohup`) stay
    /// ignored, here and in the program.
    pub(super) fn new() -> io::Result<Self> {
        let heeded = crate::signals::heeded(&[SIGINT, SIGQUIT, SIGTERM, SIGHUP]);
        Ok(Self { signals: Signals::new(heeded)? })
    }

    /// Whether one came since this was asked last.
    pub(super) fn came(&mut self) -> bool {
        self.signals.pending().next().is_some()
    }

    /// Waits for the program.
    pub(super) fn wait(self, mut child: Child) -> io::Result<ExitStatus> {
        let Self { mut signals } = self;
        let handle = signals.handle();
        let program = Pid::from_child(&child);
        let passing = thread::spawn(move || {
            for signal in signals.forever() {
                if let Some(signal) = Signal::from_named_raw(signal).filter(|s| !is_there(*s)) {
                    // It has ended where this fails.
                    let _ = kill_process(program, signal);
                }
            }
        });
        let status = child.wait();
        handle.close();
        // A panic there would have been told.
        let _ = passing.join();
        status
    }
}

/// Whether the program has the signal as well: what a terminal's keys send goes to all processes in its
/// foreground, and a program that gets Ctrl-C twice may think that its user is in a hurry.
fn is_there(signal: Signal) -> bool {
    let by_keys = matches!(signal, Signal::INT | Signal::QUIT);
    let terminal = || File::open("/dev/tty").ok();
    let foreground = || tcgetpgrp(terminal()?).ok();
    by_keys && foreground() == Some(getpgrp())
}
