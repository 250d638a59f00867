//! The traced machine, and the options of a trace.
//!
//! Flags in brackets are flags of AIX's `trace` command. The AIX documentation defines the flag
//! syntax, the three modes and the lists. We know two facts only from memory: the effect of the
//! flag `-s`, and the existence of a base log that accompanies the logs of single CPUs. We decided
//! which entries only the base log contains.

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Env, HookId, TimeConversion};

/// The traced machine, for the file header and for hooks 003 and 00A.
///
/// ```
/// use tracewell_record::aix::Machine;
/// use tracewell_wire::aix::TimeConversion;
///
/// let machine = Machine {
///     conversion: TimeConversion { multiplier: 1000, divisor: 512 }, // a 512 MHz clock
///     cpus: 8,
///     cpus_traced: 8,
///     node: b"lab7",
///     ..Machine::default()
/// };
/// assert_eq!(machine.conversion.nanoseconds(512), 1000);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Machine<'m> {
    /// Form of the entries that the trace itself records: 32-bit or 64-bit.
    pub env: Env,
    /// Byte order of the header and the frames. Entries are always big-endian.
    pub order: ByteOrder,
    /// The factor that converts clock ticks to nanoseconds.
    pub conversion: TimeConversion,
    /// Number of CPUs in the machine.
    pub cpus: u32,
    /// Number of CPUs that are traced.
    pub cpus_traced: u32,
    /// Operating system and its release.
    pub system: &'m [u8],
    /// Node name of the machine.
    pub node: &'m [u8],
    /// Id of the machine.
    pub machine: &'m [u8],
    /// Internet address of the machine.
    pub address: &'m [u8],
}

impl Default for Machine<'_> {
    /// Returns a machine with one 64-bit CPU, the byte order of this machine, ticks of one
    /// nanosecond, and empty strings.
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

/// How the buffers are used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Mode {
    /// Two buffers: one is filled while the other is drained. While both are full, entries are
    /// missed and counted.
    #[default]
    Alternate,
    /// One buffer in which new entries overwrite the oldest. The buffer is drained after the
    /// channel has stopped (`-l`).
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

/// Selects which of the caller's events to record. Events of the trace itself are always recorded.
///
/// The list is searched for each event, so keep it short.
///
/// ```
/// use tracewell_record::aix::{EventList, Options};
/// use tracewell_wire::aix::HookId;
///
/// let ids = [HookId::short(0x106), HookId::short(0x10C)];
/// let options = Options { events: EventList::Only(&ids), ..Options::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub enum EventList<'m> {
    /// All events, the default.
    #[default]
    All,
    /// Only these ids (`-j`).
    Only(&'m [HookId]),
    /// All ids except these (`-k`).
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

/// The behaviour of the recorder if the next buffer might not fit into the log.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LogFull {
    /// The log wraps: it continues at its start.
    #[default]
    Wrap,
    /// The channel stops (`-s`).
    Stop,
}

/// Options of `trcstart`. AIX passes these options as a string of flags.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options<'m> {
    /// Use one of the generic channels 1 to 7 instead of the event trace, channel 0 (`-g`).
    pub generic: bool,
    /// Record nothing until `trcon` is called (`-d`).
    pub deferred: bool,
    /// How the buffers are used.
    pub mode: Mode,
    /// Which of the caller's events to record.
    pub events: EventList<'m>,
    /// Maximum length of the log in bytes, including the file header (`-L`); `None` for no limit.
    pub log_size: Option<u64>,
    /// Policy for a log that reaches [`Options::log_size`]. Used only in [`Mode::Alternate`].
    pub log_full: LogFull,
    /// True if the log belongs to one CPU and accompanies a base log (`-C`). Only the base log
    /// contains the heading, the time conversion, and TRACE ON and OFF.
    pub per_cpu: bool,
    /// Wall-clock time at the start, in nanoseconds since 1970-01-01 UTC.
    pub wall_clock_ns: u64,
    /// The command that started the trace, for the report heading.
    pub command: &'m [u8],
}
