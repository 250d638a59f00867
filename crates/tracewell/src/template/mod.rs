//! Templates: text files that define how events are printed in a report.
//!
//! The language is the language of AIX's trace format files, implemented completely and for every
//! dialect:
//!
//! ```text
//! text ──> lexer ──> parser ──> syntax tree ──> compiler ──> Program ──> Machine ──> lines
//!                                    ├ lint: parts that compile but are probably wrong
//!                                    └ layout: the canonical form
//! ```
//!
//! A file is compiled once. When the machine runs the [`Program`] on an event, it looks up no names
//! and allocates no memory. This module does not depend on the source of events. An [`Entry`]
//! contains the bytes of one event and the content of its hook word. [`EventContext`] contains the
//! other facts about the event.
//!
//! ```
//! use tracewell::template::{EventContext, Entry, Machine, Program, Source};
//!
//! let text = r#"0AA 1.0 L=SVC "disk op" "unit=" U1 "dir=" X1, 00 "read" , 01 "write""#;
//! let program = Program::of(&[Source::new("disk.fmt", text)]).program;
//! let entry = Entry::hook32(&[0x0A, 0xA1, 0x03, 0x01])?;
//! let mut machine = Machine::default();
//! let lines = machine.format(&program, &entry, &EventContext::default());
//! assert_eq!(lines.text(), "disk op unit=3 dir=write");
//! # Ok::<(), tracewell::template::EntryError>(())
//! ```
//!
//! Facts about the language come from IBM's public manual pages *trcfmt File Format*, *Syntax for
//! stanzas in the trace format file* and *trcupdate Command*, and from published templates. The
//! language reference in the guide marks rules that are our own decisions.

mod compile;
mod entry;
mod errno;
mod layout;
mod lint;
mod machine;
mod parser;
mod program;
pub mod syntax;
pub mod update;

pub use crate::source::{Finding, Position, Source, Span};
pub use compile::Compiled;
pub use entry::{Entry, EntryError, Environment, EventContext, Names, NoNames};
pub use layout::layout;
pub use lint::{System, lint};
pub use machine::{Lines, Machine, Marks, Outcome};
pub use parser::{parse, parse_line};
pub use program::{Program, Template, TemplateId};
