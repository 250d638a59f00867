//! Tests sequence diagrams: their content, the syntax of each language, and names with special
//! characters.

use std::fmt::Write as _;

use tracewell::export::{self, ExportNames};
use tracewell::format::Options;
use tracewell::input::{Input, Settings};
use tracewell::select::Selection;
use tracewell_wire::rkh::Settings as Widths;
use tracewell_wire::threadx::Event;

#[path = "support/dump.rs"]
mod dump;
#[path = "support/rkh.rs"]
mod rkh;
mod support;

use dump::{Dump, USUAL, event, thread};
use rkh::Stream;
use support::fixture;

fn drawn(bytes: Vec<u8>, language: &str, options: &[&str]) -> Result<String, String> {
    drawn_part(bytes, language, options, Selection::default())
}

fn drawn_part(
    bytes: Vec<u8>,
    language: &str,
    options: &[&str],
    selection: Selection,
) -> Result<String, String> {
    // These streams are too short to infer the sizes of their fields.
    let widths =
        ["ts=4", "ptr=4", "sig=1", "esize=2", "nblock=1", "bsize=1", "nelem=1", "ntimer=2"];
    let reported = if bytes == strange_names() { &widths[..] } else { &[] };
    let settings = Settings { format: Some("rkh".to_owned()), ..support::settings(reported) };
    let mut input = Input::from_bytes("in.bin", bytes, settings).unwrap();
    input.select(selection);
    let mut chosen = Options::default();
    options.iter().for_each(|option| chosen.add(option).unwrap());
    let names = ExportNames { input: "in <& \"quoted\">.bin".to_owned(), output: String::new() };
    let mut out = Vec::new();
    let export = export::by_name(language).unwrap();
    match export.write(&mut input, &chosen, &names, &mut out) {
        Ok(_) => Ok(String::from_utf8(out).unwrap()),
        Err(error) => Err(error.to_string()),
    }
}

fn shared_c() -> Vec<u8> {
    std::fs::read(fixture("rkh/shared-c.bin")).unwrap()
}

/// A line of Mermaid text.
#[derive(Debug, PartialEq)]
enum Statement {
    Participant(String, String),
    Arrow(String, String, String),
    NoteOver(Vec<String>, String),
    NoteBeside(String, String),
}

/// Parses the part of Mermaid's grammar that our diagrams use. Every line is a statement,
/// participants are declared before use, and labels contain no special characters.
fn mermaid(text: &str) -> Vec<Statement> {
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("%% "));
    assert_eq!(lines.next(), Some("sequenceDiagram"));
    let mut known: Vec<String> = Vec::new();
    let label = |text: &str| {
        let mut plain = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            if c == '#' {
                let (code, behind) = rest.split_once(';').expect("a code ends with ;");
                plain.push(char::from_u32(code.parse().expect("a number")).unwrap());
                rest = behind;
            } else {
                assert!(c.is_alphanumeric() || " _.,:()'-@".contains(c), "{c:?} in {text}");
                plain.push(c);
            }
        }
        assert_ne!(text.to_lowercase(), "end");
        plain
    };
    let statements = lines.map(|line| {
        let line = line.strip_prefix("    ").expect("statements are indented");
        if let Some(rest) = line.strip_prefix("participant ") {
            let (id, name) = rest.split_once(" as ").unwrap();
            known.push(id.to_owned());
            return Statement::Participant(id.to_owned(), label(name));
        }
        let (head, text) = line.split_once(": ").expect("a text after a colon");
        let id = |id: &str| {
            assert!(known.iter().any(|known| known == id), "{id} is not declared");
            id.to_owned()
        };
        let text = label(text);
        if let Some(over) = head.strip_prefix("Note over ") {
            return Statement::NoteOver(over.split(',').map(id).collect(), text);
        }
        if let Some(of) = head.strip_prefix("Note right of ") {
            return Statement::NoteBeside(id(of), text);
        }
        let (from, to) = head.split_once("->>").expect("an arrow");
        Statement::Arrow(id(from), id(to), text)
    });
    statements.collect()
}

