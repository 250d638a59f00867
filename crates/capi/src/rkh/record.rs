//! Functions that write a record in steps (begin, arguments or items, end), or in one call.
//!
//! Between begin and end, only the calls for this record are allowed. The framework ensures this
//! with a critical section.
//!
//! Unsafe: exported symbols and C arrays.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int, c_void};

use tracewell_record::rkh::{About, Record};
use tracewell_wire::rkh::{Item, SymbolKind};

use super::{AnyBuffer, Recorder, recorded, recorder, tw_rkh};
use crate::boundary::{array, guard, text};
use crate::clock::CallerClock;
use crate::code::{Code, TW_INVALID, TW_NOTHING};

/// The record has no active object.
pub const TW_RKH_NO_OBJECT: i32 = -1;
/// The record has no signal.
pub const TW_RKH_NO_SIGNAL: i64 = -1;

/// Item type of a signed number of 1 byte.
pub const TW_RKH_I8: u8 = 0;
/// Item type of an unsigned number of 1 byte.
pub const TW_RKH_UI8: u8 = 1;
/// Item type of a signed number of 2 bytes.
pub const TW_RKH_I16: u8 = 2;
/// Item type of an unsigned number of 2 bytes.
pub const TW_RKH_UI16: u8 = 3;
/// Item type of a signed number of 4 bytes.
pub const TW_RKH_I32: u8 = 4;
/// Item type of an unsigned number of 4 bytes.
pub const TW_RKH_UI32: u8 = 5;
/// Item type of a number shown in hexadecimal.
pub const TW_RKH_X32: u8 = 6;
/// Item type of an object's address.
pub const TW_RKH_OBJ: u8 = 9;
/// Item type of a function's address.
pub const TW_RKH_FUN: u8 = 10;
/// Item type of a signal.
pub const TW_RKH_SIG: u8 = 11;

/// Names a data object by its address.
pub const TW_RKH_OBJECT: u8 = 0;
/// Names an active object.
pub const TW_RKH_ACTIVE_OBJECT: u8 = 1;
/// Names a queue by its address.
pub const TW_RKH_QUEUE: u8 = 2;
/// Names a timer by its address.
pub const TW_RKH_TIMER: u8 = 3;
/// Names a sender of events.
pub const TW_RKH_ACTOR: u8 = 4;
/// Names a function by its address.
pub const TW_RKH_FUNCTION: u8 = 5;
/// Names a state of an active object.
pub const TW_RKH_STATE: u8 = 6;
/// Names a pseudostate of an active object.
pub const TW_RKH_PSEUDOSTATE: u8 = 7;
/// Names a signal by its number.
pub const TW_RKH_SIGNAL: u8 = 8;
/// Names an event pool. In versions 3.x, `key` is the pool's number, counted from 0; in earlier
/// versions, it is the pool's address.
pub const TW_RKH_EVENT_POOL: u8 = 9;
/// Names a user event by its number, counted from 0.
pub const TW_RKH_USER_EVENT: u8 = 10;

const SYMBOLS: [SymbolKind; 11] = [
    SymbolKind::Object,
    SymbolKind::ActiveObject,
    SymbolKind::Queue,
    SymbolKind::Timer,
    SymbolKind::Actor,
    SymbolKind::Function,
    SymbolKind::State,
    SymbolKind::Pseudostate,
    SymbolKind::Signal,
    SymbolKind::EventPool,
    SymbolKind::UserEvent,
];

fn about(priority: i32, signal: i64) -> About {
    About { priority: u8::try_from(priority).ok(), signal: u32::try_from(signal).ok() }
}

type Open<'t> = Record<'t, 'static, CallerClock, AnyBuffer>;

/// Runs `work` on the open record.
fn add(
    trace: Option<&mut tw_rkh>,
    step: impl for<'t> FnOnce(Open<'t>) -> Open<'t>,
) -> Result<(), Code> {
    step(recorder(trace)?.resume().ok_or(Code(TW_NOTHING))?).pause();
    Ok(())
}

