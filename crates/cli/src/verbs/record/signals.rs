//! Forwards signals to the program, or ends the recording of another process when a signal arrives.

use std::fs::File;
use std::io;
use std::process::{Child, ExitStatus};
use std::thread;

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// The signals that usually end a process. This process handles them, so they do not end it.
pub(super) struct Passed {
    signals: Signals,
}

impl Passed {
    /// Installs handlers for the signals. Signals that the parent ignores (`nohup`) stay ignored,
    /// here and in the program.
    pub(super) fn new() -> io::Result<Self> {
        let signals = crate::signals::not_ignored(&[SIGINT, SIGQUIT, SIGTERM, SIGHUP]);
        Ok(Self { signals: Signals::new(signals)? })
    }

    /// Returns true if a signal arrived since the last call.
    pub(super) fn arrived(&mut self) -> bool {
        self.signals.pending().next().is_some()
    }

    /// Waits for the program, and forwards signals to it.
    pub(super) fn wait(self, mut child: Child) -> io::Result<ExitStatus> {
        let Self { mut signals } = self;
        let handle = signals.handle();
        let program = Pid::from_child(&child);
        let passing = thread::spawn(move || {
            for signal in signals.forever() {
                if let Some(signal) = Signal::from_named_raw(signal).filter(|s| !is_delivered(*s)) {
                    // If the program has ended, the signal cannot be sent.
                    let _ = kill_process(program, signal);
                }
            }
        });
        let status = child.wait();
        handle.close();
        // Ignore a panic of that thread, because the panic message has already been printed.
        let _ = passing.join();
        status
    }
}

/// Returns true if the program received the signal too, so that the signal must not be forwarded.
/// Ctrl-C in a terminal signals every process in the foreground process group, and a program that
/// receives SIGINT twice may exit without cleaning up.
fn is_delivered(signal: Signal) -> bool {
    let by_keys = matches!(signal, Signal::INT | Signal::QUIT);
    let terminal = || File::open("/dev/tty").ok();
    let foreground = || tcgetpgrp(terminal()?).ok();
    by_keys && foreground() == Some(getpgrp())
}
