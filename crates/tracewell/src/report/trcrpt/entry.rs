//! The bytes of an event as a template sees them.
//!
//! An AIX event is its entry as recorded. The events of other systems have no hook word; they get one
//! in front, and their data are behind it:
//!
//! | events | data | words (`$D1`, `$D2`, ...) |
//! |---|---|---|
//! | rows of words (ThreadX, our own streams) | the words as recorded, in the byte order of the trace; a text or bytes behind them as they are, without the word that counts them; behind a text a NUL | the same |
//! | packed (RKH) | the bytes of the arguments as recorded | the arguments |
//! | bytes of the program's own (POSIX trace) | those bytes | words of those bytes |
//! | others (S.Ha.R.K.) | the arguments | the same |
//!
//! Arguments are words in little-endian order, of the size that the environment says. One that is not
//! recorded with the source's settings is 0, so that those behind it stay where they are.

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::FrameHead;

use crate::model::schema::{ArgumentKind, EventType};
use crate::model::{EventRef, PayloadLayout, RecordedArguments, Trace};
use crate::template::{Entry, Environment};

/// Where in a frame its environment is.
const ENVIRONMENT: usize = 4;

/// Bytes behind an entry, so that its last ones can be read eight at a time.
const PADDING: usize = 8;

/// Where entries are put together.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    words: Vec<u8>,
}

/// The argument of an event type that is a text or bytes, where it is the last one of a row of words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tail {
    /// Its number, from 0.
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
        let in_words = matches!(payload, PayloadLayout::Words { .. });
        in_words.then(|| Self { index: event.args.len() - 1, is_text })
    }
}

/// The entry of an event; `scratch` is where it is put together.
#[inline(always)]
pub(super) fn entry<'a>(
    hooks: bool,
    trace: &Trace,
    event: &EventRef<'a>,
    tail: Option<Tail>,
    scratch: &'a mut Scratch,
) -> Option<Entry<'a>> {
    if hooks {
        let environment = match event.record.get(ENVIRONMENT)? {
            64 => Environment::Bits64,
            _ => Environment::Bits32,
        };
        return Entry::hook(environment, event.record.get(FrameHead::LENGTH..)?).ok();
    }
    // Ids beyond those of hooks have templates by name only.
    let id = u16::try_from(event.id).unwrap_or(0);
    match (trace.payload, tail) {
        (PayloadLayout::Words { order, bytes }, None) => {
            let environment = environment(usize::from(bytes));
            let word = environment.word();
            let scratch = &mut scratch.bytes;
            let length = word + event.payload.len();
            scratch.resize(length + PADDING, 0);
            let place = scratch.get_mut(word..length)?;
            // Four words of 32 bits are one load and one store; anything else is a call.
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

/// Begins an entry with a hook word of zeros.
fn begin(entry: &mut Vec<u8>, environment: Environment) {
    entry.clear();
    entry.resize(environment.word(), 0);
}

/// An entry of words with a text or bytes behind them.
fn with_tail<'a>(
    id: u16,
    environment: Environment,
    order: ByteOrder,
    layout: PayloadLayout,
    payload: &[u8],
    tail: Tail,
    scratch: &'a mut Scratch,
) -> Entry<'a> {
    let words = environment.word() * tail.index;
    scratch.bytes.extend_from_slice(payload.get(..words).unwrap_or(payload));
    scratch.bytes.extend_from_slice(layout.bytes(payload, tail.index));
    if tail.is_text {
        scratch.bytes.push(0);
    }
    let entry = Entry::of_event(id, environment, order, &scratch.bytes);
    entry.without_last(usize::from(tail.is_text))
}

/// An entry of the bytes of arguments as recorded, with the arguments as its words where they are packed.
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

/// Appends the arguments of an event, a word each.
fn arguments(layout: PayloadLayout, payload: &[u8], environment: Environment, out: &mut Vec<u8>) {
    for index in 0..layout.arguments(payload) {
        let value = layout.argument(payload, index).unwrap_or(0);
        out.extend_from_slice(&value.to_le_bytes()[..environment.word()]);
    }
}
