//! One event as lines: its columns, and what its template prints behind them.

use super::columns::{Times, put_times, put_who};
use super::entry::Scratch;
use super::facts::Facts;
use super::heading::LEVEL;
use super::options::Timestamp;
use super::{Settings, entry};
use crate::model::schema::ArgumentKind;
use crate::model::{EventRef, Meaning, Trace};
use crate::template::syntax::Level;
use crate::template::{Around, Machine, Marks, Names, Outcome, Program};
use crate::text::{Describer, TextBuffer};

/// What is known of an event that is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// System call that its context is in.
    pub(super) call: Option<u64>,
    /// Ticks of the first event of the report.
    pub(super) first: u64,
    /// Ticks of the event before.
    pub(super) before: u64,
    /// Where it is in the source, in bytes.
    pub(super) offset: u64,
}

/// What all threads share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'a> {
    pub(super) program: &'a Program,
    pub(super) settings: &'a Settings,
    pub(super) facts: &'a Facts,
    pub(super) trace: &'a Trace,
}

/// What became of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Formatted {
    /// It was put out in so many lines.
    Shown(usize),
    /// Its template leaves it out.
    Skipped,
    /// It was put out and is the last one.
    Stop,
}

/// Columns of a line where nothing else is said.
const WIDTH: usize = 200;

/// Formats events; one for each thread.
#[derive(Debug, Default)]
pub(super) struct Formatter {
    machine: Machine,
    describer: Describer,
    scratch: Scratch,
    /// The lines of an event that became several, while they are laid out.
    several: Vec<(usize, usize)>,
    several_text: Vec<u8>,
    /// Ticks of the event before, and the same in nanoseconds; of the first event, too.
    before: Known,
    first: Known,
}

/// A time that was worked out: for most lines it is that of the line before.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    ticks: u64,
    ns: Option<u64>,
}

impl Known {
    #[inline]
    fn ns(&mut self, trace: &Trace, ticks: u64) -> Option<u64> {
        if self.ns.is_none() || self.ticks != ticks {
            *self = Self { ticks, ns: trace.clock.nanoseconds(ticks) };
        }
        self.ns
    }
}

/// Names in a trace at a time.
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
        // Some systems tell tasks by the numbers that they run under.
        let context = || self.trace.contexts.get(self.trace.contexts.find(key)?);
        match object {
            Some((_, object)) => Some(object.label.as_str()),
            None => context().map(|context| context.name.as_str()),
        }
    }
}

impl Formatter {
    pub(super) fn marks(&self) -> Marks {
        self.machine.marks()
    }

    /// The lines so far.
    pub(super) fn text(&mut self) -> &mut TextBuffer {
        self.machine.text()
    }

