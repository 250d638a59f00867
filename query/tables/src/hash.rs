//! The hash of a trace's bytes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Error;

/// Number of bytes that are read at once.
const BLOCK: usize = 1 << 16;

/// Returns the hash of a single file, or of the list of hashes of several files.
pub(crate) fn of_files(files: &[PathBuf]) -> Result<String, Error> {
    if let [file] = files {
        return of_file(file);
    }
    let mut lines = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        lines.push((name.into_owned(), of_file(file)?));
    }
    lines.sort();
    let mut hash = Sha256::new();
    lines.iter().for_each(|(name, of_file)| hash.update(format!("{of_file}  {name}\n")));
    Ok(hexadecimal(&hash.finalize()))
}

fn of_file(path: &Path) -> Result<String, Error> {
    let error = |source| Error::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(error)?;
    let (mut hash, mut block) = (Sha256::new(), vec![0; BLOCK]);
    loop {
        match file.read(&mut block).map_err(error)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            length => hash.update(&block[..length]),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
