//! Rules from a trace: every selected event, in its order, with all its arguments. The trace passes
//! them; one in which an event is missing, added, changed or elsewhere does not.

use std::io::{self, Write};
use std::ops::ControlFlow;

use super::lexer::is_word;
use super::parser::is_keyword;
use crate::model::schema::{Argument, ArgumentKind};
use crate::model::{Batch, EventRef, Flow, Loss, Severity, Sink, Trace};
use crate::select::{Selection, Selector, did_you_mean, is_argument, nearest};
use crate::text::{Describer, LineWriter, TextBuffer, missing};

/// What is written of a trace.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Patterns of the events that are written; all where there are none.
    pub events: Vec<String>,
    /// Names of the contexts whose events are written; all where there are none.
    pub contexts: Vec<String>,
    /// Names of arguments that are left out, for they differ from run to run.
    pub without: Vec<String>,
}

/// A sink that writes rules.
#[derive(Debug)]
pub struct RulesWriter<W> {
    lines: LineWriter<W>,
    selector: Selector,
    options: WriteOptions,
    describer: Describer,
    value: TextBuffer,
    /// The step that was made last, and how often in a row.
    step: (String, u64),
    /// Steps that were written.
    written: u64,
}

/// Steps that are written at most: rules need some ten times the room of their text when they are read.
pub const MAX_STEPS: u64 = if cfg!(test) { 1000 } else { 1_000_000 };

impl<W: Write> RulesWriter<W> {
    /// Begins the rules of a trace of this name.
    pub fn new(out: W, name: &str, options: WriteOptions) -> Self {
        let WriteOptions { events, contexts, .. } = &options;
        let (events, contexts) = (events.clone(), contexts.clone());
        let selection = Selection { events, contexts, ..Selection::default() };
        let (describer, value) = (Describer::default(), TextBuffer::default());
        let (lines, selector) = (LineWriter::new(out), Selector::new(selection));
        let step = (String::new(), 0);
        let mut writer = Self { lines, selector, options, describer, value, step, written: 0 };
        writer.line(&format!("# What happened in {}.", name.escape_debug()));
        writer.line("strict");
        if let Some(only) = writer.options.only() {
            writer.line(&only);
        }
        writer.line("");
        writer
    }

    fn line(&mut self, text: &str) {
        self.lines.buffer().text(text);
        self.lines.line_end();
    }

    /// Returns true if the trace has more steps than [`MAX_STEPS`]: what was written ends before the trace does.
    pub fn is_full(&self) -> bool {
        self.written > MAX_STEPS
    }

    /// Writes the step that was made last; equal ones in a row are one that is repeated.
    fn put_step(&mut self) -> bool {
        let (step, times) = std::mem::take(&mut self.step);
        self.written += u64::from(times > 0);
        let out = self.lines.buffer();
        match times {
            0 => return true,
            1 => out.text(&step),
            _ => out.text(format!("repeat {times} {step}")),
        };
        self.lines.line_end() && !self.is_full()
    }

    /// Adds a warning to a trace that was read for each name in the options that nothing in it has.
    pub fn remark(&self, trace: &mut Trace) {
        let WriteOptions { events, contexts, without } = &self.options;
        let (events, contexts) = (events.clone(), contexts.clone());
        Selection { events, contexts, ..Selection::default() }.remark(trace);
        for wanted in without {
            let args = || trace.schema.events().iter().flat_map(|event| &event.args);
            if !args().any(|argument| is_argument(wanted, argument)) {
                let names = args().map(|argument| argument.name.as_str());
                let meant = did_you_mean(nearest(wanted, names));
                let message = format!("no event has an argument named '{wanted}'{meant}");
                trace.diagnostics.add(Severity::Warning, None, message);
            }
        }
    }

    /// Writes what is left and gives the writer back.
    ///
    /// # Errors
    /// The first error of the writer, whenever it came.
    pub fn finish(mut self) -> io::Result<W> {
        self.put_step();
        self.lines.finish()
    }

