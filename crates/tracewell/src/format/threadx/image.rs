//! Finds the registry and the events in an image, and determines which of their bytes the input
//! contains.
//!
//! The header contains addresses in the target's memory. An offset in the image is the difference
//! between an address and the base address, and wraps at the target's word size. No address can be
//! trusted. Sections whose addresses are impossible are assumed to follow each other, as they do in
//! every image that a kernel wrote.

use tracewell_wire::threadx::{Header, HeaderError, Layout, Width};

use crate::format::ReadError;
use crate::model::{Diagnostics, Severity};

/// Maximum length of a name field. A longer name indicates damage.
const MAX_NAME_LEN: u16 = 4096;

/// The sections of an image. Offsets count from the image's first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Image {
    pub(super) layout: Layout,
    pub(super) header: Header,
    /// Offset of registry slot 0 in the image.
    pub(super) registry: usize,
    /// Number of registry slots according to the header.
    pub(super) registry_slots: usize,
    /// Offset of event slot 0 in the image.
    pub(super) events: usize,
    /// Number of event slots according to the header.
    pub(super) event_slots: usize,
}

impl Image {
    /// Reads the header at the start of `bytes`, which are at `offset` in the source. Unless `last`
    /// is set, more bytes may follow, so the function assumes that the sections are at the header's
    /// addresses.
    ///
    /// # Errors
    /// Returns an error if the header's sections cannot be found.
    pub(super) fn read(
        bytes: &[u8],
        offset: u64,
        last: bool,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, ReadError> {
        let (layout, header) =
            Header::read(bytes).map_err(|error| header_error(error, bytes, offset))?;
        let name_at = offset + 4 * layout.width.bytes() as u64 + 2;
        if !(1..=MAX_NAME_LEN).contains(&layout.name_size) {
            let found = layout.name_size;
            let message = format!("object_name_size: expected 1 to {MAX_NAME_LEN}, found {found}");
            return Err(ReadError { offset: name_at, message });
        }
        let mut remarks = Remarks { diagnostics, layout, offset, length: bytes.len() as u64 };
        let distance = |from: u64, to: u64| to.wrapping_sub(from) & layout.width.max();
        let registry_size = remarks.section(
            3,
            "registry_end",
            distance(header.registry_start, header.registry_end),
        );
        let buffer_size =
            remarks.section(6, "buffer_end", distance(header.buffer_start, header.buffer_end));
        if buffer_size == 0 {
            remarks.add(Severity::Warning, 7, "buffer_end is not after buffer_start: no events");
        }
        let registry = distance(header.trace_base_address, header.registry_start);
        let events = distance(header.trace_base_address, header.buffer_start);
        let registry_slots = registry_size / layout.registry_slot_size();
        let event_slots = buffer_size / layout.event_size();
        let registry_length = registry_slots * layout.registry_slot_size();
        // With 32 bits, a damaged size can be as large as the address space.
        let in_sequence = layout.header_size().saturating_add(registry_length);
        // While more bytes may follow, the end is unknown, so accept addresses after the last byte.
        let end = last.then_some(bytes.len());
        let mut place = |word, name: &str, computed: u64, sequential: usize| {
            remarks.place(word, name, computed, sequential, end)
        };
        let image = Self {
            layout,
            header,
            registry: place(3, "registry_start", registry, layout.header_size()),
            registry_slots,
            events: place(6, "buffer_start", events, in_sequence),
            event_slots,
        };
        image.remark_on_values(&mut remarks);
        Ok(image)
    }

    /// Returns true if a header describes the same ring.
    pub(super) fn is_of_ring(&self, layout: Layout, header: &Header) -> bool {
        let place = |header: &Header| {
            let (base, registry) = (header.trace_base_address, header.registry_start);
            (base, registry, header.buffer_start, header.buffer_end, header.timer_valid_mask)
        };
        self.layout == layout && place(&self.header) == place(header)
    }

    /// Returns true if another dump may be of the same target.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.layout == other.layout && self.header.timer_valid_mask == other.header.timer_valid_mask
    }

    /// Returns the offset after the last slot: the expected size of the image in bytes.
    pub(super) fn end(&self) -> usize {
        self.end_of(self.event_slots)
    }

