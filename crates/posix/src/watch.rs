//! A thread that wakes sleeping readers after the traced processes have ended.
//!
//! Readers cannot check for the end of processes themselves, because they would have to sleep with
//! a timeout. After a signal handler with `SA_RESTART`, a system call with a timeout does not
//! restart.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::process::Process;
use crate::stream::Stream;
use crate::sys;

/// A watching thread, which ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: Option<Arc<OwnedFd>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches the processes of a stream. Starts no thread if this process is the first living
    /// process of the stream.
    pub(crate) fn start(stream: &Arc<Stream>) -> Self {
        let nothing = Self { stop: None, thread: None };
        // While this process itself is traced and alive, the stream cannot become abandoned.
        if stream.living_member().is_some_and(|process| Some(process) == Process::own()) {
            return nothing;
        }
        let Ok(stop) = sys::new_event_fd().map(Arc::new) else { return nothing };
        let (stream, raised) = (Arc::clone(stream), Arc::clone(&stop));
        // The handlers of the program must not run on this thread.
        let thread = sys::without_signals(|| {
            let watch = move || watch(&stream, &raised);
            thread::Builder::new().name("tracewell watch".to_owned()).spawn(watch)
        });
        Self { stop: Some(stop), thread: thread.ok() }
    }
}

fn watch(stream: &Stream, stop: &OwnedFd) {
    while let Some(member) = stream.living_member() {
        let ended = member.has_id_here().then(|| sys::wait_for_end(member.id, stop.as_fd()));
        match ended.flatten() {
            Some(true) => sys::wake(stream.wake_word()),
            Some(false) => return,
            // The process is in a different PID namespace, the process has just ended, or the
            // kernel does not support this call.
            None => thread::sleep(Duration::from_millis(100)),
        }
        if stream.is_ended() {
            return;
        }
    }
    sys::wake(stream.wake_word());
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            sys::raise(stop.as_fd());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
