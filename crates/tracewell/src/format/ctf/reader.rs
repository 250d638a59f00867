//! Reads all streams of a trace in order of time.
//!
//! An element is an event or a gap. Elements of equal time are in the order of their streams.
//! Streams are in the order of their first files.

use std::collections::BTreeMap;

use super::clocks::{Common, Timing};
use super::folder::METADATA;
use super::layout::{Layout, Programs};
use super::merge::Merge;
use super::metadata;
use super::packets;
use super::program::{NO_VALUE, State};
use super::stream::{Next, Part, Stream};
use crate::format::{ReadError, TraceFile};

/// The streams of a trace, with their layouts.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) layouts: Vec<Layout>,
    pub(super) streams: Vec<Stream<'a>>,
    pub(super) common: Common,
    timings: Vec<Vec<Timing>>,
    merge: Merge,
    /// Warnings about the metadata, each with the index of the file and the message.
    pub(super) warnings: Vec<(usize, String)>,
}

/// The identity of a stream. Files with the same key are parts of one stream.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum StreamKey {
    /// The UUID of the trace, and the ids of the stream class and of the stream.
    Numbered([u8; 16], u64, u64),
    /// The file is a stream of its own.
    File(usize),
}

impl<'a> Reader<'a> {
    /// Reads all metadata files, and the first packet of each other file. A stream file belongs to
    /// the last metadata file before it. Events have these programs.
    ///
    /// # Errors
    /// Returns an error if metadata cannot be read.
    pub(super) fn new(files: &'a [TraceFile], programs: Programs) -> Result<Self, ReadError> {
        let (mut layouts, mut warnings) = (Vec::new(), Vec::new());
        let mut streams: BTreeMap<StreamKey, Vec<(Option<u64>, Part<'a>)>> = BTreeMap::new();
        let mut order = BTreeMap::new();
        for (index, file) in files.iter().enumerate() {
            if file.name() == METADATA {
                layouts.push(read_layout(file, index, programs, &mut warnings)?);
                continue;
            }
            let Some(layout) = layouts.last() else { continue };
            let part = Part { file: index, bytes: file.bytes(), layout: layouts.len() - 1 };
            if part.bytes.is_empty() {
                continue;
            }
            let mut state = state(layout);
            let packet = packets::read(layout, part.bytes, 0, &mut state).ok();
            let key = packet.and_then(|packet| {
                let instance = packet.numbers.instance?;
                let class = packet.numbers.class.unwrap_or(0);
                Some(StreamKey::Numbered(layout.metadata.uuid?, class, instance))
            });
            let key = key.unwrap_or(StreamKey::File(index));
            order.entry(key.clone()).or_insert(index);
            let begin = packet.and_then(|packet| packet.numbers.begin);
            streams.entry(key).or_default().push((begin, part));
        }
        let mut streams: Vec<_> = streams.into_iter().collect();
        streams.sort_by_key(|(key, _)| order.get(key).copied());
        let streams = streams.into_iter().map(|(_, mut parts)| {
            // Files come first if their first packet has no time. These are in the order of
            // `files`.
            parts.sort_by_key(|(begin, part)| (*begin, part.file));
            Stream::new(parts.into_iter().map(|(_, part)| part).collect())
        });
        let streams = streams.collect();
        let common = Common::new(used_clocks(&layouts));
        let timings = layouts.iter().map(|layout| {
            let metadata = &layout.metadata;
            let of = |clock: Option<usize>| clock.and_then(|clock| metadata.clocks.get(clock));
            let classes = metadata.streams.iter().map(|class| of(class.clock));
            classes
                .map(|clock| clock.map_or(Timing::default(), |clock| common.timing(clock)))
                .collect()
        });
        let timings = timings.collect();
        let merge = Merge::default();
        let mut reader = Self { layouts, streams, common, timings, merge, warnings };
        for index in 0..reader.streams.len() {
            if let Some(stamp) = reader.read(index) {
                reader.merge.add(stamp, index);
            }
        }
        Ok(reader)
    }

    /// Returns the index of the stream with the earliest element. The caller takes the element,
    /// then calls [`Reader::advance`].
    #[inline]
    pub(super) fn earliest(&self) -> Option<usize> {
        self.merge.first()
    }

    /// Reads the next element of the stream with the earliest element.
    #[inline]
    pub(super) fn advance(&mut self) {
        if let Some(index) = self.merge.first() {
            let stamp = self.read(index);
            self.merge.replace_first(stamp);
        }
    }

    #[inline]
    fn read(&mut self, index: usize) -> Option<u64> {
        let Self { layouts, streams, timings, .. } = self;
        let stream = streams.get_mut(index)?;
        stream.advance(layouts, |layout, class| {
            timings.get(layout).and_then(|classes| classes.get(class)).copied().unwrap_or_default()
        });
        (stream.next != Next::End).then(|| stream.stamp())
    }
}

/// Returns the state before the first packet of a stream.
pub(super) fn state(layout: &Layout) -> State {
    State { registers: vec![NO_VALUE; layout.registers], ..State::default() }
}

/// Returns the clocks that stream classes use.
fn used_clocks(layouts: &[Layout]) -> impl Iterator<Item = &super::classes::Clock> + Clone {
    layouts.iter().flat_map(|layout| {
        let clocks = layout.metadata.streams.iter().filter_map(|class| class.clock);
        clocks.filter_map(|clock| layout.metadata.clocks.get(clock))
    })
}

fn read_layout(
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
