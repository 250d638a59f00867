//! Reads several files, each with a part of one run, as one trace. The files are joined in memory.
//! `Settings::parts` contains the offsets at which the files begin, and the decoder sorts the
//! events of all files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::content::Content;
use super::{Bytes, Found, Input, InputError, Settings, plain};
use crate::format;
use crate::model::{Diagnostics, Severity};
use crate::text::shown_path;

impl Input {
    /// Opens the files that contain the parts of one run, in the given order. If there is only one
    /// file, does the same as [`Input::open`]. If there is no file, opens standard input.
    ///
    /// If a file is empty or cannot be decompressed, the trace has a diagnostic of
    /// [`Severity::Damage`] about this file, and the other files are read.
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
        let mut parts = Parts::default();
        files.iter().try_for_each(|file| parts.add(file))?;
        let Parts { bytes, names, found, remarks, error } = parts;
        if let Some(error) = error.filter(|_| bytes.is_empty()) {
            return Err(error);
        }
        settings.parts.extend(names.iter().skip(1).map(|(start, _)| *start as usize));
        let name = format!("{} and {} more", shown_path(first), others.len());
        let content = Content::Whole(Bytes::Owned(bytes));
        let found = found.or_else(|| format::most_confident(content.start()));
        let mut input = Self::of_format(name.into(), content, found, settings, remarks)?;
        input.parts = names;
        Ok(input)
    }
}

/// The files of a run that have been read so far. They are copied into one buffer, because a
/// decoder reads only one input.
#[derive(Default)]
struct Parts {
    bytes: Vec<u8>,
    /// Offset in `bytes` and name of each file.
    names: Vec<(u64, String)>,
    /// The format of the first file that shows its format with the highest confidence.
    found: Option<Found>,
    remarks: Diagnostics,
    /// The error of the first file that cannot be decompressed.
    error: Option<InputError>,
}

impl Parts {
    fn add(&mut self, file: &Path) -> Result<(), InputError> {
        let (start, name) = (self.bytes.len() as u64, name(file));
        let mut remarks = Diagnostics::default();
        match read(file, &mut remarks) {
            Ok((bytes, found)) => {
                if bytes.is_empty() {
                    let message = "expected a part of the trace, found an empty file";
                    remarks.add(Severity::Damage, None, message);
                }
                let confidence = |found: Option<Found>| found.map(|(_, confidence)| confidence);
                if confidence(found) > confidence(self.found) {
                    self.found = found;
                }
                self.bytes.extend_from_slice(&bytes);
            }
            Err(InputError::Io { path, source }) if source.kind() == ErrorKind::InvalidData => {
                remarks.add(Severity::Damage, None, source.to_string());
                self.error.get_or_insert(InputError::Io { path, source });
            }
            Err(error) => return Err(error),
        }
        self.remarks.append_of_file(remarks, start, &name);
        self.names.push((start, name));
        Ok(())
    }
}

/// Returns the name of a file without its folder. The files of a run are usually in the same
/// folder.
fn name(file: &Path) -> String {
    let name = file.file_name().map_or(file, Path::new);
    shown_path(name).to_string()
}

/// Returns the bytes of a file, decompressed and decoded, and their format if it is known.
fn read(file: &Path, remarks: &mut Diagnostics) -> Result<(Bytes, Option<Found>), InputError> {
    let bytes = std::fs::read(file).map_err(|source| InputError::io(file, source))?;
    let (content, found) = plain(file, Content::Whole(Bytes::Owned(bytes)), remarks)?;
    Ok((content.into_bytes(file, remarks)?, found))
}
