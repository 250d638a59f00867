//! Configuration records: settings, names and dialect from here on.

use std::sync::Arc;

use tracewell_wire::rkh::{Configuration, Dialect};

use super::decoder::{RkhDecoder, schema};
use super::frames::Piece;
use crate::model::schema::Schema;
use crate::model::{Flow, Rate, Trace};

impl Piece<'_> {
    /// Takes what a configuration record says. Names end here: the target may have started again.
    #[cold]
    pub(super) fn configure(&mut self, configuration: &Configuration) -> Flow {
        self.flush()?;
        let state = &mut *self.state;
        let Some(dialect) = configuration.dialect() else { return Flow::Continue(()) };
        state.symbols.forget(self.trace, state.timeline.ticks());
        state.unsettled = false;
        state.version = configuration.version;
        let before = (state.dialect, state.settings);
        state.settings = configuration.settings;
        state.settings.function = state.known.function.unwrap_or(state.settings.pointer);
        if dialect != state.dialect {
            state.dialect = dialect;
            if state.own_schema {
                self.trace.schema = state.schema_with(dialect, self.trace);
            }
        }
        state.timeline.configure(&state.settings);
        // A target that starts again mostly is what it was, and plans cost as much as a thousand frames.
        if before != (dialect, state.settings) {
            state.plan(self.trace);
        }
        let trace = &mut *self.trace;
        trace.clock.counter = state.timeline.counter();
        let announced = Rate::new(u64::from(configuration.stamps_per_second), 1);
        trace.clock.rate = state.known.rate.or(announced).or(trace.clock.rate);
        Flow::Continue(())
    }
}

impl RkhDecoder {
    /// True if a frame that looks like this configuration record is one. The oldest form has no version: without a
    /// checksum it is five bytes that other frames may end with, and frames before it had checksums.
    pub(super) fn believes(&self, configuration: &Configuration) -> bool {
        let vouched = configuration.version != 0 || configuration.settings.checksum;
        vouched || !self.settings.checksum || self.counts.good == 0
    }

    /// The schema of a stream that changes its dialect: ids of a second one get a place of their
    /// own behind those of the first, for events of both may be in one trace.
    fn schema_with(&mut self, dialect: Dialect, trace: &Trace) -> Arc<Schema> {
        if trace.events == 0 {
            self.bases = vec![dialect];
        }
        let known = self.bases.iter().position(|known| *known == dialect);
        let position = known.unwrap_or(self.bases.len());
        self.base = 256 * position as u32;
        if known.is_some() && trace.events > 0 {
            return trace.schema.clone();
        }
        if position == 0 {
            return schema(dialect);
        }
        self.bases.push(dialect);
        let mut both = Schema::clone(&trace.schema);
        both.adopt(&schema(dialect), self.base);
        Arc::new(both)
    }
}
