//! The chunk table of a S.Ha.R.K. tracer: chunks made, selected, linked, compressed, taken away.
//!
//! The module holds `unsafe` code because exported names and C's memory are that by nature.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use tracewell_record::shark::{Areas, ChunkStatus};
use tracewell_wire::shark::ids::flag;

use super::{number_or_none, tw_shark, with};
use crate::boundary::{memory, places, put, some};
use crate::clock::truth;
use crate::code::{Code, TW_NOTHING};

/// The chunk may be selected or linked to.
pub const TW_FREE: u8 = 0x01;
/// It takes no more records.
pub const TW_FULL: u8 = 0x02;
/// Mode: at its end recording goes on at its start.
pub const TW_CYC: u8 = 0x00;
/// Mode: at its end recording goes on in the chunk that it is linked to.
pub const TW_JTN: u8 = 0x04;
/// Mode: at its end recording stops.
pub const TW_STOP: u8 = 0x08;
/// It is being sent.
pub const TW_BUSY: u8 = 0x10;
/// `tw_shark_chunk_delete` leaves it alone.
pub const TW_NODEL: u8 = 0x20;
/// Its content is compressed.
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
    /// Bytes for records, 32 at least; what is left over behind the last whole record is not used.
    pub normal: u32,
    /// Bytes for records without which the others cannot be read: 0, or 32 at least.
    pub emergency: u32,
    /// Address that the image says it lies at; 0 for the low 32 bits of where it does.
    pub base_address: u32,
}

/// What the chunk table tells of a chunk.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_shark_chunk {
    /// Bytes of the normal area.
    pub normal: u32,
    /// Bytes of the emergency area.
    pub emergency: u32,
    /// Bytes behind the start of the normal area at which the next record goes.
    pub position: u32,
    /// Bytes of the emergency area that are in use.
    pub kept: u32,
    /// Times that a cyclic chunk began again at its start.
    pub laps: u32,
    /// The chunk that recording goes on in, or TW_NO_CHUNK.
    pub next: i16,
    /// Its index in the table.
    pub number: u8,
    /// Its flags.
    pub flags: u8,
    /// 1 where it is the one that records.
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

/// Makes a chunk (`FTrace_chunk_create`) and stores its number, the lowest that is free.
///
/// Of the memory 48 bytes and both areas are used and zeroed; between two calls that is an image which
/// `tracewell` reads. Without TW_FREE the chunk can be neither selected nor linked.
/// Ownership: the memory is the trace's until `tw_shark_chunk_delete`. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_INVALID for sizes or flags, TW_TOO_SMALL, TW_NONE_FREE. Safe in an interrupt
/// if no other call on this trace can be under way.
///
/// # Safety
/// * `memory` has `size` bytes that nobody else uses until the chunk is deleted or compressed.
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
        let tw_shark_areas { normal, emergency, base_address } = *some(areas)?;
        let base_address = (base_address != 0).then_some(base_address);
        let areas = Areas { normal, emergency, base_address };
        // SAFETY: the bullet above.
        let memory = unsafe { self::memory(memory.cast(), size)? };
        let made = trace.chunk_create(memory, areas, flags).map_err(|refused| refused.reason)?;
        put(number, made);
        Ok(())
    })
}

/// Takes a chunk out of the table (`FTrace_chunk_delete`) and stores its memory, in which its records
/// still are; null, and nothing is done, where it has TW_NODEL.
///
/// Ownership: the memory is the caller's again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where
/// there is no such chunk, TW_IN_USE while it records, is linked to or is being sent. Safe in an
/// interrupt if no other call on this trace can be under way.
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

/// Replaces a chunk's flags (`FTrace_set_chunk_flags`), TW_BUSY and TW_COMPR excepted. TW_FREE, where it
/// was not set before, empties the chunk.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_INVALID for flags, TW_IN_USE.
/// Safe in an interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_set_chunk_flags(
    trace: Option<&mut tw_shark>,
    number: u8,
    flags: u8,
) -> c_int {
    with(trace, |trace| Ok(trace.set_chunk_flags(number, flags)?))
}

/// A chunk's flags (`FTrace_get_chunk_flags`), TW_FULL and TW_BUSY included.
///
/// Ownership: `flags` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe in an
/// interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_get_chunk_flags(
    trace: Option<&mut tw_shark>,
    number: u8,
    flags: Option<&mut MaybeUninit<u8>>,
) -> c_int {
    with(trace, |trace| {
        some(flags)?.write(trace.get_chunk_flags(number)?);
        Ok(())
    })
}

