//! Options for one of several files: `-O FILE:KEY=VALUE`.
//!
//! `FILE` is the path of an input file as the user gave it, or the name of the file. No key of an
//! option contains a colon, so a colon before the first `=` shows that the option names a file. The
//! paths of the input files are compared first, because a path can contain `=`, or a colon as in
//! `C:\traces\a.trx`.

use std::path::{Path, PathBuf};

use tracewell::select::{did_you_mean, nearest};
use tracewell::text::shown_path;

use crate::outcome::Failure;

/// Returns the file that an option names, and its part `KEY=VALUE`. Returns `None` if the option is
/// for all files. Fails if the option names no input file, or several.
pub(crate) fn of_file<'a>(
    option: &'a str,
    files: &'a [PathBuf],
) -> Result<Option<(&'a Path, &'a str)>, Failure> {
    let exact = files.iter().find_map(|file| Some((file.as_path(), after(option, file)?)));
    if exact.is_some() {
        return Ok(exact);
    }
    let named = |file: &'a PathBuf| {
        let name = Path::new(file.file_name()?);
        Some((file.as_path(), after(option, name)?))
    };
    let mut by_name = files.iter().filter_map(named);
    if let Some(found) = by_name.next() {
        return match by_name.next() {
            None => Ok(Some(found)),
            Some((other, _)) => {
                let (first, second) = (shown_path(found.0), shown_path(other));
                let message =
                    format!("-O {option}: both {first} and {second} have this name: give the path");
                Err(Failure::usage(message))
            }
        };
    }
    let key = option.split_once('=').map_or(option, |(key, _)| key);
    let Some((file, _)) = key.rsplit_once(':') else { return Ok(None) };
    let known: Vec<_> = files.iter().flat_map(|known| names(known)).collect();
    let hint = did_you_mean(nearest(file, known.iter().map(String::as_str)));
    let message = format!("-O {option}: '{file}' is not one of the input files{hint}");
    Err(Failure::usage(message))
}

/// Returns the part of an option after `FILE:`, if it begins with this file and continues with a
/// key and a value.
fn after<'a>(option: &'a str, file: &Path) -> Option<&'a str> {
    let rest = option.strip_prefix(file.to_str()?)?.strip_prefix(':')?;
    rest.contains('=').then_some(rest)
}

/// The texts by which an option can name a file: its path and its name.
fn names(file: &Path) -> impl Iterator<Item = String> {
    let path = file.to_str().map(str::to_owned);
    let name = file.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    path.into_iter().chain(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the file and the rest of an option, or the error.
    fn found(option: &str, files: &[&str]) -> Result<Option<(String, String)>, String> {
        let files: Vec<_> = files.iter().map(PathBuf::from).collect();
        let found = of_file(option, &files).map_err(|failure| failure.message().to_owned())?;
        Ok(found.map(|(file, rest)| (file.display().to_string(), rest.to_owned())))
    }

    fn is(option: &str, files: &[&str], file: &str, rest: &str) {
        assert_eq!(found(option, files), Ok(Some((file.to_owned(), rest.to_owned()))));
    }

    #[test]
    fn an_option_names_a_file_by_its_path_or_name() {
        let files = ["runs/a.trx", "b.trx", r"C:\traces\c.trx", "d:1.trx", "e=f.trx"];
        is("runs/a.trx:rate=1MHz", &files, "runs/a.trx", "rate=1MHz");
        is("b.trx:rate=1MHz", &files, "b.trx", "rate=1MHz");
        is(r"C:\traces\c.trx:rate=1MHz", &files, r"C:\traces\c.trx", "rate=1MHz");
        is("d:1.trx:rate=1MHz", &files, "d:1.trx", "rate=1MHz");
        is("e=f.trx:names=C:x.trxc", &files, "e=f.trx", "names=C:x.trxc");
        #[cfg(not(windows))]
        is("a.trx:rate=1MHz", &files, "runs/a.trx", "rate=1MHz");
    }

    #[test]
    fn an_option_without_a_file_is_for_all_files() {
        let files = ["rate", "names=C"];
        for option in ["rate=1MHz", r"names=C:\x.trxc", "rate", ""] {
            assert_eq!(found(option, &files), Ok(None), "{option}");
        }
    }

    #[test]
    fn an_unknown_or_ambiguous_file_is_an_error() {
        assert_eq!(
            found("b.trx:rate=1MHz", &["a.trx", "c.bin"]).unwrap_err(),
            "-O b.trx:rate=1MHz: 'b.trx' is not one of the input files; did you mean 'a.trx'?"
        );
        assert_eq!(
            found("a.trx:rate=1MHz", &["x/a.trx", "y/a.trx"]).unwrap_err(),
            "-O a.trx:rate=1MHz: both x/a.trx and y/a.trx have this name: give the path"
        );
    }
}
