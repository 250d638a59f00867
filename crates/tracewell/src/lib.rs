//! Reads, explains and converts the event traces of real-time and embedded software.
//!
//! An [`input::Input`] is opened and recognised, its reader turns bytes into columnar
//! [`model::Batch`]es, and a [`model::Sink`] takes them: a [`report::Report`], an
//! [`export::events::EventWriter`], an analysis, or one of your own.
//!
//! ```
//! use tracewell::input::{Input, Settings};
//! use tracewell::model::{Batch, Flow, Sink, Trace};
//!
//! /// Counts the events of interrupts.
//! #[derive(Default)]
//! struct Interrupts(u64);
//!
//! impl Sink for Interrupts {
//!     fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
//!         let name = |id| trace.contexts.get(id).map(|context| context.name.as_str());
//!         self.0 += batch.events().filter(|e| name(e.context) == Some("Interrupt")).count() as u64;
//!         Flow::Continue(())
//!     }
//! }
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
//! let mut interrupts = Interrupts::default();
//! let trace = Input::open(path, Settings::default())?.read(&mut interrupts)?;
//! assert_eq!((trace.format, trace.events, interrupts.0), ("threadx", 197, 18));
//! # Ok::<(), tracewell::input::InputError>(())
//! ```
//!
//! Reading never panics and needs memory in proportion to what is shown of the input at most; a
//! mapped file costs none. What could not be read is told in the trace, as losses in their place
//! and as diagnostics with byte offsets.
#![deny(unsafe_code)]

pub mod analysis;
pub mod check;
pub mod collect;
pub mod export;
pub mod format;
pub mod input;
pub mod model;
pub mod report;
pub mod select;
pub mod source;
pub mod template;
pub mod text;
