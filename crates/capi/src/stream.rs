//! Streams of Tracewell's own recorder: creation, control, recording.
//!
//! Unsafe: exported symbols and C arrays.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::Arc;

use tracewell_record::stream::{Family, FullPolicy, Stream, StreamOptions};
use tracewell_wire::native::image::State;
use tracewell_wire::native::{EVENT_IDS, FAMILIES};

use crate::boundary::{self, array, guard, non_null, path, utf8};
use crate::clock::truth;
use crate::code::{Code, TW_INVALID, TW_NOTHING};

/// A stream, into which any number of threads may record at the same time.
pub struct tw_stream {
    pub(crate) stream: Arc<Stream>,
}

/// A full lane overwrites the oldest packet of its thread.
pub const TW_LOOP: u8 = 0;
/// A full lane stops the stream.
pub const TW_UNTIL_FULL: u8 = 1;
/// Events that do not fit are lost and counted, until a log drains the stream.
pub const TW_FLUSH: u8 = 2;

/// Options of a new stream. A field of 0 selects its default.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_stream_options {
    /// Maximum number of recording threads; 64 by default.
    pub lanes: u32,
    /// Packets per thread, at least 2; 16 by default.
    pub packets: u32,
    /// Packet size in bytes, a multiple of 8 from 512 to 1 MiB; 64 KiB by default.
    pub packet_size: u32,
    /// Behaviour when full: TW_LOOP, TW_UNTIL_FULL or TW_FLUSH.
    pub policy: u8,
    /// 1 if forked child processes record as well.
    pub inherited: u8,
}

/// An event type that `tw_define` defined in a stream. It may be copied freely.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_event {
    /// The id of the event type in the stream.
    pub id: u16,
    /// The family of the event type, 0 to 62.
    pub family: u16,
}

/// The status of a stream. Counts start when the stream is created or cleared.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_stream_status {
    /// Events lost because there was no space.
    pub lost: u64,
    /// Events lost because no lane was free, signal handlers were nested too deeply, or the event
    /// type could not be stored.
    pub lost_unplaced: u64,
    /// Events lost while a full stream was suspended.
    pub lost_suspended: u64,
    /// Events that were stored in the stream but not written to its log.
    pub lost_log: u64,
    /// Number of threads that have a lane.
    pub lanes: u32,
    /// Error number of the first failed flush; 0 for none.
    pub flush_error: i32,
    /// 1 if the stream is recording.
    pub running: c_int,
    /// 1 if a thread has no space for its next event: the event would overwrite another event or be
    /// lost.
    pub full: c_int,
}

impl tw_stream_options {
    fn options(self) -> Result<StreamOptions, Code> {
        let usual = StreamOptions::default();
        let or = |wanted, usual| if wanted == 0 { usual } else { wanted };
        Ok(StreamOptions {
            policy: match self.policy {
                TW_LOOP => FullPolicy::Loop,
                TW_UNTIL_FULL => FullPolicy::UntilFull,
                TW_FLUSH => FullPolicy::Flush,
                _ => return Err(Code(TW_INVALID)),
            },
            lanes: or(self.lanes, usual.lanes),
            packets: or(self.packets, usual.packets),
            packet_size: or(self.packet_size, usual.packet_size),
            inherited: self.inherited != 0,
            ..usual
        })
    }
}

type Place<'a> = Option<&'a mut MaybeUninit<*mut tw_stream>>;

/// Passes ownership of a stream to C.
fn hand_over(stream: Place<'_>, made: impl FnOnce() -> Result<Stream, Code>) -> c_int {
    guard(|| boundary::hand_over(stream, || Ok(tw_stream { stream: Arc::new(made()?) })))
}

/// Runs `work` on a stream, and returns the result of `work` to C.
#[inline]
fn with(stream: Option<&tw_stream>, work: impl FnOnce(&Stream) -> Result<(), Code>) -> c_int {
    guard(|| work(&non_null(stream)?.stream))
}

