//! What describes the events of a trace.

use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::schema::Schema;
use super::{Clock, Contexts, Diagnostics, Losses, Objects};

/// How a fact is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactForm {
    /// As a decimal number.
    Decimal,
    /// As a hexadecimal number with `0x`.
    Hexadecimal,
    /// As the text that comes with it.
    Text(&'static str),
}

/// A property of the source that is the dialect's own: an address, a width, a byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fact {
    /// Name in the dialect's words.
    pub name: &'static str,
    /// Value as a number.
    pub value: u64,
    /// How to show it.
    pub form: FactForm,
}

/// How the payload of an event divides into arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PayloadLayout {
    /// A row of words of the same size.
    Words {
        /// Byte order of a word.
        order: ByteOrder,
        /// Bytes of a word: 4 or 8.
        bytes: u8,
    },
}

impl PayloadLayout {
    /// Argument number `index` (from 0) of a payload; `None` where it has fewer.
    #[inline]
    pub fn argument(self, payload: &[u8], index: usize) -> Option<u64> {
        match self {
            Self::Words { order, bytes: 8 } => {
                Some(order.u64(*payload.get(8 * index..)?.first_chunk()?))
            }
            Self::Words { order, .. } => {
                Some(u64::from(order.u32(*payload.get(4 * index..)?.first_chunk()?)))
            }
        }
    }

    /// The bytes behind argument number `index`, as many as it says and the payload has: an argument
    /// of the kind [`Text`](super::schema::ArgumentKind::Text).
    pub fn bytes_behind(self, payload: &[u8], index: usize) -> &[u8] {
        let Self::Words { bytes, .. } = self;
        let length = usize::try_from(self.argument(payload, index).unwrap_or(0));
        let bytes = payload.get(usize::from(bytes) * (index + 1)..).unwrap_or_default();
        bytes.get(..length.unwrap_or(usize::MAX)).unwrap_or(bytes)
    }

    /// Number of arguments of a payload.
    #[inline]
    pub const fn arguments(self, payload: &[u8]) -> usize {
        match self {
            Self::Words { bytes, .. } => payload.len() / bytes as usize,
        }
    }

    /// Hexadecimal digits of a whole word: 8 or 16.
    #[inline]
    pub const fn digits(self) -> usize {
        match self {
            Self::Words { bytes, .. } => 2 * bytes as usize,
        }
    }
}

/// What describes the events of a trace; grows while they are read.
#[derive(Debug)]
pub struct Trace {
    /// Name of the format it was read from.
    pub format: &'static str,
    /// The source's own properties, in the order of the source.
    pub facts: Vec<Fact>,
    /// What event ids mean.
    pub schema: Arc<Schema>,
    /// How payloads divide into arguments.
    pub payload: PayloadLayout,
    /// How stamps become ticks and ticks become time.
    pub clock: Clock,
    /// Who ran.
    pub contexts: Contexts,
    /// What was acted on.
    pub objects: Objects,
    /// What is missing.
    pub losses: Losses,
    /// What the reader had to say.
    pub diagnostics: Diagnostics,
    /// The highest core number seen so far, plus one; may grow with each batch.
    pub cpus: u16,
    /// Events read so far.
    pub events: u64,
    /// Ticks of the last event read so far; the first one has 0.
    pub span: u64,
}

impl Trace {
    /// The value of one of the source's own properties.
    pub fn fact(&self, name: &str) -> Option<u64> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value)
    }
}
