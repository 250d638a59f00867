//! Counts the events that have a pattern's name but do not meet its conditions. The counts explain
//! why a trace does not decide a statement.

use super::matching::{Matcher, Miss};
use super::syntax::Pattern;
use crate::model::Event;
use crate::select::expression::syntax::{Comparison, Condition, Text, Wanted};
use crate::select::{did_you_mean, nearest};
use crate::text::counted;

/// Maximum number of different values that are kept for a suggestion.
const MAX_VALUES: usize = 64;

/// Number of events whose values are compared. Later events are only counted, because it takes time
/// to convert a value to text.
const MAX_COMPARED: u64 = 4096;

/// The events with a pattern's name that do not meet the pattern's conditions.
#[derive(Debug, Default)]
pub(super) struct Missed {
    count: u64,
    /// The label of the events. `None` before the first event, and if the events have several
    /// labels.
    label: Option<String>,
    /// The indices of the alternative and of the condition that the events did not meet.
    condition: Option<(usize, usize)>,
    /// True if different events failed different conditions.
    differ: bool,
    /// The values that were compared with the condition.
    values: Vec<String>,
}

impl Missed {
    /// Adds an event. An event with another name does not count.
    pub(super) fn note(
        &mut self,
        matcher: &mut Matcher<'_>,
        pattern: &Pattern,
        event: Event<'_>,
        miss: Miss,
    ) {
        let Miss::Condition(alternative, condition) = miss else { return };
        let at = (alternative, condition);
        let label = || Some(event.label().to_string());
        // Compare only the first events, because looking up labels takes time.
        match self.count {
            0 => (self.label, self.condition) = (label(), Some(at)),
            1..=MAX_COMPARED => {
                // The explanation may name a condition or a label only if all compared events share
                // it.
                self.differ |= self.condition != Some(at);
                self.label = self.label.take().filter(|known| Some(known) == label().as_ref());
            }
            _ => {}
        }
        self.count += 1;
        if self.count <= MAX_COMPARED
            && self.values.len() < MAX_VALUES
            && let Some(found) = matcher.found(pattern, at, event)
            && !self.values.contains(&found)
        {
            self.values.push(found);
        }
    }

    /// Returns a description of the events, with the condition that they do not meet.
    pub(super) fn describe(&self, matcher: &Matcher<'_>, pattern: &Pattern) -> String {
        let names = matcher.names(pattern);
        let Some(at) = self.condition else {
            return format!("the trace has no event '{}'", names.escape_debug());
        };
        let label = self.label.as_ref().unwrap_or(&names).escape_debug();
        let events = counted(self.count, &format!("'{label}' event"));
        let alternative = pattern.alternatives.get(at.0);
        let condition = alternative.and_then(|of| of.conditions.get(at.1));
        match condition.filter(|_| !self.differ) {
            Some(condition) => {
                let field = matcher.field(pattern, at);
                let (sign, values) = (condition.comparison.sign(), values(condition));
                let meant = did_you_mean(self.meant(condition));
                format!("{events}, none with {field}{sign}{values}{meant}")
            }
            None => format!("{events}, none meets all conditions"),
        }
    }

    /// Returns the recorded value that the user probably meant in the condition.
    fn meant(&self, condition: &Condition) -> Option<&String> {
        let (Comparison::Equal, [Wanted::Text(Text::Like(wanted) | Text::Exactly(wanted))]) =
            (condition.comparison, &condition.values[..])
        else {
            return None;
        };
        nearest(wanted, &self.values)
    }
}

/// Returns the values of a condition in the form that rules use.
fn values(condition: &Condition) -> String {
    let written = condition.values.iter().map(|value| match value {
        Wanted::Number(_, written) => written.clone(),
        Wanted::Text(Text::Like(text)) => text.clone(),
        Wanted::Text(Text::Exactly(text)) => format!("\"{}\"", text.escape_debug()),
        Wanted::Variable(_) => "the value of its variable".to_owned(),
    });
    written.collect::<Vec<_>>().join(" | ")
}
