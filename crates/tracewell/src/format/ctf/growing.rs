//! Decodes a trace whose files grow. It keeps the state of decoding between two readings of the
//! files.
//!
//! | what grows | what happens |
//! |---|---|
//! | a stream file | reading continues at the next packet, once it is complete |
//! | the folder: a new file or a new chunk | each new file continues or begins a stream |
//! | the metadata | it is compiled again; the decoder can then read further events |
//!
//! Streams are merged by time. So an event waits until every stream has reached the time of the
//! event. With the option `wait`, no event waits longer than the given time. If events are earlier
//! than events that were already delivered, the decoder increases their times.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use super::clocks::Common;
use super::decoding::{Decoding, PacketArguments, Rows, describe, warn};
use super::events::Maker;
use super::folder::METADATA;
use super::index;
use super::layout::{Layout, Programs};
use super::reader::{self, CurrentFile, Reader, StreamKey};
use super::stream::{Growing, Part, Stream};
use super::who::Threads;
use crate::format::{Progress, ReadError, TraceFile};
use crate::model::{Emitter, Processor, Trace};

/// The state of the decoder between two readings of a trace's files.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Maximum time for which an event waits for other streams, in nanoseconds. `None` without a
    /// limit.
    wait: Option<u64>,
    /// All layouts so far. The index of a layout never changes.
    layouts: Vec<Layout>,
    /// The metadata file of each layout, and the warnings about it.
    metadata: Vec<(TraceFile, Vec<String>)>,
    common: Option<Common>,
    streams: Vec<KeptStream>,
    /// The stamp of the last delivered event; 0 if the waiting time has no limit.
    delivered: u64,
    maker: Maker,
    threads: Threads,
    rest: Vec<u8>,
}

/// A stream between two readings. It does not refer to the bytes of its files.
#[derive(Debug)]
struct KeptStream {
    key: StreamKey,
    current: CurrentFile,
    stream: Stream<'static>,
    context: PacketArguments,
}

impl Kept {
    pub(super) fn new(wait: Option<u64>) -> Self {
        Self { wait, ..Self::default() }
    }

    /// Reads the new content of the files since the previous reading. If `last` is true, the files
    /// do not grow any more.
    ///
    /// # Errors
    /// Returns an error if metadata cannot be read.
    pub(super) fn read(
        &mut self,
        files: &[TraceFile],
        last: bool,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        let of_files = self.read_layouts(files, last)?;
        let more = Progress::More { consumed: 0, wanted: 1 };
        if self.layouts.is_empty() || (!last && self.waits_for_first_packets(files, &of_files)) {
            return Ok(more);
        }
        if self.common.is_none() {
            let common = Common::new(reader::used_clocks(&self.layouts));
            describe(&common, &self.layouts, out.trace);
            self.common = Some(common);
        }
        self.maker.define(&mut self.layouts, Arc::make_mut(&mut out.trace.schema));
        if out.trace.schema.shows_switches() {
            out.trace.processor = Processor::Switches;
        }
        if last {
            for (file, warnings) in &self.metadata {
                warnings.iter().for_each(|warning| warn(Some(file), warning, out.trace));
            }
        }
        let mut decoding = self.resume(files, &of_files, last);
        let flow = decoding.all(out);
        self.pause(decoding, out.trace);
        Ok(if last || flow.is_break() { Progress::Done } else { more })
    }

    /// Reads metadata files that are new or that have grown. For each file, returns the index of
    /// its layout.
    fn read_layouts(
        &mut self,
        files: &[TraceFile],
        last: bool,
    ) -> Result<Vec<Option<usize>>, ReadError> {
        let is_metadata = |file: &&TraceFile| file.name() == METADATA && !file.bytes().is_empty();
        let present: Vec<_> = files.iter().filter(is_metadata).collect();
        let (mut of_files, mut current) = (Vec::new(), None);
        for (index, file) in files.iter().enumerate() {
            if file.name() == METADATA {
                // Recorders write the metadata late. At the end, empty metadata is an error if
                // there is no other metadata.
                let is_missing = file.bytes().is_empty() && !(last && present.is_empty());
                current = match is_missing {
                    true => None,
                    false => Some(self.layout_of(file, index, &present)?),
                };
            }
            of_files.push(current);
        }
        Ok(of_files)
    }

    /// Returns the index of the layout of a metadata file. Compiles the layout if the file is new
    /// or has grown. `present` contains all metadata files.
    fn layout_of(
        &mut self,
        file: &TraceFile,
        index: usize,
        present: &[&TraceFile],
    ) -> Result<usize, ReadError> {
        let known = self.metadata.iter();
        if let Some(known) = known.clone().position(|(known, _)| known.bytes() == file.bytes()) {
            return Ok(known);
        }
        let is_gone = |known: &TraceFile| present.iter().all(|file| file.bytes() != known.bytes());
        let grown = known
            .clone()
            .position(|(known, _)| file.bytes().starts_with(known.bytes()) && is_gone(known));
        let mut warnings = Vec::new();
        let layout = reader::read_layout(file, index, Programs::One, &mut warnings)?;
        let warnings = warnings.into_iter().map(|(_, warning)| warning).collect();
        let metadata = (file.clone(), warnings);
        if let Some(grown) = grown {
            self.layouts[grown] = layout;
            self.metadata[grown] = metadata;
            return Ok(grown);
        }
        self.layouts.push(layout);
        self.metadata.push(metadata);
        Ok(self.layouts.len() - 1)
    }

