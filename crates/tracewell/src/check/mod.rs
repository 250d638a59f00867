//! Rules: what the events of a run must be, as a text that people write; and whether a trace is so.
//!
//! ```text
//! text ──> lexer ──> parser ──> Rules ──> Check, a sink: one automaton a rule ──> Verdict
//!                                  ^
//!                 trace ──> Writer ┘ rules that the trace itself passes
//! ```
//!
//! | file | what |
//! |---|---|
//! | `lexer`, `parser` | text to rules; what is wrong with it |
//! | `syntax` | what rules are |
//! | `shapes` | which names of the rules an event has |
//! | `index` | which rules an event may concern |
//! | `matching` | whether an event is as a pattern says |
//! | `steps` | events in their order: where a run stands, what may come |
//! | `invariants` | what holds at any time: never, count, whenever |
//! | `doubts` | names that no event of a format has |
//! | `run` | the sink |
//! | `verdict` | what came out: the first difference of each rule, with the events around it |
//! | `write` | rules from a trace |
//!
//! A trace is read once. An event is offered to the steps that may come now, in the order written,
//! and the first that takes it has it: nothing is tried twice, so an event costs at most one look
//! at each step that names it, and memory does not grow with the trace. Rules name events, contexts
//! and arguments as output shows them, so they know no dialect. The language is described in the
//! guide.
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
//! let verdict = check.finish(&trace);
//! assert_eq!((verdict.events, verdict.gaps), (trace.events, 0));
//! # Ok::<(), tracewell::input::InputError>(())
//! ```

mod doubts;
mod index;
mod invariants;
mod lexer;
mod matching;
mod parser;
mod run;
mod shapes;
mod steps;
mod syntax;
mod verdict;
mod write;

pub use parser::Parsed;
pub use run::Check;
pub use syntax::Rules;
pub use verdict::{Failure, FailureKind, Line, NearMiss, Verdict};
pub use write::{MAX_STEPS, RulesWriter, WriteOptions};
