//! Names in rules that no event of a trace's format has: misspelt, or of another format.

use super::matching::is_named;
use super::syntax::{Field, Invariant, Pattern, Rules, Text};
use crate::model::Trace;
use crate::model::schema::EventType;
use crate::select::{self, did_you_mean, has_event, nearest, nearest_event};
use crate::source::Finding;

impl Rules {
    /// Warnings of events and arguments that the format of this trace does not have. Events that only
    /// this trace defines are known once it was read. Each name is told of once.
    pub fn doubts(&self, trace: &Trace) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut seen = vec![false; self.shapes.len()];
        for pattern in self.patterns() {
            for alternative in &pattern.alternatives {
                let seen = seen.get_mut(alternative.shape as usize);
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

fn named<'t>(name: &Text, trace: &'t Trace) -> impl Iterator<Item = &'t EventType> {
    trace.schema.events().iter().filter(move |event| is_named(name, trace, event.id))
}

fn unknown_name(name: &Text, trace: &Trace) -> Option<String> {
    let (Text::Like(written) | Text::Exactly(written)) = name;
    let is_known = match name {
        Text::Like(written) => has_event(written, &trace.schema),
        Text::Exactly(_) => {
            trace.schema.ranges().any(|event| is_named(name, trace, event.id))
                || named(name, trace).next().is_some()
                || is_named(name, trace, u32::MAX)
        }
    };
    let meant = || did_you_mean(nearest_event(written, &trace.schema));
    (!is_known).then(|| format!("no event of format {} is named so{}", trace.format, meant()))
}

fn unknown_field(name: &Text, fields: &[Field], trace: &Trace) -> Option<String> {
    let mut events = named(name, trace).peekable();
    events.peek()?;
    let events: Vec<_> = events.collect();
    let missing = fields.iter().find_map(|field| match field {
        Field::Argument(wanted) => {
            let has = |event: &&EventType| select::argument(wanted, &event.args).is_some();
            (!events.iter().copied().any(|event| has(&event))).then_some(wanted)
        }
        Field::Property(_) => None,
    })?;
    let [event] = &events[..] else {
        return Some(format!("none of these events has an argument {missing}"));
    };
    let names: Vec<_> = event.args.iter().map(|argument| argument.name.as_str()).collect();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let meant = did_you_mean(nearest(missing, names));
    Some(format!("this event has no argument {missing}, its arguments: {known}{meant}"))
}
