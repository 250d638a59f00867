//! Decodes a trace: delivers the events of its streams in order of time, with gaps and warnings.
//! `decoder` creates a [`Decoding`] for files that are complete, and `growing` creates one for
//! files that grow.

use std::sync::Arc;

use super::classes::Value;
use super::clocks::Common;
use super::events::Maker;
use super::layout::{EventLayout, Layout, packet_arguments};
use super::packets::hyphenated;
use super::position::Bits;
use super::program::State;
use super::reader::{CurrentFile, Reader, StreamKey, next_stamp};
use super::row::{PacketRow, Row};
use super::stream::{Gap, GapKind, Next, Stream};
use super::who::Threads;
use crate::format::TraceFile;
use crate::model::{
    ContextId, CoreEnd, Emitter, Flow, LossCause, NewEvent, Priority, Processor, Severity, Trace,
};
use crate::text::{counted, shown};

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

/// Adds the clock and the environment to the trace. If there are several metadata files, uses the
/// environment of the first one.
pub(super) fn describe(common: &Common, layouts: &[Layout], trace: &mut Trace) {
    trace.clock = common.clock();
    trace.wall_clock = common.wall_clock();
    let environment = layouts.first().map(|layout| &layout.metadata.environment);
    for name in SHOWN {
        let found = environment.into_iter().flatten().find(|(known, _)| known == name);
        trace.texts.extend(found.map(|(_, value)| match value {
            Value::Text(text) => (name, shown(text).into_owned()),
            Value::Number(number) => (name, number.to_string()),
        }));
    }
}

/// Adds a warning about a metadata file to the trace.
pub(super) fn warn(file: Option<&TraceFile>, warning: &str, trace: &mut Trace) {
    let path = file.map(|file| file.path().display().to_string());
    let message = format!("{}: {warning}", path.unwrap_or_default());
    trace.diagnostics.add(Severity::Warning, None, message);
}

/// The arguments in the context of a packet. All events of the packet have these arguments.
#[derive(Debug, Default)]
pub(super) struct PacketArguments {
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
            let mut state = State { empty_elements: 0, order: None, ..stream.state.clone() };
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
pub(super) struct Decoding<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) files: &'a [TraceFile],
    pub(super) rows: Rows,
    /// The identity of each stream. If the files grow, also the file that the stream had reached at
    /// the end of the previous reading.
    pub(super) keys: Vec<(StreamKey, CurrentFile)>,
}

/// The state that is necessary to write the rows of events and to find their contexts.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) threads: Threads,
    /// The arguments from the context of the current packet of each stream.
    pub(super) contexts: Vec<PacketArguments>,
    /// A buffer for the fields of an event that have no slot of their own.
    pub(super) rest: Vec<u8>,
}

impl Rows {
    /// Appends the row of the next event of a stream to the payloads. Returns the processor and the
    /// context of the event, or `None` if the event cannot be read.
    #[inline(never)]
    fn add(
        &mut self,
        index: usize,
        (layout, event): (&Layout, &EventLayout),
        stream: &mut Stream<'_>,
        out: &mut Emitter<'_>,
    ) -> Option<(u16, ContextId)> {
        let known = &event.known;
        let mut row = Row::begin(&mut out.buffer.payloads, event.slots, &mut self.rest);
        let read = match &event.direct {
            Some(direct) => direct.read(&mut stream.bits, &mut row),
            None => stream.body(event, &mut row),
        };
        if let Err(fault) = read {
            row.discard();
            stream.lose_body(fault);
            return None;
        }
        if let (false, Some(context)) = (event.packet.is_empty(), self.contexts.get_mut(index)) {
            context.put(stream, layout, event, &mut row);
        }
        let packet = stream.packet.as_ref();
        let processor = packet.filter(|packet| packet.numbers.cpu.is_some());
        let cpu = known.who.cpu(&row, processor.map(|packet| packet.processor));
        let context = self.threads.context(&known.who, cpu, &row, out.trace);
        row.finish(event.has_rest);
        Some((cpu, context))
    }
}

impl<'a> Decoding<'a> {
    pub(super) fn new(mut reader: Reader<'a>, files: &'a [TraceFile], trace: &mut Trace) -> Self {
        Maker::default().define(&mut reader.layouts, Arc::make_mut(&mut trace.schema));
        if trace.schema.shows_switches() {
            trace.processor = Processor::Switches;
        }
        let contexts = reader.streams.iter().map(|_| PacketArguments::default()).collect();
        let rows = Rows { contexts, ..Rows::default() };
        Self { reader, files, rows, keys: Vec::new() }
    }

    /// Delivers all events. If the files still grow, stops when the recorder may still write an
    /// event that is earlier than all remaining events.
    pub(super) fn all(&mut self, out: &mut Emitter<'_>) -> Flow {
        while let Some(index) = self.reader.earliest() {
            let Some(stream) = self.reader.streams.get_mut(index) else { break };
            match stream.next {
                Next::Event => {
                    self.events(out)?;
                    continue;
                }
                Next::Gap => {
                    if let Some(gap) = stream.take_gap() {
                        self.gap(index, &gap, out)?;
                    }
                }
                Next::Stop => self.stop(index, out)?,
                Next::Wait => break,
                Next::End => {}
            }
            self.reader.advance();
        }
        out.flush()
    }

