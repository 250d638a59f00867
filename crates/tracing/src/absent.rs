//! The public types of this crate for systems without streams. Constructors fail, and nothing is
//! recorded.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tracing_core::Subscriber;
use tracing_subscriber::layer::Layer;

/// Options of a stream. This system has no streams and therefore no options.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct StreamOptions {}

/// A stream. This system has no streams, so no value of this type exists.
#[derive(Debug)]
pub struct Stream(Infallible);

impl Stream {
    /// Returns an error: this system has no streams.
    ///
    /// # Errors
    /// Always, with the kind `Unsupported`.
    pub fn anonymous(_: &StreamOptions) -> io::Result<Self> {
        Err(unsupported())
    }

    /// Returns an error: this system has no streams.
    ///
    /// # Errors
    /// Always, with the kind `Unsupported`.
    pub fn create(_: &Path, _: &StreamOptions) -> io::Result<Self> {
        Err(unsupported())
    }

    /// Returns an error: this system has no streams.
    ///
    /// # Errors
    /// Always, with the kind `Unsupported`.
    pub fn create_or_rotate(_: &Path, _: &StreamOptions, _: u32) -> io::Result<Self> {
        Err(unsupported())
    }

    /// Returns an error: this system has no streams.
    ///
    /// # Errors
    /// Always, with the kind `Unsupported`.
    pub fn open(_: &Path) -> io::Result<Self> {
        Err(unsupported())
    }

    /// Returns `None`, because processes cannot record on this system.
    ///
    /// # Errors
    /// Never.
    pub fn from_environment() -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// Starts recording. Cannot be called, because no stream exists.
    pub fn start(&self) {
        match self.0 {}
    }

    /// Stops recording. Cannot be called, because no stream exists.
    pub fn stop(&self) {
        match self.0 {}
    }
}

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "streams need Linux")
}

/// A layer that records into a stream. This system has no streams, so there is no value of this
/// type.
#[derive(Debug)]
pub struct StreamLayer(Infallible);

impl StreamLayer {
    /// Returns a layer that records into `stream`.
    pub fn new(stream: Arc<Stream>) -> Self {
        match stream.0 {}
    }

    /// Returns an error: this system has no streams.
    ///
    /// # Errors
    /// Always, with the kind `Unsupported`.
    pub fn create_or_rotate(_: &Path, _: &StreamOptions, _: u32) -> io::Result<Self> {
        Err(unsupported())
    }

    /// Returns a guard. No program can call this, because no layer exists.
    pub fn guard(&self) -> StreamGuard {
        match self.0 {}
    }

    /// Returns `None`, which `tracing-subscriber` accepts as a layer that does nothing.
    ///
    /// # Errors
    /// Never.
    pub fn from_environment() -> io::Result<Option<Self>> {
        Ok(None)
    }
}

/// Stops the stream of a layer when it is dropped. This system has no streams, so there is no value
/// of this type.
#[derive(Debug)]
#[must_use = "the stream stops as soon as the guard is dropped"]
pub struct StreamGuard(Infallible);

impl Drop for StreamGuard {
    fn drop(&mut self) {
        match self.0 {}
    }
}

impl<S: Subscriber> Layer<S> for StreamLayer {}
