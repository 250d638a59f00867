//! Reads names of user events from TraceX's custom event file (`.trxc`).
//!
//! All lines before a line `Start` are comments. The definitions follow, one per line, up to a line
//! `End` or the end of the file:
//!
//! ```text
//! number, name, abbreviation, (r, g, b), (r, g, b), label1, label2, label3, label4
//! ```
//!
//! TraceX stops at the first invalid line, and treats blank lines as invalid. This parser reports
//! every invalid line and ignores spaces around a field. It treats blank lines and lines that begin
//! with `#` or `//` as comments.

use std::fmt;
use std::sync::Arc;

use crate::format::NamesFile;
use crate::model::schema::{
    Argument, ArgumentKind, Details, EventType, Instrumentation, Means, Schema,
};
use crate::model::{Diagnostics, Meaning, Severity};
use crate::text::shown;

/// A definition in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CustomEvent {
    /// Event id. TraceX documents the range 4096 to 65535, but accepts every unknown id.
    pub id: u32,
    /// Name, which is also the label in reports.
    pub name: String,
    /// The text in the event's icon, with at most three characters.
    pub abbreviation: String,
    /// Colours of the icon's top half and bottom half, each as red, green and blue.
    pub colors: [[u8; 3]; 2],
    /// Captions of the four information words.
    pub labels: [String; 4],
}

/// Error for a line that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CustomEventError {
    /// Line of the file, from 1.
    pub line: usize,
    /// The message: what was expected, and what was found.
    pub message: String,
}

impl fmt::Display for CustomEventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Returns the schema of ThreadX with the user events of these files. Also returns diagnostics
/// about the files.
pub(super) fn schema(files: &[NamesFile]) -> (Arc<Schema>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    if files.is_empty() {
        return (crate::format::threadx::schema(), diagnostics);
    }
    let mut schema = Schema::clone(&crate::format::threadx::schema());
    for NamesFile { path, text, .. } in files {
        let path = shown(path);
        let (events, errors) = parse(text);
        for (number, error) in errors.iter().enumerate() {
            // Only the first error of a file shows the form of a line.
            let form = if number == 0 { FORM } else { "" };
            diagnostics.add_about(&path, Severity::Damage, format!("{error}{form}"));
        }
        for event in define(&mut schema, events) {
            let message = format!("event {} already has a name; ignored", event.id);
            diagnostics.add_about(&path, Severity::Warning, message);
        }
    }
    (Arc::new(schema), diagnostics)
}

/// The form of a file, for messages.
const FORM: &str = "; after a line 'Start', each line has the form `4096, Frame sent, FS, \
                    (0, 0, 255), (0, 0, 0), length, port, queue, left`";

/// Parses the definitions of a file. Bytes that are not valid UTF-8 are replaced.
pub fn parse(text: &[u8]) -> (Vec<CustomEvent>, Vec<CustomEventError>) {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    if !lines.by_ref().any(|(_, line)| line == "Start") {
        let line = text.lines().count() + 1;
        let message = "expected a line 'Start', found the end of the file".to_owned();
        return (Vec::new(), vec![CustomEventError { line, message }]);
    }
    let (mut events, mut errors) = (Vec::new(), Vec::new());
    for (line, text) in lines.take_while(|(_, line)| *line != "End") {
        if text.is_empty() || text.starts_with('#') || text.starts_with("//") {
            continue;
        }
        match definition(text) {
            Ok(event) => events.push(event),
            Err(message) => errors.push(CustomEventError { line, message }),
        }
    }
    (events, errors)
}

/// Adds the names of a file to a schema. Returns the definitions whose ids the schema has already
/// defined.
pub fn define(schema: &mut Schema, events: Vec<CustomEvent>) -> Vec<CustomEvent> {
    events.into_iter().filter(|event| !schema.define(event_type(event))).collect()
}

fn event_type(event: &CustomEvent) -> EventType {
    let mut args: Vec<Argument> = Vec::new();
    for (index, label) in event.labels.iter().enumerate() {
        let words = label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut name = words.collect::<Vec<_>>().join("_").to_lowercase();
        // Labels of one event must differ. A label in the file may also equal a generated name.
        while name.is_empty() || args.iter().any(|argument| argument.name == name) {
            name = format!("{name}arg{}", index + 1);
        }
        args.push(Argument { name, kind: ArgumentKind::Hex, encoding: String::new(), zero: None });
    }
    let meaning = Meaning::Mark;
    EventType {
        id: event.id,
        name: event.name.clone(),
        label: event.name.clone(),
        family: "user".to_owned(),
        filter: 0x8000_0000,
        args,
        means: Some(Means::of(meaning)),
        details: Details::default(),
        instrumentation: Instrumentation::default(),
    }
}

