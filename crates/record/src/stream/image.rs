//! A stream's memory as a row of atomic words, whoever owns it.
//!
//! All words are atomics, because other threads and other processes store to them at any time. Every
//! index here comes from a geometry whose limits were checked, never from the memory itself.

use core::ops::Range;

use tracewell_wire::native::image::{Geometry, ImageError, ImageHeader, at};
use tracewell_wire::native::{ClockFacts, FullPolicy, PacketHeader};

use super::sync::{AtomicU64, Ordering};

/// The memory of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    words: &'a [AtomicU64],
    geometry: Geometry,
    policy: FullPolicy,
}

impl<'a> Image<'a> {
    /// Prepares zeroed memory; `None` where it is too small or the sizes are beyond their limits.
    ///
    /// The magic is stored last, so that who opens the memory too early finds no image in it.
    pub fn create(words: &'a [AtomicU64], header: &ImageHeader) -> Option<Self> {
        let geometry = header.geometry.checked()?;
        let words = words.get(..geometry.total())?;
        let image = Self { words, geometry, policy: header.policy };
        for (index, word) in header.words().into_iter().enumerate().skip(1) {
            image.word(index).store(word, Ordering::Relaxed);
        }
        image.word(at::GATE).store(u64::MAX >> 1, Ordering::Relaxed);
        // Release: an acquire load of the magic in `open` sees the header.
        image.word(at::MAGIC).store(header.words()[0], Ordering::Release);
        Some(image)
    }

    /// Finds the image that somebody else made; its words may say anything.
    ///
    /// # Errors
    /// Where there is none, or it is larger than the memory.
    pub fn open(words: &'a [AtomicU64]) -> Result<(Self, ImageHeader), ImageError> {
        let mut header = [0; ImageHeader::WORDS];
        // Acquire: pairs with the release store of the magic in `create`.
        let magic = words.first().ok_or(ImageError::NoImage)?.load(Ordering::Acquire);
        for (to, word) in header.iter_mut().zip(words) {
            *to = word.load(Ordering::Relaxed);
        }
        header[0] = magic;
        let header = ImageHeader::of_words(&header)?;
        let words = words.get(..header.geometry.total()).ok_or(ImageError::Word(2))?;
        Ok((Self { words, geometry: header.geometry, policy: header.policy }, header))
    }

    /// An image whose header was judged before.
    #[cfg(all(feature = "std", not(loom)))]
    #[inline]
    pub(super) fn known(words: &'a [AtomicU64], geometry: Geometry, policy: FullPolicy) -> Self {
        Self { words, geometry, policy }
    }

    /// One lane's head and packets without anything else, for models that must stay small.
    #[cfg(all(loom, test))]
    pub(super) fn of_lane(words: &'a [AtomicU64], geometry: Geometry, policy: FullPolicy) -> Self {
        Self { words, geometry, policy }
    }

    /// Where a word lies in the memory.
    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        #[cfg(all(loom, test))]
        let index = match index.checked_sub(self.geometry.data()) {
            Some(index) => index + tracewell_wire::native::image::LANE_WORDS,
            None => index - self.geometry.heads(),
        };
        index
    }

    /// How large its parts are.
    pub const fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// What happens when it is full.
    pub const fn policy(&self) -> FullPolicy {
        self.policy
    }

    /// The clock as the header has it.
    pub fn clock(&self) -> ClockFacts {
        let words = at::CLOCK.map(|index| self.word(index).load(Ordering::Relaxed));
        ClockFacts::of_words(words)
    }

    /// A word of the image.
    #[inline]
    pub(super) fn word(&self, index: usize) -> &'a AtomicU64 {
        &self.words[self.place(index)]
    }

    /// Some words of the image.
    #[inline]
    pub(super) fn words(&self, range: Range<usize>) -> &'a [AtomicU64] {
        self.words.get(self.place(range.start)..self.place(range.end)).unwrap_or_default()
    }

    /// A word of a lane's head.
    #[inline]
    pub(super) fn head(&self, lane: usize, word: usize) -> &'a AtomicU64 {
        self.word(self.geometry.head(lane) + word)
    }

    /// Where the word at a position of a lane lies.
    #[inline]
    pub(super) fn index_of(&self, lane: usize, position: u64) -> usize {
        self.geometry.lane(lane) + (position % self.geometry.lane_words()) as usize
    }

    /// Copies words of a lane, which must lie within one packet.
    pub(super) fn copy(&self, lane: usize, from: u64, words: usize, to: &mut [u64]) {
        let start = self.index_of(lane, from);
        for (to, word) in to.iter_mut().zip(self.words(start..start + words)) {
            *to = word.load(Ordering::Relaxed);
        }
    }

    /// Words of a packet, as positions count.
    #[inline]
    pub(super) fn packet_words(&self) -> u64 {
        u64::from(self.geometry.packet_words)
    }

    /// Adds one to a counter that any thread may count up.
    #[cfg(all(feature = "std", not(loom)))]
    pub(super) fn count(&self, index: usize) {
        // Relaxed: nothing is published by the count.
        self.word(index).fetch_add(1, Ordering::Relaxed);
    }

    /// The header of the packet at `position`, as it is now.
    pub(super) fn packet_header(&self, lane: usize, position: u64) -> PacketHeader {
        let mut words = [0; PacketHeader::WORDS];
        self.copy(lane, position, PacketHeader::WORDS, &mut words);
        PacketHeader::of_words(&words)
    }
}
