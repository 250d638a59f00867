//! `tracewell template list`: which templates there are.

use std::path::PathBuf;

use clap::Args;
use tracewell::template::parse;

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
        files(&self.files).unwrap_or_else(Failure::tell)
    }
}

/// Lists the templates of files; of the shipped ones for AIX where no file is named.
pub(in crate::verbs) fn files(paths: &[PathBuf]) -> Result<Outcome, Failure> {
    let mut sources = templates::sources(paths)?;
    if sources.is_empty() {
        sources.extend(tracewell::template::shipped("aix"));
    }
    let (mut text, mut wrong) = (String::new(), Outcome::Done);
    for source in &sources {
        let (file, findings) = parse(source);
        wrong = wrong.max(templates::tell(source, &findings));
        for stanza in file.stanzas.iter().filter(|stanza| stanza.valid) {
            let (key, version) = (&stanza.key, stanza.version.to_string());
            let level = stanza.level.unwrap_or_default().as_str();
            let line = format!("{:<4} {version:<6} {level:<4} {}", key.to_string(), stanza.title());
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    Ok(trace_report::print(&text).max(wrong))
}
