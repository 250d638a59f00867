//! Reads the text of a configuration file. Every error states its place in the file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tracewell::format::{DefaultOption, FORMATS, Format};
use tracewell::select::{did_you_mean, nearest};
use tracewell::source::{Finding, Source, Span};

use crate::shipped;

/// The settings of a configuration file.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// The settings for all traces.
    pub(super) all: Section,
    /// The settings for traces whose paths match a pattern, in the order of the configuration file.
    pub(super) files: Vec<(String, Section)>,
}

/// A group of settings. A later group overrides an earlier one, value by value.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    /// The format of the traces, and the position of this setting in the configuration file.
    pub(super) format: Option<(&'static Format, String)>,
    /// The rules that `check` uses.
    pub(super) rules: Option<PathBuf>,
    /// The templates that `report` uses.
    pub(super) templates: Option<Vec<PathBuf>>,
    /// Schema files, each with its position in the configuration file.
    pub(super) schemas: Vec<(PathBuf, String)>,
    /// The ELF file of the program that recorded the traces, and the place of this setting in the
    /// configuration file.
    pub(super) elf: Option<(PathBuf, String)>,
    /// Options of formats.
    pub(super) options: Vec<DefaultOption>,
    /// The files that contain names for each format, each with its position in the configuration
    /// file.
    pub(super) names: Vec<(&'static Format, PathBuf, String)>,
}

const FILES: &str = "files";
const PATTERN: &str = "pattern";
const OF_SECTION: [&str; 5] = ["elf", "format", "rules", "schemas", "templates"];
const NAMES: &str = "names";

type Entry<'a, 't> = (&'a Spanned<std::borrow::Cow<'t, str>>, &'a Spanned<DeValue<'t>>);

/// Parses the text. Paths in the text are relative to `folder`.
pub(super) fn parse(source: &Source, text: &str, folder: &Path) -> Result<Content, Vec<Finding>> {
    let table = DeTable::parse(text).map_err(|error| {
        vec![Finding::error(span(error.span().unwrap_or_default()), error.message())]
    })?;
    let mut reader = Reader { source, folder, findings: Vec::new() };
    let mut content = Content::default();
    for (key, value) in table.get_ref() {
        if key.get_ref() == FILES {
            reader.files(value, &mut content.files);
        } else {
            reader.entry((key, value), &mut content.all, FILES);
        }
    }
    if reader.findings.is_empty() {
        return Ok(content);
    }
    reader.findings.sort_by_key(|finding| finding.span.start);
    Err(reader.findings)
}

struct Reader<'a> {
    source: &'a Source,
    folder: &'a Path,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    /// Reads the tables `[[files]]`.
    fn files(&mut self, value: &Spanned<DeValue<'_>>, out: &mut Vec<(String, Section)>) {
        let Some(tables) = value.get_ref().as_array() else {
            return self.expected(value, "tables [[files]]");
        };
        for value in tables.iter() {
            let Some(table) = value.get_ref().as_table() else {
                return self.expected(value, "a table");
            };
            let (mut pattern, mut section) = (None, Section::default());
            for (key, value) in table {
                if key.get_ref() == PATTERN {
                    pattern = self.text(value, "a pattern such as \"boards/*.trx\"");
                } else {
                    self.entry((key, value), &mut section, PATTERN);
                }
            }
            match pattern {
                Some(pattern) => out.push((pattern, section)),
                // The error about this pattern has already been reported.
                None if table.contains_key(PATTERN) => {}
                None => self.error(value.span(), "[[files]] needs a key 'pattern'"),
            }
        }
    }

    /// Reads an entry of a section. `other` is an additional key that is allowed there.
    fn entry(&mut self, (key, value): Entry<'_, '_>, section: &mut Section, other: &str) {
        let name = key.get_ref().as_ref();
        // A key that is the name of a format begins a table with the settings of this format.
        if let Some(format) = tracewell::format::by_name(name) {
            return self.format(format, value, section);
        }
        match name {
            "format" => {
                let Some(text) = self.text(value, "the name of a format") else { return };
                let names = || FORMATS.iter().map(|format| format.name);
                match tracewell::format::by_name(&text) {
                    Some(format) => section.format = Some((format, self.place(value.span()))),
                    None => {
                        let hint = did_you_mean(nearest(&text, names()));
                        let names = names().collect::<Vec<_>>().join(", ");
                        let message = format!("expected a format ({names}), found '{text}'{hint}");
                        self.error(value.span(), &message);
                    }
                }
            }
            "rules" => section.rules = self.path(value),
            "elf" => {
                section.elf = self.path(value).map(|path| (path, self.place(value.span())));
            }
            "schemas" => {
                let Some(paths) = value.get_ref().as_array() else {
                    return self.expected(value, "a list of paths");
                };
                for path in paths.iter() {
                    let Some(file) = self.path(path) else { continue };
                    section.schemas.push((file, self.place(path.span())));
                }
            }
            "templates" => {
                let Some(paths) = value.get_ref().as_array() else {
                    return self.expected(value, "a list of paths");
                };
                section.templates = paths.iter().map(|path| self.template(path)).collect();
            }
            _ => {
                let formats = FORMATS.iter().map(|format| format.name);
                let known: Vec<_> = OF_SECTION.into_iter().chain([other]).chain(formats).collect();
                self.unknown(key, &known);
            }
        }
    }

    /// Reads the options of a format.
    fn format(
        &mut self,
        format: &'static Format,
        value: &Spanned<DeValue<'_>>,
        section: &mut Section,
    ) {
        let Some(table) = value.get_ref().as_table() else {
            return self.expected(value, "a table of options");
        };
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if name == NAMES && format.names.is_some() {
                if let Some(path) = self.path(value) {
                    section.names.push((format, path, self.place(key.span())));
                }
            } else if format.options.iter().any(|option| option.key == name) {
                if let Some(value) = self.value(value) {
                    let place = self.place(key.span());
                    let (format, key) = (format.name, name.to_owned());
                    section.options.push(DefaultOption { format, key, value, place });
                }
            } else {
                let options = format.options.iter().map(|option| option.key);
                let mut known: Vec<_> = options.collect();
                // If the format has an option `names`, the list already contains this key.
                if format.names.is_some() && !known.contains(&NAMES) {
                    known.push(NAMES);
                }
                self.unknown(key, &known);
            }
        }
    }

    /// Returns the value of an option as it would be typed after `-O KEY=`.
    fn value(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) => {
                let parsed = i128::from_str_radix(number.as_str(), number.radix());
                parsed.ok().map(|number| number.to_string())
            }
            DeValue::Float(number) => Some(number.as_str().to_owned()),
            _ => {
                self.expected(value, "a text or a number");
                None
            }
        }
    }

    fn text(&mut self, value: &Spanned<DeValue<'_>>, expected: &str) -> Option<String> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.expected(value, expected);
        }
        text.map(str::to_owned)
    }

    /// Returns the path of a template file, or the name of a shipped template.
    fn template(&mut self, value: &Spanned<DeValue<'_>>) -> Option<PathBuf> {
        let name = value.get_ref().as_str().map(PathBuf::from);
        match name.filter(|name| shipped::is_name(name)) {
            Some(name) => Some(name),
            None => self.path(value),
        }
    }

    /// Returns a path. The path is relative to the folder of the configuration file.
    fn path(&mut self, value: &Spanned<DeValue<'_>>) -> Option<PathBuf> {
        match value.get_ref().as_str() {
            Some("" | "-") | None => {
                self.expected(value, "the path of a file");
                None
            }
            Some(path) => Some(self.folder.join(path)),
        }
    }

    fn unknown(&mut self, key: &Spanned<std::borrow::Cow<'_, str>>, known: &[&str]) {
        let name = key.get_ref();
        let hint = did_you_mean(nearest(name, known.iter().copied()));
        let message = match known.is_empty() {
            true => format!("unknown key '{name}': this format has no options"),
            false => format!("unknown key '{name}': expected {}{hint}", known.join(", ")),
        };
        self.error(key.span(), &message);
    }

    fn expected(&mut self, value: &Spanned<DeValue<'_>>, expected: &str) {
        let found = value.get_ref().type_str();
        self.error(value.span(), &format!("expected {expected}, found {found}"));
    }

    fn error(&mut self, range: Range<usize>, message: &str) {
        self.findings.push(Finding::error(span(range), message));
    }

    /// Returns the file, line and column of a range, for later messages.
    fn place(&self, range: Range<usize>) -> String {
        let position = self.source.position(span(range).start);
        format!("{}:{}:{}", self.source.name, position.line, position.column)
    }
}

/// Returns a range of the text as a span; the limit on the length of the text ensures that the
/// range fits into a span.
fn span(range: Range<usize>) -> Span {
    let offset = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    Span { start: offset(range.start), end: offset(range.end) }
}
