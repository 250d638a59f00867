//! Inputs: opening, mapping, recognising, and feeding a reader.
//!
//! A regular file is mapped and shown to its reader as a whole; anything else (a pipe, a terminal,
//! a device, a file in `/proc`) is read in pieces. A text that encodes a memory image is turned into that image first.
//! What the bytes mean is the reader's business ([`crate::format`]).

mod beside;
#[cfg(unix)]
mod cut;
mod error;
pub mod image;
mod incoming;
mod map;
mod named;
#[cfg(unix)]
mod poll;
mod run;
mod settings;
mod text;
mod window;

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use beside::ARRIVALS;
pub use error::InputError;
pub use map::{Bytes, Mapping};
#[cfg(unix)]
pub(crate) use poll::is_readable;
pub use settings::Settings;
pub(crate) use window::Window;

use incoming::Incoming;

use crate::format::{self, Confidence, Format};
use crate::model::{Diagnostics, Severity, Sink, Trace};

/// How much of an input is looked at to recognise its format.
pub(crate) const RECOGNISED_BY: usize = 64 * 1024;

/// An input whose format is known, ready to be read.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    content: Content,
    format: &'static Format,
    settings: Settings,
    remarks: Diagnostics,
}

enum Content {
    Whole(Bytes),
    Stream { start: Vec<u8>, rest: Incoming },
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "Whole({} bytes)", bytes.len()),
            Self::Stream { start, .. } => write!(f, "Stream({} bytes so far)", start.len()),
        }
    }
}

impl Input {
    /// Opens a file, or standard input for `-`, and recognises what it is.
    ///
    /// # Errors
    /// Where it cannot be opened or read, where nothing known is recognised in it, and where the
    /// settings name a format or an option that is not there.
    pub fn open(path: &Path, settings: Settings) -> Result<Self, InputError> {
        let content = if path == Path::new("-") {
            if io::stdin().is_terminal() {
                return Err(InputError::Terminal);
            }
            Incoming::of_stdin().and_then(stream)
        } else {
            open(path)
        };
        let content = content.map_err(|source| InputError::io(path, source))?;
        let mut input = Self::recognise(path.to_owned(), content, settings)?;
        if let Some(remark) = format::native::snapshot::remark(input.content.start()) {
            input.remarks.add(Severity::Note, None, remark);
        }
        if let Some(length) = input.size() {
            beside::remark(path, length, &mut input.remarks);
        }
        Ok(input)
    }

    /// Takes bytes that are in memory already; `name` stands for a path in messages.
    ///
    /// # Errors
    /// As [`Input::open`], but for input and output.
    pub fn from_bytes(name: &str, bytes: Vec<u8>, settings: Settings) -> Result<Self, InputError> {
        Self::recognise(name.into(), Content::Whole(Bytes::Owned(bytes)), settings)
    }

