//! Formats one event as lines: its columns, and the text of its template.

use super::columns::{Row, Times, put_times, put_who};
use super::entry::Scratch;
use super::facts::{ContextFacts, Facts, IdFacts};
use super::heading::LEVEL;
use super::options::Timestamp;
use super::{Settings, entry};
use crate::model::schema::ArgumentKind;
use crate::model::{Event, Meaning, Trace};
use crate::template::syntax::Level;
use crate::template::{EventContext, Machine, Marks, Names, Outcome, Program};
use crate::text::{Describer, TextBuffer};

/// Values that all threads share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'a> {
    pub(super) program: &'a Program,
    pub(super) settings: &'a Settings,
    pub(super) facts: &'a Facts,
    pub(super) trace: &'a Trace,
}

/// The result of formatting an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Formatted {
    /// The event was written in this number of lines.
    Shown(usize),
    /// The template suppressed the event.
    Skipped,
    /// The event was written, and its template ended the report.
    Stop,
}

/// Default width of a line in characters.
const WIDTH: usize = 200;

/// Minimum number of columns for wrapped text, from the margin to the end of a line. If there are
/// fewer, the text begins on a line of its own.
const MIN_ROOM: usize = 30;

/// Margin of text that begins on a line of its own.
const NEAR_MARGIN: usize = 8;

/// Formats events; each thread has its own formatter.
#[derive(Debug, Default)]
pub(super) struct Formatter {
    machine: Machine,
    describer: Describer,
    scratch: Scratch,
    /// The indent and the end of each line, for the layout of an event with several lines.
    several: Vec<(usize, usize)>,
    several_text: Vec<u8>,
    /// Times of the previous and of the first event.
    before: CachedTime,
    first: CachedTime,
}

/// Converts ticks to nanoseconds. Caches the latest result, because most conversions are for the
/// previous line's time.
#[derive(Clone, Copy, Debug, Default)]
struct CachedTime {
    ticks: u64,
    ns: Option<u64>,
}

impl CachedTime {
    #[inline]
    fn ns(&mut self, trace: &Trace, ticks: u64) -> Option<u64> {
        if self.ns.is_none() || self.ticks != ticks {
            *self = Self { ticks, ns: trace.clock.nanoseconds(ticks) };
        }
        self.ns
    }
}

/// The names in a trace that are valid at a given time.
struct NamesAt<'a> {
    trace: &'a Trace,
    ticks: u64,
}

impl Names for NamesAt<'_> {
    fn process(&self, pid: u64) -> Option<&str> {
        self.object(pid)
    }

    fn object(&self, key: u64) -> Option<&str> {
        let object = self.trace.objects.at(key, self.ticks, None);
        // Some systems identify tasks by the keys of their contexts.
        let context = || self.trace.contexts.get(self.trace.contexts.find(key)?);
        match object {
            Some((_, object)) => Some(object.label.as_str()),
            None => context().map(|context| context.name.as_str()),
        }
    }
}

/// An event with the values that its columns show.
#[derive(Clone, Copy)]
struct Columns<'a> {
    shared: &'a Shared<'a>,
    event: Event<'a>,
    context: &'a ContextFacts,
    id: &'a IdFacts,
    /// Name of the system call; empty if no column or template shows it.
    call: &'a str,
    row: Row,
    times: Option<Times>,
}

impl Columns<'_> {
    /// Appends the columns before the text of an event. The line begins at `start`.
    #[inline(always)]
    fn put(&self, out: &mut TextBuffer, start: usize) {
        let Self { shared, event, context, id, call, .. } = *self;
        let Shared { settings, facts, .. } = *shared;
        if settings.options.ids {
            out.literal(&id.column);
        }
        if facts.who {
            let who = (call, id.level == Level::Int);
            put_who(out, start, (&settings.options, facts), event.row, context, who);
        }
        if !settings.options.two_lines {
            self.put_times(out, start);
        }
    }

    #[inline(always)]
    fn put_times(&self, out: &mut TextBuffer, start: usize) {
        let Shared { settings, facts, .. } = *self.shared;
        let options = (&settings.options, facts);
        put_times(out, start, options, self.event.row, self.row, self.times);
    }
}

impl Formatter {
    pub(super) fn marks(&self) -> Marks {
        self.machine.marks()
    }

