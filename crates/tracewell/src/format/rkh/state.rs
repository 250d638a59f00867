//! The state of a stream between two windows. Determines the dialect and the settings at the start.

use std::sync::{Arc, LazyLock};

use tracewell_wire::rkh::{Configuration, Dialect, Settings};

use super::counts::Counts;
use super::fast_plan::FastPlans;
use super::guess::{self, Guess};
use super::options::StreamOptions;
use super::plan::Plans;
use super::recorded::Recorded;
use super::row::Rows;
use super::symbols::{self, Symbols};
use super::timeline::Timeline;
use super::{FORMAT, schema};
use crate::format::Input;
use crate::model::schema::{Extension, Schema};
use crate::model::{Clock, Columns, ContextId, PayloadLayout, Severity, Span, Trace};
use crate::text::counted;

/// Number of events per batch, chosen so that a batch stays in the first-level cache.
pub(super) const BATCH: usize = 1024;

/// The state of a stream.
#[derive(Debug)]
pub(super) struct State {
    pub(super) options: StreamOptions,
    pub(super) dialect: Dialect,
    /// The dialects of the stream so far. `256 × n` is added to the ids of the dialect at index
    /// `n`.
    bases: Vec<Dialect>,
    /// Number that is added to a code to get the id of an event.
    pub(super) base: u32,
    /// RKH's version in the latest configuration record; 0 if there is no such record, or if the
    /// record contains no version.
    pub(super) version: u16,
    pub(super) settings: Settings,
    /// `None` until dialect and settings are known from the first bytes.
    pub(super) tables: Option<Arc<Tables>>,
    /// The schema files of the user, which extend the schema of each dialect.
    extensions: Vec<Arc<Extension>>,
    /// The schema before the first byte.
    first_schema: Arc<Schema>,
    /// True if the schema comes from a dialect. The user's schema files may extend such a schema.
    /// Any other schema stays in use, whatever version the target has.
    pub(super) own_schema: bool,
    pub(super) timeline: Timeline,
    pub(super) symbols: Symbols,
    pub(super) counts: Counts,
    /// True while bytes are dropped up to the next flag.
    pub(super) hunting: bool,
    /// True if the settings could not be inferred from the frames. In this case, no frame is
    /// decoded before a configuration record.
    pub(super) unsettled: bool,
    /// True if no bytes have arrived for a while.
    has_paused: bool,
    /// Offset of the first byte in the source.
    pub(super) start: u64,
    /// True after the decoder has given the hint to try other settings. It gives this hint only
    /// once.
    warned: bool,
    /// The context for events outside of steps.
    pub(super) framework: ContextId,
    /// The active object whose step is running.
    pub(super) running: Option<ContextId>,
    pub(super) pending: Pending,
}

/// The plans of all events of a dialect for given settings.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) plans: Plans,
    pub(super) fast: FastPlans,
}

/// Events that have not been delivered yet.
#[derive(Debug)]
pub(super) struct Pending {
    /// The columns, with [`BATCH`] rows. During a flush, the columns are in the emitter.
    pub(super) columns: Columns,
    pub(super) spans: Vec<Span>,
    pub(super) rows: Rows,
    /// Number of rows in use, at most [`BATCH`].
    pub(super) count: usize,
}

impl Default for Pending {
    fn default() -> Self {
        let mut columns = Columns::default();
        columns.resize(BATCH);
        let spans = vec![Span { start: 0, payload: 0, end: 0 }; BATCH];
        Self { columns, spans, rows: Rows::default(), count: 0 }
    }
}

impl Tables {
    fn new(schema: &Schema, base: u32, dialect: Dialect, settings: &Settings) -> Self {
        let plans = Plans::new(schema, base, dialect, settings);
        let fast = FastPlans::new(&plans, settings);
        Self { plans, fast }
    }

    /// Returns the tables of the default options, which are built once per process.
    fn usual() -> Arc<Self> {
        static USUAL: LazyLock<Arc<Tables>> = LazyLock::new(|| {
            let dialect = Dialect::V3_4;
            Arc::new(Tables::new(&schema(dialect), 0, dialect, &Settings::default()))
        });
        USUAL.clone()
    }
}

/// Returns the schema of a dialect, extended by the user's schema files. If a file does not fit
/// this dialect, the schema stores the error. For example, the file may name events that only other
/// dialects have.
fn extended(dialect: Dialect, extensions: &[Arc<Extension>]) -> Arc<Schema> {
    FORMAT.extended_if_possible(schema(dialect), extensions)
}

impl State {
    pub(super) fn new(options: StreamOptions, extensions: &[Arc<Extension>]) -> Self {
        Self {
            extensions: extensions.to_vec(),
            first_schema: extended(options.dialect, extensions),
            options,
            dialect: options.dialect,
            bases: vec![options.dialect],
            base: 0,
            version: 0,
            settings: options.settings,
            tables: None,
            own_schema: true,
            timeline: Timeline::new(&options.settings),
            symbols: Symbols::default(),
            counts: Counts::default(),
            hunting: true,
            unsettled: false,
            has_paused: false,
            start: 0,
            warned: false,
            framework: ContextId::default(),
            running: None,
            pending: Pending::default(),
        }
    }

    pub(super) fn trace(&self) -> Trace {
        let clock = Clock::new(self.options.rate, self.timeline.counter());
        let payload = PayloadLayout::Values { digits: 8 };
        let mut trace = Trace::new(FORMAT.name, self.first_schema.clone(), payload, clock);
        // Before version 2.4.3, there are no symbol records for active objects and state machines,
        // only for objects.
        trace.objects.share_names_among_kinds();
        trace
    }

