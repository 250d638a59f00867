//! The chunk table of a S.Ha.R.K. tracer. Its functions create, select, link, compress and delete
//! chunks.
//!
//! Unsafe: exported symbols and C memory.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use tracewell_record::shark::{Areas, ChunkStatus};
use tracewell_wire::shark::ids::flag;

use super::{number_or_none, tw_shark, with};
use crate::boundary::{memory, non_null, places, put};
use crate::clock::truth;
use crate::code::{Code, TW_NOTHING};

/// The chunk may be selected, and another chunk may be linked to it.
pub const TW_FREE: u8 = 0x01;
/// The chunk accepts no further records.
pub const TW_FULL: u8 = 0x02;
/// Mode cyclic: recording continues at the start of the chunk.
pub const TW_CYC: u8 = 0x00;
/// Mode jump: recording continues in the linked chunk.
pub const TW_JTN: u8 = 0x04;
/// Mode stop: recording stops at the end of the chunk.
pub const TW_STOP: u8 = 0x08;
/// The chunk is being sent.
pub const TW_BUSY: u8 = 0x10;
/// The chunk is protected: `tw_shark_chunk_delete` has no effect.
pub const TW_NODEL: u8 = 0x20;
/// The chunk's content is compressed.
pub const TW_COMPR: u8 = 0x40;

const _: () = assert!(
    TW_FREE == flag::FREE
        && TW_FULL == flag::FULL
        && TW_CYC == flag::CYCLIC
        && TW_JTN == flag::JUMP_TO_NEXT
        && TW_STOP == flag::STOP
        && TW_BUSY == flag::BUSY
        && TW_NODEL == flag::NO_DELETE
        && TW_COMPR == flag::COMPRESSED
);

/// Sizes of a chunk's areas.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_shark_areas {
    /// Bytes for records, at least 32. A remainder smaller than a record is not used.
    pub normal: u32,
    /// Bytes for essential records, without which a decoder cannot read other records: 0, or at
    /// least 32.
    pub emergency: u32,
    /// Address of the image in the target; 0 selects the low 32 bits of its real address.
    pub base_address: u32,
}

/// An entry of the chunk table.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_shark_chunk {
    /// Size of the normal area in bytes.
    pub normal: u32,
    /// Size of the emergency area in bytes.
    pub emergency: u32,
    /// Offset of the next record in the normal area, in bytes.
    pub position: u32,
    /// Number of bytes used in the emergency area.
    pub kept: u32,
    /// Number of times that a cyclic chunk wrapped.
    pub laps: u32,
    /// The chunk in which recording continues, or TW_NO_CHUNK.
    pub next: i16,
    /// The chunk's number: its index in the table.
    pub number: u8,
    /// Flags of the chunk, such as TW_CYC.
    pub flags: u8,
    /// 1 if events are being recorded into the chunk.
    pub current: c_int,
}

impl From<ChunkStatus> for tw_shark_chunk {
    fn from(chunk: ChunkStatus) -> Self {
        let ChunkStatus { number, flags, normal, emergency, position, kept, laps, next, current } =
            chunk;
        let (next, current) = (number_or_none(next), truth(current));
        Self { normal, emergency, position, kept, laps, next, number, flags, current }
    }
}

/// Creates a chunk (`FTrace_chunk_create`) and stores its number, which is the lowest free number.
///
/// The chunk uses 48 bytes plus both areas. The call fills this part of the memory with zeros.
/// Between two calls the memory is an image that `tracewell` can read. Without TW_FREE the chunk
/// can be neither selected nor linked.
///
/// Ownership: the trace owns the memory until `tw_shark_chunk_delete`. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_INVALID for sizes or flags, TW_TOO_SMALL, TW_NONE_FREE. Safe in an
/// interrupt if no other call on this trace can be in progress.
///
/// # Safety
/// * `memory` must point to `size` bytes that are not used for anything else until the chunk is
///   deleted or compressed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_shark_chunk_create(
    trace: Option<&mut tw_shark>,
    memory: *mut c_void,
    size: usize,
    areas: Option<&tw_shark_areas>,
    flags: u8,
    number: Option<&mut MaybeUninit<u8>>,
) -> c_int {
    with(trace, |trace| {
        let tw_shark_areas { normal, emergency, base_address } = *non_null(areas)?;
        let base_address = (base_address != 0).then_some(base_address);
        let areas = Areas { normal, emergency, base_address };
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let memory = unsafe { self::memory(memory.cast(), size)? };
        let made = trace.chunk_create(memory, areas, flags).map_err(|refused| refused.reason)?;
        put(number, made);
        Ok(())
    })
}

/// Deletes a chunk (`FTrace_chunk_delete`) and stores the location of its memory, which still holds
/// the records. If the chunk has TW_NODEL, stores null and does nothing.
///
/// Ownership: the memory belongs to the caller again. Errors: TW_NULL, TW_NOT_INITIALISED,
/// TW_NOTHING if there is no such chunk, TW_IN_USE while it is recording, is the target of a link,
/// or is being sent. Safe in an interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_chunk_delete(
    trace: Option<&mut tw_shark>,
    number: u8,
    memory: Option<&mut MaybeUninit<*mut c_void>>,
) -> c_int {
    with(trace, |trace| {
        let deleted = trace.chunk_delete(number)?;
        put(memory, deleted.map_or(core::ptr::null_mut(), |memory| memory.as_mut_ptr().cast()));
        Ok(())
    })
}

