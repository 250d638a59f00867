//! The attributes of streams; the caller provides the objects that store them.
//!
//! Unsafe: exported symbols and C strings.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::mem::MaybeUninit;

use tracewell_posix::{Attributes, LogPolicy, StreamPolicy};
use tracewell_wire::posix::NAME_MAX;

use super::{INVALID, Number, guard, non_null, timespec};
use crate::boundary::text;

/// `trace_attr_t` of `trace.h`: 256 bytes, filled by `posix_trace_attr_init`.
#[repr(C, align(8))]
pub struct trace_attr_t([u64; 32]);

/// The first word of an initialised object.
const MARK: u64 = u64::from_le_bytes(*b"TWPXattr");

/// Number of words that hold the mark and the numeric attributes. The words of the name and the
/// version follow.
const NUMBERS: usize = 9;
/// Number of words that hold the name and version.
const TEXTS: usize = 2 * NAME_MAX / 8;

const _: () = assert!(NUMBERS + TEXTS <= 32);

impl trace_attr_t {
    /// Creates an object from attributes.
    fn new(attributes: &Attributes) -> Self {
        let mut object = Self([0; 32]);
        object.store(attributes);
        object
    }

    /// Returns the attributes of an initialised object.
    pub(super) fn read(&self) -> Result<Attributes, Number> {
        let [mark, stream_policy, stream_size, max_data, inherited, log_size, log_policy, ..] =
            self.0;
        let (created, resolution) = (self.0[7], self.0[8]);
        // C programs may pass an object that was never initialised, or was destroyed.
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
        // Store the bytes in memory order, so that `bytes` returns the strings without conversion.
        for (to, piece) in self.0[NUMBERS..NUMBERS + TEXTS].iter_mut().zip(texts.as_chunks::<8>().0)
        {
            *to = u64::from_ne_bytes(*piece);
        }
    }
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Fills an object, which may be uninitialised.
pub(super) fn fill(object: &mut MaybeUninit<trace_attr_t>, attributes: &Attributes) {
    object.write(trace_attr_t::new(attributes));
}

type Object<'a> = Option<&'a trace_attr_t>;
type ObjectToSet<'a> = Option<&'a mut trace_attr_t>;
type Place<'a, T> = Option<&'a mut MaybeUninit<T>>;

/// Stores one attribute of an object in `to`.
fn get<T>(object: Object<'_>, to: Place<'_, T>, what: impl FnOnce(&Attributes) -> T) -> c_int {
    guard(|| {
        let (object, to) = (non_null(object)?, non_null(to)?);
        to.write(what(&object.read()?));
        Ok(())
    })
}

/// Changes an object. After an error it is unchanged.
fn set(
    object: ObjectToSet<'_>,
    change: impl FnOnce(&mut Attributes) -> Result<(), Number>,
) -> c_int {
    guard(|| {
        let object = non_null(object)?;
        let mut attributes = object.read()?;
        change(&mut attributes)?;
        object.store(&attributes);
        Ok(())
    })
}

/// Initialises an object with the default attributes.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_init(attr: Place<'_, trace_attr_t>) -> c_int {
    guard(|| {
        fill(non_null(attr)?, &Attributes::default());
        Ok(())
    })
}

/// Marks an object as uninitialised.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_destroy(attr: ObjectToSet<'_>) -> c_int {
    guard(|| {
        let attr = non_null(attr)?;
        attr.read()?;
        attr.0[0] = 0;
        Ok(())
    })
}

/// Stores the resolution of the clock in `resolution`.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getclockres(
    attr: Object<'_>,
    resolution: Place<'_, libc::timespec>,
) -> c_int {
    get(attr, resolution, |attributes| timespec(attributes.resolution))
}

/// Stores the creation time of the stream in `createtime`.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getcreatetime(
    attr: Object<'_>,
    createtime: Place<'_, libc::timespec>,
) -> c_int {
    get(attr, createtime, |attributes| timespec(attributes.created))
}

/// Stores the generation version in `genversion`, as a string of at most `TRACE_NAME_MAX` bytes
/// including the null.
///
/// # Safety
/// * `genversion` must be null or have space for `TRACE_NAME_MAX` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_attr_getgenversion(
    attr: Object<'_>,
    genversion: *mut c_char,
) -> c_int {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    unsafe { get_text(attr, genversion, |attributes| attributes.version) }
}

/// Stores the stream's name in `tracename`, as a string of at most `TRACE_NAME_MAX` bytes including
/// the null.
///
/// # Safety
/// * `tracename` must be null or have space for `TRACE_NAME_MAX` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_attr_getname(
    attr: Object<'_>,
    tracename: *mut c_char,
) -> c_int {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    unsafe { get_text(attr, tracename, |attributes| attributes.name) }
}

