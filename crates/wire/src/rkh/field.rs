//! The types of arguments, and their sizes in bytes under given settings.

use core::str::FromStr;

use super::Settings;

/// The type of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldType {
    /// A number of this many bytes, regardless of the settings.
    Fixed(u8),
    /// The high half of a byte that this field shares with the next field.
    HighHalf,
    /// The low half of a byte.
    LowHalf,
    /// An address of data, of [`Settings::pointer`] bytes.
    Pointer,
    /// An address of a function.
    Function,
    /// The number of a signal.
    Signal,
    /// The size of an event.
    EventSize,
    /// A count of memory blocks.
    BlockCount,
    /// The size of a memory block.
    BlockSize,
    /// A count of queue elements.
    QueueCount,
    /// A number of timer ticks.
    TimerTicks,
    /// An event id, encoded in as many bytes as a record id.
    EventId,
    /// The number that the record's own id has within its group. Occupies no bytes.
    Number,
    /// Bytes up to a terminating zero.
    Text,
    /// Items of a user event, to the end of the record.
    Items,
    /// Any bytes, to the end of the record.
    Rest,
}

/// The condition under which records have a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Records always have the field.
    Always,
    /// Records have the field if senders are traced.
    Sender,
    /// Records have the field if queues have low-water marks.
    QueueLowWater,
    /// Records have the field if memory pools have low-water marks.
    PoolLowWater,
}

/// An argument of a record: its type, and the condition under which records have it.
///
/// ```
/// use tracewell_wire::rkh::{Field, Settings};
///
/// let field: Field = "nelem?qlwm".parse()?;
/// let settings = Settings { queue_low_water: true, queue_count: 2, ..Settings::default() };
/// assert!(field.condition.holds(&settings) && !field.condition.holds(&Settings::default()));
/// assert_eq!(field.field_type.bytes(&settings), Some(2));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The type, which determines how the field is encoded.
    pub field_type: FieldType,
    /// The condition under which records have the field.
    pub condition: Condition,
}

impl FieldType {
    const NAMES: [(&'static str, Self); 18] = [
        ("u8", Self::Fixed(1)),
        ("u16", Self::Fixed(2)),
        ("u32", Self::Fixed(4)),
        ("hi4", Self::HighHalf),
        ("lo4", Self::LowHalf),
        ("ptr", Self::Pointer),
        ("fptr", Self::Function),
        ("sig", Self::Signal),
        ("esize", Self::EventSize),
        ("nblk", Self::BlockCount),
        ("bsize", Self::BlockSize),
        ("nelem", Self::QueueCount),
        ("ntick", Self::TimerTicks),
        ("teid", Self::EventId),
        ("number", Self::Number),
        ("strz", Self::Text),
        ("usr", Self::Items),
        ("rest", Self::Rest),
    ];

    /// Returns the size in bytes of a field of this type, or `None` if the size depends on the
    /// record.
    ///
    /// A high half counts as 0 bytes, because the low half counts as the whole byte.
    #[inline]
    pub const fn bytes(self, settings: &Settings) -> Option<u8> {
        Some(match self {
            Self::Fixed(bytes) => bytes,
            Self::HighHalf | Self::Number => 0,
            Self::LowHalf => 1,
            Self::Pointer => settings.pointer,
            Self::Function => settings.function,
            Self::Signal => settings.signal,
            Self::EventSize => settings.event_size,
            Self::BlockCount => settings.block_count,
            Self::BlockSize => settings.block_size,
            Self::QueueCount => settings.queue_count,
            Self::TimerTicks => settings.timer_ticks,
            Self::EventId => settings.id,
            Self::Text | Self::Items | Self::Rest => return None,
        })
    }
}

impl Condition {
    /// Returns true if records have the field under these settings.
    pub const fn holds(self, settings: &Settings) -> bool {
        match self {
            Self::Always => true,
            Self::Sender => settings.sender,
            Self::QueueLowWater => settings.queue_low_water,
            Self::PoolLowWater => settings.pool_low_water,
        }
    }
}

impl FromStr for Field {
    type Err = &'static str;

    /// Parses a type with an optional condition: `ptr`, `ptr?sender`, `nelem?qlwm`, `nblk?mplwm`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, condition) = text.split_once('?').unwrap_or((text, ""));
        let found = FieldType::NAMES.into_iter().find(|(known, _)| *known == name);
        let (_, field_type) = found.ok_or("no such type of argument")?;
        let condition = match condition {
            // Reject `u8?`: a question mark without a condition does not mean `Always`.
            "" if !text.ends_with('?') => Condition::Always,
            "sender" => Condition::Sender,
            "qlwm" => Condition::QueueLowWater,
            "mplwm" => Condition::PoolLowWater,
            _ => return Err("expected sender, qlwm or mplwm after '?'"),
        };
        Ok(Self { field_type, condition })
    }
}