fn definition(line: &str) -> Result<CustomEvent, String> {
    let fields: Vec<_> = line.split(',').map(str::trim).collect();
    let [number, name, abbreviation, r1, g1, b1, r2, g2, b2, labels @ ..] = fields.as_slice()
    else {
        return Err(format!("expected 13 fields with commas between, found {}", fields.len()));
    };
    // This also accepts more than four labels and ignores the others.
    let Some(labels) = labels.first_chunk::<4>() else {
        return Err(format!("expected 13 fields with commas between, found {}", fields.len()));
    };
    let id = number.parse().map_err(|_| format!("expected an event number, found '{number}'"))?;
    if name.is_empty() {
        return Err("expected a name in the second field, found nothing".to_owned());
    }
    if !(1..=3).contains(&abbreviation.chars().count()) {
        return Err(format!(
            "expected an abbreviation of 1 to 3 characters, found '{abbreviation}'"
        ));
    }
    // Fields are counted from 1, so the labels are fields 10 to 13.
    if let Some(empty) = labels.iter().position(|label| label.is_empty()) {
        return Err(format!("expected a label in field {}, found nothing", empty + 10));
    }
    Ok(CustomEvent {
        id,
        name: shown(*name).into_owned(),
        abbreviation: shown(*abbreviation).into_owned(),
        colors: [color([r1, g1, b1])?, color([r2, g2, b2])?],
        labels: labels.map(str::to_owned),
    })
}

fn color([red, green, blue]: [&str; 3]) -> Result<[u8; 3], String> {
    let wrong = || format!("expected a colour such as (255, 128, 0), found '{red},{green},{blue}'");
    let red = red.strip_prefix('(').ok_or_else(wrong)?;
    let blue = blue.strip_suffix(')').ok_or_else(wrong)?;
    let part = |text: &str| text.trim().parse::<u8>().map_err(|_| wrong());
    Ok([part(red)?, part(green)?, part(blue)?])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "4096, Frame sent, FS, (0, 0, 255), (0, 0, 0), Length, Port, Queue, Left";

    fn read(lines: &[&str]) -> (Vec<CustomEvent>, Vec<String>) {
        let (events, errors) = parse(lines.join("\r\n").as_bytes());
        (events, errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn definitions_stand_between_start_and_end() {
        let other = GOOD.replace("4096", "5000");
        let lines = ["comment, 1", "Start", "", "# a", GOOD, "// b", &other, "End", "4097, x"];
        let (events, errors) = read(&lines);
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(events.iter().map(|event| event.id).collect::<Vec<_>>(), [4096, 5000]);
        assert_eq!(events[0].colors, [[0, 0, 255], [0, 0, 0]]);
        assert_eq!(events[0].labels, ["Length", "Port", "Queue", "Left"]);
    }

    #[test]
    fn every_bad_line_is_reported() {
        let bad = [
            "Start",
            "4096, Frame sent, FS",
            &GOOD.replace("4096", "many"),
            &GOOD.replace("Frame sent", ""),
            &GOOD.replace("FS", "FSND"),
            &GOOD.replace("(0, 0, 255)", "(0, 0, 256)"),
            &GOOD.replace("(0, 0, 255)", "0, 0, 255"),
            &GOOD.replace("Queue", " "),
            GOOD,
        ];
        let (events, errors) = read(&bad);
        assert_eq!(events.len(), 1);
        assert_eq!(
            errors,
            [
                "line 2: expected 13 fields with commas between, found 3",
                "line 3: expected an event number, found 'many'",
                "line 4: expected a name in the second field, found nothing",
                "line 5: expected an abbreviation of 1 to 3 characters, found 'FSND'",
                "line 6: expected a colour such as (255, 128, 0), found '(0,0,256)'",
                "line 7: expected a colour such as (255, 128, 0), found '0,0,255'",
                "line 8: expected a label in field 12, found nothing",
            ]
        );
        let (_, errors) = read(&["nothing"]);
        assert_eq!(errors, ["line 2: expected a line 'Start', found the end of the file"]);
    }

    #[test]
    fn only_the_first_bad_line_of_a_file_shows_the_form() {
        let file = |path: &str| NamesFile {
            flag: "--custom-events",
            path: path.to_owned(),
            text: b"Start\n4096\n4097\n".to_vec(),
        };
        let (_, diagnostics) = schema(&[file("a"), file("b")]);
        let forms: Vec<_> = diagnostics.iter().map(|d| d.message.ends_with(FORM)).collect();
        assert_eq!(forms, [true, false, true, false]);
    }

    #[test]
    fn argument_names_differ_whatever_the_labels() {
        for labels in ["arg2, !, x, y", "arg3, a, a, b", "a, a, a, a", "!, !, arg1, arg2"] {
            let (events, _) = read(&["Start", &GOOD.replace("Length, Port, Queue, Left", labels)]);
            let mut names: Vec<_> =
                event_type(&events[0]).args.into_iter().map(|a| a.name).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), 4, "{labels}");
        }
    }

    #[test]
    fn user_events_get_names_and_built_in_ids_keep_theirs() {
        let mut schema = Schema::clone(&crate::format::threadx::schema());
        let (events, _) = read(&["Start", GOOD, &GOOD.replace("4096", "83")]);
        let refused = define(&mut schema, events);
        assert_eq!(refused.iter().map(|event| event.id).collect::<Vec<_>>(), [83]);
        assert_eq!(schema.event(4096).label, "Frame sent");
        assert_eq!(schema.event(4096).args[1].name, "port");
        assert_eq!(schema.event(4097).name, "USER_EVENT");
        assert_eq!(schema.event(83).name, "TX_TRACE_SEMAPHORE_GET");
    }

    proptest! {
        #[test]
        fn no_text_panics(text: Vec<u8>) {
            let _ = parse(&text);
            let _ = parse(&[b"Start\n".as_slice(), &text].concat());
        }
    }
}
