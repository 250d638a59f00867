//! Opens and maps inputs, recognises their format, and passes their bytes to the decoder.
//!
//! A regular file is mapped and decoded as a whole. Anything else (a pipe, a terminal, a device, a
//! file in `/proc`) is read in chunks. A compressed file is decompressed, and a text that encodes a
//! memory image is decoded. [`crate::format`] interprets the bytes.

mod content;
#[cfg(unix)]
mod cut;
mod decompressed;
#[cfg(feature = "elf")]
pub mod elf;
mod error;
mod folder;
mod foreign;
mod growing;
pub mod image;
mod incoming;
#[cfg(feature = "elf")]
mod lines;
mod map;
mod named;
mod naming;
#[cfg(unix)]
mod poll;
mod reading;
mod run;
mod selecting;
mod text;
mod watch;
mod window;

use std::fs::{File, TryLockError};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use crate::format::Settings;
pub use content::RECOGNISED_BY;
pub use error::InputError;
pub use folder::paths;
pub use growing::Growing;
pub use map::{Bytes, Mapping};
pub use reading::{Reading, State};
pub use watch::Advance;

use content::{Content, Faulty, open, stream};
use folder::Members;
use incoming::Incoming;
use watch::{Watch, Watching};

use crate::compressed;
use crate::compressed::reader::Decompressor;
use crate::format::{self, Confidence, FORMATS, Format, TraceFile};
use crate::model::{
    Batch, Diagnostics, Event, Fact, Flow, IntoFlow, Rate, Severity, Sink, Stop, Trace,
};
use crate::select::Selection;
use crate::text::{counted, shown_path};

/// An opened input whose format is known.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    content: Content,
    format: &'static Format,
    settings: Settings,
    remarks: Diagnostics,
    /// The facts from [`Format::note`]. They replace the facts that the decoder reads.
    facts: Vec<Fact>,
    /// The files that were joined, each with its offset in the content.
    parts: Vec<(u64, String)>,
    selection: Selection,
    watch: Option<Watch>,
    notes_ids: bool,
    /// The files of a trace in a folder.
    members: Members,
}

/// A hint counts at most this number of files of other processors.
const MAX_PARTS: usize = 1024;

impl Input {
    /// Opens a file, or standard input for `-`, and recognises its format.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use tracewell::input::{Input, InputError, Settings};
    ///
    /// let error = Input::open(Path::new("no such file"), Settings::default()).unwrap_err();
    /// assert!(matches!(error, InputError::Io { .. }));
    /// ```
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or read, if no known format is recognised, or
    /// if the settings name a format that does not exist.
    pub fn open(path: &Path, mut settings: Settings) -> Result<Self, InputError> {
        if let Some(found) = folder::find(path, &settings)? {
            return Self::open_folder(path, &found, settings);
        }
        // Check this first: the writer may end before the bytes are read.
        settings.is_growing |= is_locked(path);
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
        // Each format may add a note about these bytes, even if another format decodes them.
        for format in FORMATS {
            let Some(note) = (format.note)(input.content.start()) else { continue };
            input.remarks.add(Severity::Note, None, note.message);
            input.facts.extend(note.fact.filter(|_| format.name == input.format.name));
        }
        if let Some(length) = input.size() {
            sidecars(path, length, &mut input.remarks);
        }
        if input.format.joins {
            other_parts(path, &mut input.remarks);
        }
        Ok(input)
    }

