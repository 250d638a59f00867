//! Records the spans and events of programs that use the crate `tracing`, without a change to them.
//!
//! [`StreamLayer`] is a layer for a subscriber. Numbers and truth values stay typed fields; texts and
//! what has only a `Debug` form are written behind them as one text.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tracewell_record::stream::{Stream, StreamOptions};
//! use tracewell_tracing::StreamLayer;
//! use tracing_subscriber::layer::SubscriberExt;
//!
//! # #[cfg(target_os = "linux")] {
//! let stream = Arc::new(Stream::anonymous(&StreamOptions::default()).unwrap());
//! stream.start();
//! let subscriber = tracing_subscriber::registry().with(StreamLayer::new(Arc::clone(&stream)));
//! tracing::subscriber::with_default(subscriber, || {
//!     let _span = tracing::info_span!("request", number = 7).entered();
//!     tracing::warn!(length = 1500, "dropped");
//! });
//! # }
//! ```
//!
//! | what happens | event | fields |
//! |---|---|---|
//! | an event | `LEVEL/TARGET:LINE`, or `LEVEL/TARGET:NAME` where it has a name of its own | `span`, its own |
//! | a span is made | `LEVEL/TARGET:NAME` | `span`, `parent`, its own |
//! | it gets values later | `span/record` | `span`, the values |
//! | it is entered, left, closed | `span/enter`, `span/exit`, `span/close` | `span` |
//!
//! A level is a family of the stream, from [`FIRST_FAMILY`] on, and can be switched off while the program
//! runs. Recording allocates nothing but at the first event of a call site, which defines its type, and
//! waits for nothing but another thread that does the same; values that have only a `Debug` form may do
//! what they like. Not for signal handlers: `tracing` is not either.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod types;
mod values;

use std::sync::Arc;

use tracewell_record::stream::{Family, Stream};
use tracewell_wire::native::image::State;
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use types::Types;
use values::Values;

/// The family of spans; those of levels follow: error, warn, info, debug, trace.
pub const FIRST_FAMILY: u16 = 57;

/// A layer that records into a stream.
#[derive(Debug)]
pub struct StreamLayer {
    stream: Arc<Stream>,
    types: Types,
}

impl StreamLayer {
    /// A layer that records into this stream while it is started.
    pub fn new(stream: Arc<Stream>) -> Self {
        let types = Types::new(&stream);
        Self { stream, types }
    }

    /// A layer for the stream that the environment names, see
    /// [`Stream::from_environment`]; `None`, which is a layer that does nothing, where nobody records.
    ///
    /// # Errors
    /// Where the stream cannot be opened.
    pub fn from_environment() -> std::io::Result<Option<Self>> {
        Ok(Stream::from_environment()?.map(|stream| Self::new(Arc::new(stream))))
    }

    /// Whether values need to be looked at. A full stream counts what it loses.
    fn records(&self, metadata: &Metadata<'_>) -> bool {
        let image = self.stream.image();
        image.state() != State::Suspended
            && image.family_filter() & level_family(*metadata.level()).bit() == 0
    }

    fn record(&self, metadata: &'static Metadata<'static>, values: &Values) {
        let id = self.types.of_site(&self.stream, metadata, values);
        let (words, text) = values.parts();
        // Where the type has no place the id is 0, and the stream counts the event as lost.
        self.stream.record_as(id, level_family(*metadata.level()), words, text);
    }

    fn switch(&self, id: u16, span: &Id) {
        self.stream.record_as(id, types::SPAN, &[span.into_u64()], &[]);
    }
}

pub(crate) fn level_family(level: Level) -> Family {
    let (number, name) = match level {
        Level::ERROR => (1, "error"),
        Level::WARN => (2, "warn"),
        Level::INFO => (3, "info"),
        Level::DEBUG => (4, "debug"),
        _ => (5, "trace"),
    };
    Family::new(FIRST_FAMILY + number, name)
}

impl<S: Subscriber> Layer<S> for StreamLayer {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !self.records(event.metadata()) {
            return;
        }
        let mut values = Values::new();
        let current = || context.current_span().id().map(Id::into_u64);
        let span = event.parent().map(Id::into_u64);
        values.number("span", span.or_else(|| current().filter(|_| event.is_contextual())));
        event.record(&mut values);
        self.record(event.metadata(), &values);
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if !self.records(attributes.metadata()) {
            return;
        }
        let mut values = Values::new();
        values.number("span", Some(id.into_u64()));
        let current = || context.current_span().id().map(Id::into_u64);
        let parent = attributes.parent().map(Id::into_u64);
        values
            .number("parent", parent.or_else(|| current().filter(|_| attributes.is_contextual())));
        attributes.record(&mut values);
        self.record(attributes.metadata(), &values);
    }

    fn on_record(&self, span: &Id, record: &Record<'_>, _: Context<'_, S>) {
        if self.stream.image().state() == State::Suspended {
            return;
        }
        let mut values = Values::new();
        values.number("span", Some(span.into_u64()));
        record.record(&mut values);
        let id = self.types.of_span(&self.stream, &values);
        let (words, text) = values.parts();
        self.stream.record_as(id, types::SPAN, words, text);
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        self.switch(self.types.enter, id);
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        self.switch(self.types.exit, id);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.switch(self.types.close, &id);
    }
}
