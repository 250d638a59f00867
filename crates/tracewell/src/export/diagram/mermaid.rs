//! Writes sequence diagrams for Mermaid. Participants get short generated names, because Mermaid
//! interprets some words and characters in names. In labels, those characters are written as
//! `#CODE;`.

use std::fmt::Write as _;

use super::{Diagram, NoteKind, StepKind, and_more};

pub(super) fn text(diagram: &Diagram) -> String {
    let mut text = format!("%% {}\nsequenceDiagram\n", diagram.title.escape_debug());
    let last = diagram.participants.len() - 1;
    for (index, name) in diagram.participants.iter().enumerate() {
        line(&mut text, &format!("participant p{index} as {}", escaped(name)));
    }
    for step in &diagram.steps {
        let time = &step.time;
        line(
            &mut text,
            &match &step.kind {
                StepKind::Message { from, to, label, .. } => {
                    format!("p{from}->>p{to}: {} @{time}", escaped(label))
                }
                StepKind::Note { at, text, kind: NoteKind::State } => {
                    format!("Note over p{at}: {}", escaped(text))
                }
                StepKind::Note { at, text, kind: NoteKind::Remark } => {
                    format!("Note right of p{at}: {} @{time}", escaped(text))
                }
                StepKind::Across(text) => across(last, text),
            },
        );
    }
    if diagram.more > 0 {
        line(&mut text, &across(last, &and_more(diagram.more)));
    }
    text
}

fn across(last: usize, text: &str) -> String {
    match last {
        // Mermaid rejects a range from a participant to itself.
        0 => format!("Note over p0: {text}"),
        _ => format!("Note over p0,p{last}: {text}"),
    }
}

fn line(text: &mut String, line: &str) {
    text.push_str("    ");
    text.push_str(line);
    text.push('\n');
}

/// Returns a label without Mermaid syntax. Letters, digits and a few other characters are
/// unchanged.
fn escaped(label: &str) -> String {
    let mut escaped = String::new();
    for (index, c) in label.chars().enumerate() {
        // A label that is only the word `end` would end a block.
        let is_end = index == 0 && label.eq_ignore_ascii_case("end");
        match c {
            _ if (c.is_alphanumeric() || " _.,:()'".contains(c)) && !is_end => escaped.push(c),
            // Mermaid would interpret `--` and `->` as arrows.
            '-' if !label.contains("--") && !label.contains("->") => escaped.push(c),
            _ if c.is_control() => escaped.push(' '),
            // Writing to a `String` cannot fail.
            _ => _ = write!(escaped, "#{};", u32::from(c)),
        }
    }
    if escaped.trim().is_empty() { "#32;".to_owned() } else { escaped }
}
