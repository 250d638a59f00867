//! Reads files that people write: names, templates, rules, schemas, lists.
//!
//! The program reads them as a whole, so their length is limited. The first bytes must be text, so
//! the program refuses an endless device before its data fills the memory.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use tracewell::compressed::Compression;
use tracewell::compressed::lzw;
use tracewell::compressed::reader::Decompressor;
use tracewell::format::systemview::description;
use tracewell::model::schema::Extension;
use tracewell::source::check_text;
use tracewell::text::shown_path;

use crate::outcome::Failure;

/// Maximum length of a file in bytes.
pub(crate) const MAX_LENGTH: u64 = 64 << 20;

/// Maximum length of a rules file in bytes: larger than [`MAX_LENGTH`], because `check --write`
/// makes long files.
const MAX_RULES: u64 = 4 << 30;

/// Maximum length of a configuration file in bytes.
const MAX_CONFIG: u64 = 1 << 20;

/// Number of bytes that are examined to decide if a file is text.
const START: u64 = 64 * 1024;

/// Reads a file of at most [`MAX_LENGTH`] bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    limited(path, open(path)?, MAX_LENGTH, |_| false)
}

/// Reads a text file; invalid UTF-8 becomes U+FFFD.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&read(path)?).into_owned())
}

/// Reads a file that may be in the format of `compress` (`.Z`) instead of text; `-` is standard
/// input.
pub(crate) fn read_compressible(path: &Path) -> Result<Vec<u8>, Failure> {
    read_or_stdin(path, MAX_LENGTH, lzw::is_compressed)
}

/// Reads a rules file; `-` is standard input.
pub(crate) fn read_rules(path: &Path) -> Result<Vec<u8>, Failure> {
    read_or_stdin(path, MAX_RULES, |_| false)
}

/// Reads and parses a schema file, or a description file of SystemView.
pub(crate) fn read_schema(path: &Path) -> Result<Arc<Extension>, Failure> {
    let mut text = read_text(path)?;
    let name = path.display().to_string();
    if description::is_description(&text) {
        text = description::to_schema(&text, &name).map_err(Failure::usage)?;
    }
    let file = Extension::parse(&text, &name);
    file.map(Arc::new).map_err(|error| Failure::usage(error.to_string()))
}

/// Reads a configuration file. The file must be regular, because the user did not name it.
pub(crate) fn read_config(path: &Path) -> Result<Vec<u8>, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| Failure::io(path, &error))?;
    if !metadata.is_file() {
        let message = "expected a regular file: remove it, or use --no-config";
        return Err(Failure::usage(format!("{}: {message}", shown_path(path))));
    }
    limited(path, open(path)?, MAX_CONFIG, |_| false)
}

/// Returns true if a file exists and is neither text nor compressed text.
pub(crate) fn is_binary(path: &Path) -> bool {
    let mut start = Vec::new();
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let read = is_file.then(|| File::open(path).ok()?.take(START).read_to_end(&mut start).ok());
    let is_read = read.flatten().is_some();
    let is_compressed = lzw::is_compressed(&start) || Compression::recognise(&start).is_some();
    is_read && !is_compressed && check_text(&start).is_err()
}

/// Returns true if the file is compressed. A command must not replace a compressed file with plain
/// text.
pub(crate) fn is_compressed(path: &Path) -> Result<bool, Failure> {
    let mut start = Vec::new();
    part(path, open(path)?, START, &mut start)?;
    Ok(lzw::is_compressed(&start) || Compression::recognise(&start).is_some())
}

fn read_or_stdin(path: &Path, limit: u64, binary: fn(&[u8]) -> bool) -> Result<Vec<u8>, Failure> {
    if path == Path::new("-") {
        return limited(path, io::stdin().lock(), limit, binary);
    }
    limited(path, open(path)?, limit, binary)
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::io(path, &error))
}

/// Reads up to `limit` bytes. The bytes must be text, unless `binary` accepts the first bytes.
/// Decompresses files of gzip and zstd.
fn limited(
    path: &Path,
    mut file: impl Read,
    limit: u64,
    binary: fn(&[u8]) -> bool,
) -> Result<Vec<u8>, Failure> {
    // Read a part first, so that the program quickly refuses a large trace that the user named by
    // mistake.
    let mut start = Vec::new();
    part(path, &mut file, START, &mut start)?;
    let Some(compression) = Compression::recognise(&start) else {
        return rest(path, file, start, limit, binary);
    };
    let mut reader = Decompressor::new(compression, BufReader::new(Cursor::new(start).chain(file)));
    let mut start = Vec::new();
    part(path, &mut reader, START, &mut start)?;
    let bytes = rest(path, &mut reader, start, limit, binary)?;
    match reader.faults().first() {
        Some(fault) => Err(Failure::damaged(path, fault)),
        None => Ok(bytes),
    }
}

/// Reads the rest of a file that begins with `start`.
fn rest(
    path: &Path,
    file: impl Read,
    start: Vec<u8>,
    limit: u64,
    binary: fn(&[u8]) -> bool,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = start;
    if !binary(&bytes) {
        check_text(&bytes).map_err(|error| Failure::damaged(path, &error))?;
    }
    // Read up to `limit` bytes after the start. If the file is too long, the start and these bytes
    // together exceed the limit, and the check below refuses the file.
    part(path, file, limit, &mut bytes)?;
    if bytes.len() as u64 > limit {
        let message = format!("expected at most {} MiB of text, found more", limit >> 20);
        return Err(Failure::damaged(path, &message));
    }
    Ok(bytes)
}

/// Appends up to `length` bytes.
fn part(path: &Path, file: impl Read, length: u64, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    let read = file.take(length).read_to_end(bytes);
    read.map(|_| ()).map_err(|error| Failure::io(path, &error))
}