    /// Returns the offset after the registry and the first `slots` event slots.
    pub(super) fn end_of(&self, slots: usize) -> usize {
        let registry = self.registry_slots.saturating_mul(self.layout.registry_slot_size());
        let events = slots.min(self.event_slots).saturating_mul(self.layout.event_size());
        self.events.saturating_add(events).max(self.registry.saturating_add(registry))
    }

    /// Returns the bytes of all complete event slots, from slot 0 on.
    pub(super) fn slots<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let size = self.layout.event_size();
        let rest = bytes.get(self.events..).unwrap_or_default();
        let slots = (rest.len() / size).min(self.event_slots);
        rest.get(..slots * size).unwrap_or_default()
    }

    /// Returns the slot to which `buffer_current` points, or `None` if it does not point to a slot.
    pub(super) fn current_slot(&self) -> Option<usize> {
        let current = self.header.buffer_current.wrapping_sub(self.header.buffer_start);
        let distance = current & self.layout.width.max();
        let size = self.layout.event_size() as u64;
        let slot = usize::try_from(distance / size).ok()?;
        (distance.is_multiple_of(size) && slot < self.event_slots).then_some(slot)
    }

    fn remark_on_values(&self, remarks: &mut Remarks<'_>) {
        if self.header.reserved != Header::RESERVED {
            let [a, b, c] = self.header.reserved;
            let message = format!(
                "reserved words: kernels store AAAAAAAA BBBBBBBB CCCCCCCC, found {a:X} {b:X} {c:X}"
            );
            remarks.add(Severity::Note, 9, message);
        }
        if self.header.timer_valid_mask == 0 {
            let message = "timer_valid_mask is 0: no timestamp bit is valid, so all ticks are 0";
            remarks.add(Severity::Warning, 1, message);
        }
        if self.layout.width == Width::Bits64 {
            let message = "ULONG has 64 bits on this target: TraceX cannot read such a dump";
            remarks.add(Severity::Note, 0, message);
        }
    }
}

struct Remarks<'a> {
    diagnostics: &'a mut Diagnostics,
    layout: Layout,
    offset: u64,
    /// Number of bytes of the dump that have been read.
    length: u64,
}

impl Remarks<'_> {
    /// Adds a diagnostic about word `word` of the header.
    fn add(&mut self, severity: Severity, word: usize, message: impl Into<String>) {
        let offset = self.offset + (word * self.layout.width.bytes()) as u64;
        self.diagnostics.add(severity, offset, message);
    }

    /// Returns the size of a section; 0 if its end is before its start.
    fn section(&mut self, word: usize, name: &str, size: u64) -> usize {
        // Because of the wrap at the word size, a negative distance is a very large number.
        let is_before = size > self.layout.width.max() / 2 && size > self.length;
        if is_before {
            self.add(Severity::Warning, word, format!("{name} is before the section's start"));
        }
        if is_before { 0 } else { usize::try_from(size).unwrap_or(usize::MAX) }
    }

    /// Returns the offset of a section. If the section's address is in the file, uses this address.
    /// Otherwise assumes that the section follows the previous section. If `end` is `None`, the
    /// file can still grow, so every address counts as inside the file.
    fn place(
        &mut self,
        word: usize,
        name: &str,
        computed: u64,
        sequential: usize,
        end: Option<usize>,
    ) -> usize {
        if computed == sequential as u64 {
            return sequential;
        }
        let inside = computed >= self.layout.header_size() as u64
            && end.is_none_or(|end| computed < end as u64);
        let taken = if inside { computed } else { sequential as u64 };
        let message = format!(
            "{name}: expected offset {sequential} (sections follow each other), \
             found {computed}; reading at {taken}"
        );
        self.add(Severity::Warning, word, message);
        // The message has the whole number, even where an offset in memory is shorter.
        usize::try_from(taken).unwrap_or(usize::MAX)
    }
}

fn header_error(error: HeaderError, bytes: &[u8], offset: u64) -> ReadError {
    let message = match error {
        HeaderError::TooShort { .. } => {
            format!("too short: {error}, found {}", bytes.len())
        }
        HeaderError::NotThreadX { .. } => error.to_string(),
    };
    ReadError { offset, message }
}
