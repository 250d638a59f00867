//! Decodes the files of a trace into events of the model.

use std::sync::Arc;

use super::FORMAT;
use super::classes::Value;
use super::clocks::Common;
use super::events;
use super::layout::{EventLayout, Layout, Programs, packet_arguments};
use super::packets::hyphenated;
use super::position::Bits;
use super::program::State;
use super::reader::Reader;
use super::row::{PacketRow, Row};
use super::stream::{Gap, GapKind, Next, Stream};
use super::who::Threads;
use crate::format::{Decoder, Input, OptionError, Progress, ReadError, Settings, TraceFile};
use crate::model::schema::Schema;
use crate::model::{
    Clock, Emitter, Flow, LossCause, NewEvent, PayloadLayout, Priority, Processor, Severity, Trace,
};
use crate::text::{counted, shown};

#[derive(Debug)]
struct CtfDecoder {
    schema: Arc<Schema>,
    files: Arc<[TraceFile]>,
}

/// Creates a decoder.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let schema = FORMAT.with_schemas(super::systems::objects(), settings)?;
    Ok(Box::new(CtfDecoder { schema, files: settings.files.clone() }))
}

impl Decoder for CtfDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Values { digits: 16 };
        Trace::new(FORMAT.name, self.schema.clone(), payload, Clock::of_64_bits(None))
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        if self.files.is_empty() {
            let message =
                "expected the folder of a trace, with a file `metadata` and the files of \
                           its streams; found a single file"
                    .to_owned();
            return Err(ReadError { offset: 0, message });
        }
        if !input.last {
            return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
        }
        let files = self.files.clone();
        let reader = Reader::new(&files, Programs::One)?;
        describe(&reader, &files, out.trace);
        let mut events = Decoding::new(reader, &files, out.trace);
        // A sink that stops has received all that it needs, so this is not an error.
        let _ = events.all(out);
        Ok(Progress::Done)
    }
}

/// The facts of a trace's environment that summaries show.
const SHOWN: [&str; 8] = [
    "hostname",
    "domain",
    "sysname",
    "kernel_release",
    "tracer_name",
    "trace_name",
    "procname",
    "vpid",
];

/// Adds the clock, the environment and the warnings of the metadata to the trace. If there are
/// several metadata files, uses the environment of the first one.
fn describe(reader: &Reader<'_>, files: &[TraceFile], trace: &mut Trace) {
    let common: &Common = &reader.common;
    trace.clock = common.clock();
    trace.wall_clock = common.wall_clock();
    let environment = reader.layouts.first().map(|layout| &layout.metadata.environment);
    for name in SHOWN {
        let found = environment.into_iter().flatten().find(|(known, _)| known == name);
        trace.texts.extend(found.map(|(_, value)| match value {
            Value::Text(text) => (name, shown(text).into_owned()),
            Value::Number(number) => (name, number.to_string()),
        }));
    }
    for (file, warning) in &reader.warnings {
        let path = files.get(*file).map(|file| file.path().display().to_string());
        let message = format!("{}: {warning}", path.unwrap_or_default());
        trace.diagnostics.add(Severity::Warning, None, message);
    }
}

/// The arguments of events that are in the context of their packet.
#[derive(Debug, Default)]
struct PacketArguments {
    values: PacketRow,
    /// Number of the packet that contains them.
    packet: u64,
}

impl PacketArguments {
    /// Writes the arguments to the row of an event.
    fn put(
        &mut self,
        stream: &Stream<'_>,
        layout: &Layout,
        event: &EventLayout,
        row: &mut Row<'_>,
    ) {
        let Some(packet) = &stream.packet else { return };
        if self.packet != stream.packets {
            self.packet = stream.packets;
            self.values.clear();
            let mut bits = Bits { bytes: packet.bytes, at: packet.context, end: packet.body };
            // The context was read before, when the packet was opened.
            let mut state = State { empty_elements: 0, ..stream.state.clone() };
            if let Some(class) = layout.streams.get(packet.class) {
                let _ = class.context.run(&mut bits, &mut state, &mut self.values);
            }
        }
        let metadata = layout.metadata.streams.get(packet.class);
        let names = metadata.into_iter().flat_map(packet_arguments).map(|(_, name, _)| name);
        self.values.put(row, &event.packet, names);
    }
}

/// The state of decoding a trace.
struct Decoding<'a> {
    reader: Reader<'a>,
    files: &'a [TraceFile],
    threads: Threads,
    /// The arguments from the context of the current packet of each stream.
    contexts: Vec<PacketArguments>,
    rest: Vec<u8>,
}

impl<'a> Decoding<'a> {
    fn new(mut reader: Reader<'a>, files: &'a [TraceFile], trace: &mut Trace) -> Self {
        events::define(&mut reader.layouts, Arc::make_mut(&mut trace.schema));
        if trace.schema.shows_switches() {
            trace.processor = Processor::Switches;
        }
        let contexts = reader.streams.iter().map(|_| PacketArguments::default()).collect();
        Self { reader, files, threads: Threads::default(), contexts, rest: Vec::new() }
    }

