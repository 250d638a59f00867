//! What describes the events of a trace.

use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::schema::Schema;
use super::{Clock, Context, Contexts, Diagnostics, Losses, Objects, values};

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
    /// Little-endian numbers at fixed places of the payload, of at most 32 bits.
    Fields(&'static [Field]),
    /// A row of values that the decoder made: [`values`].
    Values {
        /// Hexadecimal digits to show an address with: 8 or 16.
        digits: u8,
    },
}

/// A number within a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its first byte.
    pub offset: usize,
    /// Its length in bytes: 2, or 4.
    pub bytes: u8,
    /// A byte of the payload and the bits in it that say, if one is set, that the number was not
    /// written.
    pub absent: Option<(usize, u8)>,
}

impl Field {
    #[inline]
    fn read(self, payload: &[u8]) -> Option<u64> {
        let absent = |(at, bits): (usize, u8)| payload.get(at).is_some_and(|b| b & bits != 0);
        if self.absent.is_some_and(absent) {
            return None;
        }
        let bytes = payload.get(self.offset..)?;
        Some(match self.bytes {
            2 => u64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
            _ => u64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
        })
    }
}

impl PayloadLayout {
    /// Argument number `index` (from 0) of a payload; `None` where it has fewer, and where this
    /// argument is not recorded with the source's settings.
    #[inline]
    pub fn argument(self, payload: &[u8], index: usize) -> Option<u64> {
        match self {
            Self::Words { order, bytes: 8 } => {
                Some(order.u64(*payload.get(8 * index..)?.first_chunk()?))
            }
            Self::Words { order, .. } => {
                Some(u64::from(order.u32(*payload.get(4 * index..)?.first_chunk()?)))
            }
            Self::Fields(fields) => fields.get(index)?.read(payload),
            Self::Values { .. } => values::value(payload, index),
        }
    }

    /// The bytes of argument number `index`, a text, bytes or a list: where a row of words has them,
    /// they are behind the argument, as many as it says and the payload has.
    pub fn bytes(self, payload: &[u8], index: usize) -> &[u8] {
        match self {
            Self::Words { bytes, .. } => {
                let length = usize::try_from(self.argument(payload, index).unwrap_or(0));
                let bytes = payload.get(usize::from(bytes) * (index + 1)..).unwrap_or_default();
                bytes.get(..length.unwrap_or(usize::MAX)).unwrap_or(bytes)
            }
            Self::Values { .. } => {
                self.argument(payload, index).map_or(&[], |place| values::bytes(payload, place))
            }
            Self::Fields(_) => &[],
        }
    }

    /// Number of arguments of a payload.
    #[inline]
    pub fn arguments(self, payload: &[u8]) -> usize {
        match self {
            Self::Words { bytes, .. } => payload.len() / usize::from(bytes),
            Self::Fields(fields) => {
                fields.iter().take_while(|field| field.read(payload).is_some()).count()
            }
            Self::Values { .. } => values::slots(payload),
        }
    }

    /// Hexadecimal digits of a whole word, or of an address: 8 or 16.
    #[inline]
    pub const fn digits(self) -> usize {
        match self {
            Self::Words { bytes, .. } => 2 * bytes as usize,
            Self::Fields(_) => 8,
            Self::Values { digits } => digits as usize,
        }
    }
}

/// Finds the bytes of an event's arguments as they were recorded, for dialects whose payloads are not
/// those bytes.
pub trait RecordedArguments: std::fmt::Debug + Send + Sync {
    /// Appends the bytes of the arguments of a record as it lies in the source.
    fn append(&self, record: &[u8], out: &mut Vec<u8>);

    /// Whether the arguments are packed into those bytes, so that their words are not to be found there.
    fn are_packed(&self) -> bool;
}

/// What a record says of the context that recorded it, beside its priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ContextDetails {
    /// Preemption threshold of a thread, if it differs from its priority: only more urgent threads preempt it.
    pub preemption_threshold: Option<u16>,
    /// Key of the thread that an interrupt interrupted.
    pub interrupted: Option<u64>,
}

