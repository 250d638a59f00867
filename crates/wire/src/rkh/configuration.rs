//! The configuration record: what the target says of its settings.
//!
//! | form | dialects | header | payload |
//! |---|---|---|---|
//! | [`Form::Five`] | 2.3, 2.4 | id, sequence, stamp | sizes and switches |
//! | [`Form::Ten`] | 2.4.3 | id, sequence, stamp | version, flags, sizes and switches, block size |
//! | [`Form::Thirteen`] | 2.4.4 to 3.4 | id only | version, flags, sizes, ticks per second |
//!
//! Sizes are halves of bytes, the first-named in the high half, in bytes:
//!
//! ```text
//! five:                      sig|stamp  ptr|ntimer  nblock|nelem  esize|sequence  checksum|stamp on
//! ten:       u16 ver  u16 fl sig|stamp  ptr|ntimer  nblock|nelem  esize|sequence  checksum|stamp on
//!                                                                                  bsize|max pools
//! thirteen:  u16 ver  u32 fl sig|stamp  ptr|ntimer  nblock|nelem  0|esize  bsize|max pools  u16 hz
//! ```
//!
//! The width of ids and of function addresses is not in any of them. The rate is cut to 16 bits by
//! the target, and more than 15 event pools spoil the block size beside them.
//! Source: `rkh_trc_tcfg` and `RKH_TRC_TCFG` of the tags named above.

use super::{Dialect, Settings, checksum, ids};

/// Bits of the configuration record's flags.
pub mod switches {
    /// Records name senders.
    pub const SENDER: u32 = 1 << 0;
    /// Filters can be changed while the target runs.
    pub const RUNTIME_FILTER: u32 = 1 << 1;
    /// User events are compiled in.
    pub const USER_TRACE: u32 = 1 << 2;
    /// All groups are compiled in.
    pub const ALL_GROUPS: u32 = 1 << 3;
    /// Memory pools are.
    pub const MP: u32 = 1 << 4;
    /// Queues are.
    pub const QUE: u32 = 1 << 5;
    /// Active objects are.
    pub const SMA: u32 = 1 << 6;
    /// Timers are.
    pub const TMR: u32 = 1 << 7;
    /// State machines are.
    pub const SM: u32 = 1 << 8;
    /// The framework is.
    pub const FWK: u32 = 1 << 9;
    /// Failed assertions are.
    pub const ASSERT: u32 = 1 << 10;
    /// Queue records have low-water marks.
    pub const QUEUE_LOW_WATER: u32 = 1 << 11;
    /// Pool records have low-water marks.
    pub const POOL_LOW_WATER: u32 = 1 << 12;
    /// The filters know active objects.
    pub const OBJECT_FILTER: u32 = 1 << 13;
    /// The filters know signals.
    pub const SIGNAL_FILTER: u32 = 1 << 14;
    /// Records have sequence numbers.
    pub const SEQUENCE: u32 = 1 << 15;
    /// Records have time stamps.
    pub const STAMP: u32 = 1 << 16;
    /// Records have checksums.
    pub const CHECKSUM: u32 = 1 << 17;
    /// Bits that some version of RKH gives a meaning.
    pub const KNOWN: u32 = (1 << 18) - 1;
}

/// The form of a configuration record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// 5 bytes behind an ordinary header.
    Five,
    /// 10 bytes behind an ordinary header.
    Ten,
    /// 13 bytes behind the id alone, without sequence number and stamp.
    Thirteen,
}

/// A configuration record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Configuration {
    /// How it is written.
    pub form: Form,
    /// RKH's version as `0xMmpp`; 0 in a form that does not tell.
    pub version: u16,
    /// The bits of [`switches`] and those of the groups compiled in; in a form that has none, those
    /// that its switches stand for.
    pub flags: u32,
    /// Sizes and switches. `settings.stamp` is 0 where stamps are off; function addresses are taken
    /// to be as wide as other addresses.
    pub settings: Settings,
    /// Size of a stamp as announced, even where stamps are off.
    pub stamp_size: u8,
    /// Maximum number of event pools, below 16; 0 in a form that does not tell.
    pub most_pools: u8,
    /// Stamps per second; 0 in a form that does not tell.
    pub stamps_per_second: u16,
}