    /// Delivers all events.
    fn all(&mut self, out: &mut Emitter<'_>) -> Flow {
        while let Some(index) = self.reader.earliest() {
            let Some(stream) = self.reader.streams.get_mut(index) else { break };
            match stream.next {
                Next::Event => self.event(index, out)?,
                Next::Gap => {
                    if let Some(gap) = stream.take_gap() {
                        self.gap(index, &gap, out)?;
                    }
                }
                Next::End => {}
            }
            self.reader.advance();
        }
        out.flush()
    }

    #[inline]
    fn event(&mut self, index: usize, out: &mut Emitter<'_>) -> Flow {
        let Self { reader, threads, contexts, rest, .. } = self;
        let Some(stream) = reader.streams.get_mut(index) else { return Flow::Continue(()) };
        let layout = reader.layouts.get(stream.layout);
        let class = layout.and_then(|layout| layout.streams.get(stream.class));
        let Some(event) = class.and_then(|class| class.events.get(stream.event)) else {
            return Flow::Continue(());
        };
        let Some((from, cpu)) = stream
            .packet
            .as_ref()
            .map(|packet| (packet.offset + stream.event_at / 8, packet.numbers.cpu))
        else {
            return Flow::Continue(());
        };
        let known = &event.known;
        if let Some(plain) = &event.plain {
            let payloads = &mut out.buffer.payloads;
            let start = payloads.len();
            if let Err(fault) = plain.read(&mut stream.bits, payloads) {
                stream.lose_body(fault);
                return Flow::Continue(());
            }
            let row = payloads.get(start..).unwrap_or_default();
            stream.note_interrupt(known.who.is_interrupt);
            let cpu = cpu.map_or(0, |cpu| u16::try_from(cpu).unwrap_or(u16::MAX));
            let who = threads.of_recorder(&known.who, cpu, row, out.trace);
            let ticks = out.ticks(stream.stamp());
            let new = NewEvent { ticks, cpu, context: who, id: known.id, priority: Priority::NONE };
            return out.copied(new, from);
        }
        let mut row = Row::begin(&mut out.buffer.payloads, event.slots, rest);
        if let Err(fault) = stream.body(event, &mut row) {
            row.discard();
            stream.lose_body(fault);
            return Flow::Continue(());
        }
        if let (false, Some(layout), Some(context)) =
            (event.packet.is_empty(), layout, contexts.get_mut(index))
        {
            context.put(stream, layout, event, &mut row);
        }
        stream.note_interrupt(known.who.is_interrupt);
        let cpu = known.who.cpu(&row, cpu);
        let who = threads.context(&known.who, cpu, &row, out.trace);
        row.finish(event.has_rest);
        let ticks = out.ticks(stream.stamp());
        let new = NewEvent { ticks, cpu, context: who, id: known.id, priority: Priority::NONE };
        out.copied(new, from)
    }

    /// Reports a gap as a loss, a diagnostic, or both.
    #[cold]
    fn gap(&mut self, index: usize, gap: &Gap, out: &mut Emitter<'_>) -> Flow {
        let part = self.reader.streams.get(index).and_then(|stream| stream.part());
        let file = part.and_then(|part| self.files.get(part.file));
        let path = file.map_or(String::new(), |file| file.path().display().to_string());
        let at = gap.offset;
        let is_loss =
            matches!(gap.kind, GapKind::Events { .. } | GapKind::Packets(_) | GapKind::Damage(_));
        if is_loss {
            let stream = self.reader.streams.get(index);
            let packet = stream.and_then(|stream| stream.packet.as_ref());
            self.threads.gap(packet.and_then(|packet| packet.numbers.cpu));
        }
        let mut note = |severity, message: String| {
            let message = format!("{path}: at byte {at}: {message}");
            out.trace.diagnostics.add(severity, None, message);
        };
        match &gap.kind {
            GapKind::Events { count, first } => {
                if count.is_none() {
                    let message = format!(
                        "the count of discarded events is {first} in the first packet; the \
                         recording began earlier"
                    );
                    note(Severity::Note, message);
                }
                out.loss(*count, LossCause::BufferFull, at)
            }
            GapKind::Packets(count) => {
                note(Severity::Warning, format!("{} missing", counted(*count, "packet")));
                out.loss(None, LossCause::Missing, at)
            }
            GapKind::Damage(message) => {
                note(Severity::Damage, message.clone());
                out.loss(None, LossCause::Damaged, at)
            }
            GapKind::Padding(bytes) => {
                note(Severity::Note, format!("{} of zeros at the end", counted(*bytes, "byte")));
                Flow::Continue(())
            }
            GapKind::OtherTrace(uuid) => {
                let message = format!(
                    "the packet has the UUID {}, not that of the metadata",
                    hyphenated(*uuid)
                );
                note(Severity::Warning, message);
                Flow::Continue(())
            }
            GapKind::Backwards(cycles) => {
                let message = format!(
                    "the clock went back by {}; times continue from the previous event",
                    counted(*cycles, "cycle")
                );
                note(Severity::Warning, message);
                Flow::Continue(())
            }
        }
    }
}
