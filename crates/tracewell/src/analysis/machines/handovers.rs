//! Follows each item of a queue or a semaphore from the event that puts it to the event that takes
//! it. This is for systems whose events do not name the receivers of messages.

use super::exchange::{Act, Exchange, tells_messages};
use super::moments::Passed;
use super::sight::Sights;
use crate::analysis::scheduling::Position;
use crate::model::schema::Schema;
use crate::model::{Batch, Event, Meaning, PerId, Trace};

/// Maximum number of stored put operations. If there are more, all of them are dropped.
const MAX_PUTS: usize = 1 << 20;

/// The facts about an event id that the handovers need.
#[derive(Clone, Copy, Debug)]
struct EventFacts {
    meaning: Option<Meaning>,
    act: Option<Act>,
}

impl EventFacts {
    fn of(schema: &Schema, id: u32) -> Self {
        let event = schema.event(id);
        Self { meaning: event.means.map(|means| means.meaning), act: Act::of(event) }
    }
}

/// Follows all items.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Handovers {
    facts: PerId<EventFacts>,
    sights: Sights,
    exchange: Exchange,
    puts: Vec<Passed>,
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
        for (row, (id, context)) in batch.columns.id.iter().zip(&batch.columns.context).enumerate()
        {
            let EventFacts { meaning, act } = *facts.get(*id, EventFacts::of);
            // Pass on every event first, because any event of a thread shows that the thread no
            // longer waits.
            self.exchange.recorded(*context, meaning);
            let Some(act) = act else { continue };
            let Some(event) = batch.event(row) else { break };
            if let Some((sent, taken)) = self.exchanged(Event::new(trace, &event), act) {
                passed(sent, taken);
            }
        }
        self.facts = table;
    }

    /// Handles an event with this action. If an item changes hands at this event, returns the
    /// positions of the put and get operations.
    fn exchanged(&mut self, event: Event<'_>, act: Act) -> Option<(Passed, Passed)> {
        let sight = self.sights.of(event)?;
        let at = Position { ticks: event.ticks(), seq: event.seq() };
        let passed = Passed { at, context: event.row.context };
        match act {
            Act::Put { first } => {
                // There is no space for further puts. Forget all puts, as after a loss of events.
                if self.puts.len() >= MAX_PUTS {
                    self.gap();
                }
                self.puts.push(passed);
                let taker = self.exchange.put(&sight, Some(self.puts.len() - 1), first)?;
                let context = event.trace.contexts.find(taker.key)?;
                Some((passed, Passed { at, context }))
            }
            Act::Take => {
                let taker = sight.recorder()?;
                let put = self.exchange.take(&sight, taker)?;
                Some((*self.puts.get(put)?, passed))
            }
        }
    }

    /// Handles missing events: after the gap, the pending items are unknown.
    pub(in crate::analysis) fn gap(&mut self) {
        self.exchange.clear();
        self.puts.clear();
    }
}
