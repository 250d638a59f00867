//! A live stream. Recognises the format, decodes the bytes and passes the events to the sink.

use std::time::{Duration, Instant};

use tracewell::format::{self, Confidence, Format, ReadError};
use tracewell::input::{RECOGNISED_BY, Reading, State};
use tracewell::model::{Flow, Sink, SinkError, Stop};
use tracewell_wire::arrivals::ArrivalKind;

use crate::Notice;
use crate::buffer::Batch;
use crate::view::{Shown, View};

/// Number of bytes after which a format without a magic number is accepted. If the source is silent
/// for [`PATIENCE`], the format is accepted after fewer bytes.
const ACCEPTED_AFTER: usize = 4096;

/// Time for which the source must be silent before the format is recognised from the bytes received
/// so far.
const PATIENCE: Duration = Duration::from_millis(300);

/// Maximum number of received bytes that a decoder can leave undecoded while it waits for more. If
/// a decoder exceeds this limit, the view refuses the stream, because the format must be read as a
/// whole.
const MAX_WINDOW: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };

/// Decodes one source while its bytes arrive, and shows its events.
pub(crate) struct Live<'a, 't> {
    view: View<'a>,
    tell: &'t (dyn Fn(&Notice<'_>) + Sync),
    stage: Stage<'a>,
    /// The time at which the latest bytes arrived. `None` if the silence after these bytes has
    /// already been handled.
    fresh_since: Option<Instant>,
    /// True if a notice has reported that no event has been found yet.
    reported_no_event: bool,
    /// Number of events in earlier runs.
    earlier: u64,
    pub(crate) shown: Shown,
}

/// The stage of the current run. A run starts when the stream begins or restarts.
enum Stage<'a> {
    /// The format is not known yet. `gaps` contains each position in `start` at which bytes were
    /// dropped, with the number of dropped bytes.
    Unknown { start: Vec<u8>, gaps: Vec<(usize, u64)>, since: Instant },
    /// The stream is decoded and shown.
    Decoded(Box<Decoding<'a>>),
    /// No more events are shown. `wanted` is false if the view needs no more bytes from this
    /// source.
    Ended { wanted: bool },
}

struct Decoding<'a> {
    reading: Reading,
    sink: Box<dyn Sink + Send + 'a>,
}

impl Stage<'_> {
    fn begin() -> Self {
        Self::Unknown { start: Vec::new(), gaps: Vec::new(), since: Instant::now() }
    }
}

