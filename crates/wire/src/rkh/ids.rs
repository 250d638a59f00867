//! Event ids of RKH 3.x, and their codes, which are the same for ids of all widths.
//!
//! An id is a group and a number in the group: `group << B | number` with B = 5, 8 or 24 for ids of
//! 1, 2 or 4 bytes. The **code** of an event is its one-byte id, regardless of the width. Some ids
//! differ in older dialects. Before version 2.3, ids have no groups: the code is the id itself.
//!
//! ```
//! use tracewell_wire::rkh::ids;
//!
//! // SM_TRN is event 2 in the group of state machines.
//! assert_eq!(ids::code(0x0302, 2, true), Some(0x62));
//! assert_eq!(ids::id(0x62, 4, true), 0x0300_0002);
//! ```

/// Group of memory pools.
pub const MP_GROUP: u8 = 0;
/// Group of event queues.
pub const QUE_GROUP: u8 = 1;
/// Group of active objects.
pub const SMA_GROUP: u8 = 2;
/// Group of state machines.
pub const SM_GROUP: u8 = 3;
/// Group of software timers.
pub const TMR_GROUP: u8 = 4;
/// Group of the framework, symbols and configuration.
pub const FWK_GROUP: u8 = 5;
/// Group of user events.
pub const USR_GROUP: u8 = 6;
/// Group of the unit-test harness.
pub const UT_GROUP: u8 = 7;

/// The number within the group occupies this many low bits of a code.
const NUMBER_BITS: u32 = 5;

/// The code of the first of 32 user events.
pub const USER: u8 = USR_GROUP << NUMBER_BITS;

/// The configuration record's code in dialect 3.x.
pub const TCFG: u8 = 0xAC;

/// Returns the number that a code has within its group.
#[inline]
pub const fn number(code: u8) -> u8 {
    code & ((1 << NUMBER_BITS) - 1)
}

/// Returns the code of an id of `width` bytes, or `None` if no one-byte id corresponds to it.
#[inline]
pub const fn code(id: u32, width: u8, has_groups: bool) -> Option<u8> {
    let shift = match width {
        1 => return if id < 256 { Some(id as u8) } else { None },
        _ if !has_groups => return if id < 256 { Some(id as u8) } else { None },
        2 => 8,
        _ => 24,
    };
    let (group, number) = (id >> shift, id & ((1 << shift) - 1));
    if group < 8 && number < 1 << NUMBER_BITS {
        Some((group << NUMBER_BITS | number) as u8)
    } else {
        None
    }
}

/// Returns the id that has the given code and `width` bytes. This is the inverse of [`code`].
#[inline]
pub const fn id(code: u8, width: u8, has_groups: bool) -> u32 {
    let (group, number) = ((code >> NUMBER_BITS) as u32, (code & 31) as u32);
    match width {
        2 if has_groups => group << 8 | number,
        4 if has_groups => group << 24 | number,
        _ => code as u32,
    }
}
