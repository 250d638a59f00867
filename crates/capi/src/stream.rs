//! Streams of our own recorder: made or opened, controlled, recorded into.
//!
//! The module holds `unsafe` code because exported names and C's arrays are that by nature.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::Arc;

use tracewell_record::stream::{Family, FullPolicy, Stream, StreamOptions};
use tracewell_wire::native::image::State;
use tracewell_wire::native::{EVENT_IDS, FAMILIES};

use crate::boundary::{self, array, guard, path, some, utf8};
use crate::clock::truth;
use crate::code::{Code, TW_INVALID, TW_NOTHING};

/// A stream, to which any number of threads record at a time.
pub struct tw_stream {
    pub(crate) stream: Arc<Stream>,
}

/// The oldest packet of a thread is overwritten.
pub const TW_LOOP: u8 = 0;
/// The stream stops.
pub const TW_UNTIL_FULL: u8 = 1;
/// Events are lost, and counted, until a log takes some out.
pub const TW_FLUSH: u8 = 2;

/// What a new stream is to be; 0 anywhere is the usual.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_stream_options {
    /// Threads that can record at a time; usually 64.
    pub lanes: u32,
    /// Packets of a thread, 2 at least; usually 16.
    pub packets: u32,
    /// Bytes of a packet, 512 to 1 MiB, a multiple of 8; usually 64 KiB.
    pub packet_size: u32,
    /// When it is full: TW_LOOP, TW_UNTIL_FULL, TW_FLUSH.
    pub policy: u8,
    /// 1 where children of a fork record as well.
    pub inherited: u8,
}

/// An event type in a stream, from `tw_define`. Copy it as you like.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_event {
    /// Its id in the stream.
    pub id: u16,
    /// Its family, 0 to 62.
    pub family: u16,
}

/// How a stream stands. Counts are since it was made or cleared.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct tw_stream_status {
    /// Events lost for want of room.
    pub lost: u64,
    /// Events lost because no lane was free, signal handlers interrupted each other too deeply, or the
    /// event type had no place.
    pub lost_unplaced: u64,
    /// Events lost while a full stream was suspended.
    pub lost_suspended: u64,
    /// Events that were in the stream and never reached its log.
    pub lost_log: u64,
    /// Threads that have a lane.
    pub lanes: u32,
    /// Error number of the first flush that failed; 0 for none.
    pub flush_error: i32,
    /// 1 where it records.
    pub running: c_int,
    /// 1 where the next event of some thread displaces another one, or has no room.
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

/// Gives C a stream.
fn hand_over(stream: Place<'_>, made: impl FnOnce() -> Result<Stream, Code>) -> c_int {
    guard(|| boundary::hand_over(stream, || Ok(tw_stream { stream: Arc::new(made()?) })))
}

/// Does something with a stream, for C.
#[inline]
fn with(stream: Option<&tw_stream>, work: impl FnOnce(&Stream) -> Result<(), Code>) -> c_int {
    guard(|| work(&some(stream)?.stream))
}

/// Makes a stream, suspended: in a new file, under `/dev/shm` say, or for a null path in memory without
/// one. `options` may be null for the usual.
///
/// Ownership: `*stream` is the caller's, to be given to `tw_stream_close`; null on errors. The file
/// stays when the stream is closed. Errors: TW_NULL, TW_INVALID, TW_TOO_SMALL, TW_NONE_FREE at the 17th
/// stream, or the system's (EEXIST). Not for signal handlers.
///
/// # Safety
/// * `file` is null or ends with a NUL.
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
        // SAFETY: the bullet above.
        Ok(Stream::create(unsafe { path(file)? }, &options)?)
    })
}

/// Opens the stream that another process made in a file.
///
/// Ownership: as `tw_stream_create`. Errors: TW_NULL, TW_INVALID where the file is no stream's,
/// TW_NONE_FREE, or the system's. Not for signal handlers.
///
/// # Safety
/// * `file` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_stream_open(
    file: *const c_char,
    stream: Option<&mut MaybeUninit<*mut tw_stream>>,
) -> c_int {
    // SAFETY: the bullet above.
    hand_over(stream, || Ok(Stream::open(unsafe { path(file)? })?))
}

/// Opens the stream that `TRACEWELL_STREAM` in the environment names: the one of `tracewell record`,
/// which has started it.
///
/// Ownership: as `tw_stream_create`. Errors: TW_NOTHING where nobody records (every other function takes
/// the null stream that is stored then, and says TW_NULL), else as `tw_stream_open`. Not for signal
/// handlers; no other thread may change the environment meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_from_environment(
    stream: Option<&mut MaybeUninit<*mut tw_stream>>,
) -> c_int {
    hand_over(stream, || Stream::from_environment()?.ok_or(Code(TW_NOTHING)))
}

