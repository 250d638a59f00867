//! A thread that notices when traced processes end, for readers who sleep.
//!
//! A sleep that looked by itself now and then would need a time limit, and a system call with one does not
//! go on after a signal handler that asks for that (`SA_RESTART`).

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::process::Process;
use crate::stream::Core;
use crate::sys;

/// The thread; it ends with this.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: Option<Arc<OwnedFd>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to watch the processes of a stream, unless the only one is this process.
    pub(crate) fn start(core: &Arc<Core>) -> Self {
        let nothing = Self { stop: None, thread: None };
        if core.living_member().is_some_and(|process| Some(process) == Process::own()) {
            return nothing;
        }
        let Ok(stop) = sys::new_signpost().map(Arc::new) else { return nothing };
        let (core, raised) = (Arc::clone(core), Arc::clone(&stop));
        let thread = sys::without_signals(|| {
            let watch = move || watch(&core, &raised);
            thread::Builder::new().name("tracewell watch".to_owned()).spawn(watch)
        });
        Self { stop: Some(stop), thread: thread.ok() }
    }
}

fn watch(core: &Core, stop: &OwnedFd) {
    while let Some(member) = core.living_member() {
        let ended = member.has_id_here().then(|| sys::wait_for_end(member.id, stop.as_fd()));
        match ended.flatten() {
            Some(true) => sys::wake(core.wake_word()),
            Some(false) => return,
            // A process of another space, one that has just ended, or a kernel that cannot tell.
            None => thread::sleep(Duration::from_millis(100)),
        }
        if core.is_ended() {
            return;
        }
    }
    sys::wake(core.wake_word());
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
