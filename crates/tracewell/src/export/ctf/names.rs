//! Names in the metadata: identifiers of fields, and quoted strings.
//!
//! Readers remove one leading underscore from the names of fields. So each field is written with an
//! underscore before its name, which also keeps it apart from the keywords of the language.

use std::collections::BTreeSet;

/// Returns the identifiers of fields with these names, in their order. Characters that cannot be
/// part of an identifier become underscores. A name that another field already has gets a number.
pub(super) fn identifiers<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut unique = |name: &str| {
        let cleaned = cleaned(name);
        let with_number = (2_u64..).map(|number| format!("{cleaned}_{number}"));
        let mut tried = std::iter::once(cleaned.clone()).chain(with_number);
        // A list or text of variable length has a second field with the length.
        let is_free =
            |name: &String| !taken.contains(name) && !taken.contains(&format!("_{name}_length"));
        let name = tried.find(is_free).unwrap_or(cleaned);
        taken.extend([name.clone(), length_of(&name)]);
        format!("_{name}")
    };
    names.map(&mut unique).collect()
}

/// Returns the identifier of the length of a sequence. Fields of traces hardly have such names:
/// LTTng's own sequences have `_NAME_length`.
pub(super) fn length_of(name: &str) -> String {
    format!("_{name}__length")
}

fn cleaned(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Appends a string in quotes. Control characters, quotes and backslashes are escaped.
pub(super) fn put_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ if c.is_ascii_control() => out.push_str(&format!("\\{:03o}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_different_identifiers() {
        let names = ["int", "a.b", "a b", "grün", "", "data", "_data__length", "x"];
        let found = identifiers(names.into_iter());
        let expected = ["_int", "_a_b", "_a_b_2", "_gr_n", "_", "_data", "__data__length_2", "_x"];
        assert_eq!(found, expected);
    }

    #[test]
    fn quotes_and_control_characters_are_escaped() {
        let mut out = String::new();
        put_quoted(&mut out, "a\"b\\c\nd\te\u{7}\u{7f}ü");
        assert_eq!(out, "\"a\\\"b\\\\c\\nd\\te\\007\\177ü\"");
    }
}
