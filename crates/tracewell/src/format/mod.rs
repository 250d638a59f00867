//! Readers, one folder a dialect, and the list of all formats.
//!
//! A reader is given bytes and owns no input: the same code serves a mapped file, a pipe and the
//! fuzzer. It knows its dialect's options, clock, names and gaps; byte layouts come from
//! `tracewell-wire`, names of events from the schema. Readers know nothing of what happens to the
//! events: no analysis, report or export is named here.
//!
//! To add a dialect, add a folder here with a [`Format`] in it and put that into [`FORMATS`].

pub mod aix;
pub mod arrivals;
mod blocks;
mod copies;
mod decoder;
mod names;
pub mod native;
mod options;
mod order;
pub mod posix;
pub mod rkh;
pub mod shark;
pub mod threadx;

pub use decoder::{Decoder, Input, Progress, ReadError};
use names::Names;
use options::parts_of;
pub use options::{OptionError, OptionHelp, Options};

/// How sure a format is that bytes are its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Confidence {
    /// They could be: no magic number says so.
    Possible,
    /// A magic number or a checksum says so.
    Certain,
}

/// A format that can be read.
#[derive(Debug)]
pub struct Format {
    /// Name on the command line and in output.
    pub name: &'static str,
    /// What it is, in a line.
    pub description: &'static str,
    /// By what it is recognised, in a line.
    pub recognised_by: &'static str,
    /// Whether a trace may name contexts and objects after events that are about them.
    pub names_follow: bool,
    /// Returns true if the input that these bytes begin is memory, or was: it is read as a whole and does not grow.
    pub is_whole: fn(&[u8]) -> bool,
    /// What can be said about an input that its bytes do not tell.
    pub options: &'static [OptionHelp],
    /// Looks at the first bytes of an input (64 KiB, or all of it where it is shorter).
    pub recognise: fn(&[u8]) -> Option<Confidence>,
    /// Makes a reader.
    pub decoder: fn(&Options) -> Result<Box<dyn Decoder>, OptionError>,
}

/// Every format that can be read.
pub static FORMATS: &[&Format] = &[
    &threadx::FORMAT,
    &aix::FORMAT,
    &native::FORMAT,
    &posix::FORMAT,
    &rkh::FORMAT,
    &shark::FORMAT,
    &arrivals::FORMAT,
];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}

/// The format that is most sure of these first bytes.
pub fn recognise(start: &[u8]) -> Option<&'static Format> {
    recognise_with(start, Confidence::Possible)
}

/// The format that is most sure of these first bytes, and at least so sure.
pub fn recognise_with(start: &[u8], least: Confidence) -> Option<&'static Format> {
    FORMATS
        .iter()
        .copied()
        .filter_map(|format| Some((format, (format.recognise)(start)?)))
        .filter(|(_, confidence)| *confidence >= least)
        .max_by_key(|(_, confidence)| *confidence)
        .map(|(format, _)| format)
}