    fn recognise(path: PathBuf, content: Content, settings: Settings) -> Result<Self, InputError> {
        let mut remarks = Diagnostics::default();
        let content = text::decoded(&path, content, &mut remarks)?;
        let start = content.start();
        let format = match &settings.format {
            Some(name) => {
                format::by_name(name).ok_or_else(|| InputError::NoSuchFormat(name.clone()))?
            }
            None => format::recognise(start)
                .ok_or_else(|| InputError::unrecognised(&path, content.start(), &remarks))?,
        };
        Ok(Self { path, content, format, settings, remarks })
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The format that was recognised or asked for.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Reads with the names of events that the format has, whatever the settings say.
    pub fn forget_schema(&mut self) {
        self.settings.schema = None;
    }

    /// Size in bytes, where it is known before reading.
    pub fn size(&self) -> Option<u64> {
        match &self.content {
            Content::Whole(bytes) => Some(bytes.len() as u64),
            Content::Stream { .. } => None,
        }
    }

    /// Lets a stream end when the flag is set, as if nothing followed what came until then. A file is read to its end
    /// in any case.
    pub fn end_with(&mut self, flag: Arc<AtomicBool>) {
        if let Content::Stream { rest, .. } = &mut self.content {
            rest.end_with(flag);
        }
    }

    /// Takes a stream into memory, so that it can be read more than once.
    ///
    /// # Errors
    /// Where reading fails.
    pub fn load(&mut self) -> Result<(), InputError> {
        let Content::Stream { start, rest } = &mut self.content else { return Ok(()) };
        let mut bytes = std::mem::take(start);
        rest.read_to_end(&mut bytes).map_err(|source| InputError::io(&self.path, source))?;
        self.content = Content::Whole(Bytes::Owned(bytes));
        Ok(())
    }

    /// Reads the events into a sink and returns what describes them. A stream can be read once, a
    /// file or a stream after [`Input::load`] as often as wanted.
    ///
    /// # Errors
    /// Where reading fails and where nothing of the format is there. Damage is no error; it is
    /// told in the trace.
    pub fn read(&mut self, sink: &mut dyn Sink) -> Result<Trace, InputError> {
        let options = &self.settings.options;
        let mut decoder =
            (self.format.decoder)(options).map_err(|error| options.as_typed(error))?;
        let mut trace = decoder.trace();
        if let Some(schema) = &self.settings.schema {
            trace.schema = schema.clone();
        }
        match &mut self.content {
            Content::Whole(bytes) => {
                let input = format::Input { offset: 0, bytes, last: true };
                let decoded = decoder.decode(input, &mut trace, sink);
                if let Some(length) = bytes.is_cut() {
                    return Err(InputError::cut(&self.path, bytes.len() as u64, length));
                }
                decoded.map_err(|error| InputError::read(&self.path, error))?;
            }
            Content::Stream { start, rest } => {
                let stream = io::Cursor::new(std::mem::take(start)).chain(rest);
                window::drive(stream, decoder.as_mut(), &mut trace, sink)
                    .map_err(|error| error.at(&self.path))?;
            }
        }
        trace.diagnostics.prepend(&self.remarks);
        Ok(trace)
    }
}

impl Content {
    fn start(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) => bytes.get(..RECOGNISED_BY).unwrap_or(bytes),
            Self::Stream { start, .. } => start,
        }
    }
}

fn open(path: &Path) -> io::Result<Content> {
    let mut file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return stream(Incoming::of_file(file));
    }
    // A stream's memory may be written at this moment; a mapping of it would change under the reader.
    let copied = match format::native::snapshot::take(&file)? {
        None => format::posix::snapshot::take(path, &file)?,
        copied => copied,
    };
    if let Some(bytes) = copied {
        return Ok(Content::Whole(Bytes::Owned(bytes)));
    }
    if file.metadata()?.len() > 0 {
        return Ok(Content::Whole(Bytes::map(file)?));
    }
    // What the system makes while it is read (`/proc`) has no length beforehand; a file that is really empty has none, too.
    file.rewind()?;
    match stream(Incoming::of_file(file))? {
        Content::Stream { start, .. } if start.is_empty() => {
            Ok(Content::Whole(Bytes::Owned(start)))
        }
        stream => Ok(stream),
    }
}

/// Reads enough of a stream to recognise it: as much as may be looked at, its end, or what is certain. A running
/// stream may not bring more for long.
fn stream(mut rest: Incoming) -> io::Result<Content> {
    let mut start = Vec::new();
    let is_certain = |start: &[u8]| format::recognise_with(start, Confidence::Certain).is_some();
    while start.len() < RECOGNISED_BY && !is_certain(&start) {
        let before = start.len();
        start.resize(RECOGNISED_BY, 0);
        let read = match rest.read(&mut start[before..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            read => read.map(Some),
        };
        start.truncate(before + read.as_ref().map_or(0, |read| read.unwrap_or(0)));
        if read? == Some(0) {
            break;
        }
    }
    Ok(Content::Stream { start, rest })
}
