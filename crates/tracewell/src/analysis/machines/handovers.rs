//! Follows each item of a queue or a semaphore from the event that puts it to the event that takes
//! it. This is for systems whose events do not name the receivers of messages.

use std::ops::Range;

use super::concerns::{BLOCK, Skipped, Wanted};
use super::exchange::{Act, Exchange, Exchanged, tells_messages};
use super::moments::Passed;
use super::sight::{Named, Role};
use crate::analysis::scheduling::Position;
use crate::model::schema::Schema;
use crate::model::{Arguments, Batch, ContextId, ContextKind, Meaning, OfSchema, PerId, Trace};

/// After this number of put operations, all pending items are dropped. If a trace does not record
/// when items are taken, they all stay pending.
const MAX_PUTS: usize = 1 << 20;

/// The facts about an event id that the handovers need.
#[derive(Clone, Copy, Debug)]
struct EventFacts {
    meaning: Option<Meaning>,
    act: Option<Act>,
    /// The argument that names the object, and the argument that contains the number of items in
    /// the object.
    object: Option<Role>,
    used: Option<usize>,
}

impl EventFacts {
    fn of(schema: &Schema, id: u32) -> Self {
        let event = schema.event(id);
        let means = event.means;
        Self {
            meaning: means.map(|means| means.meaning),
            act: Act::of(event),
            object: Role::of(schema, event, means.and_then(|means| means.object)),
            used: event.details.used,
        }
    }
}

/// Follows all items.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Handovers {
    facts: PerId<EventFacts>,
    /// The ids of events that put or take no items.
    skipped: Skipped,
    exchange: Exchange<Passed>,
    /// Number of put operations since the pending items were last dropped.
    puts: usize,
    /// True if events name the receivers of messages; `None` before the first event.
    tells_messages: Option<bool>,
}

impl Handovers {
    /// Handles the events of a batch. For each item that changes hands, calls `passed` with the
    /// positions of the put and get operations. A waiting context takes an item as soon as the item
    /// is put.
    pub(in crate::analysis) fn take(
        &mut self,
        trace: &Trace,
        batch: &Batch<'_>,
        mut passed: impl FnMut(Passed, Passed),
    ) {
        // If events name the receivers of messages, `messages` follows them, and this table is not
        // needed.
        let tells = *self.tells_messages.get_or_insert_with(|| tells_messages(&trace.schema));
        if tells {
            return;
        }
        let mut table = std::mem::take(&mut self.facts);
        let mut facts = table.of_schema(&trace.schema);
        if facts.is_empty() {
            self.skipped.clear();
        }
        let arguments = Arguments::new(trace, batch);
        // The first row that was not passed to `recorded` yet.
        let mut unseen = 0;
        for (block, ids) in batch.columns.id.chunks(BLOCK).enumerate() {
            for row in Wanted::with(ids, |id| !self.skipped.contains(id)) {
                let EventFacts { act, object, used, .. } = *facts.get(ids[row], EventFacts::of);
                let Some(act) = act else {
                    self.skipped.add(ids[row]);
                    continue;
                };
                let row = block * BLOCK + row;
                // Call `recorded` first, because the events up to this one can show that threads no
                // longer wait.
                self.recorded(batch, unseen..row + 1, &mut facts);
                unseen = row + 1;
                let columns = batch.columns;
                let (Some(object), Some(ticks), Some(context)) =
                    (object, columns.ticks.get(row), columns.context.get(row))
                else {
                    continue;
                };
                let Some(argument) = arguments.get(row, object.argument) else { continue };
                let exchanged = Exchanged {
                    object: object.named(trace, argument, *ticks),
                    used: used.and_then(|used| arguments.get(row, used)),
                    context: *context,
                };
                let at = Position { ticks: *ticks, seq: batch.first + row as u64 };
                if let Some((sent, taken)) = self.exchanged(trace, &exchanged, act, at) {
                    passed(sent, taken);
                }
            }
        }
        self.recorded(batch, unseen..batch.columns.id.len(), &mut facts);
        self.facts = table;
    }

    /// Handles the events in a range of rows. Each event shows that its thread no longer waits,
    /// unless the event means that the thread blocks.
    #[inline(always)]
    fn recorded(
        &mut self,
        batch: &Batch<'_>,
        rows: Range<usize>,
        facts: &mut OfSchema<'_, EventFacts>,
    ) {
        if !self.exchange.has_waiting() {
            return;
        }
        let contexts = batch.columns.context.get(rows.clone()).unwrap_or_default();
        for (row, context) in rows.zip(contexts) {
            if self.exchange.waits(*context)
                && let Some(id) = batch.columns.id.get(row)
            {
                self.exchange.recorded(*context, facts.get(*id, EventFacts::of).meaning);
            }
        }
    }

    /// Handles an event with this action. If an item changes hands at this event, returns the
    /// positions of the put and get operations.
    fn exchanged(
        &mut self,
        trace: &Trace,
        exchanged: &Exchanged,
        act: Act,
        at: Position,
    ) -> Option<(Passed, Passed)> {
        let passed = Passed { at, context: exchanged.context };
        match act {
            Act::Put { first } => {
                if self.puts >= MAX_PUTS {
                    self.gap();
                }
                self.puts += 1;
                let taker = self.exchange.put(exchanged, Some(passed), first)?;
                let context = trace.contexts.find(taker.key)?;
                Some((passed, Passed { at, context }))
            }
            Act::Take => {
                let taker = taker(trace, exchanged.context, at.ticks)?;
                Some((self.exchange.take(exchanged, taker)?, passed))
            }
        }
    }

    /// Handles missing events: after the gap, the pending items are unknown.
    pub(in crate::analysis) fn gap(&mut self) {
        self.exchange.clear();
        self.puts = 0;
    }
}

/// Returns the thread or interrupt that takes an item. The name of this context is not looked up,
/// because its key identifies it.
fn taker(trace: &Trace, context: ContextId, ticks: u64) -> Option<Named> {
    let context = trace.contexts.get(context)?;
    let is_suitable = matches!(context.kind, ContextKind::Thread | ContextKind::Interrupt);
    let (argument, key) = (context.key, context.key);
    is_suitable.then_some(Named { argument, key, kind: None, ticks, renamed: 0 })
}
