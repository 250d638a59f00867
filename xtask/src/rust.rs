//! Splits Rust source into code, comments and strings, and finds the paths in the code.
//!
//! This is not a complete parser. It recognises comments, literals and `use` trees. This is enough
//! for the checks and needs no dependency.

/// One line of a source file, split into code, comment and strings. Columns are not preserved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The text outside comments and strings.
    pub(crate) code: String,
    /// The comment with its marker, if the line contains one.
    pub(crate) comment: String,
    /// The contents of the string literals.
    pub(crate) strings: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    LineComment,
    /// A block comment. Block comments can be nested; the number is the depth of nesting.
    BlockComment(usize),
    Text,
    /// A raw string, which ends with a quote and this number of `#`.
    RawText(usize),
}

/// Splits a file into lines.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let chars: Vec<char> = text.chars().collect();
    let mut lines = vec![Line::default()];
    let (mut state, mut at) = (State::Code, 0);
    while let Some(char) = chars.get(at).copied() {
        let rest = &chars[at..];
        let count = lines.len();
        let line = &mut lines[count - 1];
        let mut length = 1;
        if char == '\n' {
            if state == State::LineComment {
                state = State::Code;
            }
            lines.push(Line::default());
            at += 1;
            continue;
        }
        match state {
            State::Code => (state, length) = code(rest, line),
            State::LineComment => line.comment.push(char),
            State::BlockComment(depth) => {
                line.comment.push(char);
                if rest.starts_with(&['*', '/']) {
                    length = 2;
                    state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
                } else if rest.starts_with(&['/', '*']) {
                    length = 2;
                    state = State::BlockComment(depth + 1);
                }
            }
            State::Text if char == '\\' => length = 1 + usize::from(rest.get(1) != Some(&'\n')),
            State::Text if char == '"' => state = State::Code,
            State::RawText(marks) if char == '"' && marks_after(rest) >= marks => {
                length = 1 + marks;
                state = State::Code;
            }
            State::Text | State::RawText(_) => line.strings.push(char),
        }
        at += length;
    }
    lines
}

/// Reads code at the start of `rest`. Returns the next state and the number of characters consumed.
fn code(rest: &[char], line: &mut Line) -> (State, usize) {
    let char = rest[0];
    match (char, rest.get(1)) {
        ('/', Some('/')) => {
            line.comment.push('/');
            return (State::LineComment, 1);
        }
        ('/', Some('*')) => return (State::BlockComment(1), 2),
        ('"', _) => {
            line.strings.push(' ');
            return (State::Text, 1);
        }
        ('r', _) if !line.code.ends_with(is_word) && is_raw_text(&rest[1..]) => {
            line.strings.push(' ');
            let marks = rest[1..].iter().take_while(|char| **char == '#').count();
            return (State::RawText(marks), marks + 2);
        }
        // A character literal. If there is no closing quote, the token is a lifetime.
        ('\'', Some('\\')) => {
            let end = rest.iter().skip(3).position(|char| *char == '\'').unwrap_or(0);
            return (State::Code, end + 4);
        }
        ('\'', Some(_)) if rest.get(2) == Some(&'\'') => return (State::Code, 3),
        _ => line.code.push(char),
    }
    (State::Code, 1)
}

fn is_raw_text(after: &[char]) -> bool {
    after.iter().find(|char| **char != '#') == Some(&'"')
}

fn marks_after(rest: &[char]) -> usize {
    rest.iter().skip(1).take_while(|char| **char == '#').count()
}

pub(crate) fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// A path that appears in code, such as `crate::model::Trace`, with the line (from 0) on which it
/// begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) line: usize,
    pub(crate) segments: Vec<String>,
    /// The name under which a `use` brings the path into scope.
    pub(crate) alias: Option<String>,
}

/// Returns every path in the code: the path of each leaf of each `use` tree, and elsewhere each
/// path with two or more segments.
pub(crate) fn paths(lines: &[Line]) -> Vec<Named> {
    let tokens = tokens(lines);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((line, token)) = tokens.get(at) {
        // Skip `use<'a>`, which is a bound.
        let is_import = token == "use" && tokens.get(at + 1).is_none_or(|(_, next)| next != "<");
        if is_import {
            at = tree(&tokens, at + 1, &[], *line, &mut found);
        } else if token.starts_with(is_word) {
            let start = at;
            let mut segments = vec![token.clone()];
            while tokens.get(at + 1).is_some_and(|(_, token)| token == "::")
                && let Some((_, next)) = tokens.get(at + 2)
                && next.starts_with(is_word)
            {
                segments.push(next.clone());
                at += 2;
            }
            if at > start {
                found.push(Named { line: *line, segments, alias: None });
            }
            at += 1;
        } else {
            at += 1;
        }
    }
    found
}