    /// Opens bytes in memory. Messages show `name` in place of a path.
    ///
    /// ```
    /// use tracewell::input::{Input, Settings};
    ///
    /// let error = Input::from_bytes("memory", b"12345678".to_vec(), Settings::default());
    /// assert!(error.unwrap_err().to_string().starts_with("memory: at byte 0: expected one of"));
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Input::open`], except errors of opening or reading a file.
    pub fn from_bytes(name: &str, bytes: Vec<u8>, settings: Settings) -> Result<Self, InputError> {
        Self::recognise(name.into(), Content::Whole(Bytes::Owned(bytes)), settings)
    }

    fn recognise(path: PathBuf, content: Content, settings: Settings) -> Result<Self, InputError> {
        let mut remarks = Diagnostics::default();
        let (content, found) = plain(&path, content, &mut remarks)?;
        Self::of_format(path, content, found, settings, remarks)
    }

    /// Creates an input of the format that the settings name. If they name none, `found` is the
    /// format.
    fn of_format(
        path: PathBuf,
        content: Content,
        found: Option<Found>,
        settings: Settings,
        remarks: Diagnostics,
    ) -> Result<Self, InputError> {
        let start = content.start();
        let format = match &settings.format {
            Some(name) => {
                format::by_name(name).ok_or_else(|| InputError::NoSuchFormat(name.clone()))?
            }
            None => {
                if found.is_none_or(|(_, confidence)| confidence < Confidence::Certain)
                    && let Some((compression, command)) = compressed::other(start)
                {
                    return Err(InputError::Compressed { path, compression, command });
                }
                let unrecognised =
                    || InputError::unrecognised(&path, start, &remarks, &settings.options);
                found.map(|(format, _)| format).ok_or_else(unrecognised)?
            }
        };
        let selection = Selection::default();
        Ok(Self {
            path,
            content,
            format,
            settings,
            remarks,
            facts: Vec::new(),
            parts: Vec::new(),
            selection,
            watch: None,
            notes_ids: false,
            members: Members::default(),
        })
    }

    /// Sets the rate of the trace's clock, for formats that do not record it.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
    /// let mut input = tracewell::open(path)?.rate("80MHz".parse()?);
    /// let trace = input.for_each(|_| ())?;
    /// assert_eq!(trace.clock.nanoseconds(80), Some(1000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn rate(self, rate: Rate) -> Self {
        self.option("rate", rate.to_string())
    }

    /// Sets an option of the format; [`Format::options`] lists them. A wrong name or value is an
    /// error when the input is read.
    #[must_use]
    pub fn option(mut self, key: &str, value: impl Into<String>) -> Self {
        self.settings.options.set(key, value);
        self
    }

    /// Sets the number of threads that may decode and format events. The default is 0, which means
    /// one per processor. The output does not depend on the number.
    ///
    /// ```
    /// use tracewell::report::{Report, ReportOptions};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
    /// let mut report = Report::new(Vec::new(), ReportOptions::default());
    /// let mut input = tracewell::open(path)?;
    /// input.set_threads(2);
    /// input.read(&mut report)?;
    /// # Ok::<(), tracewell::input::InputError>(())
    /// ```
    pub fn set_threads(&mut self, threads: usize) {
        self.settings.threads = threads;
    }

    /// Announces that the sink will stop after this number of events; see
    /// [`Settings::only_first`]. `None`, the default, means that the sink wants all events.
    pub fn set_only_first(&mut self, events: Option<usize>) {
        self.settings.only_first = events;
    }

