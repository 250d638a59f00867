//! Reads, explains and converts the event traces of real-time and embedded software.
//!
//! Open a trace and loop over its events; the format is recognised by its first bytes:
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
//! let mut trace = tracewell::open(path)?.rate("100MHz".parse()?);
//! trace.for_each(|event| {
//!     let (time, context) = (event.time(), event.context_name());
//!     println!("{time:>12} {context:<12} {} {}", event.label(), event.args());
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The first example of the crate `tracewell-record` is a program that records such a trace.
//!
//! Code that needs more than events implements [`model::Sink`], which also receives the gaps
//! between events. The reports, the exports and the analyses are sinks:
//!
//! ```
//! use tracewell::input::{Input, Settings};
//! use tracewell::model::{Batch, Event, Flow, Sink, Trace};
//!
//! /// Counts the events of interrupts.
//! #[derive(Default)]
//! struct Interrupts(usize);
//!
//! impl Sink for Interrupts {
//!     fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
//!         let is = |row| Event::new(trace, &row).context_name() == "Interrupt";
//!         self.0 += batch.events().filter(|row| is(*row)).count();
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
//! Decoding never panics, whatever the bytes. The memory that decoding needs grows at most in
//! proportion to the size of the input. The bytes of a mapped file need no memory. The trace lists
//! everything that could not be decoded: losses at their positions, and diagnostics with byte
//! offsets.
//!
//! | modules | purpose |
//! |---|---|
//! | [`input`], [`compressed`], [`format`](mod@format), [`model`], [`select`] | reading: from bytes to events |
//! | [`report`], [`export`], [`text`] | showing: text for people, and conversion to other formats |
//! | [`analysis`], [`check`] | judging: analyses of the scheduler, checks of rules |
//! | [`template`], [`source`] | languages: templates of AIX; positions and errors in users' texts |
#![deny(unsafe_code)]

// Reading.
pub mod compressed;
pub mod format;
pub mod input;
pub mod model;
pub mod select;

// Showing.
pub mod export;
pub mod report;
pub mod text;

// Judging.
pub mod analysis;
pub mod check;

// Languages.
pub mod source;
pub mod template;

mod threads;

use std::path::Path;

use input::{Input, InputError, Settings};

/// Opens a trace, or standard input for `-`, and recognises its format.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/rkh/ahsm-a.bin");
/// let mut input = tracewell::open(path)?;
/// assert_eq!(input.format().name, "rkh");
/// let mut events = 0;
/// let trace = input.for_each(|_| events += 1)?;
/// assert_eq!(trace.events, events);
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
///
/// # Errors
/// Returns an error if the file cannot be opened or read, or if its format is not known.
pub fn open(path: impl AsRef<Path>) -> Result<Input, InputError> {
    Input::open(path.as_ref(), Settings::default())
}

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
