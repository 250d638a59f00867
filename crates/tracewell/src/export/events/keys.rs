//! Defines the separators and keys between the values of a line for each format.

use super::EventFormat;
use crate::text::{Literal, Reservation};

/// The separators and keys that are the same in the line of every event.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) seq: Literal,
    pub(super) ticks: Literal,
    pub(super) time_ns: Literal,
    pub(super) time: Literal,
    pub(super) cpu: Literal,
    pub(super) priority: Literal,
    pub(super) text: Literal,
    pub(super) end: Literal,
    pub(super) absent: Absent,
    /// Maximum total length of keys and numbers, in bytes.
    pub(super) room: usize,
}

/// The output for a key without a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Absent {
    /// The key is omitted.
    Omitted,
    /// The key is followed by an empty value.
    Empty,
}

/// Maximum total length of five numbers, and of six keys with at most 32 bytes each.
const ROOM: usize = 6 * 32 + 5 * Reservation::NUMBER;

impl Keys {
    pub(super) fn of(format: EventFormat) -> Self {
        match format {
            EventFormat::JsonLines => Self {
                seq: Literal::new(r#"{"seq":"#),
                ticks: Literal::new(r#","ticks":"#),
                time_ns: Literal::new(r#","time_ns":"#),
                time: Literal::new(r#","time":"#),
                cpu: Literal::new(r#","cpu":"#),
                priority: Literal::new(r#","priority":"#),
                text: Literal::new(r#"},"text":""#),
                end: Literal::new(r#""}"#),
                absent: Absent::Omitted,
                room: ROOM,
            },
            EventFormat::Tsv => Self::separated("\t"),
            EventFormat::Csv => Self::separated(","),
        }
    }

    fn separated(separator: &str) -> Self {
        let [ticks, time_ns, time, cpu, priority, text] = [(); 6].map(|()| Literal::new(separator));
        let [seq, end] = [(); 2].map(|()| Literal::new(""));
        let absent = Absent::Empty;
        Self { seq, ticks, time_ns, time, cpu, priority, text, end, absent, room: ROOM }
    }
}