/// Makes a free chunk the one that records (`FTrace_actual_chunk_select`), which uses TW_FREE up.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_NOT_FREE, TW_IN_USE while it is
/// being sent. Safe in an interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_chunk_select(trace: Option<&mut tw_shark>, number: u8) -> c_int {
    with(trace, |trace| Ok(trace.chunk_select(number)?))
}

/// Lets recording go on in chunk `to` when `from` is full or left (`FTrace_chunk_link`), which uses
/// TW_FREE of `to` up. A jump uses the link up. `before`, which may be null, gets the successor that
/// `from` had, or TW_NO_CHUNK.
///
/// Ownership: none. Errors: as `tw_shark_chunk_select` for `to`; TW_NOTHING and TW_IN_USE for `from`;
/// TW_INVALID for a circle. Safe in an interrupt if no other call on this trace can be under way.
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

/// Stores the number of the first chunk with one of these flags (`FTrace_get_first_chunk`). Mode bits
/// are compared as a mode; 0 finds the first cyclic chunk.
///
/// Ownership: `number` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe in an
/// interrupt if no other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_get_first_chunk(
    trace: Option<&mut tw_shark>,
    flags: u8,
    number: Option<&mut MaybeUninit<u8>>,
) -> c_int {
    with(trace, |trace| {
        some(number)?.write(trace.get_first_chunk(flags).ok_or(Code(TW_NOTHING))?);
        Ok(())
    })
}

/// Copies what is in the chunk table (`FTrace_get_chunk_table`), in the order of numbers, as far as
/// there is room; `count` gets how many chunks there are.
///
/// Ownership: `table` and `count` are the caller's. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an
/// interrupt if no other call on this trace can be under way.
///
/// # Safety
/// * `table` has room for `room` chunks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_shark_get_chunk_table(
    trace: Option<&mut tw_shark>,
    table: *mut tw_shark_chunk,
    room: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    with(trace, |trace| {
        // SAFETY: the bullet above.
        let table = unsafe { places(table, room)? };
        for (place, chunk) in table.iter_mut().zip(trace.get_chunk_table()) {
            place.write(chunk.into());
        }
        put(count, trace.get_chunk_table().count());
        Ok(())
    })
}

/// Stores where a chunk's image lies: descriptor, head, both areas. Save it as a file for `tracewell`.
///
/// Ownership: the bytes are the trace's; they change with the next call. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_NOTHING, TW_IN_USE while it is being sent. Safe in an interrupt if no other
/// call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_image(
    trace: Option<&mut tw_shark>,
    number: u8,
    bytes: Option<&mut MaybeUninit<*const c_void>>,
    length: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    with(trace, |trace| {
        let image = trace.image(number)?;
        some(bytes)?.write(image.as_ptr().cast());
        some(length)?.write(image.len());
        Ok(())
    })
}

/// Stores how many bytes of memory a chunk takes when it is compressed.
///
/// Ownership: `size` is the caller's. Errors: as `tw_shark_compress_chunk`. Safe in an interrupt if no
/// other call on this trace can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_compressed_size(
    trace: Option<&mut tw_shark>,
    number: u8,
    size: Option<&mut MaybeUninit<usize>>,
) -> c_int {
    with(trace, |trace| {
        some(size)?.write(trace.compressed_size(number)?);
        Ok(())
    })
}

/// Compresses a chunk into other memory (`FTrace_compress_chunk`) and stores the memory that it had. It
/// keeps its number, gets `new_flags` with TW_COMPR and without TW_FREE, and sends what it would have
/// sent before.
///
/// Ownership: `memory` is the trace's until the chunk is deleted; `*before` is the caller's again.
/// Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_INVALID for flags, TW_TOO_SMALL, TW_NOT_FREE where
/// it is compressed, TW_IN_USE while it records, is linked to or is being sent; nothing was changed then.
/// Takes time in proportion to the chunk's size. Safe in an interrupt if no other call on this trace can be
/// under way.
///
/// # Safety
/// * `memory` has `size` bytes that nobody else uses until the chunk is deleted.
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
        // SAFETY: the bullet above.
        let memory = unsafe { self::memory(memory.cast(), size)? };
        let compressed = trace.compress_chunk(number, new_flags, memory);
        put(before, compressed.map_err(|refused| refused.reason)?.as_mut_ptr().cast());
        Ok(())
    })
}