/// Finds [`ContextDetails`] in the records of a dialect that records them.
pub trait RecordedDetails: std::fmt::Debug + Send + Sync {
    /// The details in a record as it lies in the source.
    fn details(&self, record: &[u8]) -> ContextDetails;
}

/// What a trace tells of who has the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Processor {
    /// When each task gets it and loses it.
    Switches,
    /// Only who recorded an event: whether that one had it until its next event, nothing says.
    Recorders {
        /// What a trace would have to record for that to be known, to stand behind "needs".
        needed: &'static str,
    },
}

/// What describes the events of a trace; grows while they are read.
#[derive(Debug)]
pub struct Trace {
    /// Name of the format it was read from.
    pub format: &'static str,
    /// The source's own properties, in the order of the source.
    pub facts: Vec<Fact>,
    /// The source's own texts, such as the name of the system, in the order of the source.
    pub texts: Vec<(&'static str, String)>,
    /// What event ids mean.
    pub schema: Arc<Schema>,
    /// How payloads divide into arguments.
    pub payload: PayloadLayout,
    /// How to find the bytes of arguments in a record, where the payload is not them; may change
    /// with each batch.
    pub recorded: Option<Box<dyn RecordedArguments>>,
    /// How to find what a record says of its context beside the priority, where the dialect records that.
    pub details: Option<Box<dyn RecordedDetails>>,
    /// How stamps become ticks and ticks become time.
    pub clock: Clock,
    /// Who ran.
    pub contexts: Contexts,
    /// What is told of who has the processor; [`Processor::Recorders`] until a format knows better.
    pub processor: Processor,
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
    /// A trace of a format, before its first byte.
    pub fn new(
        format: &'static str,
        schema: Arc<Schema>,
        payload: PayloadLayout,
        clock: Clock,
    ) -> Self {
        Self {
            format,
            facts: Vec::new(),
            texts: Vec::new(),
            schema,
            payload,
            recorded: None,
            details: None,
            clock,
            contexts: Contexts::default(),
            processor: Processor::Recorders { needed: "events of task switches" },
            objects: Objects::default(),
            losses: Losses::default(),
            diagnostics: Diagnostics::default(),
            cpus: 1,
            events: 0,
            span: 0,
        }
    }

    /// A text of the source; empty where it has none of this name.
    pub fn text(&self, name: &str) -> &str {
        let text = self.texts.iter().find(|(known, _)| *known == name);
        text.map_or("", |(_, text)| text)
    }

    /// The id of a context's process, where its system has processes and the trace tells: the
    /// parameter `pid` of the object that describes it.
    pub fn process_of(&self, context: &Context) -> Option<u64> {
        let object = self.objects.get(context.object?)?;
        let names = &self.schema.object_kind(object.kind)?.parameters;
        object.parameters.get(names.iter().position(|name| name == "pid")?).copied()
    }

    /// Nanoseconds since 1970 of an event, if the trace says when it was recorded and how long a tick is.
    pub fn wall_clock_ns(&self, ticks: u64) -> Option<u64> {
        let (wall, tick) = self.wall_clock()?;
        let stamp = self.clock.first_stamp.checked_add(ticks)?;
        match stamp.checked_sub(tick) {
            Some(since) => wall.checked_add(self.clock.nanoseconds(since)?),
            None => wall.checked_sub(self.clock.nanoseconds(tick - stamp)?),
        }
    }

    /// A moment that the trace gives by the wall clock, in nanoseconds since 1970, and as a stamp. A source that has no
    /// wall clock writes 0 there, which is none.
    pub fn wall_clock(&self) -> Option<(u64, u64)> {
        const FACTS: [(&str, &str); 2] =
            [("wall_clock_ns", "start_tick"), ("origin_realtime_ns", "clock_origin")];
        let moment = |(wall, tick)| Some((self.fact(wall)?, self.fact(tick)?));
        FACTS.into_iter().find_map(moment).filter(|(wall, _)| *wall > 0)
    }

    /// The value of one of the source's own properties.
    pub fn fact(&self, name: &str) -> Option<u64> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value)
    }
}
