//! The steps of a record: begin, arguments or items, end; and the records that are made at once.
//!
//! Between begin and end no other call may come in: the framework holds its critical section.
//!
//! The module holds `unsafe` code because exported names and C's arrays are that by nature.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int, c_void};

use tracewell_record::rkh::{About, Record};
use tracewell_wire::rkh::{Item, SymbolKind};

use super::{AnyBuffer, Recorder, recorded, recorder, tw_rkh};
use crate::boundary::{array, guard, text};
use crate::clock::CallerClock;
use crate::code::{Code, TW_INVALID, TW_NOTHING};

/// A record that is about no active object.
pub const TW_RKH_NO_OBJECT: i32 = -1;
/// A record that is about no signal.
pub const TW_RKH_NO_SIGNAL: i64 = -1;

/// An item: a signed number of 1 byte.
pub const TW_RKH_I8: u8 = 0;
/// An item: an unsigned number of 1 byte.
pub const TW_RKH_UI8: u8 = 1;
/// An item: a signed number of 2 bytes.
pub const TW_RKH_I16: u8 = 2;
/// An item: an unsigned number of 2 bytes.
pub const TW_RKH_UI16: u8 = 3;
/// An item: a signed number of 4 bytes.
pub const TW_RKH_I32: u8 = 4;
/// An item: an unsigned number of 4 bytes.
pub const TW_RKH_UI32: u8 = 5;
/// An item: a number to be shown in hexadecimal.
pub const TW_RKH_X32: u8 = 6;
/// An item: an object's address.
pub const TW_RKH_OBJ: u8 = 9;
/// An item: a function's address.
pub const TW_RKH_FUN: u8 = 10;
/// An item: a signal.
pub const TW_RKH_SIG: u8 = 11;

/// Names data at an address.
pub const TW_RKH_OBJECT: u8 = 0;
/// Names an active object.
pub const TW_RKH_ACTIVE_OBJECT: u8 = 1;
/// Names a queue.
pub const TW_RKH_QUEUE: u8 = 2;
/// Names a timer.
pub const TW_RKH_TIMER: u8 = 3;
/// Names what posts events.
pub const TW_RKH_ACTOR: u8 = 4;
/// Names a function.
pub const TW_RKH_FUNCTION: u8 = 5;
/// Names a state of an active object.
pub const TW_RKH_STATE: u8 = 6;
/// Names a pseudostate of an active object.
pub const TW_RKH_PSEUDOSTATE: u8 = 7;
/// Names a signal, by number.
pub const TW_RKH_SIGNAL: u8 = 8;
/// Names an event pool: by number from 0 on in 3.x, by address before.
pub const TW_RKH_EVENT_POOL: u8 = 9;
/// Names a user event, by number from 0 on.
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

/// Adds to the record that is open.
fn add(
    trace: Option<&mut tw_rkh>,
    step: impl for<'t> FnOnce(Open<'t>) -> Open<'t>,
) -> Result<(), Code> {
    step(recorder(trace)?.resume().ok_or(Code(TW_NOTHING))?).pause();
    Ok(())
}

/// Begins the record of an event (`RKH_TRC_BEGIN`): its arguments follow in order, then `tw_rkh_end`.
///
/// `priority` is that of the active object that the record is about, `signal` its signal, for the
/// filters; or TW_RKH_NO_OBJECT, TW_RKH_NO_SIGNAL. A record that is open is given up.
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_EXCLUDED by a filter, TW_OFF if not compiled
/// in, TW_INVALID where the dialect has no such event; nothing is open then, and what follows up to
/// `tw_rkh_end` does nothing. Safe in an interrupt if no other call can be under way.
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

/// The next argument, a number or an address; high bits that do not fit are cut off. Give also those that
/// the settings leave out: they are not written.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where no record is open; that it is
/// none of the event's is said by `tw_rkh_end`. Safe in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_arg(trace: Option<&mut tw_rkh>, value: u32) -> c_int {
    guard(|| add(trace, |record| record.arg(value)))
}

/// The next argument, a text.
///
/// Ownership: the text is copied; null is an empty one. Errors: as `tw_rkh_arg`. Safe in an interrupt if
/// no other call can be under way.
///
/// # Safety
/// * `value` is null or ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_text(trace: Option<&mut tw_rkh>, value: *const c_char) -> c_int {
    // SAFETY: the bullet above.
    guard(|| add(trace, |record| record.text(unsafe { text(value) })))
}

