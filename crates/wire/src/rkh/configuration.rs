//! The configuration record, in which a target announces its settings.
//!
//! | form | dialects | header | payload |
//! |---|---|---|---|
//! | [`Form::Five`] | 2.3, 2.4 | id, sequence, stamp | sizes and switches |
//! | [`Form::Ten`] | 2.4.3 | id, sequence, stamp | version, flags, sizes and switches, block size |
//! | [`Form::Thirteen`] | 2.4.4 to 3.4 | id only | version, flags, sizes, ticks per second |
//!
//! Below, `|` separates two values that share a byte. The high half comes first. Sizes are in
//! bytes:
//!
//! ```text
//! five:                     sig|stamp  ptr|ntimer  nblock|nelem  esize|sequence  checksum|stamp on
//! ten:       u16 ver  u16 f sig|stamp  ptr|ntimer  nblock|nelem  esize|sequence  checksum|stamp on
//!                                                                                 bsize|max pools
//! thirteen:  u16 ver  u32 f sig|stamp  ptr|ntimer  nblock|nelem  0|esize  bsize|max pools  u16 hz
//! ```
//!
//! No form contains the size of ids or of function addresses. Targets truncate the tick rate to 16
//! bits. If a target has more than 15 event pools, their number corrupts the block size in the same
//! byte. Source: `rkh_trc_tcfg` and `RKH_TRC_TCFG` in the sources of these RKH versions.

use super::{Dialect, Settings, checksum, ids};

/// Bits of the configuration record's flags.
pub mod switches {
    /// Records of posted events name the sender.
    pub const SENDER: u32 = 1 << 0;
    /// Filters can be changed while the target runs.
    pub const RUNTIME_FILTER: u32 = 1 << 1;
    /// User events are compiled in.
    pub const USER_TRACE: u32 = 1 << 2;
    /// All groups are compiled in.
    pub const ALL_GROUPS: u32 = 1 << 3;
    /// Memory pools are compiled in.
    pub const MP: u32 = 1 << 4;
    /// Queues are compiled in.
    pub const QUE: u32 = 1 << 5;
    /// Active objects are compiled in.
    pub const SMA: u32 = 1 << 6;
    /// Timers are compiled in.
    pub const TMR: u32 = 1 << 7;
    /// State machines are compiled in.
    pub const SM: u32 = 1 << 8;
    /// Framework events are compiled in.
    pub const FWK: u32 = 1 << 9;
    /// Failed assertions are compiled in.
    pub const ASSERT: u32 = 1 << 10;
    /// Queue records have low-water marks.
    pub const QUEUE_LOW_WATER: u32 = 1 << 11;
    /// Pool records have low-water marks.
    pub const POOL_LOW_WATER: u32 = 1 << 12;
    /// Active objects can be filtered.
    pub const OBJECT_FILTER: u32 = 1 << 13;
    /// Signals can be filtered.
    pub const SIGNAL_FILTER: u32 = 1 << 14;
    /// Records have sequence numbers.
    pub const SEQUENCE: u32 = 1 << 15;
    /// Records have a timestamp.
    pub const STAMP: u32 = 1 << 16;
    /// Records end with a checksum.
    pub const CHECKSUM: u32 = 1 << 17;
    /// All bits that at least one version of RKH defines.
    pub const KNOWN: u32 = (1 << 18) - 1;
}

/// The form of a configuration record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// 5 bytes after an ordinary header.
    Five,
    /// 10 bytes after an ordinary header.
    Ten,
    /// 13 bytes directly after the id: the record has no sequence number and no timestamp.
    Thirteen,
}

