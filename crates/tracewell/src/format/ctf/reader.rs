//! Reads all streams of a trace in order of time.
//!
//! An element is an event or a gap. Elements with equal times are in the order of their streams.
//! Streams are in the order of their first files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::clocks::{Common, Timing};
use super::folder::METADATA;
use super::index::{self, Index};
use super::layout::{Layout, Programs};
use super::merge::Merge;
use super::metadata;
use super::packets::{self, Packet};
use super::program::{NO_VALUE, State};
use super::stream::{Next, Part, Stream};
use crate::format::{ReadError, TraceFile};

/// The streams of a trace, with their layouts.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) layouts: Vec<Layout>,
    pub(super) streams: Vec<Stream<'a>>,
    pub(super) common: Common,
    pub(super) timings: Vec<Vec<Timing>>,
    pub(super) merge: Merge,
    /// Warnings about the metadata, each with the index of the file and the message.
    pub(super) warnings: Vec<(usize, String)>,
}

/// The identity of a stream. Files with the same key are parts of one stream.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum StreamKey {
    /// The UUID of the trace, and the ids of the stream class and of the stream.
    Numbered([u8; 16], u64, u64),
    /// The file is a stream of its own.
    File(PathBuf),
}

/// The file that a stream had reached at the end of a reading. The next reading continues there.
#[derive(Clone, Debug, Default)]
pub(super) struct CurrentFile {
    pub(super) path: PathBuf,
    /// The value of the clock at the beginning of the file.
    pub(super) begin: Option<u64>,
}

/// A stream and its files, in order of time.
pub(super) type Parts<'a> = (StreamKey, Vec<Part<'a>>);

impl<'a> Reader<'a> {
    /// Reads all metadata files, and the first packet of each other file. A stream file belongs to
    /// the last metadata file before it. `programs` selects the programs of events.
    ///
    /// # Errors
    /// Returns an error if metadata cannot be read.
    pub(super) fn new(files: &'a [TraceFile], programs: Programs) -> Result<Self, ReadError> {
        let (mut layouts, mut warnings, mut of_files) = (Vec::new(), Vec::new(), Vec::new());
        for (index, file) in files.iter().enumerate() {
            if file.name() == METADATA {
                layouts.push(read_layout(file, index, programs, &mut warnings)?);
            }
            of_files.push(layouts.len().checked_sub(1));
        }
        let parts = parts(files, &layouts, &of_files);
        let streams = parts.into_iter().map(|(_, parts)| Stream::new(parts)).collect();
        let common = Common::new(used_clocks(&layouts));
        Ok(Self::begin(layouts, streams, common, warnings))
    }

    /// Begins to read streams, or continues with them.
    pub(super) fn begin(
        layouts: Vec<Layout>,
        streams: Vec<Stream<'a>>,
        common: Common,
        warnings: Vec<(usize, String)>,
    ) -> Self {
        let timings = timings(&layouts, &common);
        let merge = Merge::default();
        let mut reader = Self { layouts, streams, common, timings, merge, warnings };
        let Self { layouts, streams, timings, .. } = &mut reader;
        let stamps = streams.iter_mut().map(|stream| match stream.next {
            Next::Event | Next::Gap | Next::Stop => Some(stream.stamp()),
            Next::Wait | Next::End => next_stamp(stream, layouts, timings),
        });
        reader.merge = Merge::new(stamps);
        reader
    }

    /// Returns the index of the stream with the earliest element. The caller takes the element,
    /// then calls [`Reader::advance`].
    pub(super) fn earliest(&self) -> Option<usize> {
        self.merge.first().map(|(index, _)| index)
    }

    /// Reads the next element of the stream with the earliest element.
    pub(super) fn advance(&mut self) {
        let Self { layouts, streams, timings, merge, .. } = self;
        let first = merge.first().and_then(|(index, _)| streams.get_mut(index));
        let Some(stream) = first else { return };
        merge.replace_first(next_stamp(stream, layouts, timings));
    }
}

/// Reads the next element of a stream. Returns its stamp, or `None` if the stream has ended.
pub(super) fn next_stamp(
    stream: &mut Stream<'_>,
    layouts: &[Layout],
    timings: &[Vec<Timing>],
) -> Option<u64> {
    stream.advance(layouts, |layout, class| timing(timings, layout, class));
    (stream.next != Next::End).then(|| stream.stamp())
}

/// Returns the state before the first packet of a stream.
pub(super) fn state(layout: &Layout) -> State {
    State { registers: vec![NO_VALUE; layout.registers], ..State::default() }
}

