//! The traces of a query: expands patterns and folders to files, and finds the labels of each file
//! in its path.

use std::fs;
use std::path::{Path, PathBuf};

use tracewell::text::shown_path;

use crate::failure::Failure;
use crate::labels::Labels;

/// A trace, its options, and its labels.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TraceFile {
    /// The file, or the folder of a CTF trace.
    pub path: PathBuf,
    /// Options for reading, as `key=value`.
    pub options: Vec<String>,
    /// Names and values of labels, in the order of the path.
    pub labels: Vec<(String, String)>,
}

impl TraceFile {
    /// Returns the value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The number of levels of folders that are searched for traces.
const MAX_DEPTH: usize = 32;

/// Returns the traces of several patterns, sorted within each pattern.
///
/// A pattern is the path of a trace, the path of a folder, or a path with `*`, `**`, `?` or `[…]`.
/// A folder stands for all files in it and in its folders. Entries whose names begin with a dot are
/// ignored. A folder with a file `metadata` is a trace in CTF.
///
/// # Errors
///
/// Fails if a pattern matches no file, a folder cannot be read, a path does not match `labels`, or
/// a label has two values.
pub fn find(
    patterns: &[String],
    options: &[String],
    labels: Option<&Labels>,
) -> Result<Vec<TraceFile>, Failure> {
    let mut paths = Vec::new();
    for pattern in patterns {
        expand(pattern, &mut paths)?;
    }
    let file = |path: PathBuf| {
        let mut found = crate::labels::of_folders(&path);
        if let Some(labels) = labels {
            found.extend(labels.of(&path)?);
        }
        crate::labels::check(&path, &found)?;
        let options = options.to_vec();
        Ok(TraceFile { path, options, labels: found })
    };
    paths.into_iter().map(file).collect()
}

fn expand(pattern: &str, paths: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let path = Path::new(pattern);
    let before = paths.len();
    if path.exists() {
        add(path, MAX_DEPTH, paths)?;
    } else if pattern.contains(['*', '?', '[']) {
        let found = glob::glob(pattern);
        let found = found.map_err(|error| Failure::usage(format!("{pattern}: {error}")))?;
        for path in found {
            let path = path.map_err(|error| Failure::io(error.path(), error.error()))?;
            // A pattern such as `**` matches folders and their files.
            if path.is_file() || is_trace_folder(&path) {
                paths.push(path);
            }
        }
    } else {
        let error = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file or folder");
        return Err(Failure::io(path, &error));
    }
    match paths.len() == before {
        true => Err(Failure::usage(format!("{}: no file found", shown_path(path)))),
        false => Ok(()),
    }
}

/// Adds a trace, or the traces in a folder.
fn add(path: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() || is_trace_folder(path) {
        paths.push(path.to_owned());
        return Ok(());
    }
    if depth == 0 {
        let message = format!("{}: folders are nested too deeply", shown_path(path));
        return Err(Failure::usage(message));
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(|error| Failure::io(path, &error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        // A link to a folder may lead back to this folder.
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !(is_hidden || is_link && entry.path().is_dir()) {
            add(&entry.path(), depth - 1, paths)?;
        }
    }
    Ok(())
}

fn is_trace_folder(path: &Path) -> bool {
    path.join("metadata").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns_are_expanded_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("firmware=2/lttng")).unwrap();
        for name in ["b.trx", "a.trx", ".hidden", "firmware=2/c.trx", "firmware=2/lttng/metadata"] {
            fs::write(at(name), "").unwrap();
        }
        let names = |pattern: &str| -> Vec<String> {
            let pattern = at(pattern).to_str().unwrap().to_owned();
            let files = find(&[pattern], &[], None).unwrap();
            let name = |file: &TraceFile| {
                let path = file.path.strip_prefix(folder.path()).unwrap();
                format!("{} {}", path.display(), file.label("firmware").unwrap_or("-"))
            };
            files.iter().map(name).collect()
        };
        let all = ["a.trx -", "b.trx -", "firmware=2/c.trx 2", "firmware=2/lttng 2"];
        assert_eq!(names(""), all);
        assert_eq!(names("*.trx"), all[..2]);
        assert_eq!(names("**/*.trx"), all[..3]);
        assert!(find(&[at("*.bin").to_str().unwrap().to_owned()], &[], None).is_err());
        assert!(find(&[at("none").to_str().unwrap().to_owned()], &[], None).is_err());
    }
}
