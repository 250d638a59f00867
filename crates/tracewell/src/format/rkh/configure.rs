//! Applies configuration records. Such a record replaces the settings and the dialect, and
//! invalidates all names.

use tracewell_wire::rkh::Configuration;

use super::chunk::Chunk;
use crate::model::{Flow, Rate, Severity, Trace};

impl Chunk<'_, '_> {
    /// Applies the configuration record at an offset of the source. All names become invalid,
    /// because the target may have restarted.
    #[cold]
    pub(super) fn configure(&mut self, configuration: &Configuration, offset: u64) -> Flow {
        // The events that are already in the batch use the earlier names and settings.
        self.flush()?;
        let (state, trace) = (&mut *self.state, &mut *self.out.trace);
        let Some(dialect) = configuration.dialect() else { return Flow::Continue(()) };
        state.symbols.forget(trace, state.timeline.ticks());
        state.unsettled = false;
        state.version = configuration.version;
        let before = (state.dialect, state.settings);
        state.settings = configuration.settings;
        // Configuration records do not contain the size of function addresses.
        state.settings.function = state.options.function.unwrap_or(state.settings.pointer);
        if dialect != state.dialect {
            state.dialect = dialect;
            // Keep a schema that the user supplied, regardless of the target's version.
            if state.own_schema {
                trace.schema = state.schema_with(dialect, trace);
            }
        }
        state.timeline.configure(&state.settings);
        // A restarted target usually has the same settings. Do not compute the plans again, because
        // this would take as long as decoding a thousand frames.
        if before != (dialect, state.settings) {
            state.plan(trace);
        }
        trace.clock.counter = state.timeline.counter();
        // The user's rate has priority, because a target cannot announce a rate above 65535 ticks
        // per second.
        let announced = Rate::new(u64::from(configuration.stamps_per_second), 1);
        if let Some(rate) = announced.filter(|_| state.options.rate.is_none()) {
            set_rate(trace, rate, state.timeline.ticks(), offset);
        }
        Flow::Continue(())
    }
}

/// Sets the rate of the clock from `ticks` on. If the rate was unknown, it also holds for earlier
/// events.
fn set_rate(trace: &mut Trace, rate: Rate, ticks: u64, offset: u64) {
    let clock = &mut trace.clock;
    match clock.changes.last().map(|change| change.rate).or(clock.rate) {
        Some(known) if known == rate => {}
        Some(known) if ticks > 0 => {
            // The times of earlier events stay as they are.
            clock.change_rate(ticks, rate);
            let message =
                format!("the target's clock changed from {known} to {rate} ticks per second");
            trace.diagnostics.add(Severity::Note, offset, message);
        }
        _ => clock.rate = Some(rate),
    }
}