/// Finds the streams and their files. The streams are in the order of their first files.
/// `of_files` contains the index of each file's layout.
pub(super) fn parts<'a>(
    files: &'a [TraceFile],
    layouts: &[Layout],
    of_files: &[Option<usize>],
) -> Vec<Parts<'a>> {
    let mut streams: Vec<Parts<'a>> = Vec::new();
    let mut places: HashMap<StreamKey, usize> = HashMap::new();
    let indexes = files.iter().filter(|file| index::is_index(file.path()));
    let indexes: HashMap<&Path, Index<'a>> =
        indexes.filter_map(|file| Some((file.path(), Index::new(file.bytes())?))).collect();
    for ((number, file), layout_index) in files.iter().enumerate().zip(of_files) {
        if index::is_index(file.path()) {
            continue;
        }
        let layout = layout_index.and_then(|index| Some((index, layouts.get(index)?)));
        let Some((layout_index, layout)) = layout else { continue };
        if file.name() == METADATA || file.bytes().is_empty() {
            continue;
        }
        let mut state = state(layout);
        let packet = packets::read(layout, file.bytes(), 0, &mut state).ok();
        let key = packet.and_then(|packet| {
            let instance = packet.numbers.instance?;
            let class = packet.numbers.class.unwrap_or(0);
            Some(StreamKey::Numbered(layout.metadata.uuid?, class, instance))
        });
        let key = key.unwrap_or_else(|| StreamKey::File(file.path().to_owned()));
        let place = *places.entry(key.clone()).or_insert(streams.len());
        if place == streams.len() {
            streams.push((key, Vec::new()));
        }
        let begin = packet.and_then(|packet| packet.numbers.begin);
        let listed = index::path_of(file.path()).and_then(|path| indexes.get(path.as_path()));
        let part = Part {
            file: number,
            bytes: file.bytes(),
            layout: layout_index,
            begin,
            start: 0,
            index: listed.copied(),
        };
        if let Some((newer, older)) = packet.and_then(|first| circular(layout, part, &first)) {
            streams[place].1.extend([newer, older]);
            continue;
        }
        streams[place].1.push(part);
    }
    for (_, parts) in &mut streams {
        // Files whose first packets have no time come first, in the order of `files`.
        parts.sort_by_key(|part| (part.begin, part.file));
    }
    streams
}

/// Splits the copy of a circular memory if the copy begins with newer packets, followed by older
/// ones. Returns the newer and the older part, or `None` if the packets are in order.
fn circular<'a>(
    layout: &Layout,
    part: Part<'a>,
    first: &Packet<'_>,
) -> Option<(Part<'a>, Part<'a>)> {
    let numbers = |packet: &Packet<'_>| Some((packet.numbers.number?.0, packet.numbers.begin?));
    // If a copy begins with packet 0, nothing was overwritten. If there is an index, the packets
    // are in order of time.
    let (number, begin) = numbers(first).filter(|(number, _)| *number > 0)?;
    if part.index.is_some() {
        return None;
    }
    let (mut state, mut at) = (state(layout), first.size);
    loop {
        let rest = part.bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let packet = packets::read(layout, rest, at as u64, &mut state).ok()?;
        let (other, other_begin) = numbers(&packet)?;
        if other < number && other_begin < begin {
            let newer = Part { bytes: part.bytes.get(..at)?, ..part };
            return Some((newer, Part { start: at, begin: Some(other_begin), ..part }));
        }
        at += packet.size;
    }
}

/// Returns the time conversions of each layout's stream classes.
pub(super) fn timings(layouts: &[Layout], common: &Common) -> Vec<Vec<Timing>> {
    let of = |layout: &Layout| {
        let metadata = &layout.metadata;
        let clock = |clock: Option<usize>| clock.and_then(|clock| metadata.clocks.get(clock));
        let clocks = metadata.streams.iter().map(|class| clock(class.clock));
        clocks.map(|clock| clock.map_or(Timing::default(), |clock| common.timing(clock))).collect()
    };
    layouts.iter().map(of).collect()
}

/// Returns the time conversion of a stream class.
#[inline]
pub(super) fn timing(timings: &[Vec<Timing>], layout: usize, class: usize) -> Timing {
    timings.get(layout).and_then(|classes| classes.get(class)).copied().unwrap_or_default()
}

/// Returns the clocks that stream classes use.
pub(super) fn used_clocks(
    layouts: &[Layout],
) -> impl Iterator<Item = &super::classes::Clock> + Clone {
    layouts.iter().flat_map(|layout| {
        let clocks = layout.metadata.streams.iter().filter_map(|class| class.clock);
        clocks.filter_map(|clock| layout.metadata.clocks.get(clock))
    })
}

/// Reads a metadata file and compiles its layout. `index` is the index of the file.
pub(super) fn read_layout(
    file: &TraceFile,
    index: usize,
    programs: Programs,
    warnings: &mut Vec<(usize, String)>,
) -> Result<Layout, ReadError> {
    let error = |offset, message| {
        let message = format!("{}: {message}", file.path().display());
        ReadError { offset, message }
    };
    let parsed = metadata::read(file.bytes());
    let parsed = parsed.map_err(|found| error(found.offset as u64, found.to_string()))?;
    warnings.extend(parsed.warnings.iter().map(|warning| {
        (index, format!("{}:{}: {}", warning.line, warning.column, warning.message))
    }));
    if parsed.further_warnings > 0 {
        let more = format!("{} more warnings about the metadata", parsed.further_warnings);
        warnings.push((index, more));
    }
    let layout = Layout::new(parsed.metadata, programs);
    layout.map_err(|fault| error(0, format!("expected a layout of packets, {fault}")))
}
