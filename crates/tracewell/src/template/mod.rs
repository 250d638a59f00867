//! Templates: text files that say how the bytes of an event become lines of a report.
//!
//! The language is that of AIX's trace format files, complete and on every dialect:
//!
//! ```text
//! text ──> lexer ──> parser ──> syntax tree ──> compiler ──> Program ──> Machine ──> lines
//!                                    ├ lint: what compiles and is still wrong
//!                                    └ layout: the canonical form
//! ```
//!
//! A file compiles once; running its [`Program`] on an event follows no names and allocates
//! nothing. Where an event comes from is not known here: an [`Entry`] is the bytes of one event and
//! what its hook word says, [`Around`] what else is known of it.
//!
//! ```
//! use tracewell::template::{Around, Entry, Machine, Program, Source};
//!
//! let text = r#"0AA 1.0 L=SVC "disk op" "unit=" U1 "dir=" X1, 00 "read" , 01 "write""#;
//! let program = Program::of(&[Source::new("disk.fmt", text)]).program;
//! let entry = Entry::hook32(&[0x0A, 0xA1, 0x03, 0x01])?;
//! let mut machine = Machine::default();
//! let lines = machine.format(&program, &entry, &Around::default());
//! assert_eq!(lines.text(), "disk op unit=3 dir=write");
//! # Ok::<(), tracewell::template::EntryError>(())
//! ```
//!
//! Facts about the language are IBM's, from the public manual pages *trcfmt File Format*, *Syntax for
//! stanzas in the trace format file* and *trcupdate Command*, and from published templates. What the
//! manuals do not say is decided here and told in the language reference of the guide.

mod compile;
mod entry;
mod errno;
mod layout;
mod lint;
mod machine;
mod parser;
mod program;
mod shipped;
pub mod syntax;
pub mod update;

pub use crate::source::{Finding, Position, Severity, Source, Span};
pub use compile::Compiled;
pub use entry::{Around, Entry, EntryError, Environment, Names, NoNames};
pub use layout::layout;
pub use lint::{System, lint};
pub use machine::{Lines, Machine, Marks, Outcome};
pub use parser::{parse, parse_line};
pub use program::{Program, Template, TemplateId};
pub use shipped::shipped;
