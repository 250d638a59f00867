//! The layer, which converts callbacks of `tracing` into records of the stream.
//!
//! Recording an event has three steps. [`Words`] collects its numbers, [`Types`] finds the event id
//! from the call site and the kinds of the values, and the stream stores the record.

use std::io;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::thread;

use tracewell_record::stream::{Family, Stream, StreamOptions};
use tracewell_wire::native::image::State;
use tracewell_wire::native::{PARENT_FIELD, SPAN_FIELD};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use crate::levels::level_family;
use crate::types::{self, Types};
use crate::values::{Fields, Text, Words};

/// A layer that records into a stream.
///
/// ```
/// use std::sync::Arc;
///
/// use tracewell_tracing::{Stream, StreamLayer, StreamOptions};
/// use tracing_subscriber::layer::SubscriberExt;
///
/// # #[cfg(target_os = "linux")] {
/// let stream = Arc::new(Stream::anonymous(&StreamOptions::default())?);
/// let subscriber = tracing_subscriber::registry().with(StreamLayer::new(Arc::clone(&stream)));
/// tracing::subscriber::with_default(subscriber, || {
///     tracing::info!("before the start: not recorded");
///     stream.start();
///     tracing::info!(length = 1500, "sent");
/// });
/// assert_eq!(stream.image().status().lost, 0);
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamLayer {
    stream: Arc<Stream>,
    types: Types,
}

impl StreamLayer {
    /// Returns a layer for `stream`. The layer records events only while the stream is running.
    pub fn new(stream: Arc<Stream>) -> Self {
        let types = Types::new(&stream);
        Self { stream, types }
    }

    /// Returns a layer for the stream that the environment specifies, or `None` if no recorder
    /// runs. [`Stream::from_environment`] lists the variables. As a layer, `None` does nothing.
    ///
    /// # Errors
    /// Returns an error if the stream cannot be opened.
    ///
    /// ```
    /// use tracewell_tracing::StreamLayer;
    /// use tracing_subscriber::layer::SubscriberExt;
    ///
    /// // Records if `tracewell record` started this program, and does nothing otherwise.
    /// let layer = StreamLayer::from_environment()?;
    /// let subscriber = tracing_subscriber::registry().with(layer);
    /// tracing::subscriber::with_default(subscriber, || tracing::info!("ready"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn from_environment() -> io::Result<Option<Self>> {
        Ok(Stream::from_environment()?.map(|stream| Self::new(Arc::new(stream))))
    }

    /// Creates and starts a stream in a file, and returns a layer that records into it. Keeps the
    /// streams of at most `keep` earlier runs in `PATH.1`, `PATH.2` and so on, as
    /// [`Stream::create_or_rotate`] does. Only the layer has a handle of the stream.
    ///
    /// A global subscriber is never dropped, so the end of the program does not stop the stream.
    /// Use [`StreamLayer::guard`] to stop it.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Stream::create_or_rotate`].
    ///
    /// ```
    /// use tracewell_tracing::{StreamLayer, StreamOptions};
    /// use tracing_subscriber::layer::SubscriberExt;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("my-program");
    /// # if cfg!(target_os = "linux") {
    /// // Always records. After a crash, the events are in the file. The next run moves them to
    /// // `PATH.1`.
    /// let layer = StreamLayer::create_or_rotate(&path, &StreamOptions::default(), 3)?;
    /// let subscriber = tracing_subscriber::registry().with(layer);
    /// tracing::subscriber::with_default(subscriber, || tracing::info!("ready"));
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn create_or_rotate(path: &Path, options: &StreamOptions, keep: u32) -> io::Result<Self> {
        let stream = Stream::create_or_rotate(path, options, keep)?;
        stream.start();
        Ok(Self::new(Arc::new(stream)))
    }

    /// Returns a guard that stops the stream when it is dropped. Keep the guard in `main`: then
    /// `tracewell info` can distinguish the end of the program from a crash. Events after the drop
    /// are not recorded.
    ///
    /// ```
    /// use tracewell_tracing::{StreamLayer, StreamOptions};
    /// use tracing_subscriber::layer::SubscriberExt;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("my-program");
    /// # if cfg!(target_os = "linux") {
    /// let layer = StreamLayer::create_or_rotate(&path, &StreamOptions::default(), 3)?;
    /// let _guard = layer.guard();
    /// let subscriber = tracing_subscriber::registry().with(layer);
    /// tracing::subscriber::set_global_default(subscriber).map_err(std::io::Error::other)?;
    /// tracing::info!("ready");
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn guard(&self) -> StreamGuard {
        StreamGuard { stream: Arc::clone(&self.stream) }
    }

    /// Returns true if the stream stores or counts events of this level. The layer checks the level
    /// first, because visiting the values is the most expensive step. A full stream counts every
    /// event as lost.
    #[inline]
    fn records(&self, metadata: &Metadata<'_>) -> bool {
        let image = self.stream.image();
        image.state() != State::Suspended
            && image.family_filter() & level_family(*metadata.level()).bit() == 0
    }

    /// Records the values of a call site. `before` contains fields that the layer adds, such as the
    /// current span. They come first.
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
        // The id is 0 if the type could not be defined. In this case the stream counts the event as
        // lost.
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

    // Not inlined, so that events without text do not reserve a kilobyte of stack for the text.
    #[inline(never)]
    fn store_with_text(
        &self,
        id: u16,
        family: Family,
        words: &mut Words,
        before: usize,
        fields: &impl Fields,
    ) {
        let mut text = Text::of(fields, words, before);
        let (words, text) = text.record();
        self.stream.record_as(id, family, words, text);
    }

    fn switch(&self, id: u16, span: &Id) {
        self.stream.record_as(id, types::SPAN, &[span.into_u64()], &[]);
    }
}

/// A guard that stops the stream of a layer when it is dropped: see [`StreamLayer::guard`].
///
/// The guard does not stop the stream during a panic, so readers see an unfinished run. Nor does it
/// stop the stream in a forked child, or if another process, such as `tracewell record`, created
/// the stream. `std::process::exit` does not drop the guard.
#[derive(Debug)]
#[must_use = "the stream stops as soon as the guard is dropped"]
pub struct StreamGuard {
    stream: Arc<Stream>,
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        // A forked child, or a program that opened the stream, has a different process id from the
        // creator.
        let image = self.stream.image();
        let is_creator = image.process() == process::id();
        // A full stream stays in the state `Full`, so that readers see the reason why it stopped.
        let is_running = image.state() == State::Running;
        if is_creator && is_running && !thread::panicking() && self.stream.is_whole() {
            self.stream.stop();
        }
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
        self.record(event.metadata(), [(SPAN_FIELD, span)], event);
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if !self.records(attributes.metadata()) {
            return;
        }
        let current = || context.current_span().id().map(Id::into_u64);
        let parent = attributes.parent().map(Id::into_u64);
        let parent = parent.or_else(|| current().filter(|_| attributes.is_contextual()));
        let before = [(SPAN_FIELD, Some(id.into_u64())), (PARENT_FIELD, parent)];
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
