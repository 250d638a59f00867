//! The way out: buffers that are full, or left over at the stop.
//!
//! The trace writes no file. Its caller asks what is waiting, writes it to the log, and says so:
//!
//! ```
//! # use tracewell_record::aix::{Context, Machine, Options, Trace};
//! # let mut memory = [0; 2048];
//! # let mut ticks = 0;
//! # let mut trace = Trace::new(|| { ticks += 1; ticks }, Machine::default());
//! # let context = Context::default();
//! # let channel = trace.trcstart(context, &mut memory, Options::default()).unwrap();
//! # trace.trcstop(context, channel).unwrap();
//! let mut log = vec![0; 4096];
//! let header = trace.header(channel).unwrap().write(&mut log).unwrap();
//! log.truncate(header);
//! while let Some(chunk) = trace.waiting(channel) {
//!     if chunk.starts_over {
//!         log.truncate(header);
//!     }
//!     log.extend(chunk.bytes);
//!     trace.drained(channel);
//! }
//! # assert_eq!(log.len() % 8, header % 8);
//! # assert!(log.len() > header);
//! ```

use tracewell_wire::aix::{FileHeader, Texts};

use super::Trace;

/// Frames for the log, oldest first, none split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk<'a> {
    /// The frames.
    pub bytes: &'a [u8],
    /// The log has reached its size and starts over: cut it behind its header first. AIX overwrites
    /// the start of the log instead; frames of different sizes allow no such thing (our decision).
    pub starts_over: bool,
}

impl<'m, C> Trace<'m, C> {
    /// What the log of a channel begins with; `None` where the channel is not started.
    ///
    /// The same until the channel is finished, so it may be written at any time.
    pub fn header(&self, channel: u32) -> Option<FileHeader<'m>> {
        let started = self.channel(channel)?;
        Some(self.header_of(&started.options, channel, started.start_tick))
    }

    pub(super) fn header_of(
        &self,
        options: &super::Options<'m>,
        channel: u32,
        start_tick: u64,
    ) -> FileHeader<'m> {
        let machine = &self.machine;
        FileHeader {
            order: machine.order,
            env: machine.env,
            per_cpu: options.per_cpu,
            circular: options.mode == super::Mode::Circular,
            wall_clock_ns: options.wall_clock_ns,
            start_tick,
            conversion: machine.conversion,
            cpus: machine.cpus,
            cpus_traced: machine.cpus_traced,
            channel,
            texts: Texts {
                system: machine.system,
                node: machine.node,
                machine: machine.machine,
                address: machine.address,
                command: options.command,
                buffering: options.mode.text(),
            },
        }
    }

    /// What the log gets next, if anything is waiting: the full buffer in alternate mode, and in
    /// every mode what is left of a stopped channel.
    ///
    /// The same bytes until [`Trace::drained`], while recording goes on elsewhere.
    pub fn waiting(&self, channel: u32) -> Option<Chunk<'_>> {
        self.channel(channel)?.waiting()
    }

    /// Says that what [`Trace::waiting`] shows is in the log, and gives its place free; whether
    /// there was anything.
    pub fn drained(&mut self, channel: u32) -> bool {
        let channel = self.channel_mut(channel).filter(|channel| channel.waiting().is_some());
        channel.map(|channel| channel.drained()).is_some()
    }
}