/// Begins the record of an event (`RKH_TRC_BEGIN`). Write its arguments in order, then call
/// `tw_rkh_end`.
///
/// The filters use `priority` (the priority of the record's active object, or TW_RKH_NO_OBJECT) and
/// `signal` (the record's signal, or TW_RKH_NO_SIGNAL). A record that is still open is aborted.
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_EXCLUDED if a filter suppresses the
/// record; TW_OFF if the record is not compiled in; TW_INVALID if the dialect has no such event.
/// After an error no record is open, and all calls up to and including `tw_rkh_end` have no effect.
/// Safe in an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_begin(
    trace: Option<&mut tw_rkh>,
    code: u8,
    priority: i32,
    signal: i64,
) -> c_int {
    guard(|| begin(recorder(trace)?, code, priority, signal).map(Record::pause))
}

fn begin(trace: &mut Recorder, code: u8, priority: i32, signal: i64) -> Result<Open<'_>, Code> {
    let event = trace.options().table.event(code).ok_or(Code(TW_INVALID))?;
    match trace.begin(event, about(priority, signal)) {
        Ok(record) => Ok(record),
        Err(outcome) => Err(recorded(outcome).err().unwrap_or(Code(TW_INVALID))),
    }
}

/// Writes a number or an address as the next argument. High bits that do not fit are dropped. Pass
/// all arguments: the call ignores an argument that the settings omit.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if no record is open.
/// `tw_rkh_end` reports an argument that the event does not have. Safe in an interrupt if no other
/// call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_arg(trace: Option<&mut tw_rkh>, value: u32) -> c_int {
    guard(|| add(trace, |record| record.arg(value)))
}

/// Writes a string as the next argument.
///
/// Ownership: the string is copied; null is an empty string. Errors: as `tw_rkh_arg`. Safe in an
/// interrupt if no other call can be in progress.
///
/// # Safety
/// * `value` must be null or null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_text(trace: Option<&mut tw_rkh>, value: *const c_char) -> c_int {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    guard(|| add(trace, |record| record.text(unsafe { text(value) })))
}

/// Writes bytes of an argument whose format the program defines. Only user events (in versions of
/// RKH before 2.3) and expectations of unit tests have such an argument. It is always the last one.
///
/// Ownership: the bytes are copied. Errors: as `tw_rkh_arg`. Safe in an interrupt if no other call
/// can be in progress.
///
/// # Safety
/// * `bytes` must point to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_bytes(
    trace: Option<&mut tw_rkh>,
    bytes: *const c_void,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let bytes = unsafe { array::<u8>(bytes.cast(), length)? };
        add(trace, |record| record.bytes(bytes))
    })
}

/// Ends a record (`RKH_TRC_END`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if no record is open; TW_MISSED
/// if the buffer dropped the record; TW_INVALID if the arguments did not match the event. After
/// TW_INVALID, the record is aborted; with the framework's buffer, decoders count it as lost. Safe
/// in an interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_end(trace: Option<&mut tw_rkh>) -> c_int {
    guard(|| recorded(recorder(trace)?.resume().ok_or(Code(TW_NOTHING))?.end()))
}

/// Records a complete event whose arguments are all numbers.
///
/// Ownership: the arguments are copied. Errors: as `tw_rkh_begin` and `tw_rkh_end`. Safe in an
/// interrupt if no other call can be in progress.
///
/// # Safety
/// * `arguments` must point to `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_record(
    trace: Option<&mut tw_rkh>,
    code: u8,
    priority: i32,
    signal: i64,
    arguments: *const u32,
    count: usize,
) -> c_int {
    guard(|| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let arguments = unsafe { array(arguments, count)? };
        let trace = recorder(trace)?;
        let event = trace.options().table.event(code).ok_or(Code(TW_INVALID))?;
        recorded(trace.record(event, about(priority, signal), arguments))
    })
}

/// Begins the record of the user event with the given number, counted from 0 (`RKH_TRC_USR_BEGIN`).
/// Write items, then call `tw_rkh_end`.
///
/// Ownership: none. Errors: as `tw_rkh_begin`. Safe in an interrupt if no other call can be in
/// progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_begin_user(trace: Option<&mut tw_rkh>, number: u8) -> c_int {
    guard(|| match recorder(trace)?.begin_user(number) {
        Ok(record) => {
            record.pause();
            Ok(())
        }
        Err(outcome) => recorded(outcome),
    })
}