/// The most bytes of a configuration record before stuffing, its checksum among them.
const LONGEST: usize = 4 + 13 + 1;

impl Dialect {
    /// The form of its configuration record; the versions with plain ids have none.
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
    /// Bytes of the payload.
    pub const fn payload(self) -> usize {
        match self {
            Self::Five => 5,
            Self::Ten => 10,
            Self::Thirteen => 13,
        }
    }
}

impl Configuration {
    /// The configuration record that a frame (without escapes, with its checksum) is; `None` for
    /// any other frame. Settings need not be known: a record is believed only if it speaks of
    /// itself as it is, and ends with a good checksum where it says that checksums are on.
    #[inline]
    pub fn recognise(frame: &[u8]) -> Option<Self> {
        // Most frames are told apart by their first byte.
        match frame.first()? {
            0xAC | 0xAD | 0xAE | 0x0C | 0x0E if frame.len() <= LONGEST => {
                Self::recognise_known(frame)
            }
            _ => None,
        }
    }

    fn recognise_known(frame: &[u8]) -> Option<Self> {
        let thirteen = [1, 2, 4].into_iter().find_map(|width| Self::bare(frame, width));
        thirteen
            .or_else(|| Self::with_header(frame, Form::Ten))
            .or_else(|| Self::with_header(frame, Form::Five))
    }

    /// A record of the newest form, with an id of `width` bytes.
    fn bare(frame: &[u8], width: u8) -> Option<Self> {
        let (id, rest) = frame.split_at_checked(usize::from(width))?;
        let id = id.iter().rev().fold(0, |id, byte| id << 8 | u32::from(*byte));
        let (payload, check) = rest.split_first_chunk::<13>()?;
        let mut found = Self::thirteen(payload)?;
        found.settings.id = width;
        let dialect = Dialect::of_version(found.version)?;
        let expected = match dialect {
            Dialect::V3_4 => ids::TCFG,
            Dialect::V2_4_5 => 0xAE,
            Dialect::V2_4_4 if width == 1 => 0xAD,
            _ => return None,
        };
        let ends = check.len() == usize::from(found.settings.checksum)
            && (check.is_empty() || checksum::holds(frame));
        (ends && ids::code(id, width, true) == Some(expected)).then_some(found)
    }

