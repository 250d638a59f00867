//! What stands between the values of a line, by format.

use super::EventFormat;
use crate::text::{Literal, Room};

/// What stands between the values of a line. Context, event and argument names are not here: they
/// differ from event to event.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) seq: Literal,
    pub(super) ticks: Literal,
    pub(super) time_ns: Literal,
    pub(super) cpu: Literal,
    pub(super) priority: Literal,
    pub(super) text: Literal,
    pub(super) end: Literal,
    pub(super) absent: Absent,
    /// Bytes that keys and values take at most.
    pub(super) room: usize,
}

/// What becomes of the key of an absent value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Absent {
    /// It is left out, too.
    LeftOut,
    /// It stays, with nothing behind it.
    Empty,
}

/// Six keys of at most 32 bytes and five numbers.
const ROOM: usize = 6 * 32 + 5 * Room::NUMBER;

impl Keys {
    pub(super) fn of(format: EventFormat) -> Self {
        match format {
            EventFormat::JsonLines => Self {
                seq: Literal::new(r#"{"seq":"#),
                ticks: Literal::new(r#","ticks":"#),
                time_ns: Literal::new(r#","time_ns":"#),
                cpu: Literal::new(r#","cpu":"#),
                priority: Literal::new(r#","priority":"#),
                text: Literal::new(r#"},"text":""#),
                end: Literal::new(r#""}"#),
                absent: Absent::LeftOut,
                room: ROOM,
            },
            EventFormat::Tsv => Self::separated("\t"),
            EventFormat::Csv => Self::separated(","),
        }
    }

    fn separated(separator: &str) -> Self {
        let [ticks, time_ns, cpu, priority, text] = [(); 5].map(|()| Literal::new(separator));
        let [seq, end] = [(); 2].map(|()| Literal::new(""));
        Self { seq, ticks, time_ns, cpu, priority, text, end, absent: Absent::Empty, room: ROOM }
    }
}