    /// Calls `work` for each event and returns the trace that describes the events.
    ///
    /// `work` returns nothing, a [`Flow`] to stop early, or a `Result`.
    ///
    /// ```
    /// use std::ops::ControlFlow::{Break, Continue};
    ///
    /// use tracewell::model::Stop;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
    /// let mut first = None;
    /// tracewell::open(path)?.for_each(|event| {
    ///     if event.context_name() != "low" {
    ///         return Continue(());
    ///     }
    ///     first = Some(event.ticks());
    ///     Break(Stop::Complete)
    /// })?;
    /// assert!(first.is_some());
    /// # Ok::<(), tracewell::input::InputError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Input::read`], and an error if `work` fails.
    pub fn for_each<R: IntoFlow>(
        &mut self,
        work: impl FnMut(Event<'_>) -> R,
    ) -> Result<Trace, InputError> {
        self.read(&mut ForEach(work))
    }

    /// Returns the path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the files of the trace, if it consists of several files in a folder.
    pub fn files(&self) -> &[TraceFile] {
        &self.settings.files
    }

    /// Returns the format that the settings name, or the detected format if the settings name none.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Returns the size in bytes, or `None` for a stream or a compressed file, whose size is not
    /// known before its end.
    pub fn size(&self) -> Option<u64> {
        match &self.content {
            Content::Whole(bytes) => Some(self.members.size().unwrap_or(bytes.len() as u64)),
            Content::Stream { .. } | Content::Compressed { .. } => None,
        }
    }

    /// Calls `watch` after each batch of events that is read, for example to show progress. The
    /// counts in [`Advance`] start at 0 each time the input is read.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
    /// let events = Arc::new(AtomicU64::new(0));
    /// let seen = Arc::clone(&events);
    /// let mut input = tracewell::open(path)?;
    /// input.watch(move |advance| seen.store(advance.events, Ordering::Relaxed));
    /// input.for_each(|_| ())?;
    /// assert_eq!(events.load(Ordering::Relaxed), 197);
    /// # Ok::<(), tracewell::input::InputError>(())
    /// ```
    pub fn watch(&mut self, watch: impl FnMut(Advance) + Send + 'static) {
        self.watch = Some(Watch(Box::new(watch)));
    }

    /// Returns true if the input is a stream. A stream may send bytes for a long time. It can be
    /// read only once, unless [`Input::load`] was called.
    pub fn is_stream(&self) -> bool {
        matches!(self.content, Content::Stream { .. })
    }

    /// Ends a stream when the flag is set, as if no more bytes followed. Files are always read to
    /// their end.
    pub fn end_with(&mut self, flag: Arc<AtomicBool>) {
        if let Content::Stream { rest, .. } = &mut self.content {
            rest.end_with(flag);
        }
    }

    /// Reads a stream into memory, so that it can be decoded more than once.
    ///
    /// # Errors
    /// Returns an error if reading fails.
    pub fn load(&mut self) -> Result<(), InputError> {
        let Content::Stream { start, rest } = &mut self.content else { return Ok(()) };
        // If compressed data is damaged, the bytes end before the damage, and the trace gets a
        // remark about the damage.
        let mut bytes = std::mem::take(start);
        rest.read_to_end(&mut bytes).map_err(|source| InputError::io(&self.path, source))?;
        for fault in rest.faults() {
            self.remarks.add(Severity::Damage, bytes.len() as u64, fault.to_string());
        }
        self.content = Content::Whole(Bytes::Owned(bytes));
        Ok(())
    }

    /// Reads all events into a sink, or only the selected events if [`Input::select`] was called.
    /// Finishes the sink, and returns the trace that describes the events. A file can be read
    /// again. A stream can be read only once, unless [`Input::load`] was called.
    ///
    /// # Errors
    /// Returns an error if reading fails, if the input does not have the format, if the sink fails,
    /// or if the trace lacks data that the selection needs. Damage is not an error: the trace lists
    /// it as losses and diagnostics.
    pub fn read(&mut self, sink: &mut dyn Sink) -> Result<Trace, InputError> {
        if self.selection.is_all() { self.read_all(sink) } else { self.read_selected(sink, false) }
    }

    /// Reads all events into a sink, and reports them to the watch.
    fn read_all(&mut self, sink: &mut dyn Sink) -> Result<Trace, InputError> {
        // Remove the watch from the input during the call, because `read_whole` borrows the whole
        // input.
        let Some(mut watch) = self.watch.take() else { return self.read_whole(sink) };
        let trace = self.read_whole(&mut Watching { sink, watch: &mut watch, bytes: 0 });
        self.watch = Some(watch);
        trace
    }

    fn read_whole(&mut self, sink: &mut dyn Sink) -> Result<Trace, InputError> {
        let mut reading = Reading::begin(self.format, &self.settings)?;
        reading.set_parts(self.parts.clone());
        if self.notes_ids {
            reading.note_ids();
        }
        let state = match &mut self.content {
            Content::Whole(bytes) => {
                let decoded = reading.whole(bytes, sink);
                // Check for a truncated file first: the missing bytes are read as zeros, which may
                // be the true cause of an error in `decoded`.
                if let Some(length) = bytes.is_cut() {
                    return Err(InputError::cut(&self.path, bytes.len() as u64, length));
                }
                self.members.check()?;
                decoded.map_err(|error| InputError::read(&self.path, error))?
            }
            Content::Stream { start, rest } => {
                read_stream(&mut reading, &std::mem::take(start), rest, sink, &self.path)?
            }
            Content::Compressed { compression, file, .. } => {
                let mut stream = Decompressor::new(*compression, &**file);
                let state = read_stream(&mut reading, &[], &mut stream, sink, &self.path);
                if let Some(length) = file.is_cut() {
                    return Err(InputError::cut(&self.path, file.len() as u64, length));
                }
                state?
            }
        };
        // It is not an error if a sink stopped because it needs no more events.
        if let State::Stopped(Stop::Failed(error)) = state {
            return Err(InputError::Sink(*error));
        }
        let mut trace = reading.into_trace();
        // Remarks about the whole input precede remarks about its bytes.
        trace.diagnostics.prepend(&self.remarks);
        self.facts.iter().for_each(|fact| trace.replace_fact(*fact));
        sink.finish(&trace).map_err(InputError::Sink)?;
        Ok(trace)
    }
}

/// A recognised format.
type Found = (&'static Format, Confidence);

/// Decompresses the content, and decodes a text that encodes a memory image. Also returns the
/// format of the resulting bytes if it is recognised.
fn plain(
    path: &Path,
    content: Content,
    remarks: &mut Diagnostics,
) -> Result<(Content, Option<Found>), InputError> {
    let content = decompressed::decompressed(path, content, remarks)?;
    // A file that begins with a known binary format is never treated as text.
    let found = format::most_confident(content.start());
    if found.is_some() {
        return Ok((content, found));
    }
    let content = text::decoded(path, content, remarks)?;
    let found = format::most_confident(content.start());
    Ok((content, found))
}

/// Calls a closure for each event.
struct ForEach<W>(W);

impl<R: IntoFlow, W: FnMut(Event<'_>) -> R> Sink for ForEach<W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        batch.events().try_for_each(|row| (self.0)(Event::new(trace, &row)).into_flow())
    }
}

/// Reads a stream to its end, or until the decoder or the sink needs no more.
fn read_stream(
    reading: &mut Reading,
    start: &[u8],
    stream: &mut impl Faulty,
    sink: &mut dyn Sink,
    path: &Path,
) -> Result<State, InputError> {
    reading.window().append(start);
    let mut state = reading.show(sink, false);
    loop {
        // Bytes that were decompressed before a fault are decoded first, so their events precede
        // the report of the fault.
        let faults = stream.faults();
        let found = state.map_err(|error| InputError::unreadable(path, error, &faults))?;
        for fault in &faults {
            if !matches!(found, State::Stopped(_))
                && let Flow::Break(stop) = reading.fault(fault, sink)
            {
                return Ok(State::Stopped(stop));
            }
        }
        let State::Wanting = found else { return Ok(found) };
        let more = reading.window().append_from(stream);
        let more = more.map_err(|source| InputError::io(path, source))?;
        state = reading.show(sink, !more);
    }
}

/// Returns true if another process holds the lock of a regular file. `tracewell record` holds the
/// lock of a log as long as it writes the log.
fn is_locked(path: &Path) -> bool {
    // Opening a pipe would wait for its writer.
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    let file = is_file.then(|| File::open(path).ok()).flatten();
    file.is_some_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Adds a hint if other parts of the run are in the folder of this file. AIX's trace daemon writes
/// a file for each processor, with the names `trace`, `trace-0`, `trace-1` and so on.
fn other_parts(path: &Path, diagnostics: &mut Diagnostics) {
    let part = |number: usize| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    };
    // The daemon numbers the files without gaps.
    let parts: Vec<_> = (0..MAX_PARTS).map(part).take_while(|part| part.is_file()).collect();
    if let Some(first) = parts.first() {
        let (first, count) = (shown_path(first), parts.len());
        let others = counted(count as u64, "file");
        let message = format!(
            "not read: {others} of other processors, from {first} on; --join (trcrpt: -m) with all files \
             reads them"
        );
        diagnostics.add(Severity::Hint, None, message);
    }
}

/// Adds the data of a trace's sidecars; the trace has `length` bytes. Most traces have no sidecar.
/// A sidecar that exists and cannot be read causes a warning.
fn sidecars(path: &Path, length: u64, diagnostics: &mut Diagnostics) {
    for sidecar in FORMATS.iter().filter_map(|format| format.sidecar) {
        let mut name = path.as_os_str().to_owned();
        name.push(sidecar.suffix);
        let path = Path::new(&name);
        match sidecar_bytes(path) {
            Ok(Some(content)) => (sidecar.describe)(&content, path, length, diagnostics),
            Ok(None) => {}
            Err(error) => {
                let message = format!("cannot read {}: {error}", shown_path(path));
                diagnostics.add(Severity::Warning, None, message);
            }
        }
    }
}

/// Maps a sidecar file. Returns `None` if this file does not exist, or if its name would be too
/// long.
fn sidecar_bytes(path: &Path) -> io::Result<Option<Bytes>> {
    let absent = [io::ErrorKind::NotFound, io::ErrorKind::InvalidFilename];
    match path.metadata() {
        Err(error) if absent.contains(&error.kind()) => Ok(None),
        Err(error) => Err(error),
        // Do not open a pipe, because that would wait for its writer.
        Ok(data) if !data.is_file() => Err(io::Error::other("expected a regular file")),
        Ok(_) => File::open(path).and_then(Bytes::map).map(Some),
    }
}