/// Reads one `use` tree below a prefix and returns the index after it.
fn tree(
    tokens: &[(usize, String)],
    mut at: usize,
    prefix: &[String],
    line: usize,
    found: &mut Vec<Named>,
) -> usize {
    let mut segments = prefix.to_vec();
    let mut alias = None;
    let mut is_leaf = true;
    while let Some((_, token)) = tokens.get(at) {
        match token.as_str() {
            "{" => {
                is_leaf = false;
                at += 1;
                while tokens.get(at).is_some_and(|(_, token)| token != "}" && token != ";") {
                    let line = tokens[at].0;
                    at = tree(tokens, at, &segments, line, found);
                    if tokens.get(at).is_some_and(|(_, token)| token == ",") {
                        at += 1;
                    }
                }
            }
            "," | "}" | ";" => break,
            "as" => {
                alias = tokens.get(at + 1).map(|(_, token)| token.clone());
                at += 1;
            }
            "::" => {}
            word => segments.push(word.to_owned()),
        }
        at += 1;
    }
    if is_leaf && !segments.is_empty() {
        let own = segments.iter().rev().find(|segment| *segment != "self").cloned();
        found.push(Named { line, alias: alias.or(own), segments });
    }
    at
}

/// Returns the tokens of the code (words, `::` and other single characters) with their lines.
fn tokens(lines: &[Line]) -> Vec<(usize, String)> {
    let mut tokens: Vec<(usize, String)> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let mut rest = line.code.as_str();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                char if is_word(char) => rest.find(|char| !is_word(char)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                char => char.len_utf8(),
            };
            let (token, after) = rest.split_at(length);
            if !token.trim().is_empty() {
                tokens.push((number, token.to_owned()));
            }
            rest = after;
        }
    }
    tokens
}

/// Removes the code of `#[cfg(test)]` items, so that the checks apply only to code for users.
pub(crate) fn without_tests(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        if !lines[at].code.trim_start().starts_with("#[cfg(test)]") {
            at += 1;
            continue;
        }
        let mut depth = 0_usize;
        // The item ends with its closing bracket, or with a semicolon outside all brackets.
        while let Some(line) = lines.get_mut(at) {
            let code = std::mem::take(&mut line.code);
            at += 1;
            let mut ended = false;
            for char in code.replace("#[cfg(test)]", "").chars() {
                match char {
                    '{' => depth += 1,
                    '}' => {
                        depth = depth.saturating_sub(1);
                        ended = depth == 0;
                    }
                    ';' if depth == 0 => ended = true,
                    _ => {}
                }
            }
            if ended {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<String> {
        paths(&lines(text)).iter().map(|named| named.segments.join("::")).collect()
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        let text = "let a = \"x // y\"; // told\n/* b /* c */ */ let d = '\"'; r#\"e \" f\"#";
        let lines = lines(text);
        assert_eq!(lines[0].code.trim(), "let a = ;");
        assert_eq!((lines[0].comment.as_str(), lines[0].strings.trim()), ("// told", "x // y"));
        assert_eq!(lines[1].code.replace(' ', ""), "letd=;");
        assert_eq!(lines[1].strings.trim(), "e \" f");
    }

    #[test]
    fn a_lifetime_begins_no_literal() {
        let lines = lines("fn a<'b>(c: &'b str) -> char { '\\'' } // d");
        assert!(lines[0].code.contains("'b str) -> char {  }"), "{}", lines[0].code);
        assert_eq!(lines[0].comment, "// d");
    }

    #[test]
    fn each_leaf_of_a_use_tree_is_a_path() {
        let text = "use crate::{export, model::{self, Trace as T}};\nfn f() { super::g::h(); }";
        let expected =
            ["crate::export", "crate::model::self", "crate::model::Trace", "super::g::h"];
        assert_eq!(named(text), expected);
        assert_eq!(paths(&lines(text))[2].alias.as_deref(), Some("T"));
    }

    #[test]
    fn test_items_are_blanked() {
        let mut lines = lines("use a::b;\n#[cfg(test)]\nmod tests {\n  use c::d;\n}\nuse e::f;");
        without_tests(&mut lines);
        let found: Vec<_> = paths(&lines).iter().map(|named| named.segments.join("::")).collect();
        assert_eq!(found, ["a::b", "e::f"]);
    }
}
