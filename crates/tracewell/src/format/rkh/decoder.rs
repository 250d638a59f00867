//! The reader's state between windows, and the loop over a window.

use std::ops::ControlFlow;
use std::sync::Arc;

use tracewell_wire::rkh::{Dialect, Settings};

use super::FORMAT;
use super::counts::Counts;
use super::events::Pending;
use super::frames::Piece;
use super::guess::{self, Guess};
use super::options::Known;
use super::plan::Plans;
use super::recorded::Recorded;
use super::symbols::Symbols;
use super::timeline::Timeline;
use crate::format::{Decoder, Input, OptionError, Options, Progress, ReadError};
use crate::model::schema::Schema;
use crate::model::{Clock, ContextId, PayloadLayout, Severity, Sink, Trace};
use crate::text::counted;

/// Bytes that are cut into frames at a time: positions in a batch have 32 bits.
const PIECE: usize = 1 << 24;

/// Makes a reader with the options of this format.
pub(super) fn new(options: &Options) -> Result<Box<dyn Decoder>, OptionError> {
    Ok(Box::new(RkhDecoder::new(Known::from_options(options)?)))
}

/// What is known of the stream so far.
#[derive(Debug)]
pub(super) struct RkhDecoder {
    pub(super) known: Known,
    pub(super) dialect: Dialect,
    /// The dialects spoken so far; the ids of number `n` are shown with `256 n` added.
    pub(super) bases: Vec<Dialect>,
    /// What is added to a code at the moment to make the id of an event.
    pub(super) base: u32,
    /// Of the last configuration record, 0 where there was none or it does not say.
    pub(super) version: u16,
    pub(super) settings: Settings,
    pub(super) plans: Option<Plans>,
    /// Whether the schema is one of ours: a user's own serves for every version.
    pub(super) own_schema: bool,
    pub(super) timeline: Timeline,
    /// Whether a stamp was seen.
    pub(super) stamped: bool,
    pub(super) symbols: Symbols,
    pub(super) counts: Counts,
    /// Whether bytes are dropped until the next flag.
    pub(super) hunting: bool,
    /// True until something tells the settings of a stream whose frames leave them open: no frame is read.
    pub(super) unsettled: bool,
    /// Where the first byte lies in the source.
    pub(super) start: u64,
    /// Whether other settings were suggested already.
    pub(super) warned: bool,
    /// The context of events between steps.
    pub(super) framework: ContextId,
    /// The active object whose step is going on.
    pub(super) running: Option<ContextId>,
    pub(super) pending: Pending,
}

impl Decoder for RkhDecoder {
    fn trace(&self) -> Trace {
        let counter = self.timeline.counter();
        let payload = PayloadLayout::Values { digits: 8 };
        let clock = Clock::new(self.known.rate, counter);
        let mut trace = Trace::new(FORMAT.name, schema(self.dialect), payload, clock);
        // Before 2.4.3 active objects and state machines have no symbols but those of objects.
        trace.objects.share_names_among_kinds();
        trace
    }

    fn decode(
        &mut self,
        input: Input<'_>,
        trace: &mut Trace,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ReadError> {
        if !self.begin(&input, trace) {
            return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
        }
        let mut consumed = 0;
        loop {
            let end = input.bytes.len().min(consumed + PIECE);
            let bytes = input.bytes.get(consumed..end).unwrap_or_default();
            let last = input.last && end == input.bytes.len();
            let offset = input.offset + consumed as u64;
            let read = Piece { state: self, bytes, offset, trace, sink }.read(last);
            self.note_facts(trace);
            match read {
                ControlFlow::Break(()) => return Ok(Progress::Done),
                ControlFlow::Continue(_) if last => {
                    self.note_nothing(input.offset + end as u64, trace);
                    return Ok(Progress::Done);
                }
                ControlFlow::Continue(done) => consumed += done,
            }
            if end == input.bytes.len() {
                let wanted = end - consumed + 1;
                return Ok(Progress::More { consumed, wanted });
            }
        }
    }
}

impl RkhDecoder {
    pub(super) fn new(known: Known) -> Self {
        Self {
            known,
            dialect: known.dialect,
            bases: vec![known.dialect],
            base: 0,
            stamped: false,
            version: 0,
            settings: known.settings,
            plans: None,
            own_schema: true,
            timeline: Timeline::new(&known.settings),
            symbols: Symbols::default(),
            counts: Counts::default(),
            hunting: true,
            unsettled: false,
            start: 0,
            warned: false,
            framework: ContextId::default(),
            running: None,
            pending: Pending::default(),
        }
    }

