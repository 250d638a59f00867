//! A log whose records lie in slots, of which the oldest is used again: all of it must be there.

use std::cmp::Reverse;

use tracewell_wire::frame::{self, Found, HEAD};
use tracewell_wire::native::WORD;
use tracewell_wire::posix::log::{Kind, LogHeader, LogStatus, MAGIC};

use super::log::name;
use super::rows::Rows;
use crate::model::{Flow, LossCause, Severity, Sink, Trace};

/// A slot with records in it.
struct Slot<'a> {
    number: u64,
    body: &'a [u8],
    /// Where the body lies in the source.
    at: u64,
}

/// Reads the log; returns how the stream stood and where the end block ends, where the log was closed.
pub(super) fn read(
    header: &LogHeader,
    bytes: &[u8],
    rows: &mut Rows,
    trace: &mut Trace,
    sink: &mut dyn Sink,
) -> std::ops::ControlFlow<(), Option<(LogStatus, u64)>> {
    let (mut slots, damaged) = slots(header, bytes, trace);
    let status = behind(header.tail.max(LogHeader::BLOCK as u64), bytes, trace);
    // The longest of blocks with the same number is the newest.
    slots.sort_by_key(|slot| (slot.number, Reverse(slot.body.len())));
    slots.dedup_by_key(|slot| slot.number);
    let mut next = 0;
    for slot in &slots {
        if slot.number > next {
            // Slots are used in turn: what is before the first one left was overwritten.
            let cause = match (next, damaged) {
                (0, false) => LossCause::Overwritten,
                // The last block may be in two slots.
                (0, true) if slot.number.saturating_add(2) >= u64::from(header.slots) => {
                    LossCause::Overwritten
                }
                (_, true) => LossCause::Damaged,
                (_, false) => LossCause::Missing,
            };
            rows.lost(None, cause, slot.at, trace, sink)?;
        }
        rows.add_all(slot.body, slot.at, trace, sink)?;
        next = slot.number.saturating_add(1);
    }
    Flow::Continue(status)
}

/// The slots that have records, and whether one was damaged.
fn slots<'a>(header: &LogHeader, bytes: &'a [u8], trace: &mut Trace) -> (Vec<Slot<'a>>, bool) {
    let size = header.slot_bytes as usize;
    let (mut slots, mut damaged) = (Vec::new(), false);
    let tail = usize::try_from(header.tail).map_or(bytes.len(), |tail| tail.min(bytes.len()));
    let all = bytes.get(LogHeader::BLOCK..tail).unwrap_or_default();
    for (index, slot) in all.chunks(size.max(HEAD)).take(header.slots as usize).enumerate() {
        let at = (LogHeader::BLOCK + index * size) as u64;
        match frame::find(slot, MAGIC) {
            Found::Block { kind, number, body } if Kind::of_code(kind) == Some(Kind::Records) => {
                slots.push(Slot { number, body, at: at + HEAD as u64 });
            }
            // A slot that was never used.
            _ if slot.iter().take(WORD).all(|byte| *byte == 0) => {}
            _ => {
                damaged = true;
                let message = "expected a block of records with the right checksum in this slot";
                trace.diagnostics.add(Severity::Damage, at, message);
            }
        }
    }
    (slots, damaged)
}

/// The blocks behind the slots: names and the end.
fn behind(mut at: u64, bytes: &[u8], trace: &mut Trace) -> Option<(LogStatus, u64)> {
    let mut in_damage = false;
    while let Some(rest) = bytes.get(usize::try_from(at).ok()?..).filter(|rest| !rest.is_empty()) {
        let Found::Block { kind, body, .. } = frame::find(rest, MAGIC) else {
            if !std::mem::replace(&mut in_damage, true) {
                let message = "expected a block of a log with the right checksum";
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
            Some(Kind::End) => return Some((LogStatus::read(body)?, at)),
            Some(Kind::Header | Kind::Records) | None => {}
        }
    }
    None
}