    fn event(&mut self, trace: &Trace, event: &EventRef<'_>) -> bool {
        let kind = trace.schema.event(event.id);
        let mut step = name(&kind.name);
        let mut conditions = Vec::new();
        if !trace.schema.defines(event.id) {
            conditions.push(format!("@id = {}", event.id));
        }
        let without = &self.options.without;
        let named = |argument: &Argument| without.iter().any(|name| is_argument(name, argument));
        let args = kind.args.iter().enumerate().filter(|(_, argument)| !named(argument));
        for (index, argument) in args {
            self.value.truncate(0);
            if !self.describer.put_value(&mut self.value, trace, event, index) {
                continue;
            }
            let raw = trace.payload.argument(event.payload, index).unwrap_or(0);
            let shown = String::from_utf8_lossy(self.value.as_bytes());
            conditions.push(format!("{} = {}", name(&argument.name), value(argument, raw, &shown)));
        }
        conditions.extend(recorded_by(trace, event));
        if trace.cpus > 1 {
            conditions.push(format!("@cpu = {}", event.cpu));
        }
        if !conditions.is_empty() {
            step += &format!("({})", conditions.join(", "));
        }
        if step == self.step.0 {
            self.step.1 += 1;
            return true;
        }
        let goes_on = self.put_step();
        self.step = (step, 1);
        goes_on
    }
}

impl<W: Write> Sink for RulesWriter<W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            match self.selector.takes(trace, &event) {
                ControlFlow::Continue(true) if !self.event(trace, &event) => {
                    return Flow::Break(());
                }
                ControlFlow::Continue(_) => {}
                ControlFlow::Break(()) => return Flow::Break(()),
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        let some = || "some events are missing".to_owned();
        self.put_step();
        let lost = loss.events.map_or_else(some, |events| missing(events, "event"));
        self.line(&format!("# {lost} here: {}", loss.cause.as_str()));
        Flow::Continue(())
    }
}

impl WriteOptions {
    /// The statement that selects what was selected.
    fn only(&self) -> Option<String> {
        if self.events.is_empty() && self.contexts.is_empty() {
            return None;
        }
        let context = |context: &String| match context.contains(['*', '?']) {
            true => context.replace(|c| !is_word(c), "?"),
            false => name(context),
        };
        let contexts: Vec<_> = self.contexts.iter().map(context).collect();
        let of = match contexts.is_empty() {
            true => String::new(),
            false => format!("@context = {}", contexts.join(" | ")),
        };
        let any = ["*".to_owned()];
        let events = if self.events.is_empty() { &any[..] } else { &self.events };
        let patterns = events.iter().map(|event| match event.parse::<u32>() {
            Ok(id) if of.is_empty() => format!("*(@id = {id})"),
            Ok(id) => format!("*(@id = {id}, {of})"),
            Err(_) if of.is_empty() => wildcard(event),
            Err(_) => format!("{}({of})", wildcard(event)),
        });
        Some(format!("only {}", patterns.collect::<Vec<_>>().join(" | ")))
    }
}

/// A pattern of a selection as one of rules, in which `_` stands for a blank.
fn wildcard(pattern: &str) -> String {
    let word = |c: char| match c {
        ' ' => '_',
        _ if is_word(c) => c,
        _ => '?',
    };
    let pattern: String = pattern.chars().map(word).collect();
    if is_keyword(&pattern) || pattern.contains("..") { quoted(&pattern) } else { pattern }
}

/// Who recorded an event, where no argument says so.
fn recorded_by(trace: &Trace, event: &EventRef<'_>) -> Option<String> {
    let context = trace.contexts.get(event.context)?;
    let args = 0..trace.schema.event(event.id).args.len();
    let mut values = args.filter_map(|index| trace.payload.argument(event.payload, index));
    let told = values.any(|value| value == context.key);
    (!told).then(|| format!("@context = {}", name(&context.name)))
}

/// A name as rules have it: in quotation marks where it is no plain word.
fn name(name: &str) -> String {
    let plain = |c: char| is_word(c) && !"*?.+-%&".contains(c);
    let number = name.starts_with(|c: char| c.is_ascii_digit());
    if name.is_empty() || number || !name.chars().all(plain) || is_keyword(name) {
        quoted(name)
    } else {
        name.to_owned()
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn value(argument: &Argument, raw: u64, shown: &str) -> String {
    match argument.kind {
        ArgumentKind::Unsigned | ArgumentKind::Signed => shown.to_owned(),
        ArgumentKind::Hex | ArgumentKind::Address | ArgumentKind::Unnamed => format!("0x{raw:X}"),
        _ => name(shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_not_written_without_end() {
        let mut writer = RulesWriter::new(Vec::new(), "long", WriteOptions::default());
        for step in 0..MAX_STEPS {
            writer.step = (format!("A(n = {step})"), 1);
            assert!(writer.put_step() && !writer.is_full(), "{step}");
        }
        writer.step = ("B".to_owned(), 1);
        assert!(!writer.put_step() && writer.is_full());
    }
}
