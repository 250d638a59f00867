//! The state of decoding a trace: the decoder, the trace so far, and the bytes that the decoder has
//! not consumed yet.

use std::sync::Arc;

use super::Settings;
use super::naming::UserNames;
use super::window::Window;
use crate::compressed::reader::Fault;
use crate::format::{Decoder, Format, Input, OptionError, Progress, ReadError, TraceFile};
use crate::model::{Batch, Flow, Loss, LossCause, Severity, Sink, Slices, Stop, Trace};
use crate::text::counted;

/// Decodes a stream whose bytes arrive over time.
///
/// [`super::Input`] reads inputs that can be opened. A `Reading` decodes bytes from other sources,
/// such as a serial line.
///
/// ```
/// use tracewell::format;
/// use tracewell::input::{Reading, Settings, State};
/// use tracewell::report::{Report, ReportOptions};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let bytes = std::fs::read(path)?;
/// let format = format::recognise(&bytes).expect("a known format");
/// let mut reading = Reading::begin(format, &Settings::default())?;
/// let mut report = Report::new(Vec::new(), ReportOptions::default());
/// for piece in bytes.chunks(1000) {
///     assert!(matches!(reading.push(piece, &mut report)?, State::Wanting));
/// }
/// assert!(matches!(reading.end(&mut report)?, State::Done));
/// assert_eq!(reading.trace().events, 197);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reading {
    decoder: Box<dyn Decoder>,
    trace: Trace,
    window: Window,
    /// The user's files that name events and addresses; `None` if there are none.
    names: Option<UserNames>,
}

/// The state of a [`Reading`].
#[derive(Debug)]
pub enum State {
    /// The decoder waits for more bytes.
    Wanting,
    /// The trace has ended.
    Done,
    /// The sink stopped.
    Stopped(Stop),
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { trace, window, .. } = self;
        f.debug_struct("Reading").field("trace", trace).field("window", window).finish()
    }
}

impl Reading {
    /// Prepares to decode a stream of this format. `settings.format` is ignored.
    ///
    /// # Errors
    /// Returns the errors of [`Format::decoder`].
    pub fn begin(format: &Format, settings: &Settings) -> Result<Self, OptionError> {
        let decoder = format.decoder(settings)?;
        let mut trace = decoder.trace();
        trace.symbols.clone_from(&settings.symbols);
        let names = UserNames::new(format, settings, &mut trace);
        Ok(Self { decoder, trace, window: Window::default(), names })
    }

    /// Sets [`Trace::parts`]: the files that were joined to form the input.
    pub(super) fn set_parts(&mut self, parts: Vec<(u64, String)>) {
        self.trace.parts = parts;
    }

    /// Stores the ids of all following events, for [`Trace::ids`].
    pub fn note_ids(&mut self) {
        self.names.get_or_insert_default().note_ids();
    }

    /// Returns the trace as far as it has been decoded.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the number of bytes that the decoder has not consumed yet. This number keeps growing
    /// if the format must be decoded as a whole.
    pub fn pending(&self) -> usize {
        self.window.bytes().len()
    }

