//! Writes sequence diagrams for PlantUML. Characters that PlantUML interprets as markup are written
//! as `<U+CODE>`.

use std::fmt::Write as _;

use super::{Diagram, NoteKind, StepKind, and_more};

pub(super) fn text(diagram: &Diagram) -> String {
    let mut text = format!("@startuml\ntitle {}\nhide footbox\n", escaped(&diagram.title));
    for (index, name) in diagram.participants.iter().enumerate() {
        line(&mut text, format!("participant \"{}\" as p{index}", escaped(name)));
    }
    for step in &diagram.steps {
        let time = &step.time;
        line(
            &mut text,
            match &step.kind {
                StepKind::Message { from, to, label, .. } => {
                    format!("p{from} ->> p{to} : {} @{time}", escaped(label))
                }
                StepKind::Note { at, text, kind: NoteKind::State } => {
                    format!("hnote over p{at} : {}", escaped(text))
                }
                StepKind::Note { at, text, kind: NoteKind::Remark } => {
                    format!("note right of p{at} : {} @{time}", escaped(text))
                }
                StepKind::Across(text) => format!("== {text} =="),
            },
        );
    }
    if diagram.more > 0 {
        line(&mut text, format!("== {} ==", and_more(diagram.more)));
    }
    text.push_str("@enduml\n");
    text
}

fn line(text: &mut String, line: String) {
    text.push_str(&line);
    text.push('\n');
}

/// Returns a label without markup. Two equal punctuation marks in a row are also markup.
fn escaped(label: &str) -> String {
    let mut escaped = String::new();
    let mut before = ' ';
    for c in label.chars() {
        match c {
            _ if c.is_alphanumeric() || " :()".contains(c) => escaped.push(c),
            // PlantUML strikes out the text after `--` and underlines the text after `__`.
            '_' | '.' | ',' | '-' if before != c => escaped.push(c),
            _ if c.is_control() => escaped.push(' '),
            // Writing to a `String` cannot fail.
            _ => _ = write!(escaped, "<U+{:04X}>", u32::from(c)),
        }
        before = c;
    }
    if escaped.trim().is_empty() { "<U+0020>".to_owned() } else { escaped }
}
