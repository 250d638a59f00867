//! Reads a log that is a ring of slots. The whole log must be available.

use std::cmp::Reverse;

use tracewell_wire::frame::{self, HEAD, Lookup};
use tracewell_wire::native::WORD;
use tracewell_wire::posix::log::{Kind, LogHeader, LogStatus, MAGIC};

use super::log::{name, program_end};
use super::rows::Rows;
use crate::model::{Emitter, Flow, LossCause, Severity, Trace};

/// A slot that contains records.
struct Slot<'a> {
    number: u64,
    body: &'a [u8],
    /// Offset of the body in the source.
    at: u64,
}

/// Reads the log. If the log was closed, returns the stream's final status and the offset after the
/// end block.
pub(super) fn read(
    header: &LogHeader,
    bytes: &[u8],
    rows: &mut Rows,
    out: &mut Emitter<'_>,
) -> Flow<Option<(LogStatus, u64)>> {
    let (mut slots, damaged) = slots(header, bytes, out.trace);
    let status = status_after_tail(header.tail.max(LogHeader::BLOCK as u64), bytes, out.trace);
    // If several blocks have the same number, the longest one is the newest. The recorder may write
    // the last block again, with more records and into another slot.
    slots.sort_by_key(|slot| (slot.number, Reverse(slot.body.len())));
    slots.dedup_by_key(|slot| slot.number);
    let mut next = 0;
    for slot in &slots {
        if slot.number > next {
            // The number of the first remaining slot is above 0 if earlier slots were overwritten.
            let cause = match (next, damaged) {
                (0, false) => LossCause::Overwritten,
                // The last block can be in two slots. One of them may be damaged, and the other one
                // may be overwritten.
                (0, true) if slot.number.saturating_add(2) >= u64::from(header.slots) => {
                    LossCause::Overwritten
                }
                (_, true) => LossCause::Damaged,
                (_, false) => LossCause::Missing,
            };
            out.loss(None, cause, slot.at)?;
        }
        rows.add_all(slot.body, slot.at, out)?;
        next = slot.number.saturating_add(1);
    }
    Flow::Continue(status)
}

/// Returns the slots that contain records, and true if a slot is damaged.
fn slots<'a>(header: &LogHeader, bytes: &'a [u8], trace: &mut Trace) -> (Vec<Slot<'a>>, bool) {
    let size = header.slot_bytes as usize;
    let (mut slots, mut damaged) = (Vec::new(), false);
    let tail = usize::try_from(header.tail).map_or(bytes.len(), |tail| tail.min(bytes.len()));
    let all = bytes.get(LogHeader::BLOCK..tail).unwrap_or_default();
    for (index, slot) in all.chunks(size.max(HEAD)).take(header.slots as usize).enumerate() {
        let at = (LogHeader::BLOCK + index * size) as u64;
        match frame::find(slot, MAGIC) {
            Lookup::Block { kind, number, body } if Kind::of_code(kind) == Some(Kind::Records) => {
                slots.push(Slot { number, body, at: at + HEAD as u64 });
            }
            // A slot that contains only zeros was never used.
            _ if slot.iter().take(WORD).all(|byte| *byte == 0) => {}
            _ => {
                damaged = true;
                let message = "expected a block of records with a valid checksum in this slot";
                trace.diagnostics.add(Severity::Damage, at, message);
            }
        }
    }
    (slots, damaged)
}

/// Reads the blocks after the slots: names and the end.
fn status_after_tail(mut at: u64, bytes: &[u8], trace: &mut Trace) -> Option<(LogStatus, u64)> {
    let mut in_damage = false;
    while let Some(rest) = bytes.get(usize::try_from(at).ok()?..).filter(|rest| !rest.is_empty()) {
        let Lookup::Block { kind, body, .. } = frame::find(rest, MAGIC) else {
            // Report a continuous damaged section only once.
            if !std::mem::replace(&mut in_damage, true) {
                let message = "expected a block of a log with a valid checksum";
                trace.diagnostics.add(Severity::Damage, at, message);
            }
            at += WORD as u64;
            continue;
        };
        in_damage = false;
        let body_at = at + HEAD as u64;
        at = body_at + body.len() as u64;
        match Kind::of_code(kind) {
            Some(Kind::Name) => name(body, body_at, trace),
            Some(Kind::ProgramEnd) => program_end(body, body_at, trace),
            Some(Kind::End) => return Some((LogStatus::read(body)?, at)),
            Some(Kind::Header | Kind::Records) | None => {}
        }
    }
    None
}
