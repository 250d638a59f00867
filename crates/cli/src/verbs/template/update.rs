//! `tracewell template update`: updates template files as AIX's trcupdate does.

use std::path::{Path, PathBuf};

use clap::Args;
use tracewell::template::Source;
use tracewell::template::update::store::{self, Step, StoreError, TemplateFile};
use tracewell::template::update::{Change, apply, extract, read};
use tracewell::text::shown_path;

use crate::hook_selection::lists_of;
use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, note, warn};
use crate::{output, shipped, sources};

/// Add, replace and delete templates as an update file specifies
///
/// Reads FILE.trc, and writes FILE.undo.trc, which undoes the update when it is applied with -o. A
/// template is replaced unless the new template has an older version. If the update file has an
/// error, nothing is changed. The template file is replaced as a whole: an interruption leaves the
/// old or the new file.
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

    /// Ignore versions, and also replace templates of the trace facility; use this to undo an
    /// update
    #[arg(short = 'o', long = "override", conflicts_with = "extract")]
    force: bool,

    /// Template file, plain or compressed
    #[arg(short, long, value_name = "FILE", default_value = "/etc/trcfmt")]
    template: PathBuf,

    /// Print each change
    #[arg(short, long)]
    verbose: bool,

    /// Print these templates as an update file, and change nothing
    #[arg(short = 'x', long, value_name = "LIST")]
    extract: Option<String>,
}

/// Extension of a compressed template file. The compressed file is used if the plain file does not
/// exist.
const COMPRESSED: &str = "Z";

impl Update {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        shipped::refuse_to_write(&self.template)?;
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
        // If the user has compressed the file, only the name with this extension exists.
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
        let source = sources::read_file(path)?;
        let records = match read(&source) {
            Ok(records) => records,
            Err(findings) => {
                let errors = findings.iter().filter(|f| f.is_error);
                return Ok(sources::report(&source, errors));
            }
        };
        let applied = apply(templates, &records, self.force);
        for change in &applied.changes {
            // Report a refused change even without `-v`, because the user expects it to be made.
            if self.verbose || !change.is_done() {
                note!("{}: {change}", templates.name);
            }
        }
        if applied.changes.iter().any(Change::is_done) {
            let written = |name: &Path, step: Step| {
                if self.verbose && step == Step::Done {
                    note!("{}: written", shown_path(name));
                }
            };
            let undo = with_suffix(&path.with_extension(""), ".undo");
            Inputs::of([&file.name, path]).refuse(&undo)?;
            // Write the undo file first. If the templates cannot be written afterwards, the undo
            // file describes a change that was not made, which is harmless. In the reverse order, a
            // change without an undo file could remain.
            store::replace(&undo, applied.undo.as_bytes(), &mut |_, step| written(&undo, step))
                .map_err(store_failure)?;
            file.replace(applied.text.as_bytes(), &mut |_, step| written(&file.name, step))
                .map_err(store_failure)?;
        }
        Ok(Outcome::Done)
    }
}

/// Appends a suffix and `.trc` to a path. If the suffix is empty and the path already ends in
/// `.trc`, returns the path unchanged.
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
    for id in lists_of(&[list.to_owned()])? {
        let message = || format!("expected a hook id of 3 or 4 hexadecimal digits, found '{id}'");
        ids.push(Key::from_digits(&id).ok_or_else(|| Failure::usage(message()))?);
    }
    let (text, absent) = extract(templates, &ids);
    for id in absent {
        warn!("{}: no template {}", templates.name, Key::Id(id));
    }
    Ok(output::print_exactly(&text))
}

fn store_failure(error: StoreError) -> Failure {
    match error {
        StoreError::Io { path, source } => Failure::io(&path, &source),
        StoreError::Compressed { path, source } => Failure::damaged(&path, &source),
    }
}
