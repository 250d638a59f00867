//! How what comes is shown.

use std::io::{self, Stdout};

use tracewell::collect::{Follow, SharedOutput, Tag, View};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::Settings;
use tracewell::report::{Report, ReportOptions};

use super::{Collect, Form};
use crate::args::Color;

impl Collect {
    /// Shows a source on the shared standard output.
    pub(super) fn view<'a>(
        &'a self,
        settings: Settings,
        shared: &'a SharedOutput<Stdout>,
        tag: Option<Tag>,
    ) -> View<'a> {
        let sink = move || self.sink(shared.writer(tag.clone()));
        View { settings, only_growing: false, sink: Box::new(sink) }
    }

    fn sink<'a>(&self, out: impl io::Write + Send + 'a) -> Box<dyn Follow + 'a> {
        let selection = self.selection.selection();
        let format = match self.format {
            Form::Report => {
                let color = Color::Auto.on();
                let options = ReportOptions { color, selection, ..ReportOptions::default() };
                return Box::new(Report::new(out, options));
            }
            Form::Jsonl => EventFormat::JsonLines,
            Form::Tsv => EventFormat::Tsv,
            Form::Csv => EventFormat::Csv,
        };
        Box::new(EventWriter::new(out, format, selection))
    }
}

/// How the lines of one of several sources say whose they are.
pub(super) fn tag(form: Form, name: &str, names: &[String]) -> Tag {
    let column = |separator: char| Tag {
        before: format!("{name}{separator}"),
        instead_of: 0,
        heading: Some(format!("source{separator}")),
    };
    match form {
        Form::Report => {
            let width = names.iter().map(String::len).max().unwrap_or(0);
            Tag { before: format!("{name:<width$}  "), instead_of: 0, heading: None }
        }
        // Names have no characters that JSON would escape.
        Form::Jsonl => {
            Tag { before: format!("{{\"source\":\"{name}\","), instead_of: 1, heading: None }
        }
        Form::Tsv => column('\t'),
        Form::Csv => column(','),
    }
}
