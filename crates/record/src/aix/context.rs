//! Who records an entry: what AIX finds out by itself and keeps beside the entry.

use tracewell_wire::aix::{Env, FrameHead};

/// CPU, thread and process at the time of a call.
///
/// The AIX calls have no such argument, because the kernel knows. A recorder that is no kernel is
/// told.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Context {
    /// The CPU that records, from 0.
    pub cpu: u16,
    /// The thread that records; `None` where that is not known.
    pub tid: Option<u64>,
    /// Its process; `None` where that is not known.
    pub pid: Option<u64>,
}

impl Context {
    /// A thread of a process on a CPU.
    pub const fn thread(cpu: u16, pid: u64, tid: u64) -> Self {
        Self { cpu, tid: Some(tid), pid: Some(pid) }
    }

    pub(super) const fn stamped(self, env: Env, tick: u64) -> FrameHead {
        FrameHead { env, cpu: self.cpu, tick, tid: self.tid, pid: self.pid }
    }
}
