//! Options that are fixed when a kernel is built, and the offsets that result from them.

use tracewell_wire::threadx::Layout;

use super::{Status, Target};

/// The layout of an image, apart from byte order and word size (see [`Target`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Size of the name field of a registry slot, in bytes (`TX_TRACE_OBJECT_REGISTRY_NAME`),
    /// including the final NUL. Default 32; TraceX rejects 64 and more.
    pub name_size: u16,
    /// Address of the image's first byte, which the header contains. Default `None`: the actual
    /// address of the memory. Readers subtract it from all other addresses; the subtraction wraps.
    pub base_address: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { name_size: 32, base_address: None }
    }
}

/// Byte offsets of the sections in memory of a given size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sections {
    pub(super) registry: usize,
    pub(super) events: usize,
    pub(super) events_end: usize,
}

impl Sections {
    /// Fits the sections into `size` bytes.
    ///
    /// # Errors
    /// Returns [`Status::SizeError`] if there is no room for an event, or if the size of the
    /// registry overflows. The kernel does not check for this overflow.
    pub(super) fn fit(size: usize, layout: Layout, registry_slots: usize) -> Result<Self, Status> {
        let registry = layout.header_size();
        let events = registry_slots
            .checked_mul(layout.registry_slot_size())
            .and_then(|bytes| bytes.checked_add(registry))
            .ok_or(Status::SizeError)?;
        let slots = size.checked_sub(events).ok_or(Status::SizeError)? / layout.event_size();
        if slots == 0 {
            return Err(Status::SizeError);
        }
        Ok(Self { registry, events, events_end: events + slots * layout.event_size() })
    }
}

/// Returns the layout of an image for a target.
pub(super) const fn layout_of<T: Target>(name_size: u16) -> Layout {
    Layout { order: T::ORDER, width: T::WIDTH, name_size }
}

#[cfg(test)]
mod tests {
    use super::super::{Little32, Little64};
    use super::*;

    #[test]
    fn one_event_must_fit_and_a_partial_slot_is_unused() {
        let layout = layout_of::<Little32>(32);
        let least = 48 + 2 * 48 + 32;
        assert_eq!(Sections::fit(least - 1, layout, 2), Err(Status::SizeError));
        let expected = Sections { registry: 48, events: 144, events_end: least };
        assert_eq!(Sections::fit(least, layout, 2), Ok(expected));
        assert_eq!(Sections::fit(least + 31, layout, 2), Ok(expected));
        assert_eq!(Sections::fit(least + 32, layout, 2).map(|s| s.events_end), Ok(least + 32));
    }

    #[test]
    fn wide_words_double_the_sizes() {
        let sections = Sections::fit(1000, layout_of::<Little64>(32), 1);
        assert_eq!(sections, Ok(Sections { registry: 96, events: 160, events_end: 160 + 13 * 64 }));
    }

    #[test]
    fn a_registry_beyond_all_memory_is_a_size_error() {
        let layout = layout_of::<Little32>(32);
        assert_eq!(Sections::fit(4096, layout, usize::MAX), Err(Status::SizeError));
        assert_eq!(Sections::fit(4096, layout, usize::MAX / 48), Err(Status::SizeError));
    }
}
