//! The trace: everything that describes its events.

use std::any::Any;
use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::schema::Schema;
use super::{
    Clock, Context, Contexts, Diagnostics, EventIds, Losses, Objects, ProgramSpans, SymbolAt,
    SymbolTable, WallClock, values,
};

/// The form in which a fact is displayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FactForm {
    /// As a decimal number.
    Decimal,
    /// As a hexadecimal number with `0x`.
    Hexadecimal,
    /// As the accompanying text.
    Text(&'static str),
}

/// A dialect-specific property of the source, such as an address, a width or a byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fact {
    /// The name of the property in the dialect.
    pub name: &'static str,
    /// Value as a number.
    pub value: u64,
    /// How to show it.
    pub form: FactForm,
}

/// The layout of arguments in the payload of an event.
///
/// ```
/// use tracewell::model::PayloadLayout;
/// use tracewell_wire::ByteOrder;
///
/// let words = PayloadLayout::Words { order: ByteOrder::Big, bytes: 4 };
/// let payload = [0, 0, 0, 7, 0, 0, 1, 0];
/// assert_eq!((words.arguments(&payload), words.argument(&payload, 1)), (2, Some(256)));
/// assert_eq!(words.argument(&payload, 2), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PayloadLayout {
    /// A row of words of the same size.
    Words {
        /// Byte order of a word.
        order: ByteOrder,
        /// Number of bytes in a word: 4 or 8.
        bytes: u8,
    },
    /// Little-endian numbers of at most 32 bits, each at a fixed offset in the payload.
    Fields(&'static [Field]),
    /// A row of values that the decoder wrote; see [`values`].
    Values {
        /// Number of hexadecimal digits of an address: 8 or 16.
        digits: u8,
    },
}

/// A number within a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Offset of its first byte in the payload.
    pub offset: usize,
    /// Its length in bytes: 2, or 4.
    pub bytes: u8,
    /// The position of a byte in the payload, and a mask of bits in this byte. If any of these bits
    /// is set, the recorder did not write the number.
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
    /// Returns argument number `index` (from 0) of a payload, or `None` if the payload has fewer
    /// arguments or the source's settings exclude this argument.
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

    /// Returns the bytes of argument number `index`, which is a string, bytes or a list. In the
    /// layout [`Words`](Self::Words), the argument contains the number of bytes. The bytes follow
    /// this number and fill the rest of the payload.
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

    /// Returns an argument as a signed number with the width of a word.
    #[inline]
    pub const fn signed(self, argument: u64) -> i64 {
        if self.digits() == 8 { argument as u32 as i32 as i64 } else { argument as i64 }
    }

    /// Returns the number of arguments of a payload.
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

    /// Returns the number of hexadecimal digits of a whole word or an address: 8 or 16.
    #[inline]
    pub const fn digits(self) -> usize {
        match self {
            Self::Words { bytes, .. } => 2 * bytes as usize,
            Self::Fields(_) => 8,
            Self::Values { digits } => digits as usize,
        }
    }
}

/// Finds the recorded bytes of an event's arguments, for dialects whose payloads contain decoded
/// values.
pub trait RecordedArguments: std::fmt::Debug + Send + Sync {
    /// Appends the bytes of a record's arguments. `record` contains the bytes of the source.
    fn append(&self, record: &[u8], out: &mut Vec<u8>);

    /// Returns true if the arguments are packed. Packed arguments are not stored as whole words.
    fn are_packed(&self) -> bool;
}

/// A property of the context that recorded an event, besides its priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContextDetail {
    /// Preemption threshold of a thread, if it differs from the thread's priority. Only threads
    /// that are more urgent than the threshold preempt the thread.
    PreemptionThreshold(u16),
    /// Key of the interrupted thread, if an interrupt recorded the event.
    Interrupted(u64),
}

/// Finds the [`ContextDetail`] of records, for dialects that record details.
pub trait RecordedDetails: std::fmt::Debug + Send + Sync {
    /// Returns the detail in a record of the source. Text outputs call this for every event.
    fn detail(&self, record: &[u8]) -> Option<ContextDetail>;
}