    /// Returns the lines so far.
    pub(super) fn text(&mut self) -> &mut TextBuffer {
        self.machine.text()
    }

    /// Appends the lines of an event.
    #[inline]
    pub(super) fn event(&mut self, shared: &Shared<'_>, event: Event<'_>, row: Row) -> Formatted {
        let facts = shared.facts;
        let (Some(context), Some(id)) = (facts.context(event.row.context), facts.id(event.id()))
        else {
            return Formatted::Skipped;
        };
        let call = row.call.map(|call| call_name(event.trace, call)).unwrap_or_default();
        let times = if facts.has_rate { self.times(event, row) } else { None };
        let columns = Columns { shared, event, context, id, call: &call, row, times };
        let start = self.machine.text().len();
        columns.put(self.machine.text(), start);
        // Columns and text are written directly into the output. Text is moved afterwards only for
        // events of several lines, and removed only for suppressed events.
        let body = self.machine.text().len();
        self.body(&columns);
        self.layout(&columns, start, body)
    }

    /// Appends the text of an event: the output of its template, or label and arguments.
    #[inline(always)]
    fn body(&mut self, columns: &Columns<'_>) {
        let Columns { shared, event, context, id, call, row, times } = *columns;
        let Shared { program, settings, facts, trace } = *shared;
        let names = NamesAt { trace, ticks: event.ticks() };
        let around = EventContext {
            tid: context.tid,
            pid: context.pid,
            cpu: u32::from(event.cpu()),
            executable: &context.executable,
            system_call: call,
            system: facts.system,
            log: &settings.log,
            offset: row.offset,
            time_ns: times.map_or(event.ticks(), |times| times.now),
            names: &names,
        };
        // Without a template, the event is described from its arguments and needs no entry.
        let wanted = facts.hooks || id.template.is_some();
        let entry = wanted.then(|| entry::entry(facts.hooks, event, id.tail, &mut self.scratch));
        self.machine.text().blanks(LEVEL * id.level.column());
        // Pass the entry by reference. The processor stalls if it loads a whole value that was just
        // stored in parts.
        match (&entry.flatten(), id.template, &id.head) {
            (Some(entry), Some(template), Some(head)) => {
                self.machine.text().literal(head);
                self.machine.run_after_head(program, template, head.len(), entry, &around);
            }
            (Some(entry), Some(template), None) => {
                self.machine.run(program, template, entry, &around);
            }
            // For unknown hooks and for hook id 000, the machine chooses the template as AIX does.
            (Some(entry), None, _) if facts.hooks => {
                self.machine.append(program, entry, &around);
            }
            (_, _, head) => {
                let describer = &mut self.describer;
                self.machine.show(|out| {
                    head.iter().for_each(|head| out.literal(head));
                    describer.put(out, event);
                });
            }
        }
    }

    /// Ends the lines of an event. The lines begin at byte `start` of the output, and the text of
    /// the event begins at byte `body`.
    #[inline(always)]
    fn layout(&mut self, columns: &Columns<'_>, start: usize, body: usize) -> Formatted {
        let Shared { settings, facts, .. } = *columns.shared;
        let outcome = self.machine.lines().outcome();
        if outcome == Outcome::Skipped {
            // Removes the columns that were written before the template ran.
            self.machine.text().truncate(start);
            return Formatted::Skipped;
        }
        let width = if settings.width > 0 { settings.width } else { WIDTH };
        let mut count = 1;
        // Usually there is only one line, and its text is already in place.
        if self.machine.lines().is_one() && self.machine.text().len() - start <= width {
            self.end_line();
        } else {
            count = self.several(body, start, facts.margin, width);
        }
        if settings.options.two_lines && settings.options.timestamp != Timestamp::None {
            let out = self.machine.text();
            let start = out.len();
            out.blanks(facts.id_width);
            columns.put_times(out, start);
            self.end_line();
            count += 1;
        }
        if outcome == Outcome::Stop { Formatted::Stop } else { Formatted::Shown(count) }
    }

    #[inline]
    fn end_line(&mut self) {
        end_line(self.machine.text());
    }

