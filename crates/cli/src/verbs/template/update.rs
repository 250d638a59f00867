//! `tracewell template update`: what AIX's trcupdate does.

use std::path::{Path, PathBuf};

use clap::Args;
use tracewell::template::update::store::{self, Step, StoreError, TemplateFile};
use tracewell::template::update::{Change, apply, extract, read};
use tracewell::template::{Severity, Source};
use tracewell::text::shown_path;

use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, tell};
use crate::{templates, trace_report};

/// Add, replace and delete templates as an update file says
///
/// Reads FILE.trc and writes FILE.undo.trc beside it, which undoes the update when it is applied with -o. A
/// template is replaced when the new version is not older. Where the update file has an error, nothing
/// is changed. The template file is replaced as a whole: an interruption leaves the old one or the
/// new one.
#[derive(Debug, Args)]
#[command(after_help = "An update file:
  * /etc/trcfmt
  # comment
  + 0AA 1.1 L=SVC \"disk op\" \"unit=\" U1
  - 0AB

Examples:
  tracewell template update -t my.fmt disk
  tracewell template update -t my.fmt -o disk.undo
  tracewell template update -t my.fmt -x 0AA,0AB > some.trc")]
pub(crate) struct Update {
    /// Update file, without .trc
    #[arg(required_unless_present = "extract", conflicts_with = "extract", value_name = "FILE")]
    file: Option<PathBuf>,

    /// Replace whatever the versions are, and templates of trace itself: so an update is undone
    #[arg(short = 'o', long = "override", conflicts_with = "extract")]
    force: bool,

    /// Template file, plain or compressed
    #[arg(short, long, value_name = "FILE", default_value = "/etc/trcfmt")]
    template: PathBuf,

    /// Tell what is done
    #[arg(short, long)]
    verbose: bool,

    /// Print these templates in the form of an update file, and change nothing
    #[arg(short = 'x', long, value_name = "LIST")]
    extract: Option<String>,
}

/// A compressed template file has this name where the plain one is not there.
const COMPRESSED: &str = "Z";

impl Update {
    pub(crate) fn run(&self) -> Outcome {
        self.tried().unwrap_or_else(Failure::tell)
    }

    fn tried(&self) -> Result<Outcome, Failure> {
        let file = self.open()?;
        let templates = Source::from_bytes(shown_path(&file.name).to_string(), &file.text);
        match (&self.extract, &self.file) {
            (Some(list), _) => print_extract(&templates, list),
            (None, Some(update)) => self.update(&file, &templates, &with_suffix(update, "")),
            (None, None) => Err(Failure::usage("name an update file")),
        }
    }

    fn open(&self) -> Result<TemplateFile, Failure> {
        let mut path = self.template.clone();
        let compressed = path.with_added_extension(COMPRESSED);
        if !path.exists() && compressed.exists() {
            path = compressed;
        }
        TemplateFile::open(&path).map_err(store_failure)
    }

    fn update(
        &self,
        file: &TemplateFile,
        templates: &Source,
        path: &Path,
    ) -> Result<Outcome, Failure> {
        let source = templates::source(path)?;
        let records = match read(&source) {
            Ok(records) => records,
            Err(findings) => {
                let errors = findings.iter().filter(|f| f.severity == Severity::Error);
                return Ok(templates::tell(&source, errors));
            }
        };
        let applied = apply(templates, &records, self.force);
        for change in &applied.changes {
            if self.verbose || !change.is_done() {
                tell!("tracewell: {}: {change}", templates.name);
            }
        }
        if applied.changes.iter().any(Change::is_done) {
            let written = |name: &Path, step: Step| {
                if self.verbose && step == Step::Done {
                    tell!("tracewell: {}: written", shown_path(name));
                }
            };
            let undo = with_suffix(&path.with_extension(""), ".undo");
            Inputs::of([&file.name, path]).refuse(&undo)?;
            store::replace(&undo, applied.undo.as_bytes(), &mut |_, step| written(&undo, step))
                .map_err(store_failure)?;
            file.replace(applied.text.as_bytes(), &mut |_, step| written(&file.name, step))
                .map_err(store_failure)?;
        }
        Ok(Outcome::Done)
    }
}

/// `NAME.trc`, with a suffix before the dot; a name that ends so already stays.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    if suffix.is_empty() && path.extension().is_some_and(|extension| extension == "trc") {
        return path.to_owned();
    }
    name.push(suffix);
    name.push(".trc");
    name.into()
}

fn print_extract(templates: &Source, list: &str) -> Result<Outcome, Failure> {
    use tracewell::template::syntax::Key;
    let mut ids = Vec::new();
    for id in trace_report::list(list)? {
        let message = || format!("expected a hook id of 3 or 4 hexadecimal digits, found '{id}'");
        ids.push(Key::from_digits(&id).ok_or_else(|| Failure::usage(message()))?);
    }
    let (text, absent) = extract(templates, &ids);
    for id in absent {
        tell!("tracewell: {}: there is no template {}", templates.name, Key::Id(id));
    }
    Ok(trace_report::print(&text))
}

fn store_failure(error: StoreError) -> Failure {
    match error {
        StoreError::Io { path, source } => Failure::io(&path, &source),
        StoreError::Compressed { path, source } => Failure::damaged(&path, &source),
    }
}
