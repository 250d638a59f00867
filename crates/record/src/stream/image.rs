//! A stream's memory, wherever it is, as a slice of atomic words.
//!
//! All words are atomic, because other threads and processes store to them at any time. Every index
//! is computed from a geometry whose limits were checked, never from values in the memory itself.

use core::ops::Range;

use tracewell_wire::native::image::{Geometry, ImageError, ImageHeader, at};
use tracewell_wire::native::{ClockFacts, FullPolicy, PacketHeader};

use super::sync::{AtomicU64, Ordering};

/// The memory of a stream.
///
/// ```
/// use tracewell_record::stream::{AtomicU64, FullPolicy, Image};
/// use tracewell_wire::native::image::{Geometry, ImageError, ImageHeader};
/// use tracewell_wire::native::{ClockFacts, ClockKind};
///
/// let geometry = Geometry { lanes: 2, packets: 4, packet_words: 64 };
/// let memory: Vec<_> = (0..geometry.total()).map(|_| AtomicU64::new(0)).collect();
/// assert_eq!(Image::open(&memory).unwrap_err(), ImageError::NoImage);
///
/// let clock = ClockFacts {
///     kind: ClockKind::Custom,
///     ticks_per_second: 1_000_000,
///     origin: 0,
///     origin_realtime: 0,
///     origin_monotonic: 0,
/// };
/// let header = ImageHeader { geometry, policy: FullPolicy::Loop, clock, process: 1 };
/// Image::create(&memory, &header).unwrap();
///
/// let (image, found) = Image::open(&memory).unwrap();
/// assert_eq!((image.geometry(), found), (geometry, header));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    words: &'a [AtomicU64],
    geometry: Geometry,
    policy: FullPolicy,
}

impl<'a> Image<'a> {
    /// Creates an image in zeroed memory. Returns `None` if the memory is too small or a size is
    /// out of range.
    ///
    /// The magic number is stored last, so that a process that opens the memory too early does not
    /// mistake it for a complete image.
    pub fn create(words: &'a [AtomicU64], header: &ImageHeader) -> Option<Self> {
        let geometry = header.geometry.checked()?;
        let words = words.get(..geometry.total())?;
        let image = Self { words, geometry, policy: header.policy };
        for (index, word) in header.words().into_iter().enumerate().skip(1) {
            image.word(index).store(word, Ordering::Relaxed);
        }
        // A new stream is suspended, so the gate stops all families.
        image.word(at::GATE).store(u64::MAX >> 1, Ordering::Relaxed);
        // Release: an acquire load of the magic in `open` sees the header.
        image.word(at::MAGIC).store(header.words()[0], Ordering::Release);
        Some(image)
    }

    /// Opens an image that was created elsewhere. Its words are not trusted: every value is checked
    /// before use.
    ///
    /// # Errors
    /// Returns an error if there is no valid image, or if the image is larger than the memory.
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

    /// Opens an image whose header was already checked.
    #[cfg(all(feature = "std", not(loom)))]
    #[inline]
    pub(super) fn trusted(words: &'a [AtomicU64], geometry: Geometry, policy: FullPolicy) -> Self {
        Self { words, geometry, policy }
    }

    /// Creates an image for models. Models must be small, so the image contains only the header and
    /// the packets of one lane.
    #[cfg(all(loom, test))]
    pub(super) fn of_lane(words: &'a [AtomicU64], geometry: Geometry, policy: FullPolicy) -> Self {
        Self { words, geometry, policy }
    }

    /// Converts the index of a word in the image's layout to its index in `words`. The two differ
    /// only in models, which omit parts of the image.
    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        #[cfg(all(loom, test))]
        let index = match index.checked_sub(self.geometry.data()) {
            Some(index) => index + tracewell_wire::native::image::LANE_WORDS,
            None => index - self.geometry.heads(),
        };
        index
    }

    /// Returns the sizes of the image's parts.
    pub const fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Returns the policy that applies when the stream is full.
    pub const fn policy(&self) -> FullPolicy {
        self.policy
    }

    /// Returns the description of the clock from the header.
    pub fn clock(&self) -> ClockFacts {
        let words = at::CLOCK.map(|index| self.word(index).load(Ordering::Relaxed));
        ClockFacts::of_words(words)
    }

    /// Returns a word of the image.
    #[inline]
    pub(super) fn word(&self, index: usize) -> &'a AtomicU64 {
        &self.words[self.place(index)]
    }

    /// Returns a range of words of the image.
    #[inline]
    pub(super) fn words(&self, range: Range<usize>) -> &'a [AtomicU64] {
        self.words.get(self.place(range.start)..self.place(range.end)).unwrap_or_default()
    }

    /// Returns a word of a lane's header.
    #[inline]
    pub(super) fn head(&self, lane: usize, word: usize) -> &'a AtomicU64 {
        self.word(self.geometry.head(lane) + word)
    }

    /// Returns the index of the word at a position of a lane.
    #[inline]
    pub(super) fn index_of(&self, lane: usize, position: u64) -> usize {
        self.geometry.lane(lane) + (position % self.geometry.lane_words()) as usize
    }

    /// Copies words of a lane; they must all be in one packet.
    pub(super) fn copy(&self, lane: usize, from: u64, words: usize, to: &mut [u64]) {
        let start = self.index_of(lane, from);
        for (to, word) in to.iter_mut().zip(self.words(start..start + words)) {
            *to = word.load(Ordering::Relaxed);
        }
    }

    /// Returns the number of words per packet as a `u64`, the type of positions.
    #[inline]
    pub(super) fn packet_words(&self) -> u64 {
        u64::from(self.geometry.packet_words)
    }

    /// Increments a counter that several threads may increment at the same time.
    #[cfg(all(feature = "std", not(loom)))]
    pub(super) fn count(&self, index: usize) {
        // Relaxed: the count publishes no other data.
        self.word(index).fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the current header of the packet at `position`.
    pub(super) fn packet_header(&self, lane: usize, position: u64) -> PacketHeader {
        let mut words = [0; PacketHeader::WORDS];
        self.copy(lane, position, PacketHeader::WORDS, &mut words);
        PacketHeader::of_words(&words)
    }
}
