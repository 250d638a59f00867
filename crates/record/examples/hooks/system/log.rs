//! One log: a trace and the bytes drained from it.

use tracewell_record::aix::{Context, Machine, Options, Trace};
use tracewell_record::clock::Clock;

pub(super) struct Log<'m, C> {
    pub(super) trace: Trace<'m, C>,
    channel: u32,
    bytes: Vec<u8>,
}

impl<'m, C: Clock> Log<'m, C> {
    pub(super) fn start(
        clock: C,
        machine: Machine<'m>,
        memory: &'m mut [u8],
        context: Context,
        options: Options<'m>,
    ) -> Self {
        let mut trace = Trace::new(clock, machine);
        let channel = trace.trcstart(context, memory, options).expect("the memory is large enough");
        let header = trace.header(channel).expect("the trace has started");
        let mut bytes = vec![0; header.length()];
        header.write(&mut bytes).expect("there is room for the header");
        Self { trace, channel, bytes }
    }

    /// Drains the waiting entries, as the trace daemon does when it runs.
    pub(super) fn drain(&mut self) {
        while let Some(chunk) = self.trace.waiting(self.channel) {
            self.bytes.extend(chunk.bytes);
            self.trace.drained(self.channel);
        }
    }

    pub(super) fn stop(mut self, context: Context) -> Vec<u8> {
        self.trace.trcstop(context, self.channel).expect("the trace has started");
        self.drain();
        self.bytes
    }
}