/// The facts that a trace shows about the use of the processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Processor {
    /// The trace shows when each task gets and loses the processor.
    Switches,
    /// The trace shows only which context recorded each event. The contexts that ran between events
    /// are unknown.
    Recorders {
        /// The events that would show the use of the processor, but are not in the trace. Messages
        /// contain this text.
        needed: &'static str,
    },
}

/// Error for a trace in which the dates of events are not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoDates {
    /// The trace does not contain a wall-clock time.
    #[error(
        "dates need a trace that contains its date of recording; this {format} trace does not: \
         use times since the first event"
    )]
    WallClock {
        /// Name of the trace's format.
        format: &'static str,
    },
    /// The rate of the trace's clock is not known.
    #[error("dates need a clock of known rate: give it with -O rate=TICKS_PER_SECOND")]
    Rate,
}

/// The end of the recording on a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoreEnd {
    /// Number of the core.
    pub cpu: u16,
    /// Ticks from the first event of the trace to the end of the recording.
    pub ticks: u64,
}

/// The trace: all data that describe its events. It grows while events are decoded.
#[derive(Debug)]
pub struct Trace {
    /// Name of the source's format.
    pub format: &'static str,
    /// Properties that the source itself contains, in the order of the source.
    pub facts: Vec<Fact>,
    /// The source's own texts, such as the name of the system, in the order of the source.
    pub texts: Vec<(&'static str, String)>,
    /// The dialect's own header. The dialect's folder in `format` defines the type of the header
    /// and gives access to the header. The fields `facts` and `texts` repeat the content of the
    /// header for output.
    pub dialect: Option<Box<dyn Any + Send + Sync>>,
    /// The names, arguments and meanings of event ids.
    pub schema: Arc<Schema>,
    /// The layout of arguments in payloads.
    pub payload: PayloadLayout,
    /// Finds the recorded bytes of arguments, if payloads are decoded. The decoder can replace this
    /// value before each batch.
    pub recorded: Option<Box<dyn RecordedArguments>>,
    /// Finds further details of a record's context, besides the priority, if the dialect records
    /// them.
    pub details: Option<Box<dyn RecordedDetails>>,
    /// The clock, which converts timestamps to ticks and ticks to time.
    pub clock: Clock,
    /// A wall-clock time, if the source records one.
    pub wall_clock: Option<WallClock>,
    /// The contexts that recorded events.
    pub contexts: Contexts,
    /// The information about the use of the processor. A decoder can refine it while reading.
    pub processor: Processor,
    /// True if a larger priority number is more urgent. By default, a larger number is less urgent.
    pub larger_is_urgent: bool,
    /// The objects on which events act.
    pub objects: Objects,
    /// The symbols of the recorded program, if the user gave its file.
    pub symbols: Option<Arc<SymbolTable>>,
    /// The spans of instrumented programs.
    pub program_spans: ProgramSpans,
    /// The losses so far.
    pub losses: Losses,
    /// The diagnostics of the decoder.
    pub diagnostics: Diagnostics,
    /// The highest core number so far, plus one. It can grow with each batch.
    pub cpus: u16,
    /// The ends of recordings on single cores that the decoder has reached, in order of time. What
    /// a core runs after the end of its recording is unknown.
    pub core_ends: Vec<CoreEnd>,
    /// The event ids that occurred. This is known after the whole trace has been read, if the input
    /// [notes ids](crate::input::Input::note_ids).
    pub ids: Option<EventIds>,
    /// The files that were joined to form this input: the offset of each file in the input, and its
    /// name. Empty if the input is a single file.
    pub parts: Vec<(u64, String)>,
    /// Events read so far.
    pub events: u64,
    /// Ticks of the last event so far; the first event has 0.
    pub span: u64,
}

impl Trace {
    /// Creates the trace of a source from which no bytes have been read.
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
            dialect: None,
            schema,
            payload,
            recorded: None,
            details: None,
            clock,
            wall_clock: None,
            contexts: Contexts::default(),
            processor: Processor::Recorders { needed: "events of task switches" },
            larger_is_urgent: false,
            objects: Objects::default(),
            symbols: None,
            program_spans: ProgramSpans::default(),
            losses: Losses::default(),
            diagnostics: Diagnostics::default(),
            cpus: 1,
            core_ends: Vec::new(),
            ids: None,
            parts: Vec::new(),
            events: 0,
            span: 0,
        }
    }

    /// Returns an offset in the source as text: `12`, or `12 of trace-1` if the source consists of
    /// several files.
    ///
    /// ```
    /// use tracewell::model::{Clock, PayloadLayout, Trace};
    /// use tracewell::model::schema::Schema;
    ///
    /// let (payload, clock) = (PayloadLayout::Fields(&[]), Clock::of_64_bits(None));
    /// let mut trace = Trace::new("native", Schema::empty(), payload, clock);
    /// assert_eq!(trace.place(12), "12");
    /// trace.parts = vec![(0, "trace-0".to_owned()), (10, "trace-1".to_owned())];
    /// assert_eq!(trace.place(9), "9 of trace-0");
    /// assert_eq!(trace.place(12), "2 of trace-1");
    /// ```
    pub fn place(&self, offset: u64) -> String {
        match self.parts.iter().rev().find(|(start, _)| *start <= offset) {
            Some((start, name)) => format!("{} of {name}", offset - start),
            None => offset.to_string(),
        }
    }

    /// Returns the source's text with this name, or an empty string if the source has no such text.
    pub fn text(&self, name: &str) -> &str {
        let text = self.texts.iter().find(|(known, _)| *known == name);
        text.map_or("", |(_, text)| text)
    }

    /// Returns the id of the process to which a context belongs, or `None` if the trace does not
    /// contain this id. The id is a parameter of the object that describes the context.
    pub fn process_of(&self, context: &Context) -> Option<u64> {
        let object = self.objects.get(context.object?)?;
        let process = self.schema.object_kind(object.kind)?.process?;
        object.parameters.get(process).copied()
    }

    /// Returns the symbol that contains an address. Returns `None` if there are no symbols, or if
    /// their addresses are wider than the trace's addresses.
    pub fn symbol(&self, address: u64) -> Option<SymbolAt<'_>> {
        self.symbols.as_deref()?.find_in(address, self.payload.digits())
    }

    /// Returns the symbol of the object to which an argument of this type refers. Returns `None` if
    /// arguments of this type are not addresses.
    pub fn object_symbol(&self, kind: Option<u32>, argument: u64) -> Option<SymbolAt<'_>> {
        let kind = kind.and_then(|code| self.schema.object_kind(code));
        if kind.is_some_and(|kind| kind.numbered) { None } else { self.symbol(argument) }
    }

    /// Returns the time of an event in nanoseconds since 1970, if the trace contains a wall-clock
    /// time and the clock's rate.
    pub fn wall_clock_ns(&self, ticks: u64) -> Option<u64> {
        let WallClock { ns, stamp, .. } = self.wall_clock?;
        let of_event = self.clock.first_stamp.checked_add(ticks)?;
        match of_event.checked_sub(stamp) {
            Some(since) => ns.checked_add(self.clock.nanoseconds(since)?),
            None => ns.checked_sub(self.clock.nanoseconds(stamp - of_event)?),
        }
    }

    /// Checks that the dates of events are known.
    ///
    /// # Errors
    /// Returns an error if the trace contains no wall-clock time, or if the rate of its clock is
    /// unknown.
    pub fn check_dates(&self) -> Result<(), NoDates> {
        match self.wall_clock {
            None => Err(NoDates::WallClock { format: self.format }),
            Some(_) if self.clock.rate.is_none() => Err(NoDates::Rate),
            Some(_) => Ok(()),
        }
    }

    /// If the source has a property with the name of `fact`, replaces this property.
    pub fn replace_fact(&mut self, fact: Fact) {
        if let Some(known) = self.facts.iter_mut().find(|known| known.name == fact.name) {
            *known = fact;
        }
    }

    /// Returns the value of one of the source's own properties.
    pub fn fact(&self, name: &str) -> Option<u64> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value)
    }
}