/// Replaces a chunk's flags (`FTrace_set_chunk_flags`), except for TW_BUSY and TW_COMPR. If
/// TW_FREE was not set before, setting it clears the chunk.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_INVALID for flags,
/// TW_IN_USE. Safe in an interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_set_chunk_flags(
    trace: Option<&mut tw_shark>,
    number: u8,
    flags: u8,
) -> c_int {
    with(trace, |trace| Ok(trace.set_chunk_flags(number, flags)?))
}

/// Stores a chunk's flags (`FTrace_get_chunk_flags`), including TW_FULL and TW_BUSY.
///
/// Ownership: the caller keeps `flags`. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe in an
/// interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_get_chunk_flags(
    trace: Option<&mut tw_shark>,
    number: u8,
    flags: Option<&mut MaybeUninit<u8>>,
) -> c_int {
    with(trace, |trace| {
        non_null(flags)?.write(trace.get_chunk_flags(number)?);
        Ok(())
    })
}

/// Selects a free chunk for recording (`FTrace_actual_chunk_select`) and clears its TW_FREE flag.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_NOT_FREE, TW_IN_USE while
/// the chunk is being sent. Safe in an interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_chunk_select(trace: Option<&mut tw_shark>, number: u8) -> c_int {
    with(trace, |trace| Ok(trace.chunk_select(number)?))
}

/// Links chunk `from` to chunk `to` (`FTrace_chunk_link`): when `from` fills up or recording moves
/// away from it, recording continues in `to` and the link is removed. Clears the TW_FREE flag of
/// `to`. `before` receives the former successor of `from` or TW_NO_CHUNK, and may be null.
///
/// Ownership: none. Errors: as `tw_shark_chunk_select` for `to`; TW_NOTHING and TW_IN_USE for
/// `from`; TW_INVALID if the links would form a circle. Safe in an interrupt if no other call on
/// this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_chunk_link(
    trace: Option<&mut tw_shark>,
    from: u8,
    to: u8,
    before: Option<&mut MaybeUninit<i16>>,
) -> c_int {
    with(trace, |trace| {
        put(before, number_or_none(trace.chunk_link(from, to)?));
        Ok(())
    })
}

/// Stores the number of the first chunk with one of the given flags (`FTrace_get_first_chunk`).
/// If `flags` has mode bits, the chunk must have exactly this mode. 0 finds the first cyclic chunk.
///
/// Ownership: the caller keeps `number`. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe in
/// an interrupt if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_get_first_chunk(
    trace: Option<&mut tw_shark>,
    flags: u8,
    number: Option<&mut MaybeUninit<u8>>,
) -> c_int {
    with(trace, |trace| {
        non_null(number)?.write(trace.get_first_chunk(flags).ok_or(Code(TW_NOTHING))?);
        Ok(())
    })
}

/// Copies up to `room` entries of the chunk table (`FTrace_get_chunk_table`), ordered by number.
/// `count` receives the number of chunks.
///
/// Ownership: the caller keeps `table` and `count`. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an
/// interrupt if no other call on this trace can be in progress.
///
/// # Safety
/// * `table` must have space for `room` chunks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_shark_get_chunk_table(
    trace: Option<&mut tw_shark>,
    table: *mut tw_shark_chunk,
    room: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    with(trace, |trace| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let table = unsafe { places(table, room)? };
        for (place, chunk) in table.iter_mut().zip(trace.get_chunk_table()) {
            place.write(chunk.into());
        }
        put(count, trace.get_chunk_table().count());
        Ok(())
    })
}

/// Stores the location of a chunk's image: its descriptor, header and both areas. `tracewell` can
/// read the image if it is saved as a file.
///
/// Ownership: the trace owns the bytes, and the next call may change them. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_NOTHING, TW_IN_USE while the chunk is being sent. Safe in an interrupt if
/// no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_image(
    trace: Option<&mut tw_shark>,
    number: u8,
    bytes: Option<&mut MaybeUninit<*const c_void>>,
    length: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    with(trace, |trace| {
        let image = trace.image(number)?;
        non_null(bytes)?.write(image.as_ptr().cast());
        non_null(length)?.write(image.len());
        Ok(())
    })
}

/// Stores the number of bytes that a chunk needs when it is compressed.
///
/// Ownership: the caller keeps `size`. Errors: as `tw_shark_compress_chunk`. Safe in an interrupt
/// if no other call on this trace can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_compressed_size(
    trace: Option<&mut tw_shark>,
    number: u8,
    size: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    with(trace, |trace| {
        non_null(size)?.write(trace.compressed_size(number)?);
        Ok(())
    })
}

/// Compresses a chunk into other memory (`FTrace_compress_chunk`) and stores the location of its
/// former memory. The chunk keeps its number and content, and receives `new_flags` with TW_COMPR
/// and without TW_FREE. The time is proportional to the chunk's size.
///
/// Ownership: the trace owns `memory` until the chunk is deleted; `*before` belongs to the caller
/// again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_INVALID for flags, TW_TOO_SMALL,
/// TW_NOT_FREE if it is already compressed, TW_IN_USE while it is recording, is the target of a
/// link, or is being sent. After an error the chunk is unchanged. Safe in an interrupt if no other
/// call on this trace can be in progress.
///
/// # Safety
/// * `memory` must point to `size` bytes that are not used for anything else until the chunk is
///   deleted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_shark_compress_chunk(
    trace: Option<&mut tw_shark>,
    number: u8,
    new_flags: u8,
    memory: *mut c_void,
    size: usize,
    before: Option<&mut MaybeUninit<*mut c_void>>,
) -> c_int {
    with(trace, |trace| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let memory = unsafe { self::memory(memory.cast(), size)? };
        let compressed = trace.compress_chunk(number, new_flags, memory);
        put(before, compressed.map_err(|refused| refused.reason)?.as_mut_ptr().cast());
        Ok(())
    })
}
