//! A stream that is shown: what it is, its decoder, its window of bytes, its sink.

use std::io;
use std::time::{Duration, Instant};

use tracewell_wire::arrivals::What;

use super::Notice;
use super::buffer::Batch;
use super::view::{Follow, Shown, View};
use crate::format::{self, Confidence, Decoder, Format};
use crate::input::{RECOGNISED_BY, Window};
use crate::model::{Flow, Loss, LossCause, Severity, Sink, Trace};
use crate::text::counted;

/// Bytes after which a format that no magic number proves is believed; fewer of them where nothing more comes.
const BELIEVED_AFTER: usize = 4096;

/// How long nothing comes before the bytes that are there have to do.
const PATIENCE: Duration = Duration::from_millis(300);

/// Bytes that a decoder may ask to see at once. One that sorts a whole trace gets no further with a live one.
const MOST_SHOWN: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };

/// A stream that is shown.
pub(super) struct Live<'a, 't> {
    view: View<'a>,
    tell: &'t (dyn Fn(&Notice<'_>) + Sync),
    reading: Reading<'a>,
    pub(super) shown: Shown,
}

enum Reading<'a> {
    /// Its format is not known yet.
    Unknown { start: Vec<u8>, since: Instant },
    /// It is decoded.
    Known(Box<Decoding<'a>>),
    /// Nothing more of it is shown; whether more was wanted.
    Ended { wanted: bool },
}

struct Decoding<'a> {
    decoder: Box<dyn Decoder>,
    trace: Trace,
    window: Window,
    sink: Box<dyn Follow + 'a>,
}

impl Reading<'_> {
    fn begin() -> Self {
        Self::Unknown { start: Vec::new(), since: Instant::now() }
    }
}

