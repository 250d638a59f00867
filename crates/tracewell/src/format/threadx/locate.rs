//! Finds the trace in a larger piece of memory.
//!
//! People dump what their debugger lets them dump: a whole RAM bank, a page before the buffer, a
//! container around it. The control header has no magic beyond its four id bytes, so everything
//! else in it must make sense together before a place is believed.
//!
//! Not here: reading the trace, and judging a header that stands where it should.

use tracewell_wire::threadx::{Header, Layout};

use crate::input::image::{MemoryImage, Segment};

/// How far into the bytes a header is sought unless the user says otherwise.
pub const DEFAULT_SEARCH_LIMIT: usize = 64 * 1024;

/// Sizes of names that are believed; kernels are built with 32, rarely with anything else.
const NAME_SIZES: core::ops::RangeInclusive<u16> = 1..=4096;

/// A control header and where it was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    /// Offset of the header's first byte.
    pub offset: usize,
    /// Byte order, word width and name size.
    pub layout: Layout,
    /// The header.
    pub header: Header,
}

/// Finds the first control header that begins before `limit`.
///
/// A header at offset 0 is taken by its id alone: the reader can say what is wrong with it. Behind
/// that a header may stand at any offset, aligned or not, but must be plausible: its sections lie
/// behind it in order, are whole numbers of slots long, hold names of 1 to 4096 bytes, and the
/// current slot is in the buffer or at its end. That the bytes end before the sections do is no
/// objection. Time is linear in `limit`.
pub fn locate(bytes: &[u8], limit: usize) -> Option<Located> {
    header_at(bytes, 0)
        .or_else(|| candidates(bytes, limit).find_map(|offset| plausible_at(bytes, offset)))
}

/// Finds the first segment with a control header, seeking up to `limit` bytes into each.
pub fn locate_in_image(image: &MemoryImage, limit: usize) -> Option<(&Segment, Located)> {
    let mut segments = image.segments().iter();
    segments.find_map(|segment| Some((segment, locate(segment.bytes(), limit)?)))
}

/// Offsets below `limit` that have the bytes of the id where a header has them, in either order.
///
/// A 64-bit big-endian header begins four bytes before them. That offset comes before the other,
/// and only where those four bytes are 0.
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

/// Whether the numbers of a header fit together, wherever they came from.
fn is_plausible(layout: Layout, header: &Header) -> bool {
    // Addresses wrap with the target's word; kept as offsets from the base they can be compared.
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