/// A configuration record.
///
/// ```
/// use tracewell_wire::rkh::{Configuration, Form, Settings};
///
/// let record = Configuration {
///     form: Form::Thirteen,
///     version: 0x3400,
///     flags: 0,
///     settings: Settings { sequence: false, stamp: 0, checksum: false, ..Settings::default() },
///     stamp_size: 4,
///     max_pools: 4,
///     stamps_per_second: 1000,
/// };
/// let mut frame = [0xAC; 14];
/// assert_eq!(record.write_payload(&mut frame[1..]), Some(13));
/// assert_eq!(Configuration::recognise(&frame), Some(record));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Configuration {
    /// The layout of the record.
    pub form: Form,
    /// RKH's version as `0xMmpp`; 0 in [`Form::Five`].
    pub version: u16,
    /// Bits of [`switches`]. [`Form::Five`] has no flags, so the decoder derives the bits from the
    /// record's switches.
    pub flags: u32,
    /// Sizes and switches. `settings.stamp` is 0 if timestamps are off. The decoder assumes that
    /// function addresses are as wide as other addresses.
    pub settings: Settings,
    /// Size of a timestamp in bytes that the target announces. It announces this size even if
    /// timestamps are off.
    pub stamp_size: u8,
    /// Maximum number of event pools, below 16; 0 in [`Form::Five`].
    pub max_pools: u8,
    /// Timestamp ticks per second; 0 in the forms of five and ten bytes.
    pub stamps_per_second: u16,
}

/// Maximum length of a configuration record before stuffing, including the checksum.
const MAX_LEN: usize = 4 + 13 + 1;

impl Dialect {
    /// Returns the form of the dialect's configuration record, or `None` for dialects with plain
    /// ids, which have no such record.
    pub const fn configuration(self) -> Option<Form> {
        match self {
            Self::V2_0Pre | Self::V2_0 | Self::V2_2 => None,
            Self::V2_3 => Some(Form::Five),
            Self::V2_4_3 => Some(Form::Ten),
            Self::V2_4_4 | Self::V2_4_5 | Self::V3_4 => Some(Form::Thirteen),
        }
    }
}

impl Form {
    /// Returns the length of the payload in bytes.
    pub const fn payload(self) -> usize {
        match self {
            Self::Five => 5,
            Self::Ten => 10,
            Self::Thirteen => 13,
        }
    }
}

impl Configuration {
    /// Decodes a frame (without escapes, checksum included) if it is a configuration record.
    ///
    /// The caller does not need to know the settings. The record must describe its own layout
    /// correctly. A record that announces checksums must end with a valid checksum.
    #[inline]
    pub fn recognise(frame: &[u8]) -> Option<Self> {
        // The first byte rules out nearly all other frames.
        match frame.first()? {
            0xAC | 0xAD | 0xAE | 0x0C | 0x0E if frame.len() <= MAX_LEN => {
                Self::recognise_known(frame)
            }
            _ => None,
        }
    }

    fn recognise_known(frame: &[u8]) -> Option<Self> {
        // Try the newest form first: it has a version and a reserved half byte, so a false match is
        // unlikely.
        let thirteen = [1, 2, 4].into_iter().find_map(|width| Self::bare(frame, width));
        thirteen
            .or_else(|| Self::with_header(frame, Form::Ten))
            .or_else(|| Self::with_header(frame, Form::Five))
    }

    /// Decodes a record of the newest form with an id of `width` bytes.
    fn bare(frame: &[u8], width: u8) -> Option<Self> {
        let (id, rest) = frame.split_at_checked(usize::from(width))?;
        let id = id.iter().rev().fold(0, |id, byte| id << 8 | u32::from(*byte));
        let (payload, check) = rest.split_first_chunk::<13>()?;
        let mut found = Self::thirteen(payload)?;
        found.settings.id = width;
        // The id of a configuration record in this dialect must precede the payload. Otherwise the
        // match is a coincidence.
        let dialect = Dialect::of_version(found.version)?;
        let expected = match dialect {
            Dialect::V3_4 => ids::TCFG,
            Dialect::V2_4_5 => 0xAE,
            Dialect::V2_4_4 if width == 1 => 0xAD,
            _ => return None,
        };
        // A checksum follows if and only if the record announces checksums.
        let ends = check.len() == usize::from(found.settings.checksum)
            && (check.is_empty() || checksum::holds(frame));
        (ends && ids::code(id, width, true) == Some(expected)).then_some(found)
    }

