//! Writes rules that a trace passes. The rules contain each selected event, in order, with all its
//! arguments. A trace in which an event is missing, added, changed or moved does not pass. Where
//! the trace has a gap, the rules allow any events.

use std::io::{self, Write};

use super::parser::is_keyword;
use crate::model::schema::{Argument, ArgumentKind};
use crate::model::{Batch, Event, Flow, Loss, Severity, Sink, SinkError, Stop, Trace};
use crate::select::expression::lexer::is_word;
use crate::select::{Selection, Selector, did_you_mean, is_argument, nearest, spoken};
use crate::text::{Describer, LineWriter, TextBuffer, missing};

/// Selects the events and arguments to write.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Patterns of events; empty for all events.
    pub events: Vec<String>,
    /// Names of contexts; empty for all contexts.
    pub contexts: Vec<String>,
    /// Names of arguments to omit, because they differ from run to run.
    pub without: Vec<String>,
}

/// A sink that writes rules.
///
/// # Examples
///
/// ```
/// use tracewell::check::{RulesWriter, WriteOptions};
/// use tracewell::input::{Input, Settings};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
/// let mut writer = RulesWriter::new(Vec::new(), "tiny.trx", WriteOptions::default())?;
/// Input::open(path, Settings::default())?.read(&mut writer)?;
/// let rules = String::from_utf8(writer.into_inner()?).expect("rules are text");
/// assert!(rules.contains("strict"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RulesWriter<W> {
    lines: LineWriter<W>,
    selector: Selector,
    options: WriteOptions,
    describer: Describer,
    value: TextBuffer,
    /// The last step, and the number of consecutive equal steps.
    step: (String, u64),
    /// Number of steps written.
    written: u64,
}

/// Maximum number of steps. Parsed rules need about ten times the memory of their text.
pub const MAX_STEPS: u64 = if cfg!(test) { 1000 } else { 1_000_000 };

impl<W: Write> RulesWriter<W> {
    /// Writes the beginning of the rules for a trace with this name.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn new(out: W, name: &str, options: WriteOptions) -> io::Result<Self> {
        let WriteOptions { events, contexts, .. } = &options;
        let (events, contexts) = (events.clone(), contexts.clone());
        let selection = Selection { events, contexts, ..Selection::default() };
        let (describer, value) = (Describer::default(), TextBuffer::default());
        let (lines, selector) = (LineWriter::new(out), Selector::new(selection));
        let step = (String::new(), 0);
        let mut writer = Self { lines, selector, options, describer, value, step, written: 0 };
        writer.line(&format!("# The events of {}.", name.escape_debug()))?;
        writer.line("strict")?;
        if let Some(only) = writer.options.only() {
            writer.line(&only)?;
        }
        writer.line("")?;
        Ok(writer)
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.lines.buffer().text(text);
        self.lines.line_end()
    }

    /// Returns true if the rules are incomplete, because the trace has more than [`MAX_STEPS`]
    /// steps.
    pub fn is_full(&self) -> bool {
        self.written > MAX_STEPS
    }

    /// Writes the last step. Writes consecutive equal steps as one repeated step.
    fn put_step(&mut self) -> io::Result<()> {
        let (step, times) = std::mem::take(&mut self.step);
        let out = self.lines.buffer();
        match times {
            0 => return Ok(()),
            1 => out.text(&step),
            _ => out.text(format!("repeat {times} {step}")),
        };
        self.written += 1;
        self.lines.line_end()
    }

    /// Checks the names in the options. For each name that is unknown in this trace, adds a warning
    /// to the trace.
    pub fn remark(&self, trace: &mut Trace) {
        let WriteOptions { events, contexts, without } = &self.options;
        let (events, contexts) = (events.clone(), contexts.clone());
        Selection { events, contexts, ..Selection::default() }.remark(trace);
        for wanted in without {
            let args = || trace.schema.events().flat_map(|event| &event.args);
            if !args().any(|argument| is_argument(wanted, argument)) {
                let names = args().flat_map(|argument| [argument.name.as_str(), spoken(argument)]);
                let meant = did_you_mean(nearest(wanted, names));
                let message = format!("no event has an argument named '{wanted}'{meant}");
                trace.diagnostics.add(Severity::Warning, None, message);
            }
        }
    }

    /// Returns the output that the rules were written to.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn into_inner(self) -> io::Result<W> {
        self.lines.into_inner()
    }

    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        let (trace, kind) = (event.trace, event.kind());
        let mut step = name(&kind.name);
        let mut conditions = Vec::new();
        if !trace.schema.defines(event.id()) {
            // All unknown events share one name, so only the id distinguishes them.
            conditions.push(format!("@id = {}", event.id()));
        }
        let without = &self.options.without;
        let named = |argument: &Argument| without.iter().any(|name| is_argument(name, argument));
        let args = kind.args.iter().enumerate().filter(|(_, argument)| !named(argument));
        for (index, argument) in args {
            self.value.truncate(0);
            if !self.describer.put_value(&mut self.value, event, index) {
                continue;
            }
            let raw = event.argument(index).unwrap_or(0);
            let shown = self.value.as_text();
            conditions.push(format!("{} = {}", name(&argument.name), value(argument, raw, &shown)));
        }
        conditions.extend(recorded_by(event));
        // With one core, this condition holds for every event.
        if trace.cpus > 1 {
            conditions.push(format!("@cpu = {}", event.cpu()));
        }
        if !conditions.is_empty() {
            step += &format!("({})", conditions.join(", "));
        }
        // A step is written only when a different step follows, so that equal steps can be counted.
        if step == self.step.0 {
            self.step.1 += 1;
            return Ok(());
        }
        self.put_step()?;
        self.step = (step, 1);
        Ok(())
    }
}