/// Creates a suspended stream in a new file, for example in `/dev/shm`, or only in memory if `file`
/// is null. `options` may be null for the defaults.
///
/// Ownership: the caller owns `*stream` and passes it to `tw_stream_close`; it is null after an
/// error. The file is kept when the stream is closed. Errors: TW_NULL, TW_INVALID, TW_TOO_SMALL, or
/// an error of the system (EEXIST); TW_NONE_FREE if the process already has 16 streams. Not for
/// signal handlers.
///
/// # Safety
/// * `file` must be null or null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_stream_create(
    file: *const c_char,
    options: Option<&tw_stream_options>,
    stream: Option<&mut MaybeUninit<*mut tw_stream>>,
) -> c_int {
    hand_over(stream, || {
        let options = options.map_or(Ok(StreamOptions::default()), |given| given.options())?;
        if file.is_null() {
            return Ok(Stream::anonymous(&options)?);
        }
        // SAFETY: guaranteed by the caller (see `# Safety`).
        Ok(Stream::create(unsafe { path(file)? }, &options)?)
    })
}

/// Opens a stream that another process created in a file.
///
/// Ownership: as `tw_stream_create`. Errors: TW_NULL, TW_NONE_FREE, or an error of the system;
/// TW_INVALID if the file is not a stream. Not for signal handlers.
///
/// # Safety
/// * `file` must be null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_stream_open(
    file: *const c_char,
    stream: Option<&mut MaybeUninit<*mut tw_stream>>,
) -> c_int {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    hand_over(stream, || Ok(Stream::open(unsafe { path(file)? })?))
}

/// Opens the stream that the environment variable `TRACEWELL_STREAM` names. `tracewell record` sets
/// this variable for the programs that it starts.
///
/// Ownership: as `tw_stream_create`. Errors: TW_NOTHING if the variable is not set, otherwise as
/// `tw_stream_open`. After TW_NOTHING the stored stream is null. `tw_stream_close` accepts null;
/// all other functions return TW_NULL for it. Not for signal handlers; no other thread may change
/// the environment during the call.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_from_environment(
    stream: Option<&mut MaybeUninit<*mut tw_stream>>,
) -> c_int {
    hand_over(stream, || Stream::from_environment()?.ok_or(Code(TW_NOTHING)))
}

/// Closes a stream. Null is allowed.
///
/// Ownership: the stream is freed; its file is kept. No call on the stream may be in progress, and
/// logs of the stream must not be drained again; an active flusher may continue. Errors: none. Not
/// for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_close(stream: Option<Box<tw_stream>>) {
    guard(|| {
        drop(stream);
        Ok(())
    });
}

/// Starts recording.
///
/// Ownership: none. Errors: TW_NULL. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_start(stream: Option<&tw_stream>) -> c_int {
    with(stream, |stream| {
        stream.start();
        Ok(())
    })
}

/// Stops recording. Events that begin after the call are not recorded.
///
/// Ownership: none. Errors: TW_NULL. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_stop(stream: Option<&tw_stream>) -> c_int {
    with(stream, |stream| {
        stream.stop();
        Ok(())
    })
}

/// Removes all records and resets the counts of losses. A running stream continues to record.
///
/// Ownership: none. Errors: TW_NULL. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_clear(stream: Option<&tw_stream>) -> c_int {
    with(stream, |stream| {
        stream.image().clear();
        Ok(())
    })
}

/// Sets the filter of families: one bit per family, 1 if the family is not recorded.
///
/// Ownership: none. Errors: TW_NULL. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_filter_families(stream: Option<&tw_stream>, families: u64) -> c_int {
    with(stream, |stream| {
        stream.image().set_family_filter(families);
        Ok(())
    })
}

/// Excludes events with the given id (`left_out` 1) or records them again (0).
///
/// Ownership: none. Errors: TW_NULL; TW_INVALID for an id above 2047. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_filter_event(
    stream: Option<&tw_stream>,
    id: u16,
    left_out: c_int,
) -> c_int {
    with(stream, |stream| {
        if usize::from(id) >= EVENT_IDS {
            return Err(Code(TW_INVALID));
        }
        stream.image().set_filtered(id, left_out != 0);
        Ok(())
    })
}

