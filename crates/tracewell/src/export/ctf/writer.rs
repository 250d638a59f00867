//! The sink that writes each event and loss to the stream of its core.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::bytes::put_text;
use super::classes::{Class, Classes, MAX_CLASSES, put_arguments};
use super::stamps::Stamps;
use super::stream::Stream;
use crate::model::{
    Batch, Clock, Context, Event, Flow, Loss, SeenContexts, Severity, Sink, SinkError, Stop, Trace,
};
use crate::text::counted;

/// When the streams have more than this number of bytes in memory together, the writer writes all
/// of them to their files.
const MAX_BUFFERED: usize = 64 << 20;

/// Maximum number of losses without an event between them. A further loss is added to the latest
/// loss of the same kind. There are two kinds: losses with a known number of events, and losses
/// with an unknown number.
const MAX_LOSSES: usize = 1 << 12;

/// The priority that is written for an event without a priority.
const NO_PRIORITY: i32 = -1;

/// Writes the streams of a trace into a folder.
pub(super) struct Writer {
    folder: PathBuf,
    uuid: [u8; 16],
    streams: BTreeMap<u16, Stream>,
    classes: Classes,
    /// For each context, the bytes that its events contain: its number and its name.
    contexts: Vec<Vec<u8>>,
    seen_contexts: SeenContexts,
    stamps: Stamps,
    /// True if `stamps` already converts the ticks of the trace.
    is_timed: bool,
    /// The largest stamp so far, and the core of the latest event.
    last: (u64, u16),
    /// The losses since the last event. Each entry is the number of lost events, if this number is
    /// known.
    losses: Vec<Option<u64>>,
    buffered: usize,
    /// Number of events that have an earlier time than the previous event on the same core.
    late: u64,
}

impl Writer {
    /// Creates the sink. If `clock` is `None`, the sink uses the clock that the trace has at its
    /// first event.
    pub(super) fn new(folder: &Path, uuid: [u8; 16], clock: Option<Clock>) -> Self {
        Self {
            folder: folder.to_owned(),
            uuid,
            streams: BTreeMap::new(),
            classes: Classes::default(),
            contexts: Vec::new(),
            seen_contexts: SeenContexts::default(),
            is_timed: clock.is_some(),
            stamps: Stamps::new(&clock.unwrap_or(Clock::of_64_bits(None))),
            last: (0, 0),
            losses: Vec::new(),
            buffered: 0,
            late: 0,
        }
    }

    pub(super) fn stamps(&self) -> &Stamps {
        &self.stamps
    }

    pub(super) fn classes(&self) -> &[Class] {
        self.classes.all()
    }

    /// Adds diagnostics about events whose times in the output are not those of the input.
    pub(super) fn remark(&self, trace: &mut Trace) {
        if self.late > 0 {
            let message = format!(
                "{} got the time of the previous event on the same core: the clock of the core \
                 went backwards",
                counted(self.late, "event")
            );
            trace.diagnostics.add(Severity::Warning, None, message);
        }
        if !self.stamps.is_timed() && trace.events > 0 {
            let message = "the clock's rate is unknown, so 1 ns in the output is 1 tick: \
                           give the rate with -O rate=TICKS_PER_SECOND";
            trace.diagnostics.add(Severity::Note, None, message);
        }
    }

    /// Sets the conversion of stamps for the trace's clock, unless the caller passed a clock to
    /// `new`. Must be called before the first event.
    pub(super) fn begin(&mut self, trace: &Trace) {
        if !self.is_timed {
            self.is_timed = true;
            self.stamps = Stamps::new(&trace.clock);
        }
    }

    /// Writes an event.
    pub(super) fn event(&mut self, event: Event<'_>) -> Result<(), SinkError> {
        let Some(id) = self.classes.id(event) else {
            let message = format!("the trace has more than {MAX_CLASSES} types of events");
            return Err(SinkError::not_possible(message));
        };
        let end = self.streams.get(&event.cpu()).map_or(0, Stream::end);
        self.late += u64::from(self.stamps.stamp(event.ticks()) < end);
        let place = (event.cpu(), event.ticks());
        Ok(self.imitated(event, place, id, |out| put_arguments(out, event))?)
    }