    /// Formats the lines of an event again: indents them, and wraps them to fit `width`. The
    /// event's columns stay before them. Returns the number of lines.
    #[cold]
    fn several(&mut self, columns: usize, start: usize, margin: usize, width: usize) -> usize {
        // The lines are in the same buffer as the output, so they are copied to another buffer
        // first.
        let lines = self.machine.lines().iter();
        self.several.clear();
        self.several_text.clear();
        for (level, line) in lines {
            self.several_text.extend_from_slice(line);
            self.several.push((LEVEL * level.column(), self.several_text.len()));
        }
        let out = self.machine.text();
        out.truncate(columns);
        let (mut count, mut begin, mut margin) = (0, 0, margin);
        if margin + MIN_ROOM > width {
            end_line(out);
            (count, margin) = (1, NEAR_MARGIN);
        }
        for (indent, end) in &self.several {
            let line = self.several_text.get(begin..*end).unwrap_or_default();
            begin = *end;
            if count > 0 {
                out.blanks(margin);
            }
            out.blanks(*indent);
            // On the first line, columns that are too wide may extend past the margin.
            let used = if count > 0 { margin + indent } else { out.len() - start };
            count += wrapped(out, line, used, margin + indent, width);
        }
        count
    }
}

impl Formatter {
    #[inline(always)]
    fn times(&mut self, event: Event<'_>, row: Row) -> Option<Times> {
        // Convert the time of this event last, because the next line needs this time and finds it
        // in the cache.
        let before = self.before.ns(event.trace, row.before)?;
        let first = self.first.ns(event.trace, row.first)?;
        let now = self.before.ns(event.trace, event.ticks())?;
        Some(Times { now, first, before })
    }
}

/// Returns the name of a system call, or its number if the schema has no name for the call. An
/// event that begins a call has an argument that identifies the call. The table of that argument
/// contains the names.
fn call_name(trace: &Trace, call: u64) -> String {
    let enter = |event: &&crate::model::schema::EventType| {
        event.means.is_some_and(|means| means.meaning == Meaning::Call)
    };
    let kind = trace.schema.events_that_mean(&[Meaning::Call]).find(enter).and_then(|event| {
        let index = event.means?.value?;
        Some(event.args.get(index)?.kind)
    });
    match kind {
        Some(ArgumentKind::Enum(table)) => trace
            .schema
            .enum_name(table, call)
            .map_or_else(|| format!("call {call}"), str::to_owned),
        _ => format!("call {call}"),
    }
}

#[inline]
fn end_line(out: &mut TextBuffer) {
    out.trim_end();
    out.byte(b'\n');
}

/// Appends a line, wrapped if it is too long. Returns the number of lines.
fn wrapped(out: &mut TextBuffer, line: &[u8], used: usize, margin: usize, width: usize) -> usize {
    let mut rest = line;
    let mut used = used;
    let mut count = 1;
    loop {
        // However narrow the lines are, each of them must contain some text.
        let room = width.saturating_sub(used).max(16);
        if rest.len() <= room {
            out.text(rest);
            end_line(out);
            return count;
        }
        let (head, tail) = split(rest, room);
        out.text(head);
        end_line(out);
        out.blanks(margin);
        rest = tail;
        used = margin;
        count += 1;
    }
}

/// Splits a line at a space, so that the first part is as long as possible but not longer than
/// `room`. If there is no such space, splits within a word.
fn split(line: &[u8], room: usize) -> (&[u8], &[u8]) {
    let blank = line[..=room].iter().rposition(|byte| *byte == b' ').filter(|at| *at > 0);
    match blank {
        Some(at) => (&line[..at], &line[at + 1..]),
        None => {
            // A split must not be within a character.
            let at = (1..=room).rev().find(|at| line[*at] & 0xC0 != 0x80).unwrap_or(room);
            line.split_at(at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn lines_break_at_the_last_blank_that_fits() {
        assert_eq!(split(b"one two three", 7), (&b"one two"[..], &b"three"[..]));
        assert_eq!(split(b"one two three", 6), (&b"one"[..], &b"two three"[..]));
        assert_eq!(split(b"onetwothree", 4), (&b"onet"[..], &b"wothree"[..]));
        assert_eq!(split("on\u{e4}two".as_bytes(), 3), (&b"on"[..], "\u{e4}two".as_bytes()));
    }
}
