//! Shows received events.

use std::io::{self, Stdout};

use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::Settings;
use tracewell::model::Sink;
use tracewell::report::{Report, ReportOptions};
use tracewell::select::Selection;
use tracewell::text::{display_width, padded};
use tracewell_collect::{SharedOutput, Tag, View};

use super::{Collect, Form};
use crate::screen;

impl Collect {
    /// Returns the settings for showing a source on the shared standard output.
    pub(super) fn view<'a>(
        &'a self,
        settings: Settings,
        selection: Selection,
        shared: &'a SharedOutput<Stdout>,
        tag: Option<Tag>,
    ) -> View<'a> {
        let cells = tag.as_ref().map_or(0, |tag| display_width(&tag.before));
        let sink = move || self.sink(selection.clone(), shared.writer(tag.clone()), cells);
        View { settings, only_growing: false, sink: Box::new(sink) }
    }

    /// Returns the sink that writes events to `out`. `tag` is the width, in columns, of the tag
    /// before each line.
    fn sink<'a>(
        &self,
        selection: Selection,
        out: impl io::Write + Send + 'a,
        tag: usize,
    ) -> Box<dyn Sink + Send + 'a> {
        let format = match self.format {
            Form::Report => {
                let mut layout = screen::layout();
                layout.width = layout.width.map(|width| width.saturating_sub(tag).max(20));
                let options = ReportOptions { layout, selection, ..ReportOptions::default() };
                return Box::new(Report::new(out, options));
            }
            Form::Jsonl => EventFormat::JsonLines,
            Form::Tsv => EventFormat::Tsv,
            Form::Csv => EventFormat::Csv,
        };
        Box::new(EventWriter::new(out, format, selection))
    }
}

/// Returns the tag of a source, which is printed in each of its lines.
pub(super) fn tag(form: Form, name: &str, names: &[String]) -> Tag {
    let column = |separator: char| Tag {
        before: format!("{name}{separator}"),
        instead_of: 0,
        heading: Some(format!("source{separator}")),
    };
    match form {
        Form::Report => {
            let width = names.iter().map(|name| display_width(name)).max().unwrap_or(0);
            Tag { before: format!("{}  ", padded(name, width)), instead_of: 0, heading: None }
        }
        // Names contain no characters that JSON escapes.
        Form::Jsonl => {
            Tag { before: format!("{{\"source\":\"{name}\","), instead_of: 1, heading: None }
        }
        Form::Tsv => column('\t'),
        Form::Csv => column(','),
    }
}
