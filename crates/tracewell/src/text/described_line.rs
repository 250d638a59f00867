//! Appends decoded arguments to a line of limited length. Caches the texts of arguments, because
//! numbers often occur again. [`Describer`] makes the texts.

use std::sync::Arc;

use super::kept::{KeptTexts, put_unkept};
use super::{Describer, LineWindow, PerEvent, TextBuffer};
use crate::model::schema::Schema;
use crate::model::{ContextDetail, Event, MAX_NUMBERS, NumberRow, NumberRows};

/// Appends decoded arguments as [`Describer::put`] does, for events whose arguments are numbers.
#[derive(Debug)]
pub(crate) struct LineDescriber {
    ids: KeptIds,
    details: [KeptDetail; 2],
    /// State of the trace's contexts, objects and schema when the cached texts were formatted.
    contexts: Option<(u64, usize)>,
    objects: u64,
    schema: Option<Arc<Schema>>,
    digits: usize,
    text: TextBuffer,
    /// Escapes a text.
    escape: fn(&mut TextBuffer),
}

/// The cached texts of each event id.
#[derive(Debug, Default)]
struct KeptIds {
    /// The arguments of each event id; `None` if they are not all numbers.
    arguments: PerEvent<Option<KeptArguments>>,
    /// Number of ids with cached texts.
    kept: usize,
    /// Increases when the schema, the labels of objects or the size of a word changes.
    epoch: u64,
}

/// The cached texts of an event id's arguments, with the index of each argument.
#[derive(Debug)]
struct KeptArguments {
    epoch: u64,
    texts: Vec<(usize, KeptTexts)>,
}

/// The cached texts of a detail: one for the start of a line, and one for a detail that follows
/// arguments.
type KeptDetail = [KeptTexts; 2];

/// Maximum number of event ids with cached texts. Without a limit, a trace with many ids could fill
/// memory. The texts of an argument occupy 4 KiB.
pub(crate) const MAX_KEPT_IDS: usize = 256;

impl LineDescriber {
    /// Creates a describer of lines. `escape` escapes the text of an argument for the lines.
    pub(crate) fn new(escape: fn(&mut TextBuffer)) -> Self {
        Self {
            ids: KeptIds::default(),
            details: Default::default(),
            contexts: None,
            objects: 0,
            schema: None,
            digits: 0,
            text: TextBuffer::default(),
            escape,
        }
    }

    /// Discards texts that may no longer be valid for a batch. Call this before the first line of
    /// each batch.
    pub(crate) fn begin(&mut self, rows: &NumberRows<'_>) {
        let trace = rows.trace();
        let (objects, digits) = (trace.objects.changes(), trace.payload.digits());
        let same = |schema: &Arc<Schema>| Arc::ptr_eq(schema, &trace.schema);
        if (self.objects, self.digits) != (objects, digits)
            || !self.schema.as_ref().is_some_and(same)
        {
            self.ids.epoch += 1;
            (self.objects, self.digits) = (objects, digits);
            self.schema = Some(Arc::clone(&trace.schema));
            self.contexts = None;
        }
        // Between batches, a key may get another context, and a context may get another name.
        let contexts = Some(trace.contexts.changes());
        if self.contexts != contexts {
            self.contexts = contexts;
            self.details.iter_mut().flatten().for_each(KeptTexts::forget);
        }
    }

    /// Appends the arguments of an event. Returns false if this is not possible; the line is then
    /// incomplete.
    #[inline(always)]
    pub(crate) fn put(
        &mut self,
        line: &mut LineWindow<'_>,
        describer: &mut Describer,
        rows: &NumberRows<'_>,
        row: &NumberRow<'_>,
        numbers: &[u64; MAX_NUMBERS],
    ) -> bool {
        let kept = match self.ids.arguments.find_mut(row.id) {
            // Texts of an earlier epoch may be wrong, so the last arm prepares them again.
            Some(Some(kept)) if kept.epoch == self.ids.epoch => kept,
            Some(None) => return false,
            _ => match self.ids.prepare(describer, rows, (row.id, row.row), self.escape) {
                Some(kept) => kept,
                None => return false,
            },
        };
        for (place, (index, texts)) in kept.texts.iter_mut().enumerate() {
            let Some(number) = numbers.get(*index).copied() else { return false };
            if texts.put(line, number) {
                continue;
            }
            let made = (&mut self.text, self.escape);
            make(made, texts, describer, (rows, row.row), (place, number));
            if !put_unkept(line, &self.text) {
                return false;
            }
        }
        let Some(detail) = row.detail else { return true };
        let is_first = kept.texts.is_empty();
        let (kind, number) = match detail {
            ContextDetail::PreemptionThreshold(threshold) => (0, u64::from(threshold)),
            ContextDetail::Interrupted(key) => (1, key),
        };
        // The text begins with the separator, unless the detail is first in the line.
        let texts = &mut self.details[kind][usize::from(is_first)];
        if texts.put(line, number) {
            return true;
        }
        make_detail((&mut self.text, self.escape), texts, rows, (detail, number, is_first));
        put_unkept(line, &self.text)
    }
}

impl KeptIds {
    /// Prepares the arguments of an event id. Returns `None` if they are not all numbers.
    #[cold]
    fn prepare(
        &mut self,
        describer: &mut Describer,
        rows: &NumberRows<'_>,
        (id, row): (u32, usize),
        escape: fn(&mut TextBuffer),
    ) -> Option<&mut KeptArguments> {
        let row = rows.event(row)?;
        let event = Event::new(rows.trace(), &row);
        let is_new = self.arguments.find(id).is_none();
        if is_new && self.kept >= MAX_KEPT_IDS {
            return None;
        }
        let numbers = describer.numbers(event);
        let numbers = numbers.filter(|list| list.iter().all(|index| *index < rows.count()));
        let mut texts = |place| KeptTexts::of(describer.number_form(event, place, escape));
        let made = numbers.map(|list| KeptArguments {
            epoch: self.epoch,
            texts: list.into_iter().zip(0..).map(|(index, place)| (index, texts(place))).collect(),
        });
        self.kept += usize::from(is_new && made.is_some());
        let kept = self.arguments.get(id, || None);
        *kept = made;
        kept.as_mut()
    }
}

/// Formats the text of an argument, and stores it if it is the same for all events.
#[inline(never)]
fn make(
    (text, escape): (&mut TextBuffer, fn(&mut TextBuffer)),
    texts: &mut KeptTexts,
    describer: &mut Describer,
    (rows, row): (&NumberRows<'_>, usize),
    (place, number): (usize, u64),
) {
    text.truncate(0);
    let Some(event) = rows.event(row) else { return };
    let event = Event::new(rows.trace(), &event);
    let is_constant = describer.put_number(text, event, place, number);
    escape(text);
    if is_constant {
        texts.keep(number, text);
    } else {
        texts.note_miss();
    }
}

/// Formats the text of a detail and stores it.
#[inline(never)]
fn make_detail(
    (text, escape): (&mut TextBuffer, fn(&mut TextBuffer)),
    texts: &mut KeptTexts,
    rows: &NumberRows<'_>,
    (detail, number, is_first): (ContextDetail, u64, bool),
) {
    text.truncate(0);
    super::describe::put_detail(text, rows.trace(), detail, is_first);
    escape(text);
    texts.keep(number, text);
}