    /// Writes an event with the context and the priority of the event `of`. `place` is the core and
    /// the time in ticks of the new event. `put` appends its arguments.
    pub(super) fn imitated(
        &mut self,
        of: Event<'_>,
        place: (u16, u64),
        id: u32,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        let (cpu, ticks) = place;
        let stamp = self.stamps.stamp(ticks);
        self.put_losses(cpu, stamp)?;
        // The trace can name contexts at any time.
        of.trace
            .contexts
            .update(&mut self.contexts, &mut self.seen_contexts, |_, context| encoded(context));
        let context = self.contexts.get(of.row.context.index());
        let priority = of.priority().map_or(NO_PRIORITY, i32::from);
        let stream = stream(&mut self.streams, &self.folder, cpu, self.uuid);
        let stamp = stamp.max(stream.end());
        let before = stream.buffered();
        stream.event(id, stamp, |out| {
            out.extend(context.map_or(&[0; 9][..], Vec::as_slice));
            out.extend(priority.to_le_bytes());
            put(out);
        })?;
        self.buffered = (self.buffered + stream.buffered()).saturating_sub(before);
        self.last = (self.last.0.max(stamp), cpu);
        if self.buffered > MAX_BUFFERED { self.flush_streams() } else { Ok(()) }
    }

    /// Writes the losses before an event to the stream of the event's core.
    fn put_losses(&mut self, cpu: u16, stamp: u64) -> io::Result<()> {
        if self.losses.is_empty() {
            return Ok(());
        }
        let stream = stream(&mut self.streams, &self.folder, cpu, self.uuid);
        let after = self.last.0.max(stream.end());
        let mut from = after;
        for events in self.losses.drain(..) {
            stream.loss(events, from, stamp.max(after))?;
            from = stamp.max(after);
        }
        Ok(())
    }

    fn flush_streams(&mut self) -> io::Result<()> {
        self.buffered = 0;
        self.streams.values_mut().try_for_each(Stream::flush)
    }
}

/// Returns the stream of a core.
fn stream<'a>(
    streams: &'a mut BTreeMap<u16, Stream>,
    folder: &Path,
    cpu: u16,
    uuid: [u8; 16],
) -> &'a mut Stream {
    streams.entry(cpu).or_insert_with(|| Stream::new(folder, cpu, uuid))
}

/// Returns the number and the name of a context, as the output stores them. The number is the same
/// as in other outputs.
fn encoded(context: &Context) -> Vec<u8> {
    let number = match context.key_text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => context.key_text.parse(),
    };
    let mut out = number.unwrap_or(context.key).to_le_bytes().to_vec();
    put_text(&mut out, context.name.as_bytes());
    out
}

impl Sink for Writer {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.begin(trace);
        for row in batch.events() {
            Stop::on_error(self.event(Event::new(trace, &row)))?;
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        let is_full = self.losses.len() >= MAX_LOSSES;
        let mut same =
            self.losses.iter_mut().filter(|known| known.is_some() == loss.events.is_some());
        match (loss.events, same.next_back()) {
            // A loss of 0 events is part of another loss, which states the number.
            (Some(0), _) => {}
            (Some(more), Some(Some(events))) if is_full => *events = events.saturating_add(more),
            (None, Some(_)) if is_full => {}
            (events, _) => self.losses.push(events),
        }
        Flow::Continue(())
    }

    fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
        self.begin(trace);
        let (stamp, cpu) = self.last;
        self.put_losses(cpu, stamp)?;
        // A core keeps its state until the end of the trace, unless its recording ended before.
        for (cpu, stream) in &mut self.streams {
            let end = trace.core_ends.iter().rev().find(|end| end.cpu == *cpu);
            stream.extend(end.map_or(stamp, |end| self.stamps.stamp(end.ticks).min(stamp)));
        }
        Ok(self.flush_streams()?)
    }
}
