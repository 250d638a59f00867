//! Writes to standard output, or to a pager if standard output is a terminal.
//!
//! The pager starts at the first output. Until then, progress lines can use the terminal, and a
//! command without output starts no pager.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::outcome::warn;
use crate::{progress, screen};

/// Standard output. Every writer of results uses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stdout;

/// The state of standard output.
enum State {
    /// Nothing has been written yet.
    Unused,
    /// Standard output itself.
    Plain,
    Pager(Pager),
}

struct Pager {
    child: Child,
    input: ChildStdin,
}

static STATE: Mutex<State> = Mutex::new(State::Unused);

/// True if this command may use a pager.
static ALLOWED: AtomicBool = AtomicBool::new(false);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allows or forbids a pager for the output that follows.
pub(crate) fn allow(allowed: bool) {
    ALLOWED.store(allowed, Ordering::Relaxed);
}

/// Ends the output: waits until the user has left the pager.
pub(crate) fn finish() {
    if let State::Pager(Pager { mut child, input }) = std::mem::replace(&mut *state(), State::Plain)
    {
        drop(input);
        // Ignore the pager's exit status, because it is not a status of the command.
        let _ = child.wait();
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = state();
        if matches!(*state, State::Unused) {
            if io::stdout().is_terminal() {
                progress::end();
            }
            *state = start().map_or(State::Plain, State::Pager);
        }
        match &mut *state {
            State::Pager(pager) => pager.input.write(bytes),
            State::Unused | State::Plain => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut *state() {
            State::Pager(pager) => pager.input.flush(),
            State::Unused | State::Plain => io::stdout().flush(),
        }
    }
}

/// Starts the pager, if standard output is a terminal and there is a pager.
fn start() -> Option<Pager> {
    let allowed = ALLOWED.load(Ordering::Relaxed) && screen::allows_pager();
    if !allowed || !io::stdout().is_terminal() {
        return None;
    }
    let chosen = ["TRACEWELL_PAGER", "PAGER"].iter().find_map(|name| std::env::var(name).ok());
    let mut words = chosen.as_deref().unwrap_or("less -FRX").split_whitespace();
    // An empty variable, or `cat`, means no pager.
    let name = words.next().filter(|name| *name != "cat")?;
    let mut command = Command::new(name);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // If the user has set no options for `less`, make it show colours, and end at once if
        // everything fits on the screen.
        command.env("LESS", "FRX");
    }
    // Do this before the pager starts, so that a Ctrl-C in the pager never ends the command.
    let ends_by_interrupt = leave_interrupts();
    match command.spawn() {
        Ok(mut child) => {
            let input = child.stdin.take()?;
            Some(Pager { child, input })
        }
        Err(error) => {
            ends_by_interrupt.store(true, Ordering::Relaxed);
            // Warn only if the user has named a pager: many systems have no `less`.
            if chosen.is_some() {
                warn!("pager '{name}' cannot be started: {error}");
            }
            None
        }
    }
}

/// Ignores Ctrl-C until the returned flag is set, so that only the pager handles it. Otherwise
/// Ctrl-C would end the command, and the pager would continue without a parent.
fn leave_interrupts() -> Arc<AtomicBool> {
    let ends = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    {
        // If the registration fails, Ctrl-C ends the command, as it does when there is no pager.
        let flag = Arc::clone(&ends);
        let _ = signal_hook::flag::register_conditional_default(signal_hook::consts::SIGINT, flag);
    }
    ends
}