    /// Decodes a record of an older form. Its header begins with the one-byte id 0xAD, and must
    /// agree with the settings in the payload.
    fn with_header(frame: &[u8], form: Form) -> Option<Self> {
        if *frame.first()? != 0xAD {
            return None;
        }
        // Only the payload specifies whether a checksum follows. The offset of the payload depends
        // on whether there is a checksum, so try both cases.
        [true, false].into_iter().find_map(|with_checksum| {
            let end = frame.len().checked_sub(usize::from(with_checksum))?;
            let start = end.checked_sub(form.payload())?;
            let payload = frame.get(start..end)?;
            let found = match form {
                Form::Five => Self::five(payload.first_chunk()?)?,
                _ => Self::ten(payload.first_chunk()?)?,
            };
            let agrees = found.settings.checksum == with_checksum
                // The header must have the length that results from the record's own settings.
                && found.settings.header() == start
                && (!with_checksum || checksum::holds(frame));
            agrees.then_some(found)
        })
    }

    fn thirteen(payload: &[u8; 13]) -> Option<Self> {
        let [v0, v1, f0, f1, f2, f3, sizes @ .., h0, h1] = *payload;
        let flags = u32::from_le_bytes([f0, f1, f2, f3]);
        let [a, b, c, d, e] = sizes;
        let mut found = Self::of_sizes(Form::Thirteen, [a, b, c], flags & switches::STAMP != 0)?;
        found.version = u16::from_le_bytes([v0, v1]);
        found.stamps_per_second = u16::from_le_bytes([h0, h1]);
        found.settings.event_size = size(d)?;
        (found.settings.block_size, found.max_pools) = (block_size(e >> 4)?, e & 15);
        found.apply(flags);
        // Unknown bits mean that this is another record.
        (flags & !switches::KNOWN == 0 && d >> 4 == 0).then_some(found)
    }

    fn ten(payload: &[u8; 10]) -> Option<Self> {
        let [v0, v1, f0, f1, rest @ .., last] = *payload;
        // After version and flags, this form has the layout of the older form.
        let mut found = Self::five(&rest)?;
        found.form = Form::Ten;
        found.version = u16::from_le_bytes([v0, v1]);
        (found.settings.block_size, found.max_pools) = (block_size(last >> 4)?, last & 15);
        found.apply(u32::from(u16::from_le_bytes([f0, f1])) | found.flags);
        // Only version 2.4.3 has this form.
        (found.version == 0x2403).then_some(found)
    }

    fn five(payload: &[u8; 5]) -> Option<Self> {
        // The switches are half bytes that contain 0 or 1. Other values mean that this is another
        // record.
        let [a, b, c, d, e] = *payload;
        let (sequence, checksum, stamp) = (switch(d)?, switch(e >> 4)?, switch(e)?);
        let mut found = Self::of_sizes(Form::Five, [a, b, c], stamp)?;
        found.settings.event_size = size(d >> 4)?;
        // This form has no flags word. Build a flags word from the switches, so that all forms are
        // handled in the same way.
        found.apply(
            if sequence { switches::SEQUENCE } else { 0 }
                | if stamp { switches::STAMP } else { 0 }
                | if checksum { switches::CHECKSUM } else { 0 },
        );
        Some(found)
    }

    /// Decodes the three bytes that all forms share.
    fn of_sizes(form: Form, [a, b, c]: [u8; 3], stamp: bool) -> Option<Self> {
        let (stamp_size, pointer) = (stamp_size(a)?, address(b >> 4)?);
        let settings = Settings {
            // The record contains the size of timestamps even if they are off. `stamp_size` keeps
            // this size, so that the record can be written again.
            stamp: if stamp { stamp_size } else { 0 },
            pointer,
            // No form has a separate size for function addresses.
            function: pointer,
            signal: size(a >> 4)?,
            timer_ticks: size(b)?,
            block_count: size(c >> 4)?,
            queue_count: size(c)?,
            ..Settings::default()
        };
        let (version, flags, max_pools, stamps_per_second) = (0, 0, 0, 0);
        Some(Self { form, version, flags, settings, stamp_size, max_pools, stamps_per_second })
    }

