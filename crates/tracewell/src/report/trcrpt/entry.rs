//! The bytes of an event as a template sees them.
//!
//! An AIX event is its entry as recorded. The events of other systems have no hook word; they get one
//! in front, and their data are behind it:
//!
//! | events | environment | data |
//! |---|---|---|
//! | rows of words (ThreadX) | that of the words | the words, in the byte order of the trace |
//! | others | 32, or 64 where addresses have 64 bits | the arguments in order, a little-endian word each; texts and bytes as they are, with a NUL behind them |

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::FrameHead;

use crate::model::schema::ArgumentKind;
use crate::model::{EventRef, PayloadLayout, Trace};
use crate::template::{Entry, Environment};

/// Where in a frame its environment is.
const ENVIRONMENT: usize = 4;

/// The entry of an event; `scratch` is where it is put together.
#[inline(always)]
pub(super) fn entry<'a>(
    hooks: bool,
    trace: &Trace,
    event: &EventRef<'a>,
    scratch: &'a mut Vec<u8>,
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
    match trace.payload {
        PayloadLayout::Words { order, bytes } => {
            let environment = environment(usize::from(bytes));
            let word = environment.word();
            scratch.resize(word + event.payload.len(), 0);
            let place = scratch.get_mut(word..)?;
            // Four words of 32 bits are one load and one store; anything else is a call.
            match (place.first_chunk_mut::<16>(), event.payload.first_chunk::<16>()) {
                (Some(place), Some(words)) if event.payload.len() == 16 => *place = *words,
                _ => place.copy_from_slice(event.payload),
            }
            Some(Entry::of_event(id, environment, order, scratch))
        }
        PayloadLayout::Fields(_) | PayloadLayout::Values { .. } => {
            let environment = environment(trace.payload.digits() / 2);
            scratch.clear();
            scratch.resize(environment.word(), 0);
            arguments(trace, event, environment.word(), scratch);
            Some(Entry::of_event(id, environment, ByteOrder::Little, scratch))
        }
    }
}

fn environment(word: usize) -> Environment {
    if word > 4 { Environment::Bits64 } else { Environment::Bits32 }
}

/// Appends the arguments of an event.
fn arguments(trace: &Trace, event: &EventRef<'_>, word: usize, out: &mut Vec<u8>) {
    let args = &trace.schema.event(event.id).args;
    for index in 0..trace.payload.arguments(event.payload) {
        let Some(value) = trace.payload.argument(event.payload, index) else { continue };
        match args.get(index).map(|argument| argument.kind) {
            Some(ArgumentKind::Text | ArgumentKind::Bytes | ArgumentKind::List) => {
                out.extend_from_slice(trace.payload.bytes(event.payload, index));
                out.push(0);
            }
            _ => out.extend_from_slice(&value.to_le_bytes()[..word]),
        }
    }
}
