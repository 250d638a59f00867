//! Warns about two kinds of names in rules: names of events and arguments that the trace's format
//! does not have, and names in conditions that no context, object or event of the trace has.

use super::shapes::is_named;
use super::syntax::{Invariant, InvariantKind, Pattern, Rules};
use crate::model::Trace;
use crate::model::schema::EventType;
use crate::select::expression::syntax::{Field, Text};
use crate::select::{
    self, did_you_mean, event_id, has_event, nearest, nearest_event, trailing_id, unknown_values,
};
use crate::source::Finding;

impl Rules {
    /// Returns a warning for each name of an event or argument that the format of this trace does
    /// not have. Call this after reading the trace, because a trace may define its own events.
    ///
    /// # Examples
    ///
    /// ```
    /// use tracewell::check::Rules;
    /// use tracewell::input::{Input, Settings};
    /// use tracewell::source::Source;
    ///
    /// # let root = env!("CARGO_MANIFEST_DIR");
    /// # let path = format!("{root}/tests/fixtures/threadx/tiny.trx");
    /// let parsed = Rules::parse(&Source::new("my.rules", "never tx_mutex_gte"));
    /// let rules = parsed.rules.expect("no errors");
    /// let mut check = tracewell::check::Check::new(&rules);
    /// let trace = Input::open(path.as_ref(), Settings::default())?.read(&mut check)?;
    /// assert!(rules.unknown_names(&trace)[0].message.ends_with("did you mean 'tx_mutex_get'?"));
    /// # Ok::<(), tracewell::input::InputError>(())
    /// ```
    pub fn unknown_names(&self, trace: &Trace) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut seen = vec![false; self.shapes.len()];
        for pattern in self.patterns() {
            for alternative in &pattern.alternatives {
                let seen = seen.get_mut(alternative.shape as usize);
                // Report each shape once, even if the file uses it often.
                if seen.is_none_or(|seen| std::mem::replace(seen, true)) {
                    continue;
                }
                let Some(shape) = self.shapes.get(alternative.shape as usize) else { continue };
                let message = unknown_name(&shape.name, trace)
                    .or_else(|| unknown_field(&shape.name, &shape.fields, trace));
                findings.extend(message.map(|message| Finding::warning(pattern.span, message)));
            }
        }
        findings
    }

    /// Returns a warning for each name in a condition if no context, object or event of this trace
    /// has this name. Examines only statements in which such a name would go unnoticed: they
    /// specify events that must not occur, events to ignore, or the only events that count.
    pub(super) fn unknown_values(&self, trace: &Trace) -> Vec<Finding> {
        let mut patterns = Vec::new();
        for rule in &self.rules {
            patterns.extend(rule.ignored.iter().chain(&rule.only));
            patterns.extend(rule.invariants.iter().filter_map(|invariant| match &invariant.kind {
                InvariantKind::Never(pattern) => Some(pattern),
                InvariantKind::Count { .. } | InvariantKind::Whenever { .. } => None,
            }));
        }
        let mut findings = Vec::new();
        for pattern in patterns {
            for alternative in &pattern.alternatives {
                let Some(shape) = self.shapes.get(alternative.shape as usize) else { continue };
                let events = named(&shape.name, trace);
                let conditions = shape.fields.iter().zip(&alternative.conditions);
                findings.extend(conditions.flat_map(|condition| {
                    let messages = unknown_values(condition, &events, trace, "this trace");
                    messages.into_iter().map(|message| Finding::warning(pattern.span, message))
                }));
            }
        }
        findings
    }

    fn patterns(&self) -> Vec<&Pattern> {
        let mut patterns = Vec::new();
        for rule in &self.rules {
            patterns.extend(rule.ignored.iter().chain(&rule.only));
            rule.steps.patterns(&mut |pattern| patterns.push(pattern));
            patterns.extend(rule.invariants.iter().flat_map(Invariant::patterns));
        }
        patterns
    }
}

fn named<'t>(name: &Text, trace: &'t Trace) -> Vec<&'t EventType> {
    let (Text::Like(written) | Text::Exactly(written)) = name;
    // A file may have thousands of names. For a name without wildcards, try only its own id.
    let id = event_id(written, &trace.schema);
    let tried = (!written.contains(['*', '?'])).then_some(id.as_slice());
    trace.schema.entries_of(tried, |id| is_named(name, trace, id))
}

fn unknown_name(name: &Text, trace: &Trace) -> Option<String> {
    let (Text::Like(written) | Text::Exactly(written)) = name;
    let is_known = match name {
        Text::Like(written) => has_event(written, &trace.schema),
        Text::Exactly(_) => {
            // A name in quotes can also be the name of a range or of unknown events, or a name that
            // ends with an event id.
            trace.schema.ranges().any(|event| is_named(name, trace, event.id))
                || !named(name, trace).is_empty()
                || is_named(name, trace, u32::MAX)
                || trailing_id(written, &trace.schema).is_some_and(|id| is_named(name, trace, id))
        }
    };
    let meant = || match name {
        Text::Exactly(_) if has_event(written, &trace.schema) => {
            "; without quotation marks, case and '_' do not matter".to_owned()
        }
        _ => did_you_mean(nearest_event(written, &trace.schema)),
    };
    (!is_known).then(|| format!("no event named '{written}' in format {}{}", trace.format, meant()))
}

fn unknown_field(name: &Text, fields: &[Field], trace: &Trace) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    let events = named(name, trace);
    // An unknown name has its own warning, and its arguments cannot be checked.
    events.first()?;
    let missing = fields.iter().find_map(|field| match field {
        Field::Argument(wanted) => {
            let has = |event: &&EventType| select::has_argument(wanted, event);
            // A pattern with wildcards matches several events. It is enough if one of them has the
            // argument.
            (!events.iter().copied().any(|event| has(&event))).then_some(wanted)
        }
        Field::Property(_) => None,
    })?;
    let [event] = &events[..] else {
        return Some(format!("none of these events has an argument '{missing}'"));
    };
    let names: Vec<_> = event.args.iter().map(|argument| argument.name.as_str()).collect();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let meant = did_you_mean(nearest(missing, names));
    Some(format!("this event has no argument '{missing}'; it has {known}{meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Clock, PayloadLayout};
    use crate::source::Source;

    #[test]
    fn a_label_with_its_number_is_known_in_quotation_marks_too() {
        let payload = PayloadLayout::Words { order: tracewell_wire::ByteOrder::Little, bytes: 4 };
        let clock = Clock::of_64_bits(None);
        let trace = Trace::new("threadx", crate::format::threadx::schema(), payload, clock);
        let unknown_names = |text: &str| {
            let rules = Rules::parse(&Source::new("names.rules", text)).rules.unwrap();
            rules.unknown_names(&trace).len()
        };
        assert_eq!(unknown_names("never \"user event 65535\"\nnever user_event_5000"), 0);
        assert_eq!(unknown_names("never \"user event x\"\nnever \"tx_mutex_gte\""), 2);
    }
}