    fn apply(&mut self, flags: u32) {
        self.flags = flags;
        self.settings.sequence = flags & switches::SEQUENCE != 0;
        self.settings.checksum = flags & switches::CHECKSUM != 0;
        self.settings.sender = flags & switches::SENDER != 0;
        self.settings.queue_low_water = flags & switches::QUEUE_LOW_WATER != 0;
        self.settings.pool_low_water = flags & switches::POOL_LOW_WATER != 0;
    }

    /// Returns the dialect of the record; `None` for an unknown version. [`Form::Five`] has no
    /// version and belongs to one dialect.
    pub const fn dialect(&self) -> Option<Dialect> {
        match self.form {
            Form::Five => Some(Dialect::V2_3),
            _ => Dialect::of_version(self.version),
        }
    }

    /// Writes the payload at the start of `out` and returns its length, or `None` if `out` is too
    /// short. Writes the flags unchanged. Takes the sizes from the settings. For older forms, also
    /// takes the switches from the settings.
    pub fn write_payload(&self, out: &mut [u8]) -> Option<usize> {
        let s = &self.settings;
        let (v, f, h) = (
            self.version.to_le_bytes(),
            self.flags.to_le_bytes(),
            self.stamps_per_second.to_le_bytes(),
        );
        // Two sizes share a byte, as in the framework's macro.
        let both = |high: u8, low: u8| high << 4 | low & 15;
        // All forms have these three bytes.
        let [a, b, c] = [
            both(s.signal, self.stamp_size),
            both(s.pointer, s.timer_ticks),
            both(s.block_count, s.queue_count),
        ];
        let d = both(s.event_size, u8::from(s.sequence));
        let e = both(u8::from(s.checksum), u8::from(s.stamp > 0));
        let g = both(s.block_size, self.max_pools);
        let length = self.form.payload();
        let out = out.get_mut(..length)?;
        match self.form {
            Form::Five => out.copy_from_slice(&[a, b, c, d, e]),
            Form::Ten => out.copy_from_slice(&[v[0], v[1], f[0], f[1], a, b, c, d, e, g]),
            Form::Thirteen => {
                let sizes = [a, b, c, s.event_size, g, h[0], h[1]];
                // From this version on, the flags have four bytes, because there are more than 16
                // switches.
                let (head, tail) = out.split_first_chunk_mut::<6>()?;
                *head = [v[0], v[1], f[0], f[1], f[2], f[3]];
                tail.copy_from_slice(&sizes);
            }
        }
        Some(length)
    }
}

/// Decodes a size from the low half of a byte.
const fn size(half: u8) -> Option<u8> {
    match half & 15 {
        bytes @ (1 | 2 | 4) => Some(bytes),
        _ => None,
    }
}

/// Decodes the size of an address. A target with the setting 2 writes addresses of 2 bytes. A
/// target with any other valid setting writes addresses of 4 bytes.
const fn address(half: u8) -> Option<u8> {
    match half & 15 {
        2 => Some(2),
        1 | 4 | 8 => Some(4),
        _ => None,
    }
}

/// Decodes the size of a block. If a target has more than 15 pools, a bitwise OR puts the excess
/// bits of their number into this half-byte.
const fn block_size(half: u8) -> Option<u8> {
    match half & 15 {
        0 => None,
        1 => Some(1),
        2 | 3 => Some(2),
        _ => Some(4),
    }
}

/// Decodes the size of a timestamp. A target with the setting 1 or 4 writes timestamps of that many
/// bytes. A target with any other valid setting writes timestamps of 2 bytes.
const fn stamp_size(half: u8) -> Option<u8> {
    match half & 15 {
        0 => None,
        bytes @ (1 | 4) => Some(bytes),
        _ => Some(2),
    }
}

/// Decodes a switch from the low half of a byte.
const fn switch(half: u8) -> Option<bool> {
    match half & 15 {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}