    /// Decodes the next bytes of the stream. If the returned state is not [`State::Wanting`], the
    /// reading has ended.
    ///
    /// # Errors
    /// Returns an error if the bytes are not of the format.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> Result<State, ReadError> {
        self.window.append(bytes);
        self.show(sink, false)
    }

    /// Passes the pending bytes to the decoder again. Call this if no bytes have arrived for a
    /// while. If a decoder is still waiting for bytes to infer its settings, it now infers them
    /// from the bytes that have arrived.
    ///
    /// # Errors
    /// Returns an error if the bytes are not of the format.
    pub fn pause(&mut self, sink: &mut dyn Sink) -> Result<State, ReadError> {
        self.decoder.pause();
        self.window.retry();
        self.show(sink, false)
    }

    /// Decodes the remaining bytes. Call this after the last byte of the stream.
    ///
    /// # Errors
    /// Returns an error if the bytes are not of the format.
    pub fn end(&mut self, sink: &mut dyn Sink) -> Result<State, ReadError> {
        self.show(sink, true)
    }

    /// Reports that `bytes` bytes of the stream were dropped at this position, before they reached
    /// the decoder.
    pub fn gap(&mut self, bytes: u64, sink: &mut dyn Sink) -> Flow {
        let Self { trace, window, .. } = self;
        let offset = window.end();
        // The number of events in the dropped bytes is unknown.
        let loss =
            Loss { before: trace.events, events: None, cause: LossCause::BufferFull, offset };
        trace.losses.add(&loss);
        let message = format!(
            "{} dropped: they arrived faster than they could be read",
            counted(bytes, "byte")
        );
        trace.diagnostics.add(Severity::Damage, offset, message);
        sink.loss(trace, &loss)
    }

    /// Reports that the following bytes of the stream are missing, because the compressed data has
    /// a fault.
    pub(super) fn fault(&mut self, fault: &Fault, sink: &mut dyn Sink) -> Flow {
        let Self { trace, window, .. } = self;
        let offset = window.end();
        let cause = if fault.is_truncated { LossCause::Truncated } else { LossCause::Damaged };
        let loss = Loss { before: trace.events, events: None, cause, offset };
        trace.losses.add(&loss);
        trace.diagnostics.add(Severity::Damage, offset, fault.to_string());
        sink.loss(trace, &loss)
    }

    /// Ends the reading and returns the trace as far as it has been decoded.
    pub fn into_trace(self) -> Trace {
        self.trace
    }

    /// Returns the window, so that the caller can append bytes without a copy.
    pub(super) fn window(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Decodes the bytes in the window. `last` is true if no bytes follow.
    pub(super) fn show(&mut self, sink: &mut dyn Sink, last: bool) -> Result<State, ReadError> {
        let mut sink = Watched { sink, stop: None, names: self.names.as_mut() };
        let done = self.window.show(self.decoder.as_mut(), &mut self.trace, &mut sink, last)?;
        let state = sink.state(done);
        self.report_names(&state);
        Ok(state)
    }

    /// Decodes a whole input that is in memory, without copying it.
    pub(super) fn whole(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> Result<State, ReadError> {
        let mut sink = Watched { sink, stop: None, names: self.names.as_mut() };
        let input = Input { offset: 0, bytes, last: true };
        let mut out = self.window.emitter(input.window(), &mut self.trace, &mut sink);
        self.decoder.decode_to(input, &mut out)?;
        let state = sink.state(true);
        self.report_names(&state);
        Ok(state)
    }

    /// Decodes the new data in the files of a trace folder. `last` is true if the files no longer
    /// grow.
    pub(super) fn grow(
        &mut self,
        files: Arc<[TraceFile]>,
        sink: &mut dyn Sink,
        last: bool,
    ) -> Result<State, ReadError> {
        self.decoder.grow(files);
        let mut sink = Watched { sink, stop: None, names: self.names.as_mut() };
        let input = Input { offset: 0, bytes: &[], last };
        let mut out = self.window.emitter(input.window(), &mut self.trace, &mut sink);
        let progress = self.decoder.decode_to(input, &mut out)?;
        let state = sink.state(progress == Progress::Done);
        self.report_names(&state);
        Ok(state)
    }

    /// Adds the diagnostics about names to the trace if the trace has ended.
    fn report_names(&mut self, state: &State) {
        if matches!(state, State::Done)
            && let Some(names) = self.names.take()
        {
            names.report(&mut self.trace);
        }
    }
}

/// Stores the reason why a sink stopped, because a decoder that stops does not pass on the reason.
struct Watched<'a> {
    sink: &'a mut dyn Sink,
    stop: Option<Stop>,
    names: Option<&'a mut UserNames>,
}

impl Watched<'_> {
    fn pass(&mut self, call: impl FnOnce(&mut dyn Sink) -> Flow) -> Flow {
        // A decoder may call the sink again before it notices the stop. The events of such a call
        // are dropped.
        if self.stop.is_none()
            && let Flow::Break(stop) = call(self.sink)
        {
            self.stop = Some(stop);
        }
        match self.stop {
            Some(_) => Flow::Break(Stop::Complete),
            None => Flow::Continue(()),
        }
    }

    fn state(self, done: bool) -> State {
        match self.stop {
            Some(stop) => State::Stopped(stop),
            None if done => State::Done,
            None => State::Wanting,
        }
    }
}

impl Sink for Watched<'_> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        if let Some(names) = &mut self.names {
            names.note(trace, batch);
        }
        self.pass(|sink| sink.events(trace, batch))
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.pass(|sink| sink.loss(trace, loss))
    }

    fn takes_slices(&self, trace: &Trace) -> bool {
        // Remarks about names require that this sink sees every event.
        self.names.is_none() && self.stop.is_none() && self.sink.takes_slices(trace)
    }

    fn slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
        self.pass(|sink| sink.slices(trace, slices))
    }
}
