//! What came from a source, and what became of it.

use std::fmt;

use serde::Serialize;

use super::datagrams::Report;
use super::intake::Counts;
use crate::text::counted;

/// What came from a source, and what became of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SourceReport {
    /// Name of the source.
    pub source: String,
    /// Bytes that came, in the form in which they are kept.
    pub received: u64,
    /// Bytes in the file; `None` where none was asked for.
    pub written: Option<u64>,
    /// Bytes that came and had no room, or could not be written. With those written they are all that came.
    pub dropped: u64,
    /// How often bytes began to find no room.
    pub overflows: u64,
    /// Datagrams that came and that the system had no room for, before this program saw them.
    pub unreceived: u64,
    /// Bytes that were kept, but left out of what was shown, because that fell behind.
    pub left_out: u64,
    /// Connections that were made.
    pub connections: u64,
    /// How often a file that was followed was cut or replaced.
    pub restarts: u64,
    /// Datagrams of others, which were left out of the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<u64>,
    /// Whether bytes were dropped because writing failed.
    #[serde(skip)]
    pub failed: bool,
    /// The account of numbered packets, where it was a tracer's.
    #[serde(flatten)]
    pub packets: Option<Report>,
}

impl SourceReport {
    pub(super) fn new(source: String, counts: Counts, packets: Option<Report>) -> Self {
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

    /// True if not a byte came.
    pub fn is_empty(&self) -> bool {
        self.received == 0
    }

    /// Whether something is missing that came, or should have come.
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
                write!(f, "nothing came from {}", self.source)?;
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
            false => "dropped: writing was slower than the source",
        };
        let counts = [
            (self.restarts, "time", "the file was cut or replaced"),
            (self.foreign.unwrap_or(0), "datagram", "of others, left out"),
            (self.unreceived, "datagram", "that the system had no room for"),
            (self.dropped, "byte", dropped),
            (self.left_out, "byte", "left out of what was shown, which was slower than the source"),
        ];
        for (count, what, which) in counts.into_iter().filter(|(count, ..)| *count > 0) {
            write!(f, "\n{} {which}", counted(count, what))?;
        }
        Ok(())
    }
}
