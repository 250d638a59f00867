//! The same interface on a system without streams: nothing can be made, and nothing is recorded.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tracing_core::Subscriber;
use tracing_subscriber::layer::Layer;

/// The options of a stream, which no stream of this system has.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct StreamOptions {}

/// A stream, of which this system has none.
#[derive(Debug)]
pub struct Stream(Infallible);

impl Stream {
    /// An error: there are no streams on this system.
    ///
    /// # Errors
    /// Always, of the kind `Unsupported`.
    pub fn anonymous(_: &StreamOptions) -> io::Result<Self> {
        Err(unsupported())
    }

    /// An error: there are no streams on this system.
    ///
    /// # Errors
    /// Always, of the kind `Unsupported`.
    pub fn create(_: &Path, _: &StreamOptions) -> io::Result<Self> {
        Err(unsupported())
    }

    /// An error: there are no streams on this system.
    ///
    /// # Errors
    /// Always, of the kind `Unsupported`.
    pub fn open(_: &Path) -> io::Result<Self> {
        Err(unsupported())
    }

    /// `None`: nobody records on this system.
    ///
    /// # Errors
    /// Never.
    pub fn from_environment() -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// Starts recording.
    pub fn start(&self) {
        match self.0 {}
    }

    /// Stops recording.
    pub fn stop(&self) {
        match self.0 {}
    }
}

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "streams need Linux")
}

/// A layer that records into a stream, of which this system has none.
#[derive(Debug)]
pub struct StreamLayer(Infallible);

impl StreamLayer {
    /// A layer that records into this stream.
    pub fn new(stream: Arc<Stream>) -> Self {
        match stream.0 {}
    }

    /// `None`, which is a layer that does nothing.
    ///
    /// # Errors
    /// Never.
    pub fn from_environment() -> io::Result<Option<Self>> {
        Ok(None)
    }
}

impl<S: Subscriber> Layer<S> for StreamLayer {}
