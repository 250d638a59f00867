//! Records the spans and events of programs that use the crate `tracing`, without a change to these
//! programs.
//!
//! [`StreamLayer`] is a layer for a subscriber. Numbers and Booleans become typed fields. Strings,
//! errors, integers of 128 bits, and values with only a `Debug` or `Display` form become texts,
//! each with the name of its field. Numbers precede texts.
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
//! | in the program | recorded event | fields |
//! |---|---|---|
//! | an event | `LEVEL/TARGET:LINE`, or `LEVEL/TARGET:NAME` if it has a name | `span`, the event's fields |
//! | a new span | `LEVEL/TARGET:NAME` | `span`, `parent`, the span's fields |
//! | later values of a span | `span/record` | `span`, the values |
//! | a span is entered, left, closed | `span/enter`, `span/exit`, `span/close` | `span` |
//!
//! If the program itself has a field `span` or `parent`, the field is recorded as `span_` or
//! `parent_`.
//!
//! Records of the crate `log` arrive as events of the target `log` if the program calls
//! `tracing_log::LogTracer::init()`. Readers show the target of the record instead.
//!
//! Each level is a family of the stream, starting at [`FIRST_FAMILY`], and can be switched off
//! while the program runs. Recording takes no lock. The layer allocates memory only to define the
//! type of an event, at the first event of each call site. A value's own `Debug` implementation can
//! also allocate. Like `tracing` itself, the layer must not be used in signal handlers.
//!
//! Streams need Linux. On other systems the crate has the same interface: constructors of
//! [`Stream`] return an error of the kind `Unsupported`, and [`StreamLayer::from_environment`]
//! returns `None`, a layer that does nothing.
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(target_os = "linux")]
mod layer;
#[cfg(target_os = "linux")]
mod levels;
#[cfg(target_os = "linux")]
mod sites;
#[cfg(target_os = "linux")]
mod types;
#[cfg(target_os = "linux")]
mod values;

#[cfg(not(target_os = "linux"))]
pub use absent::{Stream, StreamGuard, StreamLayer, StreamOptions};
#[cfg(target_os = "linux")]
pub use layer::{StreamGuard, StreamLayer};
#[cfg(target_os = "linux")]
pub use tracewell_record::stream::{Stream, StreamOptions};

/// The family of spans. The families of the levels follow: error, warn, info, debug, trace.
///
/// ```
/// use tracewell_tracing::FIRST_FAMILY;
///
/// // A filter for the family of `debug` events, to be set in the stream's family filter.
/// let debug = 1_u64 << (FIRST_FAMILY + 4);
/// assert_eq!(debug, 1 << 61);
/// ```
pub const FIRST_FAMILY: u16 = 57;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