    /// Returns true if a file of a new stream is empty or has no metadata, and the waiting time has
    /// no limit. The first event of such a file can be earlier than all events that were read.
    fn waits_for_first_packets(&self, files: &[TraceFile], of_files: &[Option<usize>]) -> bool {
        let known = |path: &Path| {
            self.streams.iter().any(|kept| ending(&kept.current.path) == ending(path))
        };
        let mut files = files
            .iter()
            .zip(of_files)
            .filter(|(file, _)| file.name() != METADATA && !index::is_index(file.path()));
        self.wait.is_none()
            && files.any(|(file, layout)| {
                (file.bytes().is_empty() || layout.is_none()) && !known(file.path())
            })
    }

    /// Continues the streams that the present files contain, and begins new streams.
    fn resume<'a>(
        &mut self,
        files: &'a [TraceFile],
        of_files: &[Option<usize>],
        last: bool,
    ) -> Decoding<'a> {
        let growing = Growing { grows: !last, delivered: self.delivered, assumed: 0 };
        let parts = reader::parts(files, &self.layouts, of_files);
        let order: Vec<_> = parts.iter().map(|(key, _)| key.clone()).collect();
        let mut parts: HashMap<StreamKey, Vec<Part<'a>>> = parts.into_iter().collect();
        let (mut streams, mut keys, mut contexts) = (Vec::new(), Vec::new(), Vec::new());
        for kept in self.streams.drain(..) {
            let KeptStream { key, current, mut stream, context } = kept;
            let begin = current.begin;
            let parts = parts.remove(&key).unwrap_or_default();
            let is_same = |part: &Part<'_>| {
                let is_path = files.get(part.file).is_some_and(|file| file.path() == current.path);
                part.begin == begin && (begin.is_some() || is_path)
            };
            let part = parts.iter().position(is_same).unwrap_or_else(|| {
                stream.leave_file();
                parts.iter().position(|part| part.begin > begin).unwrap_or(parts.len())
            });
            streams.push(stream.onto(parts, part, growing));
            keys.push((key, current));
            contexts.push(context);
        }
        for key in order {
            let Some(parts) = parts.remove(&key) else { continue };
            streams.push(Stream::new(parts).of_growing_files(growing));
            keys.push((key, CurrentFile::default()));
            contexts.push(PacketArguments::default());
        }
        let common = self.common.clone().unwrap_or_else(|| Common::new([].iter()));
        if let (Some(wait), false) = (self.wait, last) {
            let timings = reader::timings(&self.layouts, &common);
            let timing = |layout, class| reader::timing(&timings, layout, class);
            let newest = streams.iter().map(|stream| stream.newest(&self.layouts, timing)).max();
            let assumed = newest.unwrap_or(0).saturating_sub(common.cycles(wait));
            for stream in &mut streams {
                stream.assume(assumed);
            }
        }
        let layouts = std::mem::take(&mut self.layouts);
        Decoding {
            reader: Reader::begin(layouts, streams, common, Vec::new()),
            files,
            rows: Rows {
                threads: std::mem::take(&mut self.threads),
                contexts,
                rest: std::mem::take(&mut self.rest),
            },
            keys,
        }
    }

    /// Keeps the state after a reading.
    fn pause(&mut self, decoding: Decoding<'_>, trace: &Trace) {
        let Decoding { reader, files, rows, keys } = decoding;
        let Rows { threads, contexts, rest } = rows;
        // If the waiting time has no limit, no event can be late.
        if self.wait.is_some() {
            self.delivered = trace.clock.first_stamp.saturating_add(trace.span);
        }
        let streams = reader.streams.into_iter().zip(keys).zip(contexts);
        let kept = streams.filter(|((stream, _), _)| stream.has_begun());
        let kept = kept.map(|((stream, (key, current)), context)| {
            // While a slow rotation moves the current file, `files` does not contain this file. An
            // earlier file must not become the current one, because its events would be delivered
            // again.
            let current = match stream.present_part() {
                Some(part) => {
                    let path = files.get(part.file).map_or(Path::new(""), TraceFile::path);
                    CurrentFile { path: path.to_owned(), begin: part.begin }
                }
                None => current,
            };
            let stream = stream.detached();
            KeptStream { key, current, stream, context }
        });
        self.streams = kept.collect();
        self.layouts = reader.layouts;
        (self.threads, self.rest) = (threads, rest);
    }
}

/// Returns the name of a file and the name of its folder. The file that continues a stream after a
/// rotation has the same names.
fn ending(path: &Path) -> (Option<OsString>, Option<OsString>) {
    let name = |path: Option<&Path>| path.and_then(Path::file_name).map(ToOwned::to_owned);
    (name(Some(path)), name(path.parent()))
}
