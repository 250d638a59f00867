//! The context of an entry: the values that AIX determines itself and stores with the entry.

use tracewell_wire::aix::{Env, FrameHeader};

/// CPU, thread and process of the caller.
///
/// The AIX calls have no arguments for these values, because the kernel knows them. The callers of
/// this recorder must supply them.
///
/// ```
/// use tracewell_record::aix::Context;
///
/// let context = Context::thread(2, 4242, 70_001);
/// assert_eq!((context.cpu, context.pid, context.tid), (2, Some(4242), Some(70_001)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Context {
    /// The CPU of the caller, from 0.
    pub cpu: u16,
    /// Id of the calling thread, if known.
    pub tid: Option<u64>,
    /// Id of the calling process, if known.
    pub pid: Option<u64>,
}

impl Context {
    /// Returns the context for a thread of a process on a CPU.
    pub const fn thread(cpu: u16, pid: u64, tid: u64) -> Self {
        Self { cpu, tid: Some(tid), pid: Some(pid) }
    }

    pub(super) const fn stamped(self, env: Env, tick: u64) -> FrameHeader {
        FrameHeader { env, cpu: self.cpu, tick, tid: self.tid, pid: self.pid }
    }
}
