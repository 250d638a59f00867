//! Several files that hold parts of one run, read as one trace: laid end to end in memory. Where the
//! parts begin, the format is told by its option `parts`; what order their events have is its business.

use std::path::{Path, PathBuf};

use super::{Bytes, Content, Input, InputError, Settings};
use crate::text::shown_path;

impl Input {
    /// Opens files that hold parts of one run, in the order given; one file as [`Input::open`].
    ///
    /// # Errors
    /// As [`Input::open`]; also where the format knows no parts, when it is read.
    pub fn open_run(files: &[PathBuf], mut settings: Settings) -> Result<Self, InputError> {
        let [first, others @ ..] = files else {
            return Self::open(Path::new("-"), settings);
        };
        if others.is_empty() {
            return Self::open(first, settings);
        }
        let mut bytes = read(first)?;
        let mut parts = Vec::new();
        for file in others {
            parts.push(bytes.len().to_string());
            bytes.extend(read(file)?);
        }
        settings.options.set_by("--join", "parts", parts.join(","));
        let name = format!("{} and {} more", shown_path(first), others.len());
        Self::recognise(name.into(), Content::Whole(Bytes::Owned(bytes)), settings)
    }
}

fn read(file: &Path) -> Result<Vec<u8>, InputError> {
    std::fs::read(file).map_err(|source| InputError::io(file, source))
}
