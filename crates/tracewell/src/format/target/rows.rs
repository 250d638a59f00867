//! Writes recorded events as rows with contexts and arguments.

use tracewell_wire::number;
use tracewell_wire::target::{RecordedEvent, ids};

use super::user::block;
use crate::format::kernel::{Kernel, Place, Recorded};
use crate::model::values::put;
use crate::model::{Emitter, Flow, NewEvent, Severity};

/// The place where an event was recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) core: u8,
    /// The time in ticks, which continues across restarts.
    pub(super) time: u64,
    /// Offset in the source.
    pub(super) offset: u64,
}

/// Delivers an event.
pub(super) fn add(
    kernel: &mut Kernel,
    event: &RecordedEvent<'_>,
    position: Position,
    out: &mut Emitter<'_>,
) -> Flow {
    let ticks = out.ticks(position.time);
    // The event changes names, so first deliver the events before it.
    if Kernel::renames(event.id) {
        out.flush()?;
    }
    let [first, second] = event.arguments;
    // The stream encodes signed values so that small negative values are short. Decode the sign.
    let second = match event.id {
        ids::VALUE => number::signed(second).cast_unsigned(),
        _ => second,
    };
    let place = Place::Core(position.core);
    let recorded = Recorded { id: event.id, arguments: [first, second], place, ticks };
    let Some(row) = kernel.take(recorded, out.trace) else {
        return Flow::Continue(());
    };
    let payloads = &mut out.buffer.payloads;
    let (id, undescribed) = block(event, out.trace, payloads).unwrap_or_else(|| {
        let arguments = row.arguments();
        put(payloads, (1 << arguments.len()) - 1, arguments, &[]);
        (row.id, 0)
    });
    if undescribed > 0 && kernel.counts.undescribed_arguments == 0 {
        let name = &out.trace.schema.event(id).name;
        let message = format!(
            "event '{name}' has more arguments than its definition; the additional ones are not \
             shown"
        );
        out.trace.diagnostics.add(Severity::Warning, position.offset, message);
    }
    kernel.counts.undescribed_arguments += undescribed;
    kernel.counts.unknown_events += u64::from(!out.trace.schema.covers(id));
    out.buffer.copies.extend_from_slice(event.bytes);
    let (context, priority, cpu) = (row.context, row.priority, u16::from(position.core));
    out.copied(NewEvent { ticks, cpu, context, id, priority }, position.offset)
}
