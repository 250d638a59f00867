//! Records the spans and events of programs that use the crate `tracing`, without a change to them.
//!
//! [`StreamLayer`] is a layer for a subscriber. Numbers and truth values stay typed fields; texts and
//! what has only a `Debug` form are written behind them as one text.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tracewell_tracing::{Stream, StreamLayer, StreamOptions};
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
//! runs. Recording allocates nothing but at the first event of a call site, which defines its type, and takes
//! no lock; values that have only a `Debug` form may do what they like. Not for signal handlers: `tracing`
//! is not either.
//!
//! Streams need Linux. On other systems the crate has the same interface: making a [`Stream`] returns an error of
//! the kind `Unsupported`, and [`StreamLayer::from_environment`] returns `None`, a layer that does nothing.
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(target_os = "linux")]
mod layer;
#[cfg(target_os = "linux")]
mod sites;
#[cfg(target_os = "linux")]
mod types;
#[cfg(target_os = "linux")]
mod values;

#[cfg(not(target_os = "linux"))]
pub use absent::{Stream, StreamLayer, StreamOptions};
#[cfg(target_os = "linux")]
pub use layer::StreamLayer;
#[cfg(target_os = "linux")]
pub use tracewell_record::stream::{Stream, StreamOptions};

/// The family of spans; those of levels follow: error, warn, info, debug, trace.
pub const FIRST_FAMILY: u16 = 57;
