//! `tracewell template list`: which templates there are.

use std::path::PathBuf;

use clap::Args;
use tracewell::template::parse;
use tracewell::text::shown;

use crate::outcome::{Failure, Outcome};
use crate::{templates, trace_report};

/// List the templates of files: id, version, column, label
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Template files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl List {
    pub(crate) fn run(&self) -> Outcome {
        files(&self.files, Form::Whole).unwrap_or_else(Failure::tell)
    }
}

/// What a line of the list has.
#[derive(Clone, Copy, Debug)]
pub(in crate::verbs) enum Form {
    /// Id, version, column, label.
    Whole,
    /// Id in lower case and label, as AIX's `trcrpt -j` prints them.
    Trcrpt,
}

/// Lists the templates of files; of the shipped ones for AIX where no file is named.
pub(in crate::verbs) fn files(paths: &[PathBuf], form: Form) -> Result<Outcome, Failure> {
    let mut sources = templates::sources(paths)?;
    if sources.is_empty() {
        sources.extend(tracewell::template::shipped("aix"));
    }
    let (mut text, mut wrong) = (String::new(), Outcome::Done);
    for source in &sources {
        let (file, findings) = parse(source);
        wrong = wrong.max(templates::tell(source, &findings));
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
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    Ok(trace_report::print(&text).max(wrong))
}
