//! Labels of traces, such as the firmware or the device. Each label is a column of all tables. A
//! label comes from a folder named `key=value`, or from the user's pattern for the ends of paths.

use std::path::{Component, Path};

use tracewell::text::shown_path;

use crate::failure::Failure;

/// A pattern for the ends of paths, such as `{firmware}/{device}.trx`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Labels {
    text: String,
    /// The parts of the pattern between slashes.
    parts: Vec<Vec<Piece>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    /// Text that the path must contain.
    Text(String),
    /// The name of a label, whose value has at least one character.
    Label(String),
}

impl Labels {
    /// Parses a pattern. A label in braces matches any text within a part of the path, up to the
    /// text that follows the label in the pattern.
    ///
    /// # Errors
    ///
    /// Fails if a brace is not closed, a name is empty or is not a word, no text separates two
    /// labels, or the pattern contains no label.
    ///
    /// ```
    /// use std::path::Path;
    /// use tracewell_query::labels::Labels;
    ///
    /// let labels = Labels::parse("{firmware}/{device}.trx").unwrap();
    /// let found = labels.of(Path::new("runs/1.2/dev-7.trx")).unwrap();
    /// assert_eq!(found[0], ("firmware".to_owned(), "1.2".to_owned()));
    /// assert_eq!(found[1], ("device".to_owned(), "dev-7".to_owned()));
    /// ```
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let usage = |message: &str| Failure::usage(format!("--labels {text}: {message}"));
        let parts: Result<Vec<_>, _> = text.split('/').map(pieces).collect();
        let parts = parts.map_err(usage)?;
        match parts.iter().flatten().any(|piece| matches!(piece, Piece::Label(_))) {
            true => Ok(Self { text: text.to_owned(), parts }),
            false => Err(usage("expected a label in braces, as in {firmware}/{device}.trx")),
        }
    }

    /// Returns the labels of a path.
    ///
    /// # Errors
    ///
    /// Fails if the end of the path does not match.
    pub fn of(&self, path: &Path) -> Result<Vec<(String, String)>, Failure> {
        let names: Vec<_> = path.components().map(Component::as_os_str).collect();
        let mut labels = Vec::new();
        let first = names.len().checked_sub(self.parts.len());
        let matches = first.is_some_and(|first| {
            let mut ends = self.parts.iter().zip(&names[first..]);
            ends.all(|(part, name)| match_part(part, &name.to_string_lossy(), &mut labels))
        });
        match matches {
            true => Ok(labels),
            false => {
                let message =
                    format!("{}: does not end as --labels {}", shown_path(path), self.text);
                Err(Failure::usage(message))
            }
        }
    }
}

fn pieces(part: &str) -> Result<Vec<Piece>, &'static str> {
    let mut pieces = Vec::new();
    let mut rest = part;
    while !rest.is_empty() {
        let (text, after) = rest.split_once('{').unwrap_or((rest, ""));
        if !text.is_empty() {
            pieces.push(Piece::Text(text.to_owned()));
        } else if let Some(Piece::Label(_)) = pieces.last() {
            return Err("expected text between two labels");
        }
        if text.len() == rest.len() {
            break;
        }
        let (name, after) = after.split_once('}').ok_or("expected } after {")?;
        if !is_word(name) {
            return Err("expected letters, digits and _ as the name of a label");
        }
        pieces.push(Piece::Label(name.to_owned()));
        rest = after;
    }
    Ok(pieces)
}

fn is_word(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_part)
}

fn match_part(part: &[Piece], mut name: &str, labels: &mut Vec<(String, String)>) -> bool {
    let mut pieces = part.iter().peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Text(text) => match name.strip_prefix(text.as_str()) {
                Some(rest) => name = rest,
                None => return false,
            },
            Piece::Label(label) => {
                let last = pieces.clone().count() <= 1;
                let end = match pieces.peek() {
                    // Match the last text of the pattern at the end of the name, because the
                    // label's value may contain the same text.
                    Some(Piece::Text(text)) if last => {
                        name.strip_suffix(text.as_str()).map(str::len)
                    }
                    Some(Piece::Text(text)) => name.find(text.as_str()),
                    _ => Some(name.len()),
                };
                let Some(end) = end.filter(|end| *end > 0) else { return false };
                labels.push((label.clone(), name[..end].to_owned()));
                name = &name[end..];
            }
        }
    }
    name.is_empty()
}

/// Parses a label that the user gives, as `KEY=VALUE`.
///
/// # Errors
///
/// Fails if there is no equals sign, or if the key is not a word.
pub(crate) fn given(text: &str) -> Result<(String, String), Failure> {
    match text.split_once('=') {
        Some((key, value)) if is_word(key) => Ok((key.to_owned(), value.to_owned())),
        _ => {
            let message =
                format!("--label {text}: expected KEY=VALUE; a key has letters, digits and _");
            Err(Failure::usage(message))
        }
    }
}

/// Checks that no label of a trace has two values.
///
/// # Errors
///
/// Fails if a label occurs twice.
pub(crate) fn check(path: &Path, labels: &[(String, String)]) -> Result<(), Failure> {
    for (index, (name, value)) in labels.iter().enumerate() {
        if let Some((_, other)) = labels[..index].iter().find(|(known, _)| known == name) {
            let path = shown_path(path);
            let message = format!("{path}: label {name} is both {other} and {value}");
            return Err(Failure::usage(message));
        }
    }
    Ok(())
}

/// Returns a label's value as a part of a folder's name. The name is only for people, so different
/// values can give the same name.
pub(crate) fn as_folder(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    value.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Returns the labels of folders named `key=value` in a path.
pub(crate) fn of_folders(path: &Path) -> Vec<(String, String)> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let label = |folder: Component<'_>| {
        let name = folder.as_os_str().to_str()?;
        let (key, value) = name.split_once('=')?;
        is_word(key).then(|| (key.to_owned(), value.to_owned()))
    };
    folders.filter_map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, path: &str) -> Option<String> {
        let labels = Labels::parse(pattern).unwrap().of(Path::new(path)).ok()?;
        let texts: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Some(texts.join(" "))
    }

    #[test]
    fn patterns_match_the_ends_of_paths() {
        assert_eq!(found("{a}", "x/y.trx").as_deref(), Some("a=y.trx"));
        assert_eq!(found("v{a}/{b}-{c}.trx", "v1/d-e-f.trx").as_deref(), Some("a=1 b=d c=e-f"));
        assert_eq!(found("{a}.trx", "x/y.trx.trx").as_deref(), Some("a=y.trx"));
        assert_eq!(found("{a}.trx", "x/.trx"), None);
        assert_eq!(found("{a}.trx", "x/y.trx.gz"), None);
        assert_eq!(found("{a}/{b}", "y"), None);
    }

    #[test]
    fn wrong_patterns_are_refused() {
        for pattern in ["", "a.trx", "{a", "{}", "{a}{b}", "{a b}"] {
            assert!(Labels::parse(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn folders_with_keys_are_labels() {
        let labels = of_folders(Path::new("lake/firmware=1.2/device=a=b/x=1.trx"));
        let expected = [("firmware", "1.2"), ("device", "a=b")];
        assert_eq!(labels, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
}