impl<W: Write> Sink for RulesWriter<W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            let event = Event::new(trace, &row);
            if self.selector.takes(event)? {
                Stop::on_error(self.event(event))?;
            }
            if self.is_full() {
                return Flow::Break(Stop::Complete);
            }
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        let some = || "some events are missing".to_owned();
        Stop::on_error(self.put_step())?;
        let lost = loss.events.map_or_else(some, |events| missing(events, "event"));
        Stop::on_error(self.line(&format!("# {lost} here: {}", loss.cause.as_str())))?;
        // Without `...`, the gap would leave the rules undecided. Rules apply from the first event
        // on.
        let gap = if loss.before > 0 { self.line("...") } else { Ok(()) };
        Stop::on_error(gap)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(self.lines.flush()?)
    }

    fn finish(&mut self, _: &Trace) -> Result<(), SinkError> {
        self.put_step()?;
        self.flush()
    }
}

impl WriteOptions {
    /// Returns the statement `only` for the rules. It selects the same events as these options.
    /// Returns `None` if the options select all events.
    fn only(&self) -> Option<String> {
        if self.events.is_empty() && self.contexts.is_empty() {
            return None;
        }
        let context = |context: &String| match context.contains(['*', '?']) {
            // Characters that end a word in rules become `?`, which matches them.
            true => context.replace(|c| !is_word(c) || c == '&', "?"),
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

/// Converts a pattern of a selection to a pattern of rules, in which `_` replaces spaces.
fn wildcard(pattern: &str) -> String {
    let word = |c: char| match c {
        ' ' => '_',
        // Two adjacent `&` would be the operator `&&`.
        '&' => '?',
        _ if is_word(c) => c,
        _ => '?',
    };
    let pattern: String = pattern.chars().map(word).collect();
    if is_keyword(&pattern) || pattern.contains("..") { quoted(&pattern) } else { pattern }
}

/// Returns a condition on the context of an event, or `None` if an argument of the event already
/// contains the key of the context.
fn recorded_by(event: Event<'_>) -> Option<String> {
    let context = event.context()?;
    let args = 0..event.kind().args.len();
    let mut values = args.filter_map(|index| event.argument(index));
    let has_key = values.any(|value| value == context.key);
    (!has_key).then(|| format!("@context = {}", name(&context.name)))
}

/// Returns a name as written in rules, quoted if it is not a plain word.
fn name(name: &str) -> String {
    let plain = |c: char| is_word(c) && !"*?.+-%&".contains(c);
    // A word of digits would be read as a number.
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
        // Rules compare the number, so leading zeros are omitted.
        ArgumentKind::Hex | ArgumentKind::Address | ArgumentKind::Unnamed => format!("0x{raw:X}"),
        ArgumentKind::Span => raw.to_string(),
        _ => name(shown),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn lines_are_visible_after_a_flush() {
        #[derive(Clone, Default)]
        struct Shared(Rc<RefCell<Vec<u8>>>);
        impl Write for Shared {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.borrow_mut().write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let shared = Shared::default();
        let mut writer = RulesWriter::new(shared.clone(), "x", WriteOptions::default()).unwrap();
        assert!(shared.0.borrow().is_empty());
        writer.flush().unwrap();
        assert_eq!(*shared.0.borrow(), b"# The events of x.\nstrict\n\n");
    }

    #[test]
    fn steps_are_not_written_without_end() {
        let options = WriteOptions::default();
        let mut writer = RulesWriter::new(Vec::new(), "long", options).unwrap();
        for step in 0..MAX_STEPS {
            writer.step = (format!("A(n = {step})"), 1);
            writer.put_step().unwrap();
            assert!(!writer.is_full(), "{step}");
        }
        writer.step = ("B".to_owned(), 1);
        writer.put_step().unwrap();
        assert!(writer.is_full());
    }
}
