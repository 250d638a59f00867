//! A first-in, first-out ring of bytes. The buffer that uses the ring determines which bytes are
//! dropped when the ring is full.

/// A ring of bytes in the caller's memory.
#[derive(Debug)]
pub(super) struct Ring<'m> {
    memory: &'m mut [u8],
    /// Index at which the next byte is stored.
    input: usize,
    /// Number of bytes that can be removed.
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

    /// Returns the index `count` bytes before the input position.
    fn before_input(&self, count: usize) -> usize {
        let wrap = if self.input < count { self.memory.len() } else { 0 };
        self.input + wrap - count
    }

    /// Stores and counts a byte. Returns true if it overwrote the oldest byte.
    #[inline]
    pub(super) fn push(&mut self, byte: u8) -> bool {
        self.store(byte);
        let full = self.length == self.memory.len();
        if !full {
            self.length += 1;
        }
        full
    }

    /// Stores a byte without counting it; [`Ring::commit`] counts it.
    #[inline]
    pub(super) fn store(&mut self, byte: u8) {
        let Some(next) = self.memory.get_mut(self.input) else { return };
        *next = byte;
        self.input += 1;
        if self.input == self.memory.len() {
            self.input = 0;
        }
    }

    /// Counts bytes that were stored but not counted yet.
    pub(super) fn commit(&mut self, count: usize) {
        self.length += count;
    }

    /// Removes bytes that were stored but not counted.
    pub(super) fn discard(&mut self, count: usize) {
        self.input = self.before_input(count);
    }

    /// Removes and returns the oldest bytes: at most `most`, and only bytes that are contiguous in
    /// memory. Returns an empty slice if there are none. `stored` is the number of bytes that were
    /// stored but are not counted yet.
    #[inline]
    pub(super) fn block(&mut self, most: usize, stored: usize) -> &[u8] {
        let start = self.before_input(stored);
        // Here, `start` is the end of the counted bytes. If they do not fit between index 0 and
        // `start`, they wrap.
        let wrap = if start < self.length { self.memory.len() } else { 0 };
        let start = start + wrap - self.length;
        let count = most.min(self.length).min(self.memory.len() - start);
        self.length -= count;
        self.memory.get(start..start + count).unwrap_or_default()
    }
}