/// Stores the status of a stream.
///
/// Ownership: the caller keeps `status`. Errors: TW_NULL. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_get_status(
    stream: Option<&tw_stream>,
    status: Option<&mut MaybeUninit<tw_stream_status>>,
) -> c_int {
    with(stream, |stream| {
        let found = stream.image().status();
        non_null(status)?.write(tw_stream_status {
            lost: found.lost,
            lost_unplaced: found.lost_unplaced,
            lost_suspended: found.lost_suspended,
            lost_log: found.lost_log,
            lanes: found.lanes,
            flush_error: found.flush_error,
            running: truth(found.state == State::Running),
            full: truth(found.full),
        });
        Ok(())
    })
}

/// Defines an event type in a stream, such as `"net/sent(length:u64,queue:hex,note:text)"`. The
/// types of fields are u64, i64, hex, bool and f64; the last field may also be text or bytes.
///
/// If the stream already has this event type, the call returns its id. So every process and thread
/// may define the type.
///
/// Ownership: the string is copied. Errors: TW_NULL; TW_INVALID for a malformed string or a family
/// above 62; TW_NONE_FREE if the stream already has 1984 types. Safe in a signal handler.
///
/// # Safety
/// * `event_type` must be null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_define(
    stream: Option<&tw_stream>,
    family: u16,
    event_type: *const c_char,
    event: Option<&mut MaybeUninit<tw_event>>,
) -> c_int {
    with(stream, |stream| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let text = unsafe { utf8(event_type)? };
        let id = stream.define_text(None, self::family(family)?, text)?;
        non_null(event)?.write(tw_event { id, family });
        Ok(())
    })
}

fn family(number: u16) -> Result<Family, Code> {
    let known = u32::from(number) < FAMILIES;
    known.then(|| Family::new(number, "")).ok_or(Code(TW_INVALID))
}

/// Records an event with one number per field. For an f64 field, pass the bits of a double. Never
/// waits and never allocates. It is not an error if the event is filtered out or lost, or if the
/// stream is suspended. `tw_stream_get_status` reports losses.
///
/// Ownership: the fields are copied. Errors: TW_NULL; TW_INVALID for an invalid family. Safe in a
/// signal handler, even in one that interrupts this function.
///
/// # Safety
/// * `fields` must point to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_record(
    stream: Option<&tw_stream>,
    event: tw_event,
    fields: *const u64,
    count: usize,
) -> c_int {
    with(stream, |stream| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let fields = unsafe { array(fields, count)? };
        stream.record_as(event.id, family(event.family)?, fields, &[]);
        Ok(())
    })
}

/// Maximum number of fields before the text or bytes.
const FIELDS: usize = 15;

/// Records an event whose last field is a string or bytes, with at most 15 fields before it. An
/// event that does not fit into a packet is lost and counted.
///
/// Ownership: fields and bytes are copied. Errors: TW_NULL; TW_INVALID for more than 15 fields or
/// an invalid family. Safe in a signal handler, even in one that interrupts this function.
///
/// # Safety
/// * `fields` must point to `count` numbers.
/// * `bytes` must point to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_record_with(
    stream: Option<&tw_stream>,
    event: tw_event,
    fields: *const u64,
    count: usize,
    bytes: *const c_void,
    length: usize,
) -> c_int {
    with(stream, |stream| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let (fields, bytes) = unsafe { (array(fields, count)?, array(bytes.cast(), length)?) };
        let mut words = [0; FIELDS + 1];
        let room = words.get_mut(..=count).filter(|_| count <= FIELDS).ok_or(Code(TW_INVALID))?;
        room[..count].copy_from_slice(fields);
        room[count] = length as u64;
        stream.record_as(event.id, family(event.family)?, room, bytes);
        Ok(())
    })
}
