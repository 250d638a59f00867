//! Attributes of streams in objects of C.
//!
//! The module holds `unsafe` code because exported names and C's texts are that by nature.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::mem::MaybeUninit;

use tracewell_posix::{Attributes, LogPolicy, StreamPolicy};
use tracewell_wire::posix::NAME_MAX;

use super::{INVALID, Number, guard, some, timespec};
use crate::boundary::text;

/// `trace_attr_t`.
#[repr(C, align(8))]
pub struct trace_attr_t([u64; 32]);

/// What an initialised object begins with.
const MARK: u64 = u64::from_le_bytes(*b"TWPXattr");

/// Words of numbers in an object, the mark included; name and version follow.
const NUMBERS: usize = 9;
/// Words of both texts.
const TEXTS: usize = 2 * NAME_MAX / 8;

const _: () = assert!(NUMBERS + TEXTS <= 32);

impl trace_attr_t {
    /// The object of these attributes.
    fn new(attributes: &Attributes) -> Self {
        let mut object = Self([0; 32]);
        object.store(attributes);
        object
    }

    /// The attributes in an object that was initialised.
    pub(super) fn read(&self) -> Result<Attributes, Number> {
        let [mark, stream_policy, stream_size, max_data, inherited, log_size, log_policy, ..] =
            self.0;
        let (created, resolution) = (self.0[7], self.0[8]);
        if mark != MARK {
            return Err(INVALID);
        }
        let texts = bytes(&self.0[NUMBERS..NUMBERS + TEXTS]);
        let (name, version) = texts.split_at(NAME_MAX);
        Ok(Attributes {
            version: version.try_into().map_err(|_| INVALID)?,
            name: name.try_into().map_err(|_| INVALID)?,
            created,
            resolution,
            stream_size: stream_size as usize,
            stream_policy: StreamPolicy::of_code(stream_policy as u32),
            max_data: max_data as usize,
            inherited: inherited != 0,
            log_size: log_size as usize,
            log_policy: LogPolicy::of_code(log_policy as u32).ok_or(INVALID)?,
        })
    }

    fn store(&mut self, attributes: &Attributes) {
        let numbers = [
            MARK,
            attributes.stream_policy.map_or(0, |policy| policy.code().into()),
            attributes.stream_size as u64,
            attributes.max_data as u64,
            attributes.inherited.into(),
            attributes.log_size as u64,
            attributes.log_policy.code().into(),
            attributes.created,
            attributes.resolution,
        ];
        self.0[..NUMBERS].copy_from_slice(&numbers);
        let texts = attributes.name.iter().chain(&attributes.version);
        let texts: Vec<u8> = texts.copied().collect();
        for (to, piece) in self.0[NUMBERS..NUMBERS + TEXTS].iter_mut().zip(texts.as_chunks::<8>().0)
        {
            *to = u64::from_ne_bytes(*piece);
        }
    }
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Fills an object that need not be initialised.
pub(super) fn fill(object: &mut MaybeUninit<trace_attr_t>, attributes: &Attributes) {
    object.write(trace_attr_t::new(attributes));
}

type Object<'a> = Option<&'a trace_attr_t>;
type ObjectToSet<'a> = Option<&'a mut trace_attr_t>;
type Place<'a, T> = Option<&'a mut MaybeUninit<T>>;

/// Gives something of an object.
fn get<T>(object: Object<'_>, to: Place<'_, T>, what: impl FnOnce(&Attributes) -> T) -> c_int {
    guard(|| {
        let (object, to) = (some(object)?, some(to)?);
        to.write(what(&object.read()?));
        Ok(())
    })
}

/// Changes an object, or leaves it as it was.
fn set(
    object: ObjectToSet<'_>,
    change: impl FnOnce(&mut Attributes) -> Result<(), Number>,
) -> c_int {
    guard(|| {
        let object = some(object)?;
        let mut attributes = object.read()?;
        change(&mut attributes)?;
        object.store(&attributes);
        Ok(())
    })
}

/// Initialises an object with the defaults.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_init(attr: Place<'_, trace_attr_t>) -> c_int {
    guard(|| {
        fill(some(attr)?, &Attributes::default());
        Ok(())
    })
}

/// Makes an object one that is not initialised.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_destroy(attr: ObjectToSet<'_>) -> c_int {
    guard(|| {
        let attr = some(attr)?;
        attr.read()?;
        attr.0[0] = 0;
        Ok(())
    })
}

/// Resolution of the clock of time stamps.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getclockres(
    attr: Object<'_>,
    resolution: Place<'_, libc::timespec>,
) -> c_int {
    get(attr, resolution, |attributes| timespec(attributes.resolution))
}

/// When the stream was made.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getcreatetime(
    attr: Object<'_>,
    createtime: Place<'_, libc::timespec>,
) -> c_int {
    get(attr, createtime, |attributes| timespec(attributes.created))
}

/// Who made the stream: a text of at most `TRACE_NAME_MAX` bytes with its null.
///
/// # Safety
/// * `genversion` is null or has room for `TRACE_NAME_MAX` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_attr_getgenversion(
    attr: Object<'_>,
    genversion: *mut c_char,
) -> c_int {
    // SAFETY: the caller's bullet.
    unsafe { get_text(attr, genversion, |attributes| attributes.version) }
}