    /// What has to wait for the trace, whose schema may be the user's, and for the first bytes, which
    /// may have to tell the settings; false where more of them are needed.
    pub(super) fn begin(&mut self, input: &Input<'_>, trace: &mut Trace) -> bool {
        if self.plans.is_some() {
            return true;
        }
        self.start = input.offset;
        self.own_schema = Arc::ptr_eq(&trace.schema, &schema(self.dialect));
        if self.own_schema && !self.known.told && !self.guess(input, trace) {
            return false;
        }
        self.plan(trace);
        self.framework = super::symbols::framework(trace);
        Symbols::add_static_pool(trace);
        true
    }

    /// Finds settings that nobody told; false where more bytes are needed.
    fn guess(&mut self, input: &Input<'_>, trace: &mut Trace) -> bool {
        let enough = input.last || input.bytes.len() >= guess::LOOKED_AT;
        let start = input.bytes.get(..guess::LOOKED_AT).unwrap_or(input.bytes);
        if !enough {
            return guess::is_told(start);
        }
        let (severity, message) = match guess::guess(start, self.dialect, &self.settings) {
            Guess::Told | Guess::TooFew => return true,
            Guess::Found(dialect, settings) => {
                (self.dialect, self.bases) = (dialect, vec![dialect]);
                self.settings = settings;
                self.settings.function = self.known.function.unwrap_or(settings.function);
                self.timeline = Timeline::new(&self.settings);
                trace.schema = schema(dialect);
                trace.clock.counter = self.timeline.counter();
                let message =
                    "no configuration record tells the settings: these explain the frames";
                (Severity::Note, message)
            }
            Guess::Usual => {
                let message = "no configuration record tells the settings: the usual ones explain the frames, and others \
                    do as well; give them with -O dialect=, -O sig=, ... (tracewell formats lists them)";
                (Severity::Warning, message)
            }
            Guess::Unknown => {
                self.unsettled = true;
                let message = "no configuration record tells the settings, and the frames leave them open: \
                    give them with -O dialect=, -O sig=, ... (tracewell formats lists them)";
                (Severity::Damage, message)
            }
        };
        trace.diagnostics.add(severity, input.offset, message);
        true
    }

    /// Makes the plans anew, for a schema or settings that have changed.
    pub(super) fn plan(&mut self, trace: &mut Trace) {
        trace.recorded = Some(Box::new(Recorded(self.settings)));
        let plans = Plans::new(&trace.schema, self.base, self.dialect, &self.settings);
        self.plans = Some(plans);
    }

    /// Says so where no frame was an event.
    fn note_nothing(&self, end: u64, trace: &mut Trace) {
        if self.counts.good == 0 {
            let bytes = counted(end - self.start, "byte");
            let message = format!("expected frames of RKH, found none in {bytes}");
            trace.diagnostics.add(Severity::Damage, end, message);
        }
    }

    fn note_facts(&self, trace: &mut Trace) {
        let numbers = [self.timeline.first_number, self.timeline.last_number()];
        trace.facts = self.counts.facts(self.dialect, self.version, &self.settings, numbers);
    }
}

/// The schema of a dialect.
pub(super) fn schema(dialect: Dialect) -> Arc<Schema> {
    // Every dialect has a schema; a test reads them all.
    Schema::rkh(dialect.as_str()).unwrap_or_else(Schema::threadx)
}
