//! Finds the trace in a larger memory image.
//!
//! Users dump the memory range that their debugger permits. The range may be a whole RAM bank or
//! begin a page before the buffer, and the debugger's file may have a header of its own. The
//! control header has no magic number except its four id bytes. So a position is accepted only if
//! all fields of its header are consistent.
//!
//! This module does not decode the trace, and does not validate a header at offset 0.

use tracewell_wire::threadx::{Header, Layout};

/// Number of bytes that are searched for a header, unless the user specifies another number.
pub const DEFAULT_SEARCH_LIMIT: usize = 64 * 1024;

/// Accepted sizes of names in bytes. Most kernels are built with 32 bytes, a few with another size.
const NAME_SIZES: core::ops::RangeInclusive<u16> = 1..=4096;

/// A control header and its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    /// Offset of the header's first byte.
    pub offset: usize,
    /// Byte order, word width and size of names.
    pub layout: Layout,
    /// The control header, with addresses of the target.
    pub header: Header,
}

/// Finds the first control header that begins before `limit`.
///
/// A header at offset 0 needs only a valid id, so that the decoder can report its faults. A header
/// at any other offset, aligned or not, must be plausible: its sections follow the header in order
/// and consist of whole slots, names have 1 to 4096 bytes, and the current slot is in the buffer or
/// at the end of the buffer. The sections may extend past the end of the bytes. The running time is
/// linear in `limit`.
pub fn locate(bytes: &[u8], limit: usize) -> Option<Located> {
    header_at(bytes, 0).or_else(|| plausible(bytes, limit))
}

/// Finds the first plausible control header that begins before `limit`. A header at offset 0 must
/// be plausible, too.
pub(super) fn plausible(bytes: &[u8], limit: usize) -> Option<Located> {
    candidates(bytes, limit).find_map(|offset| plausible_at(bytes, offset))
}

/// Searches for the id bytes in both byte orders. Returns the offsets below `limit` at which a
/// header with these id bytes may begin.
///
/// A 64-bit big-endian header begins four bytes before its id bytes. That offset is returned first.
fn candidates(bytes: &[u8], limit: usize) -> impl Iterator<Item = usize> {
    let big = Header::ID.to_be_bytes();
    let little = Header::ID.to_le_bytes();
    let ids = bytes.windows(4).enumerate().take(limit.saturating_add(4));
    let ids = ids.filter(move |(_, window)| *window == big || *window == little);
    ids.flat_map(|(at, _)| [at.checked_sub(4), Some(at)])
        .flatten()
        .filter(move |offset| *offset < limit)
}

fn header_at(bytes: &[u8], offset: usize) -> Option<Located> {
    let (layout, header) = Header::read(bytes.get(offset..)?).ok()?;
    Some(Located { offset, layout, header })
}

fn plausible_at(bytes: &[u8], offset: usize) -> Option<Located> {
    header_at(bytes, offset).filter(|found| is_plausible(found.layout, &found.header))
}

/// Returns true if the fields of a header are consistent.
fn is_plausible(layout: Layout, header: &Header) -> bool {
    // Addresses wrap at the target's word size, so compare offsets from the base.
    let offset_of =
        |address: u64| address.wrapping_sub(header.trace_base_address) & layout.width.max();
    let registry = offset_of(header.registry_start)..offset_of(header.registry_end);
    let buffer = offset_of(header.buffer_start)..offset_of(header.buffer_end);
    let current = offset_of(header.buffer_current);
    let in_order =
        [layout.header_size() as u64, registry.start, registry.end, buffer.start, buffer.end];
    NAME_SIZES.contains(&layout.name_size)
        && in_order.is_sorted()
        && (registry.end - registry.start).is_multiple_of(layout.registry_slot_size() as u64)
        && (buffer.end - buffer.start).is_multiple_of(layout.event_size() as u64)
        && (buffer.start..=buffer.end).contains(&current)
}

#[cfg(test)]
mod tests {
    use tracewell_wire::ByteOrder;
    use tracewell_wire::threadx::Width;

    use super::*;