impl<'a, 't> Live<'a, 't> {
    pub(super) fn new(view: View<'a>, tell: &'t (dyn Fn(&Notice<'_>) + Sync)) -> Self {
        Self { view, tell, reading: Reading::begin(), shown: Shown::default() }
    }

    /// Whether the sink broke off, as it does where only the first events are wanted.
    pub(super) fn wants_no_more(&self) -> bool {
        matches!(self.reading, Reading::Ended { wanted: false })
    }

    /// Takes what came.
    pub(super) fn batch(&mut self, batch: &Batch) -> io::Result<()> {
        let (mut start, mut end) = (0, 0);
        for mark in &batch.marks {
            if mark.what == What::Bytes {
                end += mark.bytes as usize;
                continue;
            }
            // Bytes that came one after the other are decoded together.
            self.bytes(batch.bytes.get(start..end).unwrap_or_default())?;
            start = end;
            match mark.what {
                What::Dropped => self.gap(mark.bytes)?,
                What::Restarted => {
                    self.end()?;
                    self.reading = Reading::begin();
                }
                // A target that starts again goes on in the stream, unless that ended.
                What::Opened if matches!(self.reading, Reading::Ended { wanted: true }) => {
                    self.reading = Reading::begin();
                }
                What::Opened | What::Closed | What::Bytes => {}
            }
        }
        self.bytes(batch.bytes.get(start..end).unwrap_or_default())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.reading {
            _ if bytes.is_empty() => Ok(()),
            Reading::Unknown { start, since } => {
                start.extend_from_slice(bytes);
                *since = Instant::now();
                self.recognise(false)
            }
            Reading::Known(_) => self.decode(bytes, false),
            Reading::Ended { .. } => Ok(()),
        }
    }

    /// Nothing came for a while.
    pub(super) fn idle(&mut self) -> io::Result<()> {
        match &self.reading {
            Reading::Unknown { since, .. } if since.elapsed() >= PATIENCE => self.recognise(true),
            _ => Ok(()),
        }
    }

    /// Begins to decode what is recognised; with `enough`, what there is has to do.
    fn recognise(&mut self, enough: bool) -> io::Result<()> {
        let Reading::Unknown { start, .. } = &mut self.reading else { return Ok(()) };
        let least = match start.len() {
            length if enough || length >= BELIEVED_AFTER => Confidence::Possible,
            _ => Confidence::Certain,
        };
        let look = start.get(..RECOGNISED_BY).unwrap_or(start);
        let format = match &self.view.settings.format {
            Some(name) => format::by_name(name),
            None => format::recognise_with(look, least),
        };
        match format {
            Some(format) => {
                let start = std::mem::take(start);
                self.begin(format, &start)
            }
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

    fn begin(&mut self, format: &Format, start: &[u8]) -> io::Result<()> {
        if self.view.only_growing && (format.is_whole)(start) {
            self.shown.whole = Some(format.name);
            self.reading = Reading::Ended { wanted: false };
            return Ok(());
        }
        let settings = &self.view.settings;
        let decoder = match (format.decoder)(&settings.options) {
            Ok(decoder) => decoder,
            Err(error) => {
                self.refuse(&error.to_string());
                return Ok(());
            }
        };
        let mut trace = decoder.trace();
        if let Some(schema) = &settings.schema {
            trace.schema = schema.clone();
        }
        let sink = (self.view.sink)();
        let decoding = Decoding { decoder, trace, window: Window::default(), sink };
        self.reading = Reading::Known(Box::new(decoding));
        self.decode(start, false)
    }

    fn refuse(&mut self, why: &str) {
        (self.tell)(&Notice::NotShown(why));
        self.end_refused();
    }

    /// Ends what cannot be shown. A target may start again with something better, a file hardly.
    fn end_refused(&mut self) {
        self.shown.refused = true;
        self.reading = Reading::Ended { wanted: !self.view.only_growing };
    }

    fn decode(&mut self, bytes: &[u8], last: bool) -> io::Result<()> {
        let Reading::Known(decoding) = &mut self.reading else { return Ok(()) };
        let Decoding { decoder, trace, window, sink } = decoding.as_mut();
        let mut sink = Watched { sink: sink.as_mut(), broke: false };
        window.bytes().extend_from_slice(bytes);
        let done = window.show(decoder.as_mut(), trace, &mut sink, last);
        let broke = sink.broke;
        match done {
            Ok(true) => self.finish(!broke),
            Ok(false) if window.bytes().len() > MOST_SHOWN => {
                self.finish(true)?;
                self.refuse(
                    "its decoder has to see all of it at once, and it is too long for that",
                );
                Ok(())
            }
            Ok(false) => Ok(()),
            Err(error) => {
                self.finish(true)?;
                self.refuse(&error.to_string());
                Ok(())
            }
        }
    }

    /// Bytes are missing here.
    fn gap(&mut self, bytes: u32) -> io::Result<()> {
        let Reading::Known(decoding) = &mut self.reading else { return Ok(()) };
        let Decoding { trace, window, sink, .. } = decoding.as_mut();
        let offset = window.end();
        let loss = Loss { before: trace.events, events: None, cause: LossCause::NoRoom, offset };
        trace.losses.add(&loss);
        let message =
            format!("{} came faster than could be taken: missing", counted(bytes.into(), "byte"));
        trace.diagnostics.add(Severity::Damage, offset, message);
        match sink.loss(trace, &loss) {
            Flow::Continue(()) => Ok(()),
            Flow::Break(()) => self.finish(false),
        }
    }

    /// The stream has ended: what is readable is shown.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if matches!(&self.reading, Reading::Unknown { start, .. } if !start.is_empty()) {
            self.recognise(true)?;
            if matches!(self.reading, Reading::Unknown { .. }) {
                self.unrecognised();
            }
        }
        self.decode(&[], true)
    }

    /// Ends what is shown of this beginning.
    fn finish(&mut self, wanted: bool) -> io::Result<()> {
        let reading = std::mem::replace(&mut self.reading, Reading::Ended { wanted });
        let Reading::Known(decoding) = reading else { return Ok(()) };
        let Decoding { trace, sink, .. } = *decoding;
        let finished = sink.finish(&trace);
        let before = self.shown.trace.replace(trace);
        self.shown.worst = self.shown.worst.max(before.and_then(|trace| trace.diagnostics.worst()));
        finished
    }

    /// Shows nothing more.
    pub(super) fn fail(&mut self, error: io::Error) {
        self.shown.error = Some(error);
        self.reading = Reading::Ended { wanted: false };
    }

    /// Gives out the lines that are there.
    pub(super) fn show(&mut self) -> io::Result<()> {
        match &mut self.reading {
            Reading::Known(decoding) => decoding.sink.show(),
            _ => Ok(()),
        }
    }
}

/// A sink, and whether it broke off.
struct Watched<'a> {
    sink: &'a mut dyn Sink,
    broke: bool,
}

impl Watched<'_> {
    fn watch(&mut self, flow: Flow) -> Flow {
        self.broke |= flow.is_break();
        flow
    }
}

impl Sink for Watched<'_> {
    fn events(&mut self, trace: &Trace, batch: &crate::model::Batch<'_>) -> Flow {
        let flow = self.sink.events(trace, batch);
        self.watch(flow)
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        let flow = self.sink.loss(trace, loss);
        self.watch(flow)
    }
}