    /// Delivers events as long as the earliest element is an event.
    fn events(&mut self, out: &mut Emitter<'_>) -> Flow {
        let Self { reader: Reader { layouts, streams, timings, merge, .. }, rows, .. } = self;
        // The number of events that the batch has room for.
        let mut room = 0;
        'streams: while let Some((index, first)) = merge.first() {
            let Some(stream) = streams.get_mut(index).filter(|stream| stream.next == Next::Event)
            else {
                break;
            };
            let mut stamp = first;
            let layout = layouts.get(stream.layout);
            let class = layout.and_then(|layout| layout.streams.get(stream.class));
            if let (Some(layout), Some(class), Some(packet)) = (layout, class, &stream.packet) {
                let (processor, offset) = (packet.processor, packet.offset);
                while let Some(event) = class.events.get(stream.event) {
                    if room == 0 {
                        room = out.room_for_copied()?;
                    }
                    let known = &event.known;
                    let (cpu, context) = if let Some(plain) = &event.plain {
                        let payloads = &mut out.buffer.payloads;
                        let start = payloads.len();
                        if let Err(fault) = plain.read(&mut stream.bits, payloads) {
                            stream.lose_body(fault);
                            break;
                        }
                        room -= 1;
                        let row = (payloads.as_slice(), start);
                        (processor, rows.threads.of_recorder(&known.who, processor, row, out.trace))
                    } else {
                        let added = rows.add(index, (layout, event), stream, out);
                        let Some(added) = added else { break };
                        // The row may be large, so let the emitter check the number of bytes.
                        room = 0;
                        added
                    };
                    stream.note_interrupt(known.who.is_interrupt);
                    let ticks = out.ticks(stamp);
                    let new =
                        NewEvent { ticks, cpu, context, id: known.id, priority: Priority::NONE };
                    out.add_copied(new, offset + stream.event_at / 8);
                    if !stream.advance_quickly(class) {
                        break;
                    }
                    stamp = stream.timing.stamp(stream.time);
                    if !merge.replace_first(Some(stamp)) {
                        continue 'streams;
                    }
                }
            }
            merge.replace_first(next_stamp(stream, layouts, timings));
        }
        Flow::Continue(())
    }

    /// Notes the end of a stream's recording, if the stream was the last one of its processor.
    #[cold]
    fn stop(&mut self, index: usize, out: &mut Emitter<'_>) -> Flow {
        let Some(stream) = self.reader.streams.get(index) else { return Flow::Continue(()) };
        let Some(cpu) = stream.cpu else { return Flow::Continue(()) };
        let stamp = stream.stamp();
        let mut others = self.reader.streams.iter().enumerate();
        let goes_on = others.any(|(other, stream)| {
            other != index && stream.next != Next::End && stream.cpu == Some(cpu)
        });
        if !goes_on {
            // Batches after this point begin after the end of the recording.
            out.flush()?;
            if out.trace.events > 0 {
                let ticks = out.ticks(stamp);
                out.trace.core_ends.push(CoreEnd { cpu, ticks });
            }
        }
        Flow::Continue(())
    }

    /// Reports a gap as a loss, a diagnostic, or both.
    #[cold]
    fn gap(&mut self, index: usize, gap: &Gap, out: &mut Emitter<'_>) -> Flow {
        let part = self.reader.streams.get(index).and_then(|stream| stream.part());
        let file = part.and_then(|part| self.files.get(part.file));
        let path = file.map_or(String::new(), |file| file.path().display().to_string());
        let at = gap.offset;
        let is_loss = matches!(
            gap.kind,
            GapKind::Events { .. } | GapKind::Packets(_) | GapKind::Listed(_) | GapKind::Damage(_)
        );
        if is_loss {
            let stream = self.reader.streams.get(index);
            let packet = stream.and_then(|stream| stream.packet.as_ref());
            self.rows.threads.gap(packet.and_then(|packet| packet.numbers.cpu));
        }
        let mut note = |severity, message: String| {
            let message = format!("{path}: at byte {at}: {message}");
            out.trace.diagnostics.add(severity, None, message);
        };
        match &gap.kind {
            GapKind::Events { count, first } => {
                match (count, first) {
                    (Some(_), _) => {}
                    (None, 0) => {
                        let message = "the count of discarded events went back".to_owned();
                        note(Severity::Warning, message);
                    }
                    (None, first) => {
                        let message = format!(
                            "the count of discarded events is {first} in the first packet; the \
                             recording began earlier"
                        );
                        note(Severity::Note, message);
                    }
                }
                out.loss(*count, LossCause::BufferFull, at)
            }
            GapKind::Packets(count) => {
                note(Severity::Warning, format!("{} missing", counted(*count, "packet")));
                out.loss(None, LossCause::Missing, at)
            }
            GapKind::Listed(count) => {
                let packets = counted(*count, "packet");
                let message = format!("the index lists {packets} after the end of the file");
                note(Severity::Damage, message);
                out.loss(None, LossCause::Truncated, at)
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
            GapKind::Late(cycles) => {
                let message = format!(
                    "from this event on, the packet was written later than the option `wait` \
                     allows; its events get times that are later by {}",
                    counted(*cycles, "cycle")
                );
                note(Severity::Warning, message);
                Flow::Continue(())
            }
            GapKind::Index(difference) => {
                note(Severity::Warning, format!("{difference}; the index of the file is ignored"));
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