/// Writes the next item of a user event. `item_type` is one of TW_RKH_I8 to TW_RKH_X32, TW_RKH_OBJ,
/// TW_RKH_FUN or TW_RKH_SIG.
///
/// `width` is the minimum number of characters to print, 0 to 15; it has no effect on addresses and
/// signals. Ownership: none. Errors: as `tw_rkh_arg`; TW_INVALID for another type. Safe in an
/// interrupt if no other call can be in progress.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_item(
    trace: Option<&mut tw_rkh>,
    item_type: u8,
    width: u8,
    value: u32,
) -> c_int {
    guard(|| {
        let bytes = 1 << (item_type >> 1 & 3);
        let signed = value.cast_signed();
        let item = match item_type {
            _ if width > 15 => return Err(Code(TW_INVALID)),
            TW_RKH_I8 | TW_RKH_I16 | TW_RKH_I32 => Item::Signed { value: signed, bytes, width },
            TW_RKH_UI8 | TW_RKH_UI16 | TW_RKH_UI32 => Item::Unsigned { value, bytes, width },
            TW_RKH_X32 => Item::Hex { value, width },
            TW_RKH_OBJ => Item::Object(value),
            TW_RKH_FUN => Item::Function(value),
            TW_RKH_SIG => Item::Signal(value),
            _ => return Err(Code(TW_INVALID)),
        };
        add(trace, |record| record.item(item))
    })
}

/// Writes a string as the next item of a user event.
///
/// Ownership: the string is copied; null is an empty string. Errors: as `tw_rkh_arg`. Safe in an
/// interrupt if no other call can be in progress.
///
/// # Safety
/// * `value` must be null or null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_item_text(
    trace: Option<&mut tw_rkh>,
    value: *const c_char,
) -> c_int {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    guard(|| add(trace, |record| record.item(Item::Text(unsafe { text(value) }))))
}

/// Writes memory of at most 255 bytes as the next item of a user event.
///
/// Ownership: the bytes are copied. Errors: as `tw_rkh_arg`. Safe in an interrupt if no other call
/// can be in progress.
///
/// # Safety
/// * `bytes` must point to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_item_memory(
    trace: Option<&mut tw_rkh>,
    bytes: *const c_void,
    length: u8,
) -> c_int {
    guard(|| {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let memory = unsafe { array::<u8>(bytes.cast(), usize::from(length))? };
        add(trace, |record| record.item(Item::Memory(memory)))
    })
}

/// Records a name for an address or a number (`RKH_TR_FWK_...`). `kind` is one of TW_RKH_OBJECT to
/// TW_RKH_USER_EVENT. Filters do not apply. Send the bytes before the buffer fills up.
///
/// `owner` is the active object of a state or pseudostate, and has no effect for all other kinds.
/// Ownership: the name is copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_MISSED; TW_INVALID if the
/// dialect has no record for this kind. Safe in an interrupt if no other call can be in progress.
///
/// # Safety
/// * `name` must be null or null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_symbol(
    trace: Option<&mut tw_rkh>,
    kind: u8,
    owner: u32,
    key: u32,
    name: *const c_char,
) -> c_int {
    guard(|| {
        let kind = SYMBOLS.get(usize::from(kind)).ok_or(Code(TW_INVALID))?;
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let name = unsafe { text(name) };
        recorded(recorder(trace)?.symbol(*kind, Some(owner), key, name))
    })
}

/// Records a failed assertion (`RKH_TR_FWK_ASSERT`): the module's name without `.c`, and the line.
/// The filter of the event and the filter of its group apply. Send the bytes before the program
/// stops.
///
/// Ownership: the string is copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_EXCLUDED, TW_OFF,
/// TW_MISSED; TW_INVALID in dialects older than 2.3. Safe in an interrupt if no other call can be
/// in progress.
///
/// # Safety
/// * `module` must be null or null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_assertion(
    trace: Option<&mut tw_rkh>,
    module: *const c_char,
    line: u16,
) -> c_int {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    guard(|| recorded(recorder(trace)?.assertion(unsafe { text(module) }, line)))
}
