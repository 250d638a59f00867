//! Reads several files, each with a part of one run, as one trace. The files are joined in memory.
//! `Settings::parts` contains the offsets at which the files begin, and the decoder sorts the
//! events of all files.

use std::path::{Path, PathBuf};

use super::content::Content;
use super::decompressed::part;
use super::{Bytes, Input, InputError, Settings};
use crate::model::Diagnostics;
use crate::text::shown_path;

impl Input {
    /// Opens the files that contain the parts of one run, in the given order. If there is only one
    /// file, does the same as [`Input::open`]. If there is no file, opens standard input.
    ///
    /// # Errors
    /// Returns the errors of [`Input::open`]. If the format cannot join files, reading the input
    /// returns an error.
    pub fn open_run(files: &[PathBuf], mut settings: Settings) -> Result<Self, InputError> {
        let [first, others @ ..] = files else {
            return Self::open(Path::new("-"), settings);
        };
        if others.is_empty() {
            return Self::open(first, settings);
        }
        // The parts are copied into one buffer, because a decoder reads only one input.
        let mut remarks = Diagnostics::default();
        let mut bytes = read(first, &mut remarks)?;
        let mut parts = vec![(0, name(first))];
        for file in others {
            settings.parts.push(bytes.len());
            parts.push((bytes.len() as u64, name(file)));
            bytes.extend(read(file, &mut remarks)?);
        }
        let name = format!("{} and {} more", shown_path(first), others.len());
        let content = Content::Whole(Bytes::Owned(bytes));
        let mut input = Self::recognise(name.into(), content, settings)?;
        input.remarks.prepend(&remarks);
        input.parts = parts;
        Ok(input)
    }
}

/// Returns the name of a file without its folder. The files of a run are usually in the same
/// folder.
fn name(file: &Path) -> String {
    let name = file.file_name().map_or(file, Path::new);
    shown_path(name).to_string()
}

fn read(file: &Path, remarks: &mut Diagnostics) -> Result<Vec<u8>, InputError> {
    let bytes = std::fs::read(file).map_err(|source| InputError::io(file, source))?;
    part(file, bytes, remarks)
}
