//! The layer: from what `tracing` says to a record of the stream.

use std::sync::Arc;

use tracewell_record::stream::{Family, Stream};
use tracewell_wire::native::image::State;
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use crate::FIRST_FAMILY;
use crate::types::{self, Types};
use crate::values::{Fields, Text, Words};

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
    #[inline]
    fn records(&self, metadata: &Metadata<'_>) -> bool {
        let image = self.stream.image();
        image.state() != State::Suspended
            && image.family_filter() & level_family(*metadata.level()).bit() == 0
    }

    /// Records the values of a call site; `before` are fields that are not in the program.
    #[inline]
    fn record<const N: usize>(
        &self,
        metadata: &'static Metadata<'static>,
        before: [(&'static str, Option<u64>); N],
        fields: &impl Fields,
    ) {
        let mut words = Words::new();
        before.iter().for_each(|(_, value)| words.number(*value));
        fields.visit(&mut words);
        let names = || before.map(|(name, _)| name);
        let id = self.types.of_site(&self.stream, metadata, words.shape(), names, fields);
        // If the type has no place the id is 0, and the stream counts the event as lost.
        self.store(id, level_family(*metadata.level()), &mut words, N, fields);
    }

    #[inline]
    fn store(
        &self,
        id: u16,
        family: Family,
        words: &mut Words,
        before: usize,
        fields: &impl Fields,
    ) {
        if words.has_text() {
            self.store_with_text(id, family, words, before, fields);
        } else {
            self.stream.record_as(id, family, words.words(), &[]);
        }
    }

    // Not inlined: events without text need no room for one.
    #[inline(never)]
    fn store_with_text(
        &self,
        id: u16,
        family: Family,
        words: &mut Words,
        before: usize,
        fields: &impl Fields,
    ) {
        let text = Text::of(fields, before);
        let text = text.bytes();
        self.stream.record_as(id, family, words.words_before(text.len()), text);
    }

    fn switch(&self, id: u16, span: &Id) {
        self.stream.record_as(id, types::SPAN, &[span.into_u64()], &[]);
    }
}

/// The families of levels.
const LEVELS: [Family; 5] = [
    Family::new(FIRST_FAMILY + 1, "error"),
    Family::new(FIRST_FAMILY + 2, "warn"),
    Family::new(FIRST_FAMILY + 3, "info"),
    Family::new(FIRST_FAMILY + 4, "debug"),
    Family::new(FIRST_FAMILY + 5, "trace"),
];

#[inline]
pub(crate) fn level_family(level: Level) -> Family {
    match level {
        Level::ERROR => LEVELS[0],
        Level::WARN => LEVELS[1],
        Level::INFO => LEVELS[2],
        Level::DEBUG => LEVELS[3],
        _ => LEVELS[4],
    }
}

impl<S: Subscriber> Layer<S> for StreamLayer {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !self.records(event.metadata()) {
            return;
        }
        let current = || context.current_span().id().map(Id::into_u64);
        let span = event.parent().map(Id::into_u64);
        let span = span.or_else(|| current().filter(|_| event.is_contextual()));
        self.record(event.metadata(), [("span", span)], event);
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if !self.records(attributes.metadata()) {
            return;
        }
        let current = || context.current_span().id().map(Id::into_u64);
        let parent = attributes.parent().map(Id::into_u64);
        let parent = parent.or_else(|| current().filter(|_| attributes.is_contextual()));
        let before = [("span", Some(id.into_u64())), ("parent", parent)];
        self.record(attributes.metadata(), before, attributes);
    }

    fn on_record(&self, span: &Id, record: &Record<'_>, _: Context<'_, S>) {
        if self.stream.image().state() == State::Suspended {
            return;
        }
        let id = self.types.of_span(&self.stream, record);
        let mut words = Words::new();
        words.number(Some(span.into_u64()));
        record.record(&mut words);
        self.store(id, types::SPAN, &mut words, 1, record);
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
