//! Reads the runs in a stream's memory.
//!
//! Any word can be wrong, because the process that wrote it may have crashed or may be malicious.
//! The sizes in the header have been checked against limits. This module takes positions modulo the
//! size of a lane, and accepts a packet only if the packet contains the expected number and lane.

use tracewell_wire::native::image::{
    Committed, ImageHeader, TYPE_TEXT, TYPE_WORDS, TypeHeader, at, lane,
};
use tracewell_wire::native::{EVENT_IDS, PacketHeader, REBASE, RecordHeader, WORD, word};

use super::kernel::KernelEvents;
use super::merge::Merge;
use super::run::RecordRun;
use super::types;
use crate::model::{Severity, Trace, Window};

/// A stream's memory, with its checked header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Image<'a> {
    pub(super) header: ImageHeader,
    window: Window<'a>,
}

impl<'a> Image<'a> {
    pub(super) fn new(header: ImageHeader, window: Window<'a>) -> Self {
        Self { header, window }
    }

    /// Returns a word, or 0 if the input ends before the word does.
    pub(super) fn word(&self, index: usize) -> u64 {
        word(self.window.bytes, index).unwrap_or(0)
    }

    /// Returns the sum of one word over the headers of all lanes.
    pub(super) fn sum(&self, word: usize) -> u64 {
        let lanes = 0..self.header.geometry.lanes as usize;
        let words = lanes.map(|lane| self.word(self.header.geometry.head(lane) + word));
        words.fold(0, u64::wrapping_add)
    }

    /// Returns the number of lanes that have an owner.
    pub(super) fn owned(&self) -> u64 {
        let lanes = 0..self.header.geometry.lanes as usize;
        let head = |lane| self.header.geometry.head(lane) + lane::OWNER;
        lanes.filter(|lane| self.word(head(*lane)) != 0).count() as u64
    }

    /// Adds the event types to the schema.
    pub(super) fn types(&self, kernel: &mut KernelEvents, trace: &mut Trace) {
        for id in 1..EVENT_IDS {
            let slot = self.header.geometry.types() + id * TYPE_WORDS;
            let head = TypeHeader::unpack(self.word(slot));
            let start = (slot + 1) * WORD;
            let end = start + TYPE_TEXT.min(head.length as usize);
            if head.state == TypeHeader::READY
                && let Some(text) = self.window.bytes.get(start..end)
            {
                types::define(trace, kernel, id as u16, text, self.window.offset + start as u64);
            }
        }
    }

    /// Passes all runs to the merge.
    pub(super) fn runs(&self, merge: &mut Merge, trace: &mut Trace) {
        for lane in 0..self.header.geometry.lanes as usize {
            self.lane(lane, merge, trace);
        }
    }

    fn lane(&self, lane: usize, merge: &mut Merge, trace: &mut Trace) {
        let geometry = self.header.geometry;
        let head = |word| self.word(geometry.head(lane) + word);
        let words = u64::from(geometry.packet_words);
        let committed = Committed(head(lane::COMMITTED)).position();
        let consumed = head(lane::CONSUMED);
        // A lane is a ring that holds the last `lane_words` words up to the end of the open packet.
        // Earlier packets have been overwritten.
        let possible = (committed.saturating_sub(1) / words * words + words)
            .saturating_sub(geometry.lane_words());
        let oldest = head(lane::OLDEST).max(possible);
        let mut damaged = false;
        let mut packet = oldest.max(consumed) / words * words;
        while packet < committed {
            let run = self.run(lane, packet, committed, consumed);
            match run {
                Some(run) => {
                    let cleared = head(lane::LOST_CLEARED);
                    merge.add(
                        self.counted(run, consumed, oldest, cleared, damaged),
                        self.window,
                        trace,
                    );
                    damaged = false;
                }
                None => {
                    damaged = true;
                    let message = format!("expected packet {} of lane {lane}", packet / words);
                    let at = self.window.offset + self.place(lane, packet) as u64;
                    trace.diagnostics.add(Severity::Damage, at, message);
                }
            }
            packet += words;
        }
    }

    fn counted(
        &self,
        mut run: RecordRun,
        consumed: u64,
        oldest: u64,
        cleared: u64,
        damaged: bool,
    ) -> RecordRun {
        // If a reader had consumed all overwritten records, none of them count as lost. Otherwise
        // all of them count as lost.
        let taken = consumed > 0 && consumed >= oldest;
        run.header.covered_from = if taken { run.header.first_event } else { 0 };
        run.header.lost_before = run.header.lost_before.saturating_sub(cleared);
        run.after_damage = damaged;
        run
    }

    /// Returns the offset, in bytes, of the word at a position in a lane.
    fn place(&self, lane: usize, position: u64) -> usize {
        let geometry = self.header.geometry;
        (geometry.lane(lane) + (position % geometry.lane_words()) as usize) * WORD
    }

    /// Returns the packet's records that are committed but not consumed.
    fn run(&self, lane: usize, packet: u64, committed: u64, consumed: u64) -> Option<RecordRun> {
        let words = u64::from(self.header.geometry.packet_words);
        let place = self.place(lane, packet);
        let bytes = self.window.bytes.get(place..)?;
        let mut header = PacketHeader::read(bytes)?;
        let open = committed - packet <= words;
        let used = if open { committed - packet } else { u64::from(header.used) };
        // An open packet has no length yet, unless it was closed after `committed` was read.
        let said = u64::from(header.used);
        let fits = !open || said == 0 || said >= used;
        if header.number != packet / words || header.lane as usize != lane || !fits {
            return None;
        }
        if !(PacketHeader::WORDS as u64..=words).contains(&used) {
            return None;
        }
        let mut start = PacketHeader::WORDS;
        // Also read records that were already consumed, because they change the time base and the
        // number of the first event.
        while (start as u64) < consumed.saturating_sub(packet).min(used) {
            let head = RecordHeader::unpack(word(bytes, start)?);
            match head.id {
                REBASE => header.base = word(bytes, start + 1)?,
                _ => header.first_event = header.first_event.wrapping_add(1),
            }
            start += 1 + usize::from(head.words);
        }
        let at = |index: usize| self.window.offset + (place + index * WORD) as u64;
        let records = at(start)..at(start.max(used as usize));
        Some(RecordRun { header, records, after_damage: false })
    }

    /// Counts the lost events that no packet reports. Returns two counts: events lost after the
    /// last packets of the lanes, and events lost before they reached a lane.
    pub(super) fn lost(&self) -> (u64, u64) {
        let lanes = self.sum(lane::LOST).wrapping_sub(self.sum(lane::LOST_CLEARED));
        let others = self.word(at::LOST_UNPLACED).saturating_add(self.word(at::LOST_SUSPENDED));
        (lanes, others)
    }
}
