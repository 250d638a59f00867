//! What a trace knows of the machine, and what it is asked for when it starts.
//!
//! Flags in brackets are those of AIX's `trace` command for the same thing. Documented: their
//! syntax, the three modes, the lists. From memory, unverified: `-s`, and that a log for each CPU
//! stands beside a base. Our decision: what the base has that the others have not.

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Env, HookId, TimeConversion};

/// The traced system, for the file header and for hooks 003 and 00A.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'m> {
    /// Its environment, which is that of the entries that the trace records by itself.
    pub env: Env,
    /// Byte order of header and frames. Entries are big-endian always.
    pub order: ByteOrder,
    /// How ticks of the clock become nanoseconds.
    pub conversion: TimeConversion,
    /// CPUs in the machine.
    pub cpus: u32,
    /// CPUs that are traced.
    pub cpus_traced: u32,
    /// Operating system and release.
    pub system: &'m [u8],
    /// Node name.
    pub node: &'m [u8],
    /// Machine id.
    pub machine: &'m [u8],
    /// Internet address.
    pub address: &'m [u8],
}

impl Default for Machine<'_> {
    /// One CPU of 64 bits, this machine's byte order, a tick a nanosecond, no texts.
    fn default() -> Self {
        Self {
            env: Env::Bits64,
            order: ByteOrder::NATIVE,
            conversion: TimeConversion::NANOSECONDS,
            cpus: 1,
            cpus_traced: 1,
            system: b"",
            node: b"",
            machine: b"",
            address: b"",
        }
    }
}

/// What happens when a buffer is full.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Mode {
    /// Two buffers, one of which is drained while the other fills. While both are full, entries are
    /// missed and counted.
    #[default]
    Alternate,
    /// One buffer, newest entries over oldest; drained when the channel has stopped (`-l`).
    Circular,
    /// One buffer; the channel stops when it is full (`-f`).
    Single,
}

impl Mode {
    pub(super) const fn text(self) -> &'static [u8] {
        match self {
            Self::Alternate => b"alternate",
            Self::Circular => b"circular",
            Self::Single => b"single",
        }
    }
}

/// Which of the caller's events are recorded; those of the trace itself always are.
///
/// Looked through for each event, so keep it short.
#[derive(Clone, Copy, Default, Debug)]
pub enum EventList<'m> {
    /// All.
    #[default]
    All,
    /// These alone (`-j`).
    Only(&'m [HookId]),
    /// All but these (`-k`).
    Except(&'m [HookId]),
}

impl EventList<'_> {
    pub(super) fn admits(self, id: HookId) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(&id),
            Self::Except(ids) => !ids.contains(&id),
        }
    }
}

/// What happens when the next buffer might not fit into the log any more.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LogFull {
    /// The log starts over.
    #[default]
    Wrap,
    /// The channel stops (`-s`).
    Stop,
}

/// What `trcstart` is asked for; AIX passes a string of flags.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options<'m> {
    /// A generic channel, 1 to 7, instead of the event trace, 0 (`-g`).
    pub generic: bool,
    /// Do not record before `trcon` (`-d`).
    pub deferred: bool,
    /// How buffers are used.
    pub mode: Mode,
    /// Which events are recorded.
    pub events: EventList<'m>,
    /// Bytes of the log, file header included (`-L`); `None` for no limit.
    pub log_size: Option<u64>,
    /// What to do at that limit. Matters in [`Mode::Alternate`] alone.
    pub log_full: LogFull,
    /// The log is that of one CPU beside a base log (`-C`), which has the heading, the time
    /// conversion and TRACE ON and OFF, so that they are left out here.
    pub per_cpu: bool,
    /// Wall clock now, in nanoseconds since 1970, UTC.
    pub wall_clock_ns: u64,
    /// The command, for the heading of a report.
    pub command: &'m [u8],
}