    /// Determines schema and settings from the first bytes. Returns false if more bytes are needed.
    pub(super) fn begin(&mut self, input: &Input<'_>, trace: &mut Trace) -> bool {
        if self.tables.is_some() {
            return true;
        }
        self.start = input.offset;
        self.own_schema = Arc::ptr_eq(&trace.schema, &self.first_schema);
        // Do not override settings from the user.
        if self.own_schema && !self.options.given && !self.guess(input, trace) {
            return false;
        }
        self.plan(trace);
        self.framework = symbols::framework(trace);
        self.symbols.add_given(trace);
        Symbols::add_static_pool(trace);
        true
    }

    /// Allows the next call of [`Self::begin`] to infer settings from fewer bytes.
    pub(super) fn pause(&mut self) {
        self.has_paused = self.tables.is_none();
    }

    /// Infers settings that the user did not specify. Returns false if more bytes are needed.
    fn guess(&mut self, input: &Input<'_>, trace: &mut Trace) -> bool {
        let enough = input.last || input.bytes.len() >= guess::SAMPLE_BYTES;
        let start = input.bytes.get(..guess::SAMPLE_BYTES).unwrap_or(input.bytes);
        let has_paused = std::mem::take(&mut self.has_paused);
        if !enough && (!has_paused || guess::has_configuration(start)) {
            // A configuration record contains all settings, so there is no need to wait for a full
            // sample.
            return guess::has_configuration(start);
        }
        let guess = match enough {
            true => guess::guess(start, self.dialect, &self.settings),
            false => guess::early(start, self.dialect, &self.settings),
        };
        let (severity, message) = match guess {
            // Until the sample is full, wait for more bytes unless the settings were announced or
            // found.
            Guess::TooFew | Guess::Usual | Guess::Unknown if !enough => return false,
            Guess::Announced | Guess::TooFew => return true,
            Guess::Found(dialect, settings) => {
                (self.dialect, self.bases) = (dialect, vec![dialect]);
                self.settings = settings;
                self.settings.function = self.options.function.unwrap_or(settings.function);
                self.timeline = Timeline::new(&self.settings);
                trace.schema = extended(dialect, &self.extensions);
                trace.clock.counter = self.timeline.counter();
                let message = "no configuration record: settings were inferred from the frames";
                (Severity::Note, message)
            }
            Guess::Usual => {
                let message = "no configuration record: the default settings explain the frames, \
                    but others do as well; if these are wrong, give them with -O dialect=, \
                    -O sig=, ... (see tracewell formats)";
                (Severity::Warning, message)
            }
            Guess::Unknown => {
                self.unsettled = true;
                let message = "no configuration record, and the frames do not determine the \
                    settings: give them with -O dialect=, -O sig=, ... (see tracewell formats)";
                (Severity::Damage, message)
            }
        };
        trace.diagnostics.add(severity, input.offset, message);
        true
    }

    /// Rebuilds the tables after a change of the schema or the settings.
    pub(super) fn plan(&mut self, trace: &mut Trace) {
        trace.recorded = Some(Box::new(Recorded(self.settings)));
        // The default plans are shared, because building plans takes as long as decoding a thousand
        // frames.
        let usual =
            (self.base, self.dialect, self.settings) == (0, Dialect::V3_4, Settings::default());
        self.tables = Some(if usual && Arc::ptr_eq(&trace.schema, &schema(self.dialect)) {
            Tables::usual()
        } else {
            Arc::new(Tables::new(&trace.schema, self.base, self.dialect, &self.settings))
        });
    }

    /// Returns true if a frame that looks like this configuration record can be trusted. The oldest
    /// form of configuration record contains no version. Without a checksum, a record of this form
    /// is five bytes long, and the end of another frame can look the same. Such a record is not
    /// trusted after frames with checksums.
    pub(super) fn trusts(&self, configuration: &Configuration) -> bool {
        let verified = configuration.version != 0 || configuration.settings.checksum;
        verified || !self.settings.checksum || self.counts.good == 0
    }

    /// Changes the dialect of the stream, and returns the schema of all dialects so far.
    ///
    /// One trace may contain events of several dialects, so the ids of each new dialect follow the
    /// ids of the previous dialects.
    pub(super) fn schema_with(&mut self, dialect: Dialect, trace: &Trace) -> Arc<Schema> {
        // No event was delivered yet, so the first dialect can still be replaced.
        if trace.events == 0 {
            self.bases = vec![dialect];
        }
        let known = self.bases.iter().position(|known| *known == dialect);
        let position = known.unwrap_or(self.bases.len());
        self.base = 256 * position as u32;
        // The schema already contains the events of this dialect.
        if known.is_some() && trace.events > 0 {
            return trace.schema.clone();
        }
        if position == 0 {
            return extended(dialect, &self.extensions);
        }
        self.bases.push(dialect);
        let mut both = Schema::clone(&trace.schema);
        both.adopt(&extended(dialect, &self.extensions), self.base);
        Arc::new(both)
    }

    /// Returns advice for frames that cannot be decoded, but only at the first call.
    pub(super) fn hint(&mut self) -> &'static str {
        match std::mem::replace(&mut self.warned, true) {
            true => "",
            false => "; try another dialect or other field sizes (-O dialect=, -O sig=, ...)",
        }
    }

    /// Adds a diagnostic if no frame was an event.
    pub(super) fn note_no_events(&self, end: u64, trace: &mut Trace) {
        if self.counts.good == 0 {
            let bytes = counted(end - self.start, "byte");
            let message = format!("expected RKH frames, found none in {bytes}");
            trace.diagnostics.add(Severity::Damage, end, message);
        }
    }

    pub(super) fn note_facts(&self, trace: &mut Trace) {
        let numbers = [self.timeline.first_number, self.timeline.last_number()];
        trace.facts = self.counts.facts(self.dialect, self.version, &self.settings, numbers);
    }
}
