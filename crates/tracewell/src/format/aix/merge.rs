//! Merges several files of one trace by time, then by processor, then by the order of the files.
//! The times of all files are ticks of the first file's clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::clock::Scale;
use super::contents::{Content, Taken, take};
use super::frames::Frames;
use super::stamps::Stamps;

/// The content of a file at one position.
#[derive(Debug)]
pub(super) struct Located<'a> {
    /// Offset of its first byte in the input.
    pub(super) offset: usize,
    pub(super) content: Content<'a>,
}

/// One file of the input.
#[derive(Debug)]
pub(super) struct Part<'a> {
    frames: Frames<'a>,
    /// Offset of the file's frames in the input.
    offset: usize,
    stamps: Stamps,
    /// Converts ticks of the file to ticks of the first file; `None` if the clocks have the same
    /// rate.
    scale: Option<Scale>,
    next: Option<Located<'a>>,
}

impl<'a> Part<'a> {
    pub(super) fn new(
        frames: Frames<'a>,
        offset: usize,
        stamps: Stamps,
        scale: Option<Scale>,
    ) -> Self {
        let mut part = Self { frames, offset, stamps, scale, next: None };
        part.advance();
        part
    }

    fn advance(&mut self) {
        let offset = self.offset + self.frames.at;
        self.next = match take(&mut self.frames, &mut self.stamps) {
            Taken::Content(mut content) => {
                self.convert(&mut content);
                Some(Located { offset, content })
            }
            // Merging begins when the whole file is available.
            Taken::Wanted(_) | Taken::End => None,
        };
    }

    /// Converts the timestamp of an entry to the clock of the merged trace. Copies of the frame
    /// contain the converted timestamp, because the frames of one file must have the same clock.
    fn convert(&self, content: &mut Content<'a>) {
        if let Content::Entry { head, tick, .. } = content {
            *tick = self.scale.map_or(*tick, |scale| scale.apply(*tick));
            head.tick = *tick;
        }
    }

    /// Returns the time of the next entry, and its processor. For a loss, returns zeros, so that
    /// the merge delivers the loss next. The time of a loss is unknown, but everything before it in
    /// its file has been delivered.
    fn key(&self) -> Option<(u64, u16)> {
        Some(match &self.next.as_ref()?.content {
            Content::Entry { head, tick, .. } => (*tick, head.cpu),
            Content::Loss(..) => (0, 0),
        })
    }
}

/// The contents of several files, merged by time.
#[derive(Debug)]
pub(super) struct Merge<'a> {
    parts: Vec<Part<'a>>,
    order: BinaryHeap<Reverse<((u64, u16), usize)>>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(parts: Vec<Part<'a>>) -> Self {
        let keys = parts.iter().enumerate();
        let order =
            keys.filter_map(|(number, part)| Some(Reverse((part.key()?, number)))).collect();
        Self { parts, order }
    }
}

impl<'a> Iterator for Merge<'a> {
    type Item = Located<'a>;

    fn next(&mut self) -> Option<Located<'a>> {
        let Reverse((_, number)) = self.order.pop()?;
        let part = self.parts.get_mut(number)?;
        let next = part.next.take();
        part.advance();
        if let Some(key) = part.key() {
            self.order.push(Reverse((key, number)));
        }
        next
    }
}