    /// Puts the lines of an event behind those so far.
    #[inline]
    pub(super) fn event(
        &mut self,
        shared: &Shared<'_>,
        event: &EventRef<'_>,
        row: Row,
    ) -> Formatted {
        let Shared { program, settings, facts, trace } = *shared;
        let (Some(context), Some(id)) = (facts.context(event.context), facts.id(event.id)) else {
            return Formatted::Skipped;
        };
        let call = row.call.map(|call| call_name(trace, call)).unwrap_or_default();
        let names = NamesAt { trace, ticks: event.ticks };
        let times = if facts.has_rate { self.times(trace, event.ticks, row) } else { None };
        let around = Around {
            tid: context.tid,
            pid: context.pid,
            cpu: u32::from(event.cpu),
            executable: &context.executable,
            system_call: &call,
            system: facts.system,
            log: &settings.log,
            offset: row.offset,
            time_ns: times.map_or(event.ticks, |times| times.now),
            names: &names,
        };
        let options = &settings.options;
        let start = self.machine.text().len();
        if options.ids {
            self.machine.text().literal(&id.column);
        }
        if facts.who {
            let interrupt = id.level == Level::Int;
            let (out, who) = (self.machine.text(), (call.as_str(), interrupt));
            put_who(out, start, (options, facts), event, context, who);
        }
        if !options.two_lines {
            put_times(self.machine.text(), start, (options, facts), event, row, times);
        }
        let columns = self.machine.text().len();
        let wanted = facts.hooks || id.template.is_some();
        let entry =
            wanted.then(|| entry::entry(facts.hooks, trace, event, id.tail, &mut self.scratch));
        self.machine.text().blanks(LEVEL * id.level.column());
        // By reference: what was stored in parts is not loaded as a whole.
        match (&entry.flatten(), id.template, &id.head) {
            (Some(entry), Some(template), Some(head)) => {
                self.machine.text().literal(head);
                self.machine.run_behind_head(program, template, head.len(), entry, &around);
            }
            (Some(entry), Some(template), None) => {
                self.machine.run(program, template, entry, &around);
            }
            (Some(entry), None, _) if facts.hooks => {
                self.machine.append(program, entry, &around);
            }
            (_, _, head) => {
                let describer = &mut self.describer;
                self.machine.show(|out| {
                    head.iter().for_each(|head| out.literal(head));
                    describer.put(out, trace, event);
                });
            }
        }
        let outcome = self.machine.lines().outcome();
        if outcome == Outcome::Skipped {
            self.machine.text().truncate(start);
            return Formatted::Skipped;
        }
        let width = if settings.width > 0 { settings.width } else { WIDTH };
        let mut count = 1;
        // Nearly always it is one line, and it is where it belongs already.
        if self.machine.lines().is_one() && self.machine.text().len() - start <= width {
            self.end_line();
        } else {
            count = self.several(columns, start, facts.margin, width);
        }
        if options.two_lines && options.timestamp != Timestamp::None {
            let out = self.machine.text();
            let start = out.len();
            out.blanks(facts.id_width);
            put_times(out, start, (options, facts), event, row, times);
            self.end_line();
            count += 1;
        }
        if outcome == Outcome::Stop { Formatted::Stop } else { Formatted::Shown(count) }
    }

    #[inline]
    fn end_line(&mut self) {
        end_line(self.machine.text());
    }

    /// Lays the lines of an event out anew, behind its columns; how many it took.
    #[cold]
    fn several(&mut self, columns: usize, start: usize, margin: usize, width: usize) -> usize {
        let lines = self.machine.lines().iter();
        self.several.clear();
        self.several_text.clear();
        for (level, line) in lines {
            self.several_text.extend_from_slice(line);
            self.several.push((LEVEL * level.column(), self.several_text.len()));
        }
        let out = self.machine.text();
        out.truncate(columns);
        let (mut count, mut begin) = (0, 0);
        for (indent, end) in &self.several {
            let line = self.several_text.get(begin..*end).unwrap_or_default();
            begin = *end;
            if count > 0 {
                out.blanks(margin);
            }
            out.blanks(*indent);
            let used = if count > 0 { margin + indent } else { out.len() - start };
            count += wrapped(out, line, used, margin + indent, width);
        }
        count
    }
}

impl Formatter {
    #[inline(always)]
    fn times(&mut self, trace: &Trace, ticks: u64, row: Row) -> Option<Times> {
        let before = self.before.ns(trace, row.before)?;
        let first = self.first.ns(trace, row.first)?;
        let now = self.before.ns(trace, ticks)?;
        Some(Times { now, first, before })
    }
}

/// The name of a system call: that of the schema's table for the arguments that say `call`, else its number.
fn call_name(trace: &Trace, call: u64) -> String {
    let enter = |event: &&crate::model::schema::EventType| {
        event.means.is_some_and(|means| means.meaning == Meaning::Call)
    };
    let kind = trace.schema.events().iter().find(enter).and_then(|event| {
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

/// Puts a line out, broken where it is too long; how many lines it took.
fn wrapped(out: &mut TextBuffer, line: &[u8], used: usize, margin: usize, width: usize) -> usize {
    let mut rest = line;
    let mut used = used;
    let mut count = 1;
    loop {
        // However narrow: something must go out on each line.
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

/// Splits a line at the last blank that lets the first part fit, or in the middle of a word.
fn split(line: &[u8], room: usize) -> (&[u8], &[u8]) {
    let blank = line[..=room].iter().rposition(|byte| *byte == b' ').filter(|at| *at > 0);
    match blank {
        Some(at) => (&line[..at], &line[at + 1..]),
        None => {
            // Not within a character.
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