impl<'a, 't> Live<'a, 't> {
    pub(crate) fn new(view: View<'a>, tell: &'t (dyn Fn(&Notice<'_>) + Sync)) -> Self {
        Self {
            view,
            tell,
            stage: Stage::begin(),
            fresh_since: None,
            reported_no_event: false,
            earlier: 0,
            shown: Shown::default(),
        }
    }

    /// Returns true if the view needs no more bytes. For example, only the first events are
    /// selected, or the view refuses the format because of [`View::only_growing`].
    pub(crate) fn wants_no_more(&self) -> bool {
        matches!(self.stage, Stage::Ended { wanted: false })
    }

    /// Returns the number of events that were decoded in all runs.
    pub(crate) fn events(&self) -> u64 {
        match &self.stage {
            Stage::Decoded(decoding) => self.earlier + decoding.reading.trace().events,
            Stage::Unknown { .. } | Stage::Ended { .. } => self.earlier,
        }
    }

    /// Decodes the bytes of a batch and passes the events to the sink.
    pub(crate) fn batch(&mut self, batch: &Batch) -> Result<(), SinkError> {
        let (mut start, mut end) = (0, 0);
        for mark in &batch.marks {
            if mark.kind == ArrivalKind::Bytes {
                end += mark.bytes as usize;
                continue;
            }
            // Decode contiguous bytes together.
            self.bytes(batch.bytes.get(start..end).unwrap_or_default())?;
            start = end;
            match mark.kind {
                ArrivalKind::Dropped => self.gap(mark.bytes.into())?,
                ArrivalKind::Restarted => {
                    // The decoder's state belongs to the previous run.
                    self.end()?;
                    self.stage = Stage::begin();
                }
                // A new connection continues the stream, unless the stream has ended.
                ArrivalKind::Opened if matches!(self.stage, Stage::Ended { wanted: true }) => {
                    self.stage = Stage::begin();
                }
                ArrivalKind::Opened | ArrivalKind::Closed | ArrivalKind::Bytes => {}
            }
        }
        self.bytes(batch.bytes.get(start..end).unwrap_or_default())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        if !bytes.is_empty() {
            self.fresh_since = Some(Instant::now());
        }
        match &mut self.stage {
            _ if bytes.is_empty() => Ok(()),
            Stage::Unknown { start, since, .. } => {
                // Keep the bytes until the format is known, because the decoder needs the stream
                // from its start.
                start.extend_from_slice(bytes);
                *since = Instant::now();
                self.recognise(false)
            }
            Stage::Decoded(_) => self.decode(bytes),
            Stage::Ended { .. } => Ok(()),
        }
    }

    /// Called when no data arrives.
    pub(crate) fn idle(&mut self) -> Result<(), SinkError> {
        match &self.stage {
            Stage::Unknown { since, .. } if since.elapsed() >= PATIENCE => self.recognise(true),
            Stage::Decoded(_) if self.fresh_since.is_some_and(|at| at.elapsed() >= PATIENCE) => {
                self.pause()
            }
            _ => Ok(()),
        }
    }

    /// If the decoder has not delivered an event yet, lets it infer settings from the bytes so far.
    fn pause(&mut self) -> Result<(), SinkError> {
        self.fresh_since = None;
        let Stage::Decoded(decoding) = &mut self.stage else { return Ok(()) };
        let Decoding { reading, sink } = decoding.as_mut();
        // After the first event, the settings are known. If no bytes are pending, the decoder
        // cannot infer anything.
        if reading.trace().events > 0 || reading.pending() == 0 {
            return Ok(());
        }
        let state = reading.pause(sink.as_mut());
        let pending = reading.pending() as u64;
        let is_silent = reading.trace().events == 0 && matches!(state, Ok(State::Wanting));
        if is_silent && !std::mem::replace(&mut self.reported_no_event, true) {
            (self.tell)(&Notice::NoEventYet(pending));
        }
        self.decoded(state)
    }

    /// Starts decoding if the format is recognised. If `enough` is true, accepts a possible format
    /// without waiting for more bytes.
    fn recognise(&mut self, enough: bool) -> Result<(), SinkError> {
        let Stage::Unknown { start, gaps, .. } = &mut self.stage else { return Ok(()) };
        // More bytes can confirm a possible format, so wait for them, up to a limit.
        let least = match start.len() {
            length if enough || length >= ACCEPTED_AFTER => Confidence::Possible,
            _ => Confidence::Certain,
        };
        let look = start.get(..RECOGNISED_BY).unwrap_or(start);
        let format = match &self.view.settings.format {
            Some(name) => format::by_name(name),
            None => format::recognise_with(look, least),
        };
        match format {
            Some(format) => {
                let (start, gaps) = (std::mem::take(start), std::mem::take(gaps));
                self.begin(format, &start, &gaps)
            }
            // Recognition examines only the first `RECOGNISED_BY` bytes, so later bytes do not
            // help.
            None if start.len() >= RECOGNISED_BY => {
                self.unrecognised();
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn unrecognised(&mut self) {
        (self.tell)(&Notice::Unrecognised);
        self.end_refused();
    }

    /// Begins to decode a stream. `start` contains the bytes received so far. `gaps` contains the
    /// positions at which bytes are missing.
    fn begin(
        &mut self,
        format: &Format,
        start: &[u8],
        gaps: &[(usize, u64)],
    ) -> Result<(), SinkError> {
        if self.view.only_growing && (format.is_whole)(start) {
            self.shown.whole = Some(format.name);
            self.stage = Stage::Ended { wanted: false };
            return Ok(());
        }
        let reading = match Reading::begin(format, &self.view.settings) {
            Ok(reading) => reading,
            Err(error) => {
                self.refuse(&error.to_string());
                return Ok(());
            }
        };
        // Each run gets a new sink, because a sink keeps a heading and state for one run.
        let sink = (self.view.sink)();
        self.stage = Stage::Decoded(Box::new(Decoding { reading, sink }));
        let mut from = 0;
        for &(position, bytes) in gaps {
            self.bytes(start.get(from..position).unwrap_or_default())?;
            self.gap(bytes)?;
            from = position;
        }
        self.bytes(start.get(from..).unwrap_or_default())
    }

    fn refuse(&mut self, why: &str) {
        (self.tell)(&Notice::NotShown(why));
        self.end_refused();
    }

    /// Ends a stream that cannot be shown. The source continues, because a restarted target can
    /// send a valid stream. With [`View::only_growing`] the source ends.
    fn end_refused(&mut self) {
        self.shown.refused = true;
        self.stage = Stage::Ended { wanted: !self.view.only_growing };
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        let Stage::Decoded(decoding) = &mut self.stage else { return Ok(()) };
        let Decoding { reading, sink } = decoding.as_mut();
        let state = reading.push(bytes, sink.as_mut());
        // If a decoder requested more, it would keep the whole stream in memory.
        if matches!(state, Ok(State::Wanting)) && reading.pending() > MAX_WINDOW {
            self.finish(true)?;
            self.refuse("this format must be read as a whole, and the stream exceeds 64 MiB");
            return Ok(());
        }
        self.decoded(state)
    }

    /// Stops showing events if the decoder is done or the sink has ended the reading.
    fn decoded(&mut self, state: Result<State, ReadError>) -> Result<(), SinkError> {
        match state {
            Ok(State::Wanting) => Ok(()),
            Ok(State::Done) => self.finish(true),
            Ok(State::Stopped(stop)) => self.stopped(stop),
            Err(error) => {
                self.finish(true)?;
                self.refuse(&error.to_string());
                Ok(())
            }
        }
    }

    fn stopped(&mut self, stop: Stop) -> Result<(), SinkError> {
        match stop {
            Stop::Complete => self.finish(false),
            Stop::Failed(error) => Err(*error),
        }
    }

    /// Records that `bytes` bytes are missing at the current position.
    fn gap(&mut self, bytes: u64) -> Result<(), SinkError> {
        match &mut self.stage {
            Stage::Unknown { start, gaps, .. } => {
                // Several gaps without bytes between them are one gap.
                match gaps.last_mut().filter(|(position, _)| *position == start.len()) {
                    Some((_, sum)) => *sum += bytes,
                    None => gaps.push((start.len(), bytes)),
                }
                Ok(())
            }
            Stage::Decoded(decoding) => {
                let Decoding { reading, sink } = decoding.as_mut();
                match reading.gap(bytes, sink.as_mut()) {
                    Flow::Continue(()) => Ok(()),
                    Flow::Break(stop) => self.stopped(stop),
                }
            }
            Stage::Ended { .. } => Ok(()),
        }
    }

    /// Ends the stream and shows all decodable events.
    pub(crate) fn end(&mut self) -> Result<(), SinkError> {
        if matches!(&self.stage, Stage::Unknown { start, .. } if !start.is_empty()) {
            self.recognise(true)?;
            if matches!(self.stage, Stage::Unknown { .. }) {
                self.unrecognised();
            }
        }
        let Stage::Decoded(decoding) = &mut self.stage else { return Ok(()) };
        let Decoding { reading, sink } = decoding.as_mut();
        let state = reading.end(sink.as_mut());
        self.decoded(state)
    }

    /// Finishes the sink of the current run.
    fn finish(&mut self, wanted: bool) -> Result<(), SinkError> {
        let stage = std::mem::replace(&mut self.stage, Stage::Ended { wanted });
        let Stage::Decoded(decoding) = stage else { return Ok(()) };
        let Decoding { reading, mut sink } = *decoding;
        let finished = sink.finish(reading.trace());
        self.earlier += reading.trace().events;
        let before = self.shown.trace.replace(reading.into_trace());
        self.shown.worst = self.shown.worst.max(before.and_then(|trace| trace.diagnostics.worst()));
        finished
    }

    /// Stops showing events, because the sink failed.
    pub(crate) fn fail(&mut self, error: SinkError) {
        self.shown.error = Some(error);
        let stage = std::mem::replace(&mut self.stage, Stage::Ended { wanted: false });
        if let Stage::Decoded(decoding) = stage {
            self.earlier += decoding.reading.trace().events;
            self.shown.trace = Some(decoding.reading.into_trace());
        }
    }

    /// Writes the buffered lines.
    pub(crate) fn flush(&mut self) -> Result<(), SinkError> {
        match &mut self.stage {
            Stage::Decoded(decoding) => decoding.sink.flush(),
            _ => Ok(()),
        }
    }
}
