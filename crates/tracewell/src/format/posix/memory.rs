//! Merges the packets in a stream's memory by time.
//!
//! Any word can be wrong, because the process that wrote it may have crashed or may be malicious.
//! The sizes in the header have been checked against limits. This module limits lengths to the
//! available bytes, and reads the records of each packet once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tracewell_wire::native::{WORD, split, word};
use tracewell_wire::posix::area::{NAME_SLOT, NAMES_MAGIC, names};
use tracewell_wire::posix::log::LogRecord;
use tracewell_wire::posix::object::{Geometry, ObjectHeader, at, head};
use tracewell_wire::posix::{
    EVENT_NAME_MAX, FIRST_USER, FLAG_HIDDEN, StreamPolicy, USER_EVENT_MAX, text_of_words,
};

use super::rows::Rows;
use super::types;
use crate::model::{Emitter, Flow, LossCause, Severity, Trace};

/// The unread records of a packet.
struct Source<'a> {
    rest: &'a [u8],
    /// Offset of the unread records in the source.
    at: u64,
}

impl<'a> Source<'a> {
    fn stamp(&self) -> Option<u64> {
        LogRecord::read(self.rest).map(|(record, _)| record.stamp)
    }

    /// Returns the next record, its bytes and its offset.
    fn next(&mut self) -> Option<(LogRecord<'a>, &'a [u8], u64)> {
        let (record, after) = LogRecord::read(self.rest)?;
        let bytes = &self.rest[..self.rest.len() - after.len()];
        let at = self.at;
        self.at += bytes.len() as u64;
        self.rest = after;
        Some((record, bytes, at))
    }
}

/// Reads a stream's memory. If a snapshot appended the names of event types, also reads these
/// names.
pub(super) fn read(
    header: &ObjectHeader,
    bytes: &[u8],
    rows: &mut Rows,
    out: &mut Emitter<'_>,
) -> Flow {
    let geometry = header.geometry;
    let total = geometry.total().saturating_mul(WORD);
    if bytes.len() < total {
        let message = format!("expected {total} bytes of a stream's memory, found {}", bytes.len());
        out.trace.diagnostics.add(Severity::Damage, bytes.len() as u64, message);
    }
    define_names(bytes.get(total..).unwrap_or_default(), total as u64, out.trace);
    let lost = |index| word(bytes, index).unwrap_or(0);
    let (displaced, events) = (lost(at::DISPLACED), lost(at::LOST));
    // The stream counts displaced packets, but not the events that they contained.
    if header.policy == StreamPolicy::Loop && displaced > 0 {
        out.loss(None, LossCause::Overwritten, 0)?;
    }
    merge(geometry, bytes, rows, out)?;
    if events > 0 {
        let end = bytes.len() as u64;
        out.loss(Some(events), LossCause::BufferFull, end)?;
    }
    Flow::Continue(())
}

fn merge(geometry: Geometry, bytes: &[u8], rows: &mut Rows, out: &mut Emitter<'_>) -> Flow {
    let mut sources: Vec<_> =
        (0..geometry.packets as usize).filter_map(|n| source(geometry, n, bytes)).collect();
    let mut next: BinaryHeap<_> = sources
        .iter()
        .enumerate()
        .filter_map(|(index, source)| Some(Reverse((source.stamp()?, index))))
        .collect();
    while let Some(Reverse((_, index))) = next.pop() {
        let Some((record, bytes, at)) = sources[index].next() else { continue };
        if record.head.flags & FLAG_HIDDEN == 0 {
            types::define_unnamed(out.trace, u32::from(record.head.id));
            rows.add(&record, bytes, at, out)?;
        }
        // The heap has at most one entry per packet: the timestamp of the packet's next record.
        if let Some(stamp) = sources[index].stamp() {
            next.push(Reverse((stamp, index)));
        } else if !sources[index].rest.is_empty() {
            let message = "expected a record that ends within its packet";
            out.damage(message, (None, LossCause::Damaged), sources[index].at)?;
        }
    }
    Flow::Continue(())
}

/// Returns the records of a packet. Returns `None` if the packet is free, or if its committed
/// length is not valid.
fn source(geometry: Geometry, packet: usize, bytes: &[u8]) -> Option<Source<'_>> {
    let at = |index: usize| word(bytes, geometry.head(packet) + index);
    let state = at(head::STATE)?;
    let (words, opened) = split(at(head::COMMITTED)?);
    // The committed length is valid only if it was stored after the packet was last opened.
    let occupied = matches!(state & 3, 1 | 2) && opened == (state >> 2) as u32;
    let words = occupied.then_some(words.min(geometry.packet_words))?;
    let start = geometry.packet(packet).checked_mul(WORD)?;
    let records = bytes.get(start..)?;
    // The length may be wrong, so it is limited to the available bytes.
    let length = records.len().min(words as usize * WORD);
    Some(Source { rest: &records[..length], at: start as u64 })
}

/// Defines the event types whose names a snapshot appended to the memory.
fn define_names(space: &[u8], offset: u64, trace: &mut Trace) {
    if word(space, names::MAGIC) != Some(NAMES_MAGIC) {
        return;
    }
    let count = word(space, names::COUNT).unwrap_or(0).min(USER_EVENT_MAX as u64) as usize;
    for index in 0..count {
        let slot = names::SLOTS + index * NAME_SLOT;
        let words: [u64; NAME_SLOT] = std::array::from_fn(|n| word(space, slot + n).unwrap_or(0));
        let [length, text @ ..] = words;
        let mut name = [0; EVENT_NAME_MAX];
        let length = text_of_words(&text, &mut name).min(length as usize);
        if length > 0 {
            let at = offset + (slot * WORD) as u64;
            types::define(trace, FIRST_USER + index as u32, &name[..length], at);
        }
    }
}