/// Bytes of the last argument where their form is the program's (user events before 2.3, and what a unit
/// test expects).
///
/// Ownership: the bytes are copied. Errors: as `tw_rkh_arg`. Safe in an interrupt if no other call can be
/// under way.
///
/// # Safety
/// * `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_bytes(
    trace: Option<&mut tw_rkh>,
    bytes: *const c_void,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the bullet above.
        let bytes = unsafe { array::<u8>(bytes.cast(), length)? };
        add(trace, |record| record.bytes(bytes))
    })
}

/// Ends a record (`RKH_TRC_END`).
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where none is open, TW_MISSED where
/// the buffer left it out, TW_INVALID where the arguments were not the event's: it is given up, which
/// readers of the framework's buffer count. Safe in an interrupt if no other call can be under way.
#[unsafe(no_mangle)]
pub extern "C" fn tw_rkh_end(trace: Option<&mut tw_rkh>) -> c_int {
    guard(|| recorded(recorder(trace)?.resume().ok_or(Code(TW_NOTHING))?.end()))
}

/// Records an event whose arguments are numbers, all at once.
///
/// Ownership: the arguments are copied. Errors: as `tw_rkh_begin` and `tw_rkh_end`. Safe in an interrupt
/// if no other call can be under way.
///
/// # Safety
/// * `arguments` has `count` numbers.
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
        // SAFETY: the bullet above.
        let arguments = unsafe { array(arguments, count)? };
        let trace = recorder(trace)?;
        let event = trace.options().table.event(code).ok_or(Code(TW_INVALID))?;
        recorded(trace.record(event, about(priority, signal), arguments))
    })
}

/// Begins the record of a user event (`RKH_TRC_USR_BEGIN`), by its number from 0 on: items follow, then
/// `tw_rkh_end`.
///
/// Ownership: none. Errors: as `tw_rkh_begin`. Safe in an interrupt if no other call can be under way.
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

/// The next item of a user event: one of TW_RKH_I8 to TW_RKH_X32, TW_RKH_OBJ, _FUN, _SIG.
///
/// `width` is how many characters to print, 0 to 15; addresses and signals have none.
/// Ownership: none. Errors: as `tw_rkh_arg`; TW_INVALID for another type. Safe in an interrupt if no other
/// call can be under way.
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

/// The next item of a user event, a text.
///
/// Ownership: the text is copied; null is an empty one. Errors: as `tw_rkh_arg`. Safe in an interrupt if
/// no other call can be under way.
///
/// # Safety
/// * `value` is null or ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_item_text(
    trace: Option<&mut tw_rkh>,
    value: *const c_char,
) -> c_int {
    // SAFETY: the bullet above.
    guard(|| add(trace, |record| record.item(Item::Text(unsafe { text(value) }))))
}

/// The next item of a user event, memory of at most 255 bytes.
///
/// Ownership: the bytes are copied. Errors: as `tw_rkh_arg`. Safe in an interrupt if no other call can be
/// under way.
///
/// # Safety
/// * `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_item_memory(
    trace: Option<&mut tw_rkh>,
    bytes: *const c_void,
    length: u8,
) -> c_int {
    guard(|| {
        // SAFETY: the bullet above.
        let memory = unsafe { array::<u8>(bytes.cast(), usize::from(length))? };
        add(trace, |record| record.item(Item::Memory(memory)))
    })
}

/// Names an address or a number (`RKH_TR_FWK_...`): `kind` is TW_RKH_OBJECT to TW_RKH_USER_EVENT. No
/// filter is asked. Send the bytes before the buffer is full.
///
/// `owner` is the active object of a state, nothing else's. Ownership: the name is copied. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_MISSED, TW_INVALID where the dialect has no record for it. Safe in an interrupt
/// if no other call can be under way.
///
/// # Safety
/// * `name` is null or ends with a NUL.
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
        // SAFETY: the bullet above.
        let name = unsafe { text(name) };
        recorded(recorder(trace)?.symbol(*kind, Some(owner), key, name))
    })
}

/// Records a failed assertion (`RKH_TR_FWK_ASSERT`): a module's name without `.c`, and the line. The
/// filters of group and event are asked. Send the bytes before the program stops.
///
/// Ownership: the text is copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_EXCLUDED, TW_OFF, TW_MISSED,
/// TW_INVALID before dialect 2.3. Safe in an interrupt if no other call can be under way.
///
/// # Safety
/// * `module` is null or ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_rkh_assertion(
    trace: Option<&mut tw_rkh>,
    module: *const c_char,
    line: u16,
) -> c_int {
    // SAFETY: the bullet above.
    guard(|| recorded(recorder(trace)?.assertion(unsafe { text(module) }, line)))
}