    /// A record of an older form: one-byte id 0xAD, sequence number and stamp as it says itself.
    fn with_header(frame: &[u8], form: Form) -> Option<Self> {
        if *frame.first()? != 0xAD {
            return None;
        }
        [true, false].into_iter().find_map(|with_checksum| {
            let end = frame.len().checked_sub(usize::from(with_checksum))?;
            let start = end.checked_sub(form.payload())?;
            let payload = frame.get(start..end)?;
            let found = match form {
                Form::Five => Self::five(payload.first_chunk()?)?,
                _ => Self::ten(payload.first_chunk()?)?,
            };
            let agrees = found.settings.checksum == with_checksum
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
        (found.settings.block_size, found.most_pools) = (block_size(e >> 4)?, e & 15);
        found.apply(flags);
        (flags & !switches::KNOWN == 0 && d >> 4 == 0).then_some(found)
    }

    fn ten(payload: &[u8; 10]) -> Option<Self> {
        let [v0, v1, f0, f1, rest @ .., last] = *payload;
        let mut found = Self::five(&rest)?;
        found.form = Form::Ten;
        found.version = u16::from_le_bytes([v0, v1]);
        (found.settings.block_size, found.most_pools) = (block_size(last >> 4)?, last & 15);
        found.apply(u32::from(u16::from_le_bytes([f0, f1])) | found.flags);
        (found.version == 0x2403).then_some(found)
    }

    fn five(payload: &[u8; 5]) -> Option<Self> {
        let [a, b, c, d, e] = *payload;
        let (sequence, checksum, stamp) = (switch(d)?, switch(e >> 4)?, switch(e)?);
        let mut found = Self::of_sizes(Form::Five, [a, b, c], stamp)?;
        found.settings.event_size = size(d >> 4)?;
        found.apply(
            if sequence { switches::SEQUENCE } else { 0 }
                | if stamp { switches::STAMP } else { 0 }
                | if checksum { switches::CHECKSUM } else { 0 },
        );
        Some(found)
    }

    /// What the three bytes say that all forms share.
    fn of_sizes(form: Form, [a, b, c]: [u8; 3], stamp: bool) -> Option<Self> {
        let (stamp_size, pointer) = (stamp_size(a)?, address(b >> 4)?);
        let settings = Settings {
            stamp: if stamp { stamp_size } else { 0 },
            pointer,
            function: pointer,
            signal: size(a >> 4)?,
            timer_ticks: size(b)?,
            block_count: size(c >> 4)?,
            queue_count: size(c)?,
            ..Settings::default()
        };
        let (version, flags, most_pools, stamps_per_second) = (0, 0, 0, 0);
        Some(Self { form, version, flags, settings, stamp_size, most_pools, stamps_per_second })
    }

    fn apply(&mut self, flags: u32) {
        self.flags = flags;
        self.settings.sequence = flags & switches::SEQUENCE != 0;
        self.settings.checksum = flags & switches::CHECKSUM != 0;
        self.settings.sender = flags & switches::SENDER != 0;
        self.settings.queue_low_water = flags & switches::QUEUE_LOW_WATER != 0;
        self.settings.pool_low_water = flags & switches::POOL_LOW_WATER != 0;
    }

    /// The dialect that speaks so. The oldest form has no version, and one dialect.
    pub const fn dialect(&self) -> Option<Dialect> {
        match self.form {
            Form::Five => Some(Dialect::V2_3),
            _ => Dialect::of_version(self.version),
        }
    }

    /// Writes the payload at the start of `out`; how many bytes it took, `None` where they are too
    /// few. Flags go out as they are; sizes and switches of the older forms from the settings.
    pub fn write_payload(&self, out: &mut [u8]) -> Option<usize> {
        let s = &self.settings;
        let (v, f, h) = (
            self.version.to_le_bytes(),
            self.flags.to_le_bytes(),
            self.stamps_per_second.to_le_bytes(),
        );
        let both = |high: u8, low: u8| high << 4 | low & 15;
        let [a, b, c] = [
            both(s.signal, self.stamp_size),
            both(s.pointer, s.timer_ticks),
            both(s.block_count, s.queue_count),
        ];
        let d = both(s.event_size, u8::from(s.sequence));
        let e = both(u8::from(s.checksum), u8::from(s.stamp > 0));
        let g = both(s.block_size, self.most_pools);
        let length = self.form.payload();
        let out = out.get_mut(..length)?;
        match self.form {
            Form::Five => out.copy_from_slice(&[a, b, c, d, e]),
            Form::Ten => out.copy_from_slice(&[v[0], v[1], f[0], f[1], a, b, c, d, e, g]),
            Form::Thirteen => {
                let sizes = [a, b, c, s.event_size, g, h[0], h[1]];
                let (head, tail) = out.split_first_chunk_mut::<6>()?;
                *head = [v[0], v[1], f[0], f[1], f[2], f[3]];
                tail.copy_from_slice(&sizes);
            }
        }
        Some(length)
    }
}

/// The size in the low half of a byte.
const fn size(half: u8) -> Option<u8> {
    match half & 15 {
        bytes @ (1 | 2 | 4) => Some(bytes),
        _ => None,
    }
}

/// The size of an address: a target writes 2 if it is told 2, and 4 for anything else.
const fn address(half: u8) -> Option<u8> {
    match half & 15 {
        2 => Some(2),
        1 | 4 | 8 => Some(4),
        _ => None,
    }
}

/// The size of a block, whose half-byte a number of pools above 15 may have been or-ed to.
const fn block_size(half: u8) -> Option<u8> {
    match half & 15 {
        0 => None,
        1 => Some(1),
        2 | 3 => Some(2),
        _ => Some(4),
    }
}

/// The size of a stamp: a target writes 2 bytes if it is told anything but 1 and 4.
const fn stamp_size(half: u8) -> Option<u8> {
    match half & 15 {
        0 => None,
        bytes @ (1 | 4) => Some(bytes),
        _ => Some(2),
    }
}

/// The switch in the low half of a byte.
const fn switch(half: u8) -> Option<bool> {
    match half & 15 {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}
