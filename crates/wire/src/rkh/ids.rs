//! Event ids of RKH 3.x, and the width-independent code of an id.
//!
//! An id is a group and a number within the group: `group << B | number` with B of 5, 8 or 24 for
//! ids of 1, 2 or 4 bytes. The **code** of an event is its one-byte id, whatever the width. Older
//! dialects moved some ids; those before 2.3 had no groups, and their code is the id itself.

/// Memory pools.
pub const MP_GROUP: u8 = 0;
/// Queues.
pub const QUE_GROUP: u8 = 1;
/// Active objects.
pub const SMA_GROUP: u8 = 2;
/// State machines.
pub const SM_GROUP: u8 = 3;
/// Timers.
pub const TMR_GROUP: u8 = 4;
/// Framework, symbols, configuration.
pub const FWK_GROUP: u8 = 5;
/// User events.
pub const USR_GROUP: u8 = 6;
/// Unit-test harness.
pub const UT_GROUP: u8 = 7;

/// Bits of a code that are the number within the group.
const NUMBER_BITS: u32 = 5;

/// The first user event's code; there are 32.
pub const USER: u8 = USR_GROUP << NUMBER_BITS;

/// The configuration record's code in dialect 3.x.
pub const TCFG: u8 = 0xAC;

/// The number of a code within its group.
#[inline]
pub const fn number(code: u8) -> u8 {
    code & ((1 << NUMBER_BITS) - 1)
}

/// The code of an id of `width` bytes, `None` for an id that no one-byte id stands for.
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

/// The id of a code in `width` bytes: the inverse of [`code`].
#[inline]
pub const fn id(code: u8, width: u8, has_groups: bool) -> u32 {
    let (group, number) = ((code >> NUMBER_BITS) as u32, (code & 31) as u32);
    match width {
        2 if has_groups => group << 8 | number,
        4 if has_groups => group << 24 | number,
        _ => code as u32,
    }
}
