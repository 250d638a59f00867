//! Finds the configuration file `tracewell.toml` for a trace, and adds its settings if the command
//! line does not contain them.
//!
//! A configuration only names settings and files to read. It runs nothing and writes nothing.

mod read;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tracewell::format::{DefaultNames, NamesFile};
use tracewell::input::Settings;
use tracewell::source::Source;
use tracewell::text::{shown, shown_path};

use self::read::{Content, Section, parse};
use crate::outcome::{Failure, Outcome};
use crate::{elf, small_file};

/// Name of a configuration file.
const NAME: &str = "tracewell.toml";

/// A configuration file.
#[derive(Debug)]
struct Config {
    path: PathBuf,
    folder: PathBuf,
    content: Content,
}

/// The settings of a configuration file for one trace.
#[derive(Debug)]
pub(crate) struct Project {
    /// Path of the configuration file.
    pub(crate) path: PathBuf,
    section: Section,
}

/// The configuration files that have been read, keyed by the folder of the traces.
#[derive(Debug, Default)]
pub(crate) struct Configs(HashMap<PathBuf, Found>);

/// The configuration of a folder, or `None` if the folder has none. If the configuration is
/// invalid, the command prints the error for the first trace in the folder, and keeps only the
/// outcome for later traces.
type Found = Result<Option<Rc<Config>>, Outcome>;

impl Configs {
    /// Returns the settings for a trace; `-` is standard input. Returns `None` if no configuration
    /// file applies.
    ///
    /// Looks in the folder of the trace, then in its parents up to a folder with `.git`, the home
    /// folder or the root. The search ends at a folder in which every user can create files.
    pub(crate) fn of(&mut self, trace: &Path) -> Result<Option<Project>, Failure> {
        // If the trace does not exist, the error is reported when the trace is opened.
        let Some(folder) = folder_of(trace) else { return Ok(None) };
        let config = match self.0.get(&folder) {
            Some(found) => found.clone().map_err(Failure::reported)?,
            None => {
                let found = find(&folder).map(|path| read(&path).map(Rc::new)).transpose();
                let kept = found.as_ref().map(Clone::clone).map_err(Failure::outcome);
                self.0.insert(folder.clone(), kept);
                found?
            }
        };
        let Some(config) = config else { return Ok(None) };
        let file = trace.file_name().filter(|_| trace != Path::new("-"));
        let file = file.map(|name| folder.join(name));
        let within = file.as_deref().and_then(|file| file.strip_prefix(&config.folder).ok());
        let mut section = config.content.all.clone();
        for (pattern, of_pattern) in &config.content.files {
            if within.is_some_and(|path| is_like(pattern, path)) {
                section.add(of_pattern.clone());
            }
        }
        Ok(Some(Project { path: config.path.clone(), section }))
    }
}

impl Section {
    /// Adds the settings in `over`, which override the settings in this section.
    fn add(&mut self, over: Self) {
        self.format = over.format.or(self.format.take());
        self.rules = over.rules.or(self.rules.take());
        self.templates = over.templates.or(self.templates.take());
        self.elf = over.elf.or(self.elf.take());
        self.options.extend(over.options);
        self.names.extend(over.names);
        self.schemas.extend(over.schemas);
    }
}

impl Project {
    /// Returns the rules for `check`.
    pub(crate) fn rules(&self) -> Option<&Path> {
        self.section.rules.as_deref()
    }

    /// Returns the templates for `report`.
    pub(crate) fn templates(&self) -> &[PathBuf] {
        self.section.templates.as_deref().unwrap_or_default()
    }

    /// Returns all files that the configuration names, and the configuration itself.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let names = self.section.names.iter().map(|(_, path, _)| path.as_path());
        let schemas = self.section.schemas.iter().map(|(path, _)| path.as_path());
        let templates = self.templates().iter().map(PathBuf::as_path);
        let elf = self.section.elf.iter().map(|(path, _)| path.as_path());
        let files = names.chain(schemas).chain(self.rules()).chain(templates).chain(elf);
        files.chain([self.path.as_path()])
    }

    /// Adds the settings for the input. Settings from the command line have priority. Reads the
    /// files that contain names, the schema files and the symbols. Returns a description of each
    /// added setting.
    pub(crate) fn add_to(&self, settings: &mut Settings) -> Result<Vec<String>, Failure> {
        let mut added = Vec::new();
        if settings.format.is_none()
            && let Some((format, _)) = &self.section.format
        {
            settings.format = Some(format.name.to_owned());
            added.push(format!("format={}", format.name));
        }
        for option in &self.section.options {
            if settings.options.get(&option.key).is_none() {
                added.push(format!("{}.{}={}", option.format, option.key, option.value));
            }
        }
        settings.defaults.options.clone_from(&self.section.options);
        // If the command line names files for `--names`, the configuration's files of names are not
        // used.
        if settings.names.is_empty() {
            for (format, path, place) in &self.section.names {
                let Some(flag) = format.names else { continue };
                let text = small_file::read(path)
                    .map_err(|failure| failure.within(&format!("{place}: names")))?;
                let shown = shown_path(path).to_string();
                added.push(format!("{}.names={shown}", format.name));
                let file = NamesFile { flag, path: shown, text };
                let (format, place) = (format.name, place.clone());
                settings.defaults.names.push(DefaultNames { format, file, place });
            }
        }
        for (path, place) in &self.section.schemas {
            let file = small_file::read_schema(path)
                .map_err(|failure| failure.within(&format!("{place}: schemas")))?;
            added.push(format!("schemas={}", shown_path(path)));
            settings.defaults.schemas.push(file);
        }
        if settings.symbols.is_none()
            && let Some((path, place)) = &self.section.elf
        {
            let symbols =
                elf::read(path).map_err(|failure| failure.within(&format!("{place}: elf")))?;
            added.push(format!("elf={}", shown_path(path)));
            settings.symbols = Some(symbols);
        }
        Ok(added)
    }
}

