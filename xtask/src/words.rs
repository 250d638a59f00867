//! Rules about language: patterns to avoid, and the width of lines.
//!
//! The check searches for the patterns in comments and strings of Rust files, and in Markdown
//! outside code.

use std::path::Path;

use crate::rust::{self, Line};

/// Pages to which the patterns do not apply: CONTRIBUTING.md, which quotes them, and the change
/// log.
const EXEMPT: &[&str] = &["CHANGELOG.md", "CONTRIBUTING.md"];

/// Maximum width of a Rust line in columns. Lines with strings, and rows of tables, may be wider.
const MAX_COLUMNS: usize = 100;

/// A pattern and its replacement.
struct Pattern {
    phrase: &'static str,
    instead: &'static str,
    /// Phrases that contain the pattern but are allowed.
    except: &'static [&'static str],
}

const fn pattern(phrase: &'static str, instead: &'static str) -> Pattern {
    Pattern { phrase, instead, except: &[] }
}

/// The patterns. They match whole words and ignore case.
const PATTERNS: [Pattern; 10] = [
    pattern("anew", "again"),
    pattern("goes round", "wraps"),
    pattern("go round", "wrap"),
    pattern("nobody", "the actor: no reader, no writer"),
    pattern("somebody", "the actor: a reader, a writer"),
    pattern("so many", "N, or that many"),
    pattern("told", "reported, specified, known"),
    pattern("tells", "reports, says, shows"),
    pattern("who wants", "the actor"),
    Pattern {
        phrase: "behind",
        instead: "after",
        except: &["left behind", "leave behind", "leaves behind", "falls behind", "fall behind"],
    },
];

/// Patterns at the start of a doc comment.
const OPENINGS: [&str; 3] = ["What ", "Whether ", "Who "];

/// Returns a fault for each pattern and each wide line in a file.
pub(crate) fn check(name: &str, text: &str) -> Vec<String> {
    // This file contains the patterns.
    if name.starts_with("xtask/") || EXEMPT.contains(&name) {
        return Vec::new();
    }
    match Path::new(name).extension().and_then(|extension| extension.to_str()) {
        Some("rs") => rust_faults(name, &rust::lines(text)),
        Some("md") => markdown_faults(name, text),
        _ => Vec::new(),
    }
}

fn markdown_faults(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut in_code = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            faults.extend(phrases(line).map(|what| format!("{name}:{}: {what}", number + 1)));
        }
    }
    faults
}

fn rust_faults(name: &str, lines: &[Line]) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let mut fault = |what: String| faults.push(format!("{name}:{}: {what}", number + 1));
        phrases(&line.comment).chain(phrases(&line.strings)).for_each(&mut fault);
        let columns = line.code.chars().count() + line.comment.chars().count();
        let is_table = doc(line).is_some_and(|text| text.starts_with('|'));
        if columns > MAX_COLUMNS && line.strings.is_empty() && !is_table {
            fault(format!("{columns} columns, expected at most {MAX_COLUMNS}"));
        }
        let begins = number == 0 || doc(&lines[number - 1]).is_none();
        let Some(opening) = doc(line).filter(|_| begins) else { continue };
        if let Some(word) = OPENINGS.iter().find(|word| opening.starts_with(**word)) {
            fault(format!(
                "documentation opens with `{}`: begin with the name of the item instead",
                word.trim()
            ));
        }
        if opening == "cbindgen:ignore" {
            continue;
        }
        let next = lines[number + 1..].iter().find(|line| !is_attribute(line));
        let is_public = next.is_some_and(|next| next.code.trim_start().starts_with("pub "));
        if is_public && opening.split_whitespace().count() <= 2 {
            fault("documentation of two words: describe the item".to_owned());
        }
    }
    faults
}

/// Returns the text of a line in a doc comment.
fn doc(line: &Line) -> Option<&str> {
    let comment = line.comment.as_str();
    let text = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"))?;
    line.code.trim().is_empty().then(|| text.trim())
}

fn is_attribute(line: &Line) -> bool {
    line.code.trim_start().starts_with("#[")
}

/// Returns the patterns in a line of text, each with its replacement.
fn phrases(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    PATTERNS.iter().filter_map(move |pattern| {
        let mut lower = lower.clone();
        for good in pattern.except {
            lower = lower.replace(good, "");
        }
        has_words(&lower, pattern.phrase)
            .then(|| format!("`{}`: write {}", pattern.phrase, pattern.instead))
    })
}

/// Returns true if the text contains a phrase that begins and ends at word boundaries.
fn has_words(text: &str, phrase: &str) -> bool {
    let is_border =
        |char: Option<char>| char.is_none_or(|char| !char.is_alphanumeric() && char != '_');
    text.match_indices(phrase).any(|(at, _)| {
        let after = &text[at + phrase.len()..];
        is_border(text[..at].chars().next_back()) && is_border(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_comments_and_strings_but_not_in_code() {
        let text = "//! Head of the file.\n// It begins Anew.\nlet told = \"nobody\";\n";
        let faults = rust_faults("a.rs", &rust::lines(text));
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("a.rs:2: `anew`"), "{faults:?}");
        assert!(faults[1].starts_with("a.rs:3: `nobody`"), "{faults:?}");
    }

    #[test]
    fn good_phrases_and_parts_of_words_are_allowed() {
        let text = "// Files left behind by renewed processes: `so_many`, storytellers.\n";
        assert_eq!(rust_faults("a.rs", &rust::lines(text)), Vec::<String>::new());
    }

    #[test]
    fn weak_documentation_is_a_fault() {
        let text = "/// What it is.\nfn a() {}\n/// Its family.\npub fn b() {}\n\
                    /// Returns the family.\n#[inline]\npub fn c() {}\n/// A field\n/// of two
                    /// lines.\npub fn d() {}\n";
        let faults = rust_faults("a.rs", &rust::lines(text));
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("a.rs:1:") && faults[1].starts_with("a.rs:3:"));
    }

    #[test]
    fn wide_lines_are_faults_unless_a_string_makes_them_so() {
        let wide = "x".repeat(101);
        let text = format!("// {wide}\nlet a = \"{wide}\";\n");
        assert_eq!(rust_faults("a.rs", &rust::lines(&text)).len(), 1);
    }

    #[test]
    fn code_in_markdown_is_left_alone() {
        let text = "It tells.\n```text\nIt tells.\n```\nIt says.\n";
        assert_eq!(markdown_faults("a.md", text).len(), 1);
    }
}
