//! Names in the metadata: identifiers of fields, and quoted strings.
//!
//! Each field is written with an underscore before its name, so that no name is a keyword of the
//! language. Readers remove one leading underscore from the names of fields.

use std::collections::BTreeSet;

/// Returns unique identifiers for fields with these names, in order. Characters that cannot be part
/// of an identifier become underscores. If a name is already used, a number is added to it.
pub(super) fn identifiers<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut unique = |name: &str| {
        let cleaned = cleaned(name);
        let with_number = (2_u64..).map(|number| format!("{cleaned}_{number}"));
        let mut tried = std::iter::once(cleaned.clone()).chain(with_number);
        // A sequence has a second field with its length.
        let is_free = |name: &String| !taken.contains(name) && !taken.contains(&length_of(name));
        let name = tried.find(is_free).unwrap_or(cleaned);
        taken.extend([name.clone(), length_of(&name)]);
        format!("_{name}")
    };
    names.map(&mut unique).collect()
}

/// Returns the identifier of the field that contains the length of a sequence. It differs from
/// `_NAME_length`, which LTTng uses, because a converted LTTng trace can have such a field.
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