/// Returns the folder of a trace, with symbolic links resolved. Standard input counts as a file in
/// the current folder.
fn folder_of(trace: &Path) -> Option<PathBuf> {
    if trace == Path::new("-") {
        return std::env::current_dir().ok();
    }
    let folder = trace.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()
}

/// Returns the path of the configuration file for the traces in a folder.
fn find(folder: &Path) -> Option<PathBuf> {
    let home = std::env::home_dir().and_then(|home| fs::canonicalize(home).ok());
    for folder in folder.ancestors() {
        // Another user could have put the file there.
        if is_open_to_all(folder) {
            return None;
        }
        let path = folder.join(NAME);
        if fs::symlink_metadata(&path).is_ok() {
            return Some(path);
        }
        if home.as_deref() == Some(folder) || folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Returns true if every user can create files in a folder.
#[cfg(unix)]
fn is_open_to_all(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(folder).is_ok_and(|folder| folder.mode() & 0o002 != 0)
}

#[cfg(not(unix))]
fn is_open_to_all(_: &Path) -> bool {
    false
}

fn read(path: &Path) -> Result<Config, Failure> {
    let text = small_file::read_config(path)?;
    let name = shown_path(path).to_string();
    let Ok(text) = String::from_utf8(text) else {
        return Err(Failure::usage(format!("{name}: expected text in UTF-8")));
    };
    let source = Source::new(name, text.as_str());
    let folder = path.parent().unwrap_or(path).to_owned();
    match parse(&source, &text, &folder) {
        Ok(content) => Ok(Config { path: path.to_owned(), folder, content }),
        Err(findings) => {
            let placed = findings.iter().map(|finding| {
                let position = source.position(finding.span.start);
                let (name, message) = (&source.name, shown(&finding.message));
                format!("{name}:{}:{}: {message}", position.line, position.column)
            });
            Err(Failure::usage(placed.collect::<Vec<_>>().join("\nerror: ")))
        }
    }
}

/// Returns true if a path matches a pattern: `*` stands for any text, `?` for any character. A
/// pattern without `/` is compared only with the name of the file.
fn is_like(pattern: &str, path: &Path) -> bool {
    let compared =
        if pattern.contains('/') { path.as_os_str() } else { path.file_name().unwrap_or_default() };
    let text = compared.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let (pattern, text): (Vec<_>, Vec<_>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut of) = (0, 0);
    // The position at which to continue if the text does not match the pattern after the last `*`.
    let mut retry = None;
    while at < text.len() {
        match pattern.get(of) {
            Some('*') => {
                retry = Some((of + 1, at));
                of += 1;
            }
            Some(c) if *c == '?' || *c == text[at] => {
                of += 1;
                at += 1;
            }
            _ => {
                let Some((after, from)) = retry else { return false };
                retry = Some((after, from + 1));
                (of, at) = (after, from + 1);
            }
        }
    }
    pattern[of..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_or_paths_below_the_configuration() {
        let is = |pattern, path| is_like(pattern, Path::new(path));
        for (pattern, path) in [
            ("*.trx", "runs/a.trx"),
            ("a?.bin", "a1.bin"),
            ("runs/*", "runs/x/a.trx"),
            ("runs/*/b-*.trx", "runs/x/y/b-b-1.trx"),
            ("*", "a"),
        ] {
            assert!(is(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in
            [("*.trx", "a.trx.gz"), ("a.trx", "b/A.trx"), ("runs/*.bin", "other/a.bin"), ("", "a")]
        {
            assert!(!is(pattern, path), "{pattern} {path}");
        }
    }
}