/// Returns the statements of a diagram in the form of Trazer's lines.
fn as_trazer(statements: &[Statement]) -> Vec<String> {
    let name = |id: &String| {
        let named = statements.iter().find_map(|statement| match statement {
            Statement::Participant(known, name) if known == id => Some(name.clone()),
            _ => None,
        });
        named.unwrap()
    };
    let mut lines = Vec::new();
    for statement in statements {
        match statement {
            Statement::Arrow(from, to, text) => {
                let signal = text.split_once(" @").unwrap().0;
                let (from, to) = (name(from), name(to));
                lines.push(match signal.strip_suffix(" (timer)") {
                    Some(signal) => format!("{to}->{to}: \\-tm({signal})"),
                    None => format!("{from}->{to}: {signal}"),
                });
            }
            Statement::NoteOver(over, text) => match &over[..] {
                [machine] => lines.push(format!("{0}--{0}: {text}", name(machine))),
                _ if text == "the target starts" => lines.push("---: TARGET START".to_owned()),
                _ => panic!("{text}"),
            },
            // Trazer draws only events that a machine accepts.
            Statement::Participant(..) | Statement::NoteBeside(..) => {}
        }
    }
    lines
}

#[test]
fn a_diagram_shows_the_arrows_that_trazer_draws() {
    let drawn = drawn(shared_c(), "mermaid", &["most=100000"]).unwrap();
    let trazer = std::fs::read_to_string(fixture("rkh/shared-c.trazer-msc.txt")).unwrap();
    let expected: Vec<_> = trazer
        .lines()
        .map(|line| line.split(['[', ';']).next().unwrap())
        .filter(|line| !line.starts_with("msc") && !line.is_empty())
        // Trazer also draws executed functions, which the diagram omits.
        .filter(|line| !line.contains("\\-0X"))
        .map(str::to_owned)
        .collect();
    let found = as_trazer(&mermaid(&drawn));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn participants_stand_in_the_order_of_their_first_step() {
    let drawn = drawn(shared_c(), "mermaid", &[]).unwrap();
    let head: Vec<_> = drawn.lines().skip(2).take(12).map(str::trim).collect();
    let expected = [
        "participant p0 as server",
        "participant p1 as cli0",
        "participant p2 as cli1",
        "participant p3 as cli2",
        "participant p4 as cli3",
        "participant p5 as l_isr_tick",
        "participant p6 as l_isr_kbd",
        "Note over p0,p6: the target starts",
        "Note over p0: server_idle",
        "Note over p1: client_idle",
        "Note over p2: client_idle",
        "Note over p3: client_idle",
    ];
    assert_eq!(head, expected);
}

#[test]
fn a_diagram_is_cut_and_counts_the_rest() {
    let whole = mermaid(&drawn(shared_c(), "mermaid", &[]).unwrap());
    let cut = mermaid(&drawn(shared_c(), "mermaid", &["most=10"]).unwrap());
    let Some(Statement::NoteOver(_, last)) = cut.last() else { panic!("{cut:?}") };
    let more: usize = last.split_whitespace().nth(1).unwrap().parse().unwrap();
    let steps = |list: &[Statement]| {
        list.iter().filter(|s| !matches!(s, Statement::Participant(..))).count()
    };
    // If the diagram already shows the message that a timer sent, it omits the expiry of the timer.
    // So it can show fewer expiries than the trace contains.
    assert!(steps(&cut) <= 11 && more + 10 >= steps(&whole), "{more} {}", steps(&whole));
    let (from, to) = ("9s".parse().ok(), "9.5s".parse().ok());
    let range = Selection { from, to, ..Selection::default() };
    let within = drawn_part(shared_c(), "mermaid", &[], range).unwrap();
    assert_eq!(
        within.lines().skip(2).map(str::trim).collect::<Vec<_>>(),
        [
            "participant p0 as server",
            "participant p1 as cli2",
            "p0->>p1: START @9.09 s",
            "Note over p0: server_busy"
        ]
    );
    let pools = Selection { events: vec!["MP*".to_owned()], ..Selection::default() };
    let error = drawn_part(shared_c(), "svg", &[], pools).unwrap_err();
    assert!(error.contains("has no messages"), "{error}");
    let last = Selection { tail: Some(3), ..Selection::default() };
    let error = drawn_part(shared_c(), "svg", &[], last).unwrap_err();
    assert!(error.contains("last events"), "{error}");
}

#[test]
fn plantuml_text_declares_whom_it_names() {
    let drawn = drawn(shared_c(), "plantuml", &["most=12"]).unwrap();
    let lines: Vec<_> = drawn.lines().collect();
    assert_eq!((lines[0], lines.last()), ("@startuml", Some(&"@enduml")));
    assert!(lines.contains(&"participant \"cli1\" as p2"), "{drawn}");
    assert!(lines.contains(&"p2 ->> p0 : REQ @4.29 s"), "{drawn}");
    assert!(lines.contains(&"hnote over p2 : client_idle"), "{drawn}");
    assert!(lines.contains(&"== the target starts =="), "{drawn}");
}

/// A stream whose names contain the special characters of the diagram languages.
fn strange_names() -> Vec<u8> {
    let names = ["end", "a->b; <b>&\"x\"", "alt\n@enduml", "", "%%{init}%%", "\u{7}\u{FFFF}ä--__"];
    let settings = Widths { stamp: 4, ..Widths::default() };
    let mut stream = Stream::new(settings);
    stream.record(0xA7, 1, b"\x01#1; \"<i>\" // ** \\n\0");
    for (index, name) in (0_u32..).zip(names) {
        let key = 0x1000 + 16 * index;
        let symbol = [&key.to_le_bytes()[..], name.as_bytes(), &[0]].concat();
        stream.record(0xAE, 2, &symbol);
        let state =
            [&key.to_le_bytes()[..], &(key + 4).to_le_bytes(), name.as_bytes(), &[0]].concat();
        stream.record(0xAF, 2, &state);
        stream.record(0x43, 3, &[&key.to_le_bytes()[..], &[1, 0, 0, 1]].concat());
        stream.record(0x71, 4, &[&key.to_le_bytes()[..], &[1], &(key + 4).to_le_bytes()].concat());
        stream.record(0x63, 5, &[&key.to_le_bytes()[..], &(key + 4).to_le_bytes()].concat());
        stream.record(0x6A, 6, &[&key.to_le_bytes()[..], &[1]].concat());
    }
    // An escape directly before a flag means that the target aborted the frame.
    stream.raw(&[0x69, 0x7D, 0x7E]);
    stream.number(9).record(0x69, 7, &0x1000_u32.to_le_bytes());
    stream.bytes
}

#[test]
fn no_name_breaks_a_diagram() {
    let text = drawn(strange_names(), "mermaid", &[]).unwrap();
    let statements = mermaid(&text);
    let participants: Vec<_> = statements
        .iter()
        .filter_map(|statement| match statement {
            Statement::Participant(_, name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(participants[..3], ["environment", "end", "a->b; <b>&\"x\""], "{text}");
    let plantuml = drawn(strange_names(), "plantuml", &[]).unwrap();
    assert_eq!(plantuml.matches("@enduml").count(), 1, "{plantuml}");
    for line in plantuml.lines().filter(|line| line.starts_with("participant")) {
        assert_eq!(line.matches('"').count(), 2, "{line}");
    }
    assert!(plantuml.lines().any(|line| line.contains("events are missing")), "{plantuml}");
    assert!(plantuml.lines().any(|line| line == "== a record is damaged =="), "{plantuml}");
}

#[test]
fn a_picture_is_xml_that_needs_nothing_else() {
    for (bytes, most) in [(shared_c(), "most=50"), (strange_names(), "most=500")] {
        let svg = drawn(bytes, "svg", &[most]).unwrap();
        let document =
            roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
        let root = document.root_element();
        assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
        let forbidden = ["script", "image", "foreignObject", "a", "use", "link"];
        for node in root.descendants() {
            assert!(!forbidden.contains(&node.tag_name().name()), "{node:?}");
            for attribute in node.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                assert!(name != "href" && !name.starts_with("on"), "{name}");
                assert!(!value.contains("url(") || value == "url(#e)", "{value}");
            }
        }
        assert!(!svg.contains("@import") && !svg.contains("url(http"));
    }
}

#[test]
fn the_steps_of_a_picture_go_down_in_the_order_of_time() {
    let svg = drawn(shared_c(), "svg", &["most=80"]).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let place = |node: &roxmltree::Node<'_, '_>, name| node.attribute(name)?.parse::<i64>().ok();
    let times: Vec<_> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("t"))
        .map(|node| (place(&node, "y").unwrap(), node.text().unwrap().to_owned()))
        .collect();
    assert!(times.len() > 40 && times.is_sorted_by_key(|(y, _)| *y), "{times:?}");
    // The arrow of a message goes from the sender's line to the receiver's line.
    let hint = "REQ: posted 4.29 s, taken 4.5 s";
    let title = document.descendants().find(|node| node.text() == Some(hint)).unwrap();
    let arrow = title.next_sibling().unwrap().attribute("d").unwrap().to_owned();
    let column = |name: &str| {
        let is = |node: &roxmltree::Node<'_, '_>| {
            node.has_tag_name(("http://www.w3.org/2000/svg", "text")) && node.text() == Some(name)
        };
        place(&document.descendants().find(is).unwrap(), "x").unwrap()
    };
    let (from, to) = (column("cli1"), column("server"));
    assert!(
        arrow.starts_with(&format!("M{from} ")) && arrow.ends_with(&format!("H{to}")),
        "{arrow}"
    );
}

#[test]
fn names_are_written_whole_in_hints() {
    let mut name = String::new();
    (0..9).for_each(|number| write!(name, "a_long_name_{number}_").unwrap());
    let mut stream = Stream::new(Widths::default());
    let symbol = [&0x1000_u32.to_le_bytes()[..], name.as_bytes(), &[0]].concat();
    stream.record(0xAE, 1, &symbol);
    stream.record(0x43, 2, &[&0x1000_u32.to_le_bytes()[..], &[1, 0, 0, 1]].concat());
    let svg = drawn(stream.bytes, "svg", &[]).unwrap();
    assert!(svg.contains(&format!("<title>{name}</title>")), "{svg}");
}

fn example(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read(folder.join(name)).unwrap()
}

#[test]
fn threads_send_through_queues_and_semaphores() {
    let mut input =
        Input::from_bytes("in.trx", example("scheduling.trx"), support::settings(&[])).unwrap();
    let mut chosen = Options::default();
    chosen.add("most=100000").unwrap();
    let names = ExportNames { input: "in.trx".to_owned(), output: String::new() };
    let mut out = Vec::new();
    let export = export::by_name("mermaid").unwrap();
    export.write(&mut input, &chosen, &names, &mut out).unwrap();
    let statements = mermaid(&String::from_utf8(out).unwrap());
    let participant = |id: &str| {
        let name = statements.iter().find_map(|statement| match statement {
            Statement::Participant(known, name) if known == id => Some(name.clone()),
            _ => None,
        });
        name.unwrap()
    };
    let mut arrows = std::collections::BTreeMap::new();
    for statement in &statements {
        if let Statement::Arrow(from, to, label) = statement {
            let what = label.split(" @").next().unwrap().to_owned();
            *arrows.entry((participant(from), what, participant(to))).or_insert(0) += 1;
        }
    }
    // Each put has one arrow. For each object, there is one more get than there are puts, because
    // the last get still waits at the end of the trace.
    let arrow = |from: &str, what: &str, to: &str| {
        ((from.to_owned(), what.to_owned(), to.to_owned()), if what == "samples" { 29 } else { 25 })
    };
    let expected =
        [arrow("Interrupt", "uart rx", "control"), arrow("sensor", "samples", "telemetry")];
    assert_eq!(arrows, expected.into_iter().collect());
}

#[test]
fn messages_that_no_thread_receives_go_to_the_queue() {
    let (a, b, queue) = (0x2100_0000, 0x2100_0100, 0x2200_0000);
    let mut slot = thread(queue, "mail");
    (slot.object_type, slot.parameter1, slot.parameter2) = (3, 64, 4);
    let at = |context, id, stamp, enqueued| {
        let mut event = event(context, id, stamp);
        event.info = [queue, 0, 0xFFFF_FFFF, enqueued];
        event
    };
    let (send, receive, front, other) = (69, 68, 63, 5000);
    let events = vec![
        at(a, send, 100, 0),
        at(a, front, 110, 1),
        at(b, receive, 120, 2),
        at(b, receive, 130, 1),
        // The thread does not wait; it continues.
        at(b, receive, 140, 0),
        at(b, other, 150, 0),
        at(a, send, 160, 0),
        Event::UNUSED,
    ];
    let count = events.len();
    let objects = vec![thread(a, "alpha"), thread(b, "beta"), slot];
    let bytes = Dump::new(USUAL, objects, events, count - 1).bytes();
    let mut input = Input::from_bytes("in.trx", bytes, support::settings(&[])).unwrap();
    let names = ExportNames { input: "in.trx".to_owned(), output: String::new() };
    let mut out = Vec::new();
    let export = export::by_name("mermaid").unwrap();
    export.write(&mut input, &Options::default(), &names, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let arrows: Vec<_> = text.lines().filter(|line| line.contains("->>")).map(str::trim).collect();
    assert_eq!(arrows.len(), 3, "{text}");
    assert!(text.contains("p0 as alpha") && text.contains("p1 as beta"), "{text}");
    assert!(arrows[0].starts_with("p0->>p1: mail") && arrows[1].starts_with("p0->>p1: mail"));
    assert!(text.contains("p2 as mail") && arrows[2].starts_with("p0->>p2: mail"), "{text}");
}
