//! The files named on the command line, and how to read them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::json;
use tracewell::format::FORMATS;
use tracewell::input::{Input, Settings, paths};
use tracewell::text::shown_path;

use super::cache::Key;
use crate::args::InputArgs;
use crate::config::Configs;
use crate::outcome::Failure;

/// The files named on the command line, and how to read them.
#[derive(Debug)]
pub(super) struct Traces {
    files: Vec<PathBuf>,
    args: InputArgs,
    settings: Settings,
}

/// The path, size and modification time of each file; `None` for a file that does not exist.
pub(super) type Version = Vec<(PathBuf, Option<(u64, Option<SystemTime>)>)>;

impl Traces {
    /// Returns the trace that consists of `files`. `all` are the files of all traces.
    pub(super) fn new(
        files: &[PathBuf],
        all: &[PathBuf],
        args: &InputArgs,
    ) -> Result<Self, Failure> {
        let settings = args.settings(all)?;
        let settings = args.configured(settings, all, files, &mut Configs::default())?;
        Ok(Self { files: files.to_vec(), args: args.clone(), settings })
    }

    /// Returns the path of the first file.
    pub(super) fn first(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Opens the files.
    pub(super) fn open(&self) -> Result<Input, Failure> {
        Ok(Input::open_run(&self.files, self.settings.clone())?)
    }

    /// Returns the name of the trace in documents.
    pub(super) fn name(&self) -> String {
        match self.files.as_slice() {
            [file] => shown_path(file).to_string(),
            [first, others @ ..] => format!("{} and {} more", shown_path(first), others.len()),
            [] => String::new(),
        }
    }

    /// Returns the title of the page.
    pub(super) fn title(&self) -> String {
        let name = self.first().file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| self.name())
    }

    /// Returns true if a file is memory into which a recorder may write.
    pub(super) fn is_in_memory(&self) -> bool {
        let takes = |file: &PathBuf| {
            let open = fs::File::open(file);
            let mut snapshots = FORMATS.iter().filter_map(|format| format.snapshot);
            open.is_ok_and(|open| snapshots.any(|take| matches!(take(file, &open), Ok(Some(_)))))
        };
        self.files.iter().any(takes)
    }

    /// Returns the key of the trace in the cache. The key depends on the options and on each file
    /// that is read for the trace.
    pub(super) fn key(&self) -> Option<Key> {
        let InputArgs { format_in, options, custom_events, names, schema, elf, .. } = &self.args;
        let InputArgs { join, no_config, .. } = &self.args;
        let files =
            [custom_events.iter().collect(), Vec::from_iter(names), schema.iter().collect()];
        let files: Vec<Vec<_>> =
            files.map(|files| files.into_iter().map(|path| path.to_str()).collect()).to_vec();
        let elf = elf.as_ref().map(|path| path.to_str());
        let options = json!([format_in, options, files, elf, join, no_config]);
        let others = self.args.inputs(&self.files);
        let all: Vec<_> = self.files.iter().chain(others.paths()).cloned().collect();
        Key::new(&all, self.files.len(), &options)
    }

    /// Returns the total length of all files in bytes, even if they are compressed.
    pub(super) fn stored_size(&self) -> u64 {
        let lengths = self.version().into_iter().filter_map(|(_, version)| Some(version?.0));
        lengths.fold(0, u64::saturating_add)
    }

    pub(super) fn version(&self) -> Version {
        let of = |file: PathBuf| {
            let metadata = fs::metadata(&file).ok();
            let version = metadata.map(|metadata| (metadata.len(), metadata.modified().ok()));
            (file, version)
        };
        // A trace in a folder gets new files while it grows.
        let files = self.files.iter().flat_map(|file| paths(file, &self.settings));
        files.map(of).collect()
    }
}
