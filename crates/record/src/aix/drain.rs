//! Drains full buffers, and the remaining entries after a stop.
//!
//! This module writes no file. The caller requests the waiting bytes, writes them to the log, and
//! confirms the write:
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

use super::{Chunk, Trace};

impl<'m, C> Trace<'m, C> {
    /// Returns the header of a channel's log, or `None` if the channel is not started.
    ///
    /// The header does not change until the channel is finished, so the caller can write it to the
    /// log at any time.
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

    /// Returns the next bytes for the log, or `None` if no bytes are waiting. In alternate mode,
    /// the bytes of a full buffer are waiting. In every mode, all remaining bytes are waiting once
    /// the channel has stopped.
    ///
    /// Returns the same bytes until [`Trace::drained`] is called. In the meantime, recording
    /// continues in other memory.
    pub fn waiting(&self, channel: u32) -> Option<Chunk<'_>> {
        self.channel(channel)?.waiting()
    }

    /// Confirms that the bytes from [`Trace::waiting`] are in the log, so that their memory can be
    /// reused. Returns false if no bytes were waiting.
    pub fn drained(&mut self, channel: u32) -> bool {
        let channel = self.channel_mut(channel).filter(|channel| channel.waiting().is_some());
        channel.map(|channel| channel.drained()).is_some()
    }
}