/// The stream's name: a text of at most `TRACE_NAME_MAX` bytes with its null.
///
/// # Safety
/// * `tracename` is null or has room for `TRACE_NAME_MAX` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_attr_getname(
    attr: Object<'_>,
    tracename: *mut c_char,
) -> c_int {
    // SAFETY: the caller's bullet.
    unsafe { get_text(attr, tracename, |attributes| attributes.name) }
}

/// # Safety
/// * `to` is null or has room for `TRACE_NAME_MAX` bytes.
unsafe fn get_text(
    attr: Object<'_>,
    to: *mut c_char,
    what: impl FnOnce(&Attributes) -> [u8; NAME_MAX],
) -> c_int {
    guard(|| {
        let text = what(&some(attr)?.read()?);
        let length = text.iter().position(|byte| *byte == 0).unwrap_or(NAME_MAX - 1);
        // SAFETY: the caller's bullet; the text has its null within `NAME_MAX`.
        unsafe { crate::boundary::put_text(to, &text[..length]) }.ok_or(INVALID)
    })
}

/// Sets the stream's name, which is cut to `TRACE_NAME_MAX` - 1 bytes.
///
/// # Safety
/// * `tracename` is null or a text with a null behind it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_attr_setname(
    attr: ObjectToSet<'_>,
    tracename: *const c_char,
) -> c_int {
    if tracename.is_null() {
        return libc::EINVAL;
    }
    // SAFETY: not null; the caller's bullet.
    let name = unsafe { text(tracename) };
    set(attr, |attributes| {
        attributes.set_name(name);
        Ok(())
    })
}

/// Whether children of a fork are traced.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getinherited(
    attr: Object<'_>,
    policy: Place<'_, c_int>,
) -> c_int {
    get(attr, policy, |attributes| attributes.inherited.into())
}

/// Sets whether children of a fork are traced.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setinherited(attr: ObjectToSet<'_>, policy: c_int) -> c_int {
    set(attr, |attributes| {
        attributes.inherited = match policy {
            0 => false,
            1 => true,
            _ => return Err(INVALID),
        };
        Ok(())
    })
}

/// What happens when the log is full.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getlogfullpolicy(
    attr: Object<'_>,
    policy: Place<'_, c_int>,
) -> c_int {
    get(attr, policy, |attributes| attributes.log_policy.code() as c_int)
}

/// Sets what happens when the log is full.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setlogfullpolicy(attr: ObjectToSet<'_>, policy: c_int) -> c_int {
    set(attr, |attributes| {
        attributes.log_policy = LogPolicy::of_code(policy as u32).ok_or(INVALID)?;
        Ok(())
    })
}

/// What happens when the stream is full.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getstreamfullpolicy(
    attr: Object<'_>,
    policy: Place<'_, c_int>,
) -> c_int {
    let policy_of =
        |attributes: &Attributes| attributes.stream_policy.unwrap_or(StreamPolicy::Loop);
    get(attr, policy, |attributes| policy_of(attributes).code() as c_int)
}

/// Sets what happens when the stream is full.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setstreamfullpolicy(
    attr: ObjectToSet<'_>,
    policy: c_int,
) -> c_int {
    set(attr, |attributes| {
        attributes.stream_policy = Some(StreamPolicy::of_code(policy as u32).ok_or(INVALID)?);
        Ok(())
    })
}

/// Bytes for records in the log.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getlogsize(attr: Object<'_>, size: Place<'_, usize>) -> c_int {
    get(attr, size, |attributes| attributes.log_size)
}

/// Sets the bytes for records in the log.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setlogsize(attr: ObjectToSet<'_>, size: usize) -> c_int {
    set(attr, |attributes| {
        attributes.log_size = size;
        Ok(())
    })
}

/// Most data of a user event that is not cut.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getmaxdatasize(
    attr: Object<'_>,
    size: Place<'_, usize>,
) -> c_int {
    get(attr, size, |attributes| attributes.max_data)
}

/// Sets the most data of a user event that is not cut.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setmaxdatasize(attr: ObjectToSet<'_>, size: usize) -> c_int {
    set(attr, |attributes| Ok(attributes.set_max_data(size)?))
}

/// Bytes for records in the stream.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getstreamsize(
    attr: Object<'_>,
    size: Place<'_, usize>,
) -> c_int {
    get(attr, size, |attributes| attributes.stream_size)
}

/// Sets the bytes for records in the stream.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setstreamsize(attr: ObjectToSet<'_>, size: usize) -> c_int {
    set(attr, |attributes| {
        attributes.stream_size = size;
        Ok(())
    })
}

/// Most bytes of a record of a system event.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getmaxsystemeventsize(
    attr: Object<'_>,
    size: Place<'_, usize>,
) -> c_int {
    get(attr, size, |_| Attributes::max_system_event_size())
}

/// Most bytes of a record of a user event with so much data.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getmaxusereventsize(
    attr: Object<'_>,
    data_len: usize,
    size: Place<'_, usize>,
) -> c_int {
    get(attr, size, |attributes| attributes.max_user_event_size(data_len))
}
