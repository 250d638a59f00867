//! Files that people write: names, templates, rules, lists. They are read whole, so their length has a limit, and what is no
//! text is refused by its first bytes: a device that never ends is not read until memory is full.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tracewell::source::check_text;
use tracewell::template::update::compress::is_compressed;

use crate::outcome::Failure;

/// Bytes of such a file, at most.
pub(crate) const MAX_LENGTH: u64 = 64 << 20;

/// Bytes of a file of rules, at most: `check --write` makes long ones.
pub(crate) const MAX_RULES: u64 = 4 << 30;

/// Bytes by which it is seen whether a file is a text.
const START: u64 = 64 * 1024;

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    limited(path, open(path)?, MAX_LENGTH)
}

/// Reads a file; `-` is standard input.
pub(crate) fn read_or_stdin(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    if path == Path::new("-") {
        return limited(path, io::stdin().lock(), limit);
    }
    limited(path, open(path)?, limit)
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::io(path, &error))
}

/// Reads a file of text; bytes that are no UTF-8 become U+FFFD.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&read(path)?).into_owned())
}

fn limited(path: &Path, mut file: impl Read, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut read = |bytes: &mut Vec<u8>, length: u64| {
        let read = file.by_ref().take(length).read_to_end(bytes);
        read.map_err(|error| Failure::io(path, &error))
    };
    read(&mut bytes, START)?;
    if !is_compressed(&bytes) {
        check_text(&bytes).map_err(|error| Failure::damaged(path, &error))?;
    }
    read(&mut bytes, limit)?;
    if bytes.len() as u64 > limit {
        let message = format!("expected at most {} MiB of text, found more", limit >> 20);
        return Err(Failure::damaged(path, &message));
    }
    Ok(bytes)
}
