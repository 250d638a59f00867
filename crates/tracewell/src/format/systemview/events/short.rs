//! Events that contain at most two numbers and need little processing. They are the most frequent
//! events, so [`Events::add_short`] adds many of them in one loop.

use tracewell_wire::systemview::ShortPacket;
use tracewell_wire::systemview::ids::{self, SHAPES};

use super::Events;
use crate::format::systemview::cores::Core;
use crate::format::systemview::lane::Lane;
use crate::format::systemview::names::Names;
use crate::format::systemview::row;
use crate::format::systemview::stream::Source;
use crate::model::{Emitter, Flow, NewEvent, Trace};

/// The events that contain at most two numbers and need little processing: bit `i` is set for the
/// event with id `i`.
pub(super) const EVENTS: u32 = {
    let (mut short, mut id) = (1 << ids::TASK_STOP_READY, 0);
    while id < SHAPES.len() {
        let is_short = SHAPES[id].numbers < 2 && !SHAPES[id].text;
        short |= (is_short as u32) << id;
        id += 1;
    }
    short & !(1 << ids::OVERFLOW)
};

/// The short events that change nothing but the running context of their core. All other events,
/// and zero bytes, take the general path.
const QUICK: u32 = EVENTS & !(1 << ids::NOP | 1 << ids::TASK_CREATE | 1 << ids::TRACE_STOP);

/// Maximum number of source bytes that a batch of short events occupies.
const RANGE: u64 = (Emitter::EVENTS * ShortPacket::WINDOW) as u64;

/// Returns the address of the object with this identifier. To get the identifier, the recorder
/// subtracts the base from the address and removes the lowest bits.
#[inline]
pub(super) fn address(id: u32, base: u32, shift: u32) -> u64 {
    u64::from(base.wrapping_add(id.checked_shl(shift).unwrap_or(0)))
}

/// Returns the first argument of a short event: the address of a task or timer, or the number.
#[inline(always)]
pub(super) fn value(id: u32, number: Option<u32>, base: u32, shift: u32) -> u64 {
    let number = number.unwrap_or(0);
    match id {
        ids::TASK_START_EXEC
        | ids::TASK_START_READY
        | ids::TASK_STOP_READY
        | ids::TASK_CREATE
        | ids::TIMER_ENTER => address(number, base, shift),
        _ => u64::from(number),
    }
}

/// Updates the running context of a core after an event. `value` is the event's first argument.
#[inline(always)]
pub(super) fn effect(
    core: &mut Core,
    names: &mut Names,
    (id, value): (u32, u64),
    cpu: u16,
    trace: &mut Trace,
) {
    match id {
        ids::TASK_START_EXEC => core.runs(names.task(trace, value)),
        ids::TASK_START_READY | ids::TASK_STOP_READY => {
            names.task(trace, value);
        }
        ids::ISR_ENTER => core.enter(names.interrupt(trace, value as u32)),
        ids::IDLE => core.runs(names.idle(trace, cpu)),
        ids::TASK_STOP_EXEC => core.stops(Names::scheduler(trace)),
        _ => {}
    }
}

/// Appends the row of a short event. `value` is the event's first argument.
#[inline(always)]
pub(super) fn put(out: &mut Vec<u8>, value: u64, numbers: (Option<u32>, Option<u32>)) {
    match numbers {
        (None, _) => row::put(out, []),
        (Some(_), None) => row::put(out, [value]),
        (Some(_), Some(second)) => row::put(out, [value, u64::from(second)]),
    }
}

impl Events {
    /// Adds the events of short packets. Stops at the first packet that is not short, and at
    /// anything else that [`Stream::next`](super::super::stream::Stream::next) must handle.
    pub(in crate::format::systemview) fn add_short(
        &mut self,
        lane: &mut Lane,
        source: Source<'_>,
        out: &mut Emitter<'_>,
    ) -> Flow {
        let Self { cores, names, base, shift, .. } = self;
        let (base, shift, cpu) = (*base, *shift, lane.cpu);
        let core = cores.at(cpu);
        // This loop needs the origin of the time, which the general path sets at the first event.
        while lane.has_started()
            && let Some(bytes) = lane.stream.packets(source)
        {
            let begin = lane.stream.at;
            let room = out.room(begin..begin.saturating_add(RANGE))?;
            let origin = out.trace.clock.first_stamp;
            let (mut ticks, mut at, mut added) = (lane.ticks, 0_usize, 0);
            while added < room {
                let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else {
                    break;
                };
                let Some(packet) = ShortPacket::read(window, QUICK) else { break };
                // A sync can begin with the last bytes of a packet.
                if window.get(packet.length - 1) == Some(&0) {
                    break;
                }
                ticks = ticks.saturating_add(u64::from(packet.delta));
                let numbers = (packet.first(), packet.second());
                let value = value(packet.id, numbers.0, base, shift);
                effect(core, names, (packet.id, value), cpu, out.trace);
                put(&mut out.buffer.payloads, value, numbers);
                let context = core.context(packet.id, out.trace);
                let ticks = ticks.saturating_sub(origin);
                let event = NewEvent { cpu, ..NewEvent::new(ticks, context, packet.id) };
                let record = begin + at as u64;
                out.add(event, record..record + packet.length as u64);
                at += packet.length;
                added += 1;
            }
            lane.advance_to(ticks);
            lane.stream.skip(at);
            if added < room {
                break;
            }
        }
        Flow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_an_identifier_can_be_shifted_out_of_its_address() {
        let address = |shift| address(5, 0x1000, shift);
        assert_eq!([0, 2, 31, 32].map(address), [0x1005, 0x1014, 0x8000_1000, 0x1000]);
    }
}
