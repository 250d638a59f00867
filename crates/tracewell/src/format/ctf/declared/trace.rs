//! The declarations of a trace, its streams and events.

use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::types::StructureType;
use crate::format::ctf::classes::{Clock, LogLevel, Value, Version};

/// The declarations of a trace.
#[derive(Debug)]
pub(crate) struct Declared {
    pub version: Version,
    pub byte_order: ByteOrder,
    pub uuid: Option<[u8; 16]>,
    pub name: Option<String>,
    pub environment: Vec<(String, Value)>,
    pub clocks: Vec<Clock>,
    pub packet_header: Option<Arc<StructureType>>,
    pub streams: Vec<DeclaredStream>,
}

/// A class of streams.
#[derive(Debug)]
pub(crate) struct DeclaredStream {
    /// Offset of the declaration in the text.
    pub at: u32,
    pub id: u64,
    pub name: Option<String>,
    /// The clock that the stream specifies (CTF 2).
    pub clock: Option<usize>,
    pub packet_context: Option<Arc<StructureType>>,
    pub event_header: Option<Arc<StructureType>>,
    pub common_context: Option<Arc<StructureType>>,
    pub events: Vec<DeclaredEvent>,
}

/// A class of events.
#[derive(Debug)]
pub(crate) struct DeclaredEvent {
    /// Offset of the declaration in the text.
    pub at: u32,
    pub id: u64,
    pub name: Option<String>,
    pub log_level: Option<LogLevel>,
    pub uri: Option<String>,
    pub specific_context: Option<Arc<StructureType>>,
    pub payload: Option<Arc<StructureType>>,
}
