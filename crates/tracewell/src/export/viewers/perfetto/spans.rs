//! The spans of instrumented programs: nested slices on the tracks of their threads.

use std::iter;

use super::layout::{Act, Layout, Place};
use super::slices::{Change, Label, Note};
use crate::analysis::scheduling::Position;
use crate::analysis::tracks::{EnteredSpan, SpanTrack};
use crate::model::Trace;

impl Layout<'_, '_> {
    /// Adds a slice for each time that a thread is in a span.
    pub(super) fn spans(&mut self) {
        let timeline = self.timeline;
        let threads = timeline.tracks.spans.chunk_by(|one, next| one.context == next.context);
        for tracks in threads {
            let Some(SpanTrack { context, .. }) = tracks.first() else { continue };
            let mut changes: Vec<(Position, usize, Option<EnteredSpan>)> = Vec::new();
            for SpanTrack { depth, row, .. } in tracks {
                changes.extend(timeline.changes(row).map(|(at, span)| (at, *depth, span)));
            }
            // Close the spans that are still open at the end of the range.
            let end = Position { ticks: timeline.range.end, seq: u64::MAX };
            changes.extend((0..tracks.len()).map(|depth| (end, depth, None)));
            // At the same position, outer spans come first, so that inner ones can be within them.
            changes.sort_by_key(|(at, depth, _)| (*at, *depth));
            let place = Place::Context(*context);
            let acts = nested(&timeline.trace, &changes);
            self.merge.add_unordered(
                acts.into_iter().map(|(at, change)| (at, Act::On(place, change))).collect(),
            );
        }
    }
}

/// Returns the ends and beginnings of slices. A viewer ends the innermost slice first. So if a
/// thread leaves an outer span, the slices of the spans inside it end and begin again.
fn nested<'a>(
    trace: &'a Trace,
    changes: &[(Position, usize, Option<EnteredSpan>)],
) -> Vec<(Position, Change<'a>)> {
    let mut slices = Vec::new();
    // The span at each depth with its beginning, and the spans that have an open slice.
    let mut spans: Vec<Option<(EnteredSpan, Position)>> = Vec::new();
    let mut open: Vec<(EnteredSpan, Position)> = Vec::new();
    for group in changes.chunk_by(|(one, ..), (next, ..)| one == next) {
        let Some((at, ..)) = group.first() else { continue };
        for (at, depth, span) in group {
            spans.resize(spans.len().max(depth + 1), None);
            spans[*depth] = span.map(|span| (span, *at));
        }
        let wanted: Vec<_> = spans.iter().flatten().copied().collect();
        let same = iter::zip(&open, &wanted).take_while(|(open, wanted)| open == wanted).count();
        slices.extend(open.drain(same..).map(|_| (*at, Change::End)));
        for (span, _) in &wanted[same..] {
            let label = Label::new("span", span.name(trace));
            let label = label.note("span number", Note::Number(span.number));
            slices.push((*at, Change::Begin(label)));
        }
        open = wanted;
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Schema;
    use crate::model::{Clock, PayloadLayout};

    #[test]
    fn inner_slices_begin_again_if_an_outer_span_is_left_first() {
        let (payload, clock) = (PayloadLayout::Fields(&[]), Clock::of_64_bits(None));
        let trace = Trace::new("native", Schema::empty(), payload, clock);
        let change = |ticks: u64, depth: usize, number: u64| {
            let span = (number > 0).then_some(EnteredSpan { number, begun_by: None });
            (Position { ticks, seq: ticks }, depth, span)
        };
        let changes = [
            change(10, 0, 1),
            change(20, 1, 2),
            change(30, 0, 0),
            change(40, 2, 3),
            change(50, 1, 0),
            change(50, 2, 0),
        ];
        let slices = nested(&trace, &changes);
        let shown = slices.iter().map(|(at, change)| match change {
            Change::Begin(label) => match label.notes[0].1 {
                Note::Number(number) => format!("{}+{number}", at.ticks),
                _ => unreachable!("the first note is a number"),
            },
            _ => format!("{}-", at.ticks),
        });
        let shown: Vec<_> = shown.collect();
        assert_eq!(shown, ["10+1", "20+2", "30-", "30-", "30+2", "40+3", "50-", "50-"]);
    }
}
