//! `tracewell template list`: lists the templates of files.

use std::path::PathBuf;

use clap::Args;
use tracewell::format::{FORMATS, ReportStyle};
use tracewell::template::parse;
use tracewell::text::shown;

use crate::outcome::{Failure, Outcome};
use crate::{output, shipped, sources};

/// List the templates of files: id, version, column, label
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Template files, or shipped ones such as @threadx; - is standard input
    #[arg(required_unless_present = "shipped", value_name = "FILE")]
    #[arg(value_parser = shipped::TemplatePath, hide_possible_values = true)]
    files: Vec<PathBuf>,

    /// List the shipped template files instead: name, content
    #[arg(long, conflicts_with = "files")]
    shipped: bool,
}

impl List {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        if self.shipped {
            return Ok(output::print(&shipped_files()));
        }
        files(&self.files, Form::Whole)
    }
}

/// Returns a line for each shipped template file.
fn shipped_files() -> String {
    let mut lines: Vec<_> = shipped::formats()
        .filter_map(|format| {
            let source = format.shipped_template()?;
            Some(format!("@{:<9} {}\n", format.name, shipped::title(&source)))
        })
        .collect();
    lines.sort();
    lines.concat()
}

/// The form of the lines in the list.
#[derive(Clone, Copy, Debug)]
pub(in crate::verbs) enum Form {
    /// Id, version, column, label.
    Whole,
    /// Id in lower case, and label, as AIX's `trcrpt -j` prints them.
    Trcrpt,
}

/// Lists the templates in files or, if no file is named, the templates shipped for AIX.
pub(in crate::verbs) fn files(paths: &[PathBuf], form: Form) -> Result<Outcome, Failure> {
    let mut sources = sources::read_all(paths)?;
    if sources.is_empty() {
        let formats = FORMATS.iter().filter(|format| format.report == ReportStyle::Trcrpt);
        sources.extend(formats.filter_map(|format| format.shipped_template()));
    }
    let (mut text, mut wrong) = (String::new(), Outcome::Done);
    for source in &sources {
        let (file, findings) = parse(source);
        wrong = wrong.max(sources::report(source, &findings));
        for stanza in file.stanzas.iter().filter(|stanza| stanza.valid) {
            let (key, title) = (stanza.key.to_string(), shown(stanza.title()));
            let line = match form {
                Form::Whole => {
                    let (version, level) =
                        (stanza.version.to_string(), stanza.level.unwrap_or_default().as_str());
                    format!("{key:<4} {version:<6} {level:<4} {title}")
                }
                Form::Trcrpt => format!("{} {title}", key.to_lowercase()),
            };
            // Without a label, the line would end with spaces.
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    Ok(output::print(&text).max(wrong))
}
