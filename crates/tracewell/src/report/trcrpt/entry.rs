//! Composes the bytes of an event for templates.
//!
//! For AIX events, these bytes are the recorded entry. Other events have no hook word, so a word of
//! zeros precedes their data.
//!
//! | events | data | words (`$D1`, `$D2`, ...) |
//! |---|---|---|
//! | rows of words (ThreadX, our own streams) | the recorded words, in the byte order of the trace | the same |
//! | packed (RKH) | the bytes of the arguments as recorded | the arguments |
//! | bytes whose layout the traced program defines (POSIX trace) | those bytes | the same bytes, as words |
//! | others (S.Ha.R.K.) | the arguments | the same |
//!
//! In a row of words, the last argument can be a string or bytes. The recorded row then contains a
//! word for the length of this argument, but the entry contains the argument itself. A NUL follows
//! a string.
//!
//! Arguments are little-endian words; the environment determines their size. A source can be
//! configured to leave arguments out of its records. The word of such an argument is 0, so that
//! later arguments keep their positions.

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::FrameHeader;

use crate::model::schema::{ArgumentKind, EventType};
use crate::model::{Event, EventRef, PayloadLayout, RecordedArguments};
use crate::template::{Entry, Environment};

/// Offset of the environment in a frame.
const ENVIRONMENT: usize = 4;

/// Number of padding bytes after an entry. With this padding, the last bytes of the entry can be
/// read eight at a time.
const PADDING: usize = 8;

/// Buffers in which entries are composed.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    words: Vec<u8>,
}

/// The last argument of an event, if it is a string or bytes and the arguments before it are words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tail {
    /// Index of the argument.
    index: usize,
    is_text: bool,
}

impl Tail {
    pub(super) fn of(event: &EventType, payload: PayloadLayout) -> Option<Self> {
        let is_text = match event.args.last()?.kind {
            ArgumentKind::Text => true,
            ArgumentKind::Bytes => false,
            _ => return None,
        };
        // If arguments are words, the word for this argument contains the length of the string.
        // Templates do not see this word.
        let in_words = matches!(payload, PayloadLayout::Words { .. });
        in_words.then(|| Self { index: event.args.len() - 1, is_text })
    }
}

/// Returns the entry of an event, composed in `scratch`.
#[inline(always)]
pub(super) fn entry<'a>(
    hooks: bool,
    Event { trace, row: event }: Event<'a>,
    tail: Option<Tail>,
    scratch: &'a mut Scratch,
) -> Option<Entry<'a>> {
    if hooks {
        let environment = match event.record.get(ENVIRONMENT)? {
            64 => Environment::Bits64,
            _ => Environment::Bits32,
        };
        return Entry::hook(environment, event.record.get(FrameHeader::LENGTH..)?).ok();
    }
    // Hook ids have 16 bits. If an id is larger, only a template for the event's name can apply.
    let id = u16::try_from(event.id).unwrap_or(0);
    match (trace.payload, tail) {
        (PayloadLayout::Words { order, bytes }, None) => {
            let environment = environment(usize::from(bytes));
            let word = environment.word();
            let scratch = &mut scratch.bytes;
            let length = word + event.payload.len();
            scratch.resize(length + PADDING, 0);
            let place = scratch.get_mut(word..length)?;
            // A copy of exactly 16 bytes (four words of 32 bits) is one load and one store. A copy
            // of any other length is a function call.
            match (place.first_chunk_mut::<16>(), event.payload.first_chunk::<16>()) {
                (Some(place), Some(words)) if event.payload.len() == 16 => *place = *words,
                _ => place.copy_from_slice(event.payload),
            }
            Some(Entry::of_event(id, environment, order, scratch.get(..length)?).padded(scratch))
        }
        (PayloadLayout::Words { order, bytes }, Some(tail)) => {
            let environment = environment(usize::from(bytes));
            begin(&mut scratch.bytes, environment);
            Some(with_tail(id, environment, order, trace.payload, event.payload, tail, scratch))
        }
        (PayloadLayout::Fields(_) | PayloadLayout::Values { .. }, _) => {
            let environment = environment(trace.payload.digits() / 2);
            begin(&mut scratch.bytes, environment);
            Some(match &trace.recorded {
                Some(recorded) => {
                    self::recorded(id, environment, &**recorded, trace.payload, event, scratch)
                }
                None => {
                    arguments(trace.payload, event.payload, environment, &mut scratch.bytes);
                    Entry::of_event(id, environment, ByteOrder::Little, &scratch.bytes)
                }
            })
        }
    }
}

fn environment(word: usize) -> Environment {
    if word > 4 { Environment::Bits64 } else { Environment::Bits32 }
}

/// Starts an entry with a hook word of zeros.
fn begin(entry: &mut Vec<u8>, environment: Environment) {
    entry.clear();
    entry.resize(environment.word(), 0);
}

/// Returns an entry that consists of words and then a string or bytes.
fn with_tail<'a>(
    id: u16,
    environment: Environment,
    order: ByteOrder,
    layout: PayloadLayout,
    payload: &[u8],
    tail: Tail,
    scratch: &'a mut Scratch,
) -> Entry<'a> {
    // Omit the next word, which is the length of the string.
    let words = environment.word() * tail.index;
    scratch.bytes.extend_from_slice(payload.get(..words).unwrap_or(payload));
    scratch.bytes.extend_from_slice(layout.bytes(payload, tail.index));
    if tail.is_text {
        scratch.bytes.push(0);
    }
    let entry = Entry::of_event(id, environment, order, &scratch.bytes);
    entry.without_last(usize::from(tail.is_text))
}

/// Returns an entry that contains the recorded bytes of the arguments. If these bytes are packed,
/// `$D1`, `$D2`, ... are the decoded arguments.
fn recorded<'a>(
    id: u16,
    environment: Environment,
    recorded: &dyn RecordedArguments,
    layout: PayloadLayout,
    event: &EventRef<'_>,
    scratch: &'a mut Scratch,
) -> Entry<'a> {
    recorded.append(event.record, &mut scratch.bytes);
    if !recorded.are_packed() {
        return Entry::of_event(id, environment, ByteOrder::Little, &scratch.bytes);
    }
    scratch.words.clear();
    arguments(layout, event.payload, environment, &mut scratch.words);
    let entry = Entry::of_event(id, environment, ByteOrder::Little, &scratch.bytes);
    entry.with_words(&scratch.words)
}

/// Appends the arguments of an event, one word each.
fn arguments(layout: PayloadLayout, payload: &[u8], environment: Environment, out: &mut Vec<u8>) {
    for index in 0..layout.arguments(payload) {
        let value = layout.argument(payload, index).unwrap_or(0);
        out.extend_from_slice(&value.to_le_bytes()[..environment.word()]);
    }
}
