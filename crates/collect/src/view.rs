//! The settings for showing a source, and the result.

use tracewell::input::Settings;
use tracewell::model::{Severity, Sink, SinkError, Trace};

/// Creates a sink when a stream begins, and again each time the target restarts the stream.
pub type MakeSink<'a> = Box<dyn FnMut() -> Box<dyn Sink + Send + 'a> + Send + 'a>;

/// Settings for showing a source.
pub struct View<'a> {
    /// Options for decoding the bytes.
    pub settings: Settings,
    /// Refuses formats that must be decoded as a whole, because their events would be shown only at
    /// the end. Also ends a source if its bytes cannot be shown.
    pub only_growing: bool,
    /// Creates a sink when the stream begins or restarts.
    pub sink: MakeSink<'a>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// The result of showing a source.
#[derive(Debug, Default)]
pub struct Shown {
    /// The description of the events since the stream began or last restarted.
    pub trace: Option<Trace>,
    /// The highest severity of the diagnostics before the last restart of the stream.
    pub worst: Option<Severity>,
    /// Bytes that were not shown because the view was too slow.
    pub left_out: u64,
    /// True if the format of the data is unknown, or if the decoder refused the data.
    pub refused: bool,
    /// The format that [`View::only_growing`] refused.
    pub whole: Option<&'static str>,
    /// The error that ended the display.
    pub error: Option<SinkError>,
}