/// Closes a stream. Null is allowed.
///
/// Ownership: the stream is gone; its file stays. Nobody may be inside a call with it, and logs that
/// drain it must not again; a flusher keeps what it needs. Errors: none. Not for signal handlers.
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

/// Stops recording; events that begin after the return are not recorded.
///
/// Ownership: none. Errors: TW_NULL. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_stop(stream: Option<&tw_stream>) -> c_int {
    with(stream, |stream| {
        stream.stop();
        Ok(())
    })
}

/// Forgets all records and the counts of losses; recording goes on.
///
/// Ownership: none. Errors: TW_NULL. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_clear(stream: Option<&tw_stream>) -> c_int {
    with(stream, |stream| {
        stream.image().clear();
        Ok(())
    })
}

/// Sets which families are not recorded, a bit each.
///
/// Ownership: none. Errors: TW_NULL. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_filter_families(stream: Option<&tw_stream>, families: u64) -> c_int {
    with(stream, |stream| {
        stream.image().set_family_filter(families);
        Ok(())
    })
}

/// Sets whether events of one id are left out (1) or recorded (0).
///
/// Ownership: none. Errors: TW_NULL, TW_INVALID for an id beyond 2047. Safe in a signal handler.
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

/// How a stream stands.
///
/// Ownership: `status` is the caller's. Errors: TW_NULL. Safe in a signal handler.
#[unsafe(no_mangle)]
pub extern "C" fn tw_stream_get_status(
    stream: Option<&tw_stream>,
    status: Option<&mut MaybeUninit<tw_stream_status>>,
) -> c_int {
    with(stream, |stream| {
        let found = stream.image().status();
        some(status)?.write(tw_stream_status {
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

/// Defines an event type in a stream: `"net/sent(length:u64,queue:hex,note:text)"`. The kinds of
/// fields are u64, i64, hex, bool, f64, and as the last one text or bytes.
///
/// A type that the stream has already keeps its id, so every process and thread may define.
/// Ownership: the text is copied. Errors: TW_NULL, TW_INVALID for another text or a family beyond 62,
/// TW_NONE_FREE at the 1985th type. Safe in a signal handler.
///
/// # Safety
/// * `event_type` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_define(
    stream: Option<&tw_stream>,
    family: u16,
    event_type: *const c_char,
    event: Option<&mut MaybeUninit<tw_event>>,
) -> c_int {
    with(stream, |stream| {
        // SAFETY: the bullet above.
        let text = unsafe { utf8(event_type)? };
        let id = stream.define_text(None, self::family(family)?, text)?;
        some(event)?.write(tw_event { id, family });
        Ok(())
    })
}

fn family(number: u16) -> Result<Family, Code> {
    let known = u32::from(number) < FAMILIES;
    known.then(|| Family::new(number, "")).ok_or(Code(TW_INVALID))
}

/// Records an event: a number for each field, the bits of a double for an f64. Never waits, never
/// allocates. What is filtered out, suspended or lost is no error here: `tw_stream_get_status` counts.
///
/// Ownership: the fields are copied. Errors: TW_NULL, TW_INVALID for a family that does not exist.
/// Safe in a signal handler, also in one that interrupts this very function.
///
/// # Safety
/// * `fields` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_record(
    stream: Option<&tw_stream>,
    event: tw_event,
    fields: *const u64,
    count: usize,
) -> c_int {
    with(stream, |stream| {
        // SAFETY: the bullet above.
        let fields = unsafe { array(fields, count)? };
        stream.record_as(event.id, family(event.family)?, fields, &[]);
        Ok(())
    })
}

/// Fields before a text or bytes.
const FIELDS: usize = 15;

/// Records an event whose last field is text or bytes, with at most 15 fields before it. One that is too
/// long for a packet is lost, and counted.
///
/// Ownership: fields and bytes are copied. Errors: TW_NULL, TW_INVALID for more fields or a family that
/// does not exist. Safe in a signal handler, also in one that interrupts this very function.
///
/// # Safety
/// * `fields` has `count` numbers.
/// * `bytes` has `length` bytes.
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
        // SAFETY: the bullets above.
        let (fields, bytes) = unsafe { (array(fields, count)?, array(bytes.cast(), length)?) };
        let mut words = [0; FIELDS + 1];
        let room = words.get_mut(..=count).filter(|_| count <= FIELDS).ok_or(Code(TW_INVALID))?;
        room[..count].copy_from_slice(fields);
        room[count] = length as u64;
        stream.record_as(event.id, family(event.family)?, room, bytes);
        Ok(())
    })
}
