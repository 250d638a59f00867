//! The types of arguments, and how many bytes each has under some settings.

use core::str::FromStr;

use super::Settings;

/// The type of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldType {
    /// A number of so many bytes, always.
    Fixed(u8),
    /// The high half of the next byte, which the next field shares.
    HighHalf,
    /// The low half of the next byte.
    LowHalf,
    /// An address.
    Pointer,
    /// An address of a function.
    Function,
    /// A signal.
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
    /// An event id.
    EventId,
    /// The number within its group of the event's id; takes no bytes.
    Number,
    /// Bytes up to and with a zero.
    Text,
    /// Items of a user event, to the end of the record.
    Items,
    /// Anything, to the end of the record.
    Rest,
}

/// When a field is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// In every record.
    Always,
    /// If senders are traced.
    Sender,
    /// If queues have low-water marks.
    QueueLowWater,
    /// If memory pools have low-water marks.
    PoolLowWater,
}

/// An argument: its type and when it is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// How it is written.
    pub field_type: FieldType,
    /// When it is.
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

    /// Bytes of a field of this type; `None` where the record itself says. A high half takes none:
    /// its byte is counted with the low half.
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
    /// Whether a field of this condition is there under some settings.
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

    /// Reads a type and perhaps a condition: `ptr`, `ptr?sender`, `nelem?qlwm`, `nblk?mplwm`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, condition) = text.split_once('?').unwrap_or((text, ""));
        let found = FieldType::NAMES.into_iter().find(|(known, _)| *known == name);
        let (_, field_type) = found.ok_or("no such type of argument")?;
        let condition = match condition {
            "" if !text.ends_with('?') => Condition::Always,
            "sender" => Condition::Sender,
            "qlwm" => Condition::QueueLowWater,
            "mplwm" => Condition::PoolLowWater,
            _ => return Err("expected sender, qlwm or mplwm after '?'"),
        };
        Ok(Self { field_type, condition })
    }
}
