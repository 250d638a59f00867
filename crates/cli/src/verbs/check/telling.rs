//! A comparison whose failures are told when they are found, for streams that go on for long.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use tracewell::check::{Check, Rules, Verdict};
use tracewell::collect::Follow;
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell::report::check;
use tracewell::source::Source;

use crate::templates;

/// Compares a trace with rules and writes what comes out.
pub(super) struct Telling<'r, W> {
    rules: &'r Rules,
    source: &'r Source,
    check: Check<'r>,
    out: W,
    form: Form,
    /// Failures that were written.
    told: usize,
    /// The first error of the writer.
    error: Option<io::Error>,
    /// Set if a rule is not met.
    wrong: &'r AtomicBool,
}

/// How what comes out is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// As text, all at the end.
    Text,
    /// As text, each failure at once.
    TextAtOnce,
    /// As a JSON object, at the end.
    Json,
}

impl<'r, W: Write> Telling<'r, W> {
    /// Prepares for a trace.
    pub(super) fn new(
        (source, rules): (&'r Source, &'r Rules),
        form: Form,
        wrong: &'r AtomicBool,
        out: W,
    ) -> Self {
        let check = Check::new(rules);
        Self { rules, source, check, out, form, told: 0, error: None, wrong }
    }

    /// Writes the failures that were found since the last time.
    fn tell_new(&mut self) {
        let failures = self.check.failures();
        if self.form != Form::TextAtOnce || self.told == failures.len() {
            return;
        }
        let text = check::failures(self.source, &failures[self.told..]);
        self.told = failures.len();
        self.error = self.write(&text).err();
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Writes what is left of the verdict.
    pub(super) fn end(mut self, trace: &Trace) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        templates::tell(self.source, &self.rules.doubts(trace));
        let check = std::mem::replace(&mut self.check, Check::new(self.rules));
        let verdict: Verdict = check.finish(trace);
        if !verdict.passed() {
            self.wrong.store(true, Ordering::Relaxed);
        }
        let text = match self.form {
            Form::Json => format!("{:#}\n", check::json(self.source, &verdict)),
            // Those that were told are the first ones: they are in the order of the trace.
            _ => {
                let left = verdict.failures.get(self.told..).unwrap_or_default();
                check::failures(self.source, left) + &check::summary(&verdict)
            }
        };
        self.write(&text)
    }
}

impl<W: Write> Sink for Telling<'_, W> {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.check.events(trace, batch)?;
        self.tell_new();
        if self.error.is_some() { Flow::Break(()) } else { Flow::Continue(()) }
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.check.loss(trace, loss)
    }
}

impl<W: Write + Send> Follow for Telling<'_, W> {
    fn show(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn finish(self: Box<Self>, trace: &Trace) -> io::Result<()> {
        self.end(trace)
    }
}
