//! The events in the payload of a packet, one after the other:
//!
//! | part | content |
//! |---|---|
//! | id | 1 byte; its bits 6 and 7 are the form of the arguments |
//! | ticks since the previous event of the packet; 0 for the first event | a [`number`] |
//! | arguments | form 0: none; 1: a number; 2: two numbers; 3: the length of the rest as a number, then that many bytes |
//!
//! The form is part of the id, so a reader can skip events whose ids it does not know. No event has
//! the id 0.

use crate::number;

/// The form of an event's arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// No arguments.
    None,
    /// One number.
    One,
    /// Two numbers.
    Two,
    /// Bytes: numbers and a text, depending on the id.
    Block,
}

impl Form {
    /// Returns the form of an id.
    pub const fn of(id: u8) -> Self {
        match id >> 6 {
            0 => Self::None,
            1 => Self::One,
            2 => Self::Two,
            _ => Self::Block,
        }
    }
}

/// An event of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedEvent<'a> {
    /// The id; [`ids`](super::ids) lists them.
    pub id: u8,
    /// Ticks since the previous event of the packet; 0 for the first event.
    pub ticks: u64,
    /// The numeric arguments; 0 for arguments that the form does not have.
    pub arguments: [u64; 2],
    /// The bytes of form [`Form::Block`].
    pub block: &'a [u8],
    /// The bytes of the whole event.
    pub bytes: &'a [u8],
}

/// Returns the events of a payload. If the payload ends within an event, or contains an event with
/// id 0, the last result is the number of bytes before this event.
///
/// ```
/// use tracewell_wire::target::{events, ids};
///
/// let payload = [ids::RUNS, 0, 3, ids::INTERRUPT_EXIT, 0x90];
/// let mut list = events(&payload);
/// let first = list.next().unwrap().unwrap();
/// assert_eq!((first.id, first.ticks, first.arguments[0]), (ids::RUNS, 0, 3));
/// assert_eq!(list.next(), Some(Err(3)));
/// assert_eq!(list.next(), None);
/// ```
pub fn events(payload: &[u8]) -> impl Iterator<Item = Result<RecordedEvent<'_>, usize>> {
    let mut rest = payload;
    core::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let before = payload.len() - rest.len();
        match read(rest) {
            Some((event, after)) => {
                rest = after;
                Some(Ok(event))
            }
            None => {
                rest = &[];
                Some(Err(before))
            }
        }
    })
}

/// Returns the event at the start of `bytes` and the bytes after it, or `None` if the event is
/// incomplete or its id is 0.
fn read(bytes: &[u8]) -> Option<(RecordedEvent<'_>, &[u8])> {
    let (id, rest) = bytes.split_first()?;
    if *id == 0 {
        return None;
    }
    let (ticks, mut rest) = number::read(rest)?;
    let (mut arguments, mut block) = ([0; 2], &[][..]);
    match Form::of(*id) {
        Form::None => {}
        Form::One => (arguments[0], rest) = number::read(rest)?,
        Form::Two => {
            (arguments[0], rest) = number::read(rest)?;
            (arguments[1], rest) = number::read(rest)?;
        }
        Form::Block => {
            let (length, after) = number::read(rest)?;
            (block, rest) = after.split_at_checked(usize::try_from(length).ok()?)?;
        }
    }
    let event = bytes.get(..bytes.len() - rest.len())?;
    Some((RecordedEvent { id: *id, ticks, arguments, block, bytes: event }, rest))
}