/// # Safety
/// * `to` must be null or have space for `TRACE_NAME_MAX` bytes.
unsafe fn get_text(
    attr: Object<'_>,
    to: *mut c_char,
    what: impl FnOnce(&Attributes) -> [u8; NAME_MAX],
) -> c_int {
    guard(|| {
        let text = what(&non_null(attr)?.read()?);
        let length = text.iter().position(|byte| *byte == 0).unwrap_or(NAME_MAX - 1);
        // SAFETY: guaranteed by the caller (see `# Safety`); the string ends within `NAME_MAX`
        // bytes.
        unsafe { crate::boundary::put_text(to, &text[..length]) }.ok_or(INVALID)
    })
}

/// Sets the stream's name, truncated to `TRACE_NAME_MAX` - 1 bytes.
///
/// # Safety
/// * `tracename` must be null or a null-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_trace_attr_setname(
    attr: ObjectToSet<'_>,
    tracename: *const c_char,
) -> c_int {
    if tracename.is_null() {
        return libc::EINVAL;
    }
    // SAFETY: not null; guaranteed by the caller (see `# Safety`).
    let name = unsafe { text(tracename) };
    set(attr, |attributes| {
        attributes.set_name(name);
        Ok(())
    })
}

/// Stores the inheritance policy in `policy`: 1 if children of traced processes are traced, too,
/// and 0 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getinherited(
    attr: Object<'_>,
    policy: Place<'_, c_int>,
) -> c_int {
    get(attr, policy, |attributes| attributes.inherited.into())
}

/// Sets the inheritance policy.
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

/// Stores the policy for a full log in `policy`.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getlogfullpolicy(
    attr: Object<'_>,
    policy: Place<'_, c_int>,
) -> c_int {
    get(attr, policy, |attributes| attributes.log_policy.code() as c_int)
}

/// Sets the policy for a full log.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setlogfullpolicy(attr: ObjectToSet<'_>, policy: c_int) -> c_int {
    set(attr, |attributes| {
        attributes.log_policy = LogPolicy::of_code(policy as u32).ok_or(INVALID)?;
        Ok(())
    })
}

/// Stores the policy for a full stream in `policy`.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getstreamfullpolicy(
    attr: Object<'_>,
    policy: Place<'_, c_int>,
) -> c_int {
    let policy_of =
        |attributes: &Attributes| attributes.stream_policy.unwrap_or(StreamPolicy::Loop);
    get(attr, policy, |attributes| policy_of(attributes).code() as c_int)
}

/// Sets the policy for a full stream.
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

/// Stores the log size in bytes in `size`.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getlogsize(attr: Object<'_>, size: Place<'_, usize>) -> c_int {
    get(attr, size, |attributes| attributes.log_size)
}

/// Sets the log size in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setlogsize(attr: ObjectToSet<'_>, size: usize) -> c_int {
    set(attr, |attributes| {
        attributes.log_size = size;
        Ok(())
    })
}

/// Stores the maximum number of data bytes per user event in `size`. Longer data is truncated.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getmaxdatasize(
    attr: Object<'_>,
    size: Place<'_, usize>,
) -> c_int {
    get(attr, size, |attributes| attributes.max_data)
}

/// Sets the maximum number of data bytes per user event.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setmaxdatasize(attr: ObjectToSet<'_>, size: usize) -> c_int {
    set(attr, |attributes| Ok(attributes.set_max_data(size)?))
}

/// Stores the stream size in bytes in `size`.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getstreamsize(
    attr: Object<'_>,
    size: Place<'_, usize>,
) -> c_int {
    get(attr, size, |attributes| attributes.stream_size)
}

/// Sets the stream size in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_setstreamsize(attr: ObjectToSet<'_>, size: usize) -> c_int {
    set(attr, |attributes| {
        attributes.stream_size = size;
        Ok(())
    })
}

/// Stores the maximum size of a system event's record in `size`.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getmaxsystemeventsize(
    attr: Object<'_>,
    size: Place<'_, usize>,
) -> c_int {
    get(attr, size, |_| Attributes::max_system_event_size())
}

/// Stores in `size` the maximum size of the record of a user event with `data_len` bytes of data.
#[unsafe(no_mangle)]
pub extern "C" fn posix_trace_attr_getmaxusereventsize(
    attr: Object<'_>,
    data_len: usize,
    size: Place<'_, usize>,
) -> c_int {
    get(attr, size, |attributes| attributes.max_user_event_size(data_len))
}
