//! Rules about the events of a run, and a sink that checks whether a trace follows them.
//!
//! ```text
//! text ──> tokens ──> parser ──> Rules ──> Check, a sink: one automaton per rule ──> Verdict
//!                                  ^
//!                 trace ──> Writer ┘ rules that the trace itself passes
//! ```
//!
//! |file | content |
//! |---|---|
//! |`parser` | text to rules, with errors and warnings; tokens and conditions are in [`crate::select::Expression`] |
//! |`syntax` | the rules as data |
//! |`shapes` | finds the shapes (names and fields in rules) that cover an event id |
//! |`index` | finds the rules that an event may affect |
//! |`matching` | compares events with patterns |
//! |`steps` | matches events with steps in order, and lists the events that may come next |
//! |`invariants` | statements about the whole trace: never, count, whenever, each |
//! |`figures` | the figures that thresholds name, and their values |
//! |`thresholds` | compares figures with limits and with a baseline |
//! |`missed` | explains why a trace does not decide a statement |
//! |`unknown_names` | warns of names that no event of a format has |
//! |`run` | the sink |
//! |`verdict` | the result: for each rule that is not met, the first difference and the events around it |
//! |`write` | writes rules from a trace |
//!
//! A trace is read once. Each event is offered to the steps that may come next. The steps are tried
//! in the order in which they are written. The first step that accepts the event gets it. This
//! decision is final. So an event costs at most one test for each step that refers to the event,
//! and the use of memory does not depend on the length of the trace. Rules use the names of events,
//! contexts and arguments that appear in output, so this module knows no dialect. The guide
//! describes the language.
//!
//! ```
//! use tracewell::check::{Check, Rules};
//! use tracewell::input::{Input, Settings};
//! use tracewell::source::Source;
//!
//! let text = "
//!     tx_semaphore_get(@context=low)
//!     never tx_mutex_delete
//! ";
//! let rules = Rules::parse(&Source::new("my.rules", text)).rules.expect("no error in it");
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
//! let mut check = Check::new(&rules);
//! let trace = Input::open(path, Settings::default())?.read(&mut check)?;
//! let verdict = check.verdict(&trace);
//! assert_eq!((verdict.events, verdict.gaps), (trace.events, 0));
//! # Ok::<(), tracewell::input::InputError>(())
//! ```

mod figures;
mod index;
mod invariants;
mod matching;
mod missed;
mod parser;
mod run;
mod shapes;
mod steps;
mod syntax;
mod thresholds;
mod unknown_names;
mod verdict;
mod write;

pub use figures::{
    Figure, Figures, Fraction, LOAD_WINDOWS, Measure, Name, Quantity, Statistic, Unit, Value, Worst,
};
pub use parser::Parsed;
pub use run::Check;
pub use syntax::Rules;
pub use thresholds::{Baseline, NoFigures, ThresholdResult};
pub use verdict::{
    Failure, FailureKind, Line, NearMiss, RuleKind, RuleOutcome, RuleResult, Verdict,
};
pub use write::{MAX_STEPS, RulesWriter, WriteOptions};
