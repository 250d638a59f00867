//! The report about one source: counts of bytes received, stored, dropped and shown.

use std::fmt;

use serde::Serialize;

use crate::datagrams::Report;
use crate::intake::Counts;
use tracewell::text::counted;

/// The version of the JSON document.
pub const SCHEMA: u32 = 1;

/// The reports about all sources: the JSON of `tracewell collect --json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectReport<'a> {
    /// The version of this document.
    pub schema: u32,
    /// The sources in the order of the command line.
    pub sources: Vec<&'a SourceReport>,
}

/// The bytes of a source: received, stored, dropped and shown.
///
/// `Display` prints the report as text. The fields serialise as the JSON of `tracewell collect
/// --json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceReport {
    /// Name of the source.
    pub source: String,
    /// Received bytes, including the length prefix of each datagram in a capture.
    pub received: u64,
    /// Bytes written to the file; `None` if there is no file.
    pub written: Option<u64>,
    /// Bytes that did not fit into the buffer or could not be written. `received` = `written` +
    /// `dropped`.
    pub dropped: u64,
    /// Number of times the buffer became full.
    pub overflows: u64,
    /// Datagrams that the operating system dropped because its socket buffer was full.
    pub unreceived: u64,
    /// Bytes that were stored but not shown, because the view was too slow.
    pub left_out: u64,
    /// Number of connections, including reconnections.
    pub connections: u64,
    /// Number of times a followed file was truncated or replaced.
    pub restarts: u64,
    /// Ignored datagrams of other senders; `None` if `packets` counts them.
    pub foreign: Option<u64>,
    /// True if bytes were dropped because writing failed.
    #[serde(skip)]
    pub failed: bool,
    /// The packet report, if S.Ha.R.K.'s tracer sent the datagrams.
    pub packets: Option<Report>,
}

impl SourceReport {
    pub(crate) fn new(source: String, counts: Counts, packets: Option<Report>) -> Self {
        Self {
            source,
            received: counts.received,
            written: None,
            dropped: 0,
            overflows: counts.overflows,
            unreceived: counts.unreceived,
            left_out: 0,
            connections: counts.connections,
            restarts: counts.restarts,
            foreign: packets.is_none().then_some(counts.foreign),
            failed: false,
            packets,
        }
    }

    /// Returns true if no bytes were received.
    pub fn is_empty(&self) -> bool {
        self.received == 0
    }

    /// Returns true if data is missing because it was dropped, not shown, or lost in transit.
    pub fn is_lossy(&self) -> bool {
        self.dropped + self.left_out + self.unreceived > 0
            || self.packets.as_ref().is_some_and(Report::is_lossy)
    }
}

impl fmt::Display for SourceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.packets {
            Some(packets) => packets.fmt(f)?,
            None if self.is_empty() => {
                write!(f, "nothing received from {}", self.source)?;
            }
            None => {
                write!(f, "{} from {}", counted(self.received, "byte"), self.source)?;
                if self.connections > 1 {
                    write!(f, ", in {} connections", self.connections)?;
                }
            }
        }
        let dropped = match self.failed {
            true => "dropped: writing failed",
            false => "dropped: they arrived faster than they could be written",
        };
        let counts = [
            (self.restarts, "time", "the file was truncated or replaced"),
            (self.foreign.unwrap_or(0), "datagram", "of other senders, ignored"),
            (self.unreceived, "datagram", "dropped by the system, whose socket buffer was full"),
            (self.dropped, "byte", dropped),
            (self.left_out, "byte", "not shown: they arrived faster than they could be shown"),
        ];
        for (count, what, which) in counts.into_iter().filter(|(count, ..)| *count > 0) {
            write!(f, "\n{} {which}", counted(count, what))?;
        }
        Ok(())
    }
}