    const NARROW: Layout = Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 };
    const WIDE: Layout = Layout { width: Width::Bits64, ..NARROW };

    /// A header with two registry slots and four events.
    fn header(layout: Layout, base: u64) -> Header {
        let at = |offset: usize| base.wrapping_add(offset as u64) & layout.width.max();
        let registry = layout.header_size();
        let buffer = registry + 2 * layout.registry_slot_size();
        Header {
            timer_valid_mask: 0xFFFF_FFFF,
            trace_base_address: base,
            registry_start: at(registry),
            registry_end: at(buffer),
            buffer_start: at(buffer),
            buffer_end: at(buffer + 4 * layout.event_size()),
            buffer_current: at(buffer + layout.event_size()),
            reserved1: 0,
            reserved: Header::RESERVED,
        }
    }

    /// Returns this number of bytes followed by a header.
    fn image(offset: usize, layout: Layout, header: &Header) -> Vec<u8> {
        let mut bytes = vec![0; offset + layout.header_size()];
        header.write(layout, &mut bytes[offset..]).expect("there is room");
        bytes
    }

    #[test]
    fn every_layout_is_found_at_every_alignment() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for layout in [Layout { order, ..NARROW }, Layout { order, ..WIDE }] {
                let header = header(layout, 0x2000_1000);
                for offset in 0..9 {
                    let found = locate(&image(offset, layout, &header), DEFAULT_SEARCH_LIMIT);
                    assert_eq!(found, Some(Located { offset, layout, header }));
                }
            }
        }
    }

    #[test]
    fn only_offsets_below_the_limit_are_tried() {
        for layout in [NARROW, WIDE, Layout { order: ByteOrder::Big, ..WIDE }] {
            let bytes = image(100, layout, &header(layout, 0x1000));
            assert_eq!(locate(&bytes, 100), None);
            assert_eq!(locate(&bytes, 101).map(|found| found.offset), Some(100));
            assert_eq!(locate(&bytes, usize::MAX).map(|found| found.offset), Some(100));
        }
    }

    #[test]
    fn addresses_may_wrap_around_the_target_s_memory() {
        for (layout, base) in [(NARROW, 0xFFFF_FFF0), (WIDE, u64::MAX - 15)] {
            let bytes = image(4, layout, &header(layout, base));
            assert_eq!(locate(&bytes, 5).map(|found| found.offset), Some(4));
        }
    }

    #[test]
    fn a_header_whose_numbers_do_not_fit_is_passed_over() {
        let good = header(NARROW, 0x1000);
        let bad = [
            Header { registry_start: good.registry_start - 4, ..good },
            Header { registry_end: good.registry_end - 1, ..good },
            Header { registry_start: good.registry_end, registry_end: good.registry_start, ..good },
            Header { buffer_start: good.registry_start, ..good },
            Header { buffer_end: good.buffer_end + 1, ..good },
            Header { buffer_end: good.buffer_start - 32, ..good },
            Header { buffer_current: good.buffer_end + 32, ..good },
            Header { buffer_current: 0, ..good },
            Header { trace_base_address: good.buffer_end, ..good },
        ];
        for header in bad {
            let bytes = image(1, NARROW, &header);
            assert_eq!(locate(&bytes, DEFAULT_SEARCH_LIMIT), None, "{header:?}");
            let both = [bytes, image(0, NARROW, &good)].concat();
            assert_eq!(locate(&both, DEFAULT_SEARCH_LIMIT).map(|found| found.offset), Some(49));
        }
        for name_size in [0, 4097] {
            let layout = Layout { name_size, ..NARROW };
            assert_eq!(locate(&image(1, layout, &header(layout, 0)), DEFAULT_SEARCH_LIMIT), None);
        }
    }

    #[test]
    fn the_current_slot_may_be_the_end_of_the_buffer() {
        let good = header(NARROW, 0x1000);
        let header = Header { buffer_current: good.buffer_end, ..good };
        assert!(locate(&image(1, NARROW, &header), DEFAULT_SEARCH_LIMIT).is_some());
    }

    #[test]
    fn at_offset_0_the_id_is_enough() {
        let header = Header { buffer_current: 0, ..header(NARROW, 0x1000) };
        let found = locate(&image(0, NARROW, &header), DEFAULT_SEARCH_LIMIT);
        assert_eq!(found, Some(Located { offset: 0, layout: NARROW, header }));
    }
}
