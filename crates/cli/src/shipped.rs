//! The template files inside the program. Options refer to them by names such as `@threadx`.
//!
//! If the name of a file on disk begins with `@`, use a longer path, such as `./@threadx`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::builder::{PathBufValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use tracewell::format::{FORMATS, Format};
use tracewell::select::{did_you_mean, nearest};
use tracewell::template::Source;
use tracewell::text::shown_path;

use crate::outcome::{Failure, note};

/// Returns the formats with a shipped template file.
pub(crate) fn formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().copied().filter(|format| format.template.is_some())
}

/// The names of all shipped template files, such as `@threadx`, in alphabetical order.
pub(crate) static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut names: Vec<_> = formats().map(|format| format!("@{}", format.name)).collect();
    names.sort();
    names
});

/// Returns true if the path names a shipped template file, not a file on disk.
pub(crate) fn is_name(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(b"@")
}

/// Returns the format whose shipped template file has this name.
pub(crate) fn format(path: &Path) -> Option<&'static Format> {
    let name = path.to_str()?.strip_prefix('@')?;
    formats().find(|format| format.name == name)
}

/// Returns the shipped template file with this name.
pub(crate) fn read(path: &Path) -> Result<Source, Failure> {
    let other = if path.is_file() { Some(Path::new(".").join(path)) } else { None };
    let Some(source) = format(path).and_then(Format::shipped_template) else {
        let near = did_you_mean(nearest(&path.to_string_lossy(), NAMES.iter()));
        let other = other.map_or_else(String::new, |other| {
            format!("; the file of this name is {}", shown_path(&other))
        });
        return Err(Failure::usage(format!(
            "{}: no shipped template has this name; `tracewell template list --shipped` lists \
             them{near}{other}",
            shown_path(path)
        )));
    };
    if let Some(other) = other {
        let (name, other) = (shown_path(path), shown_path(&other));
        note!("{name}: this is the shipped template; the file of this name is {other}");
    }
    Ok(Source::new(shown_path(path).to_string(), source.text))
}

/// Fails if the path names a shipped template file, because the program cannot change it.
pub(crate) fn refuse_to_write(path: &Path) -> Result<(), Failure> {
    if !is_name(path) {
        return Ok(());
    }
    let name = shown_path(path);
    let hint = "make a copy with `tracewell template fmt";
    Err(Failure::usage(format!(
        "{name}: a shipped template cannot be changed; {hint} {name} > my.fmt`"
    )))
}

/// Returns the first line of a template file, which describes its purpose.
pub(crate) fn title(source: &Source) -> &str {
    source.line(0).trim_start_matches(['#', ' '])
}

/// A parser for paths of template files. It suggests the names of shipped template files for
/// completions.
#[derive(Clone)]
pub(crate) struct TemplatePath;

impl TypedValueParser for TemplatePath {
    type Value = PathBuf;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<PathBuf, clap::Error> {
        PathBufValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(NAMES.iter().map(|name| PossibleValue::new(name.as_str()))))
    }
}
