//! Bytes in and out of a ring, oldest first; which bytes go when it is full is its users' matter.

/// A ring of bytes in memory of the caller.
#[derive(Debug)]
pub(super) struct Ring<'m> {
    memory: &'m mut [u8],
    /// Where the next byte goes.
    input: usize,
    /// Bytes behind the oldest one, itself included, that may be taken out.
    length: usize,
}

impl<'m> Ring<'m> {
    pub(super) fn new(memory: &'m mut [u8]) -> Self {
        Self { memory, input: 0, length: 0 }
    }

    pub(super) fn clear(&mut self) {
        (self.input, self.length) = (0, 0);
    }

    pub(super) fn capacity(&self) -> usize {
        self.memory.len()
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The place `count` bytes before the next one's.
    fn before_input(&self, count: usize) -> usize {
        let wrap = if self.input < count { self.memory.len() } else { 0 };
        self.input + wrap - count
    }

    /// Stores a byte and counts it; the oldest one is lost where there is no room. Whether one was.
    #[inline]
    pub(super) fn push(&mut self, byte: u8) -> bool {
        self.store(byte);
        let full = self.length == self.memory.len();
        if !full {
            self.length += 1;
        }
        full
    }

    /// Stores a byte that [`Ring::commit`] counts.
    #[inline]
    pub(super) fn store(&mut self, byte: u8) {
        let Some(place) = self.memory.get_mut(self.input) else { return };
        *place = byte;
        self.input += 1;
        if self.input == self.memory.len() {
            self.input = 0;
        }
    }

    /// Counts bytes that were stored.
    pub(super) fn commit(&mut self, count: usize) {
        self.length += count;
    }

    /// Forgets bytes that were stored and not counted.
    pub(super) fn take_back(&mut self, count: usize) {
        self.input = self.before_input(count);
    }

    /// Takes out the oldest bytes, `most` at most, that lie together; empty where there are none.
    /// `stored` bytes behind the newest are not counted yet.
    #[inline]
    pub(super) fn block(&mut self, most: usize, stored: usize) -> &[u8] {
        let start = self.before_input(stored);
        let wrap = if start < self.length { self.memory.len() } else { 0 };
        let start = start + wrap - self.length;
        let count = most.min(self.length).min(self.memory.len() - start);
        self.length -= count;
        self.memory.get(start..start + count).unwrap_or_default()
    }
}
