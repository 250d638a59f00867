//! Tests the texts that describe a SystemView stream: its head, the names that the target sends,
//! the descriptions of modules, and description files.

mod support;

use std::sync::Arc;

use support::systemview::{put, with_numbers};
use support::{EventLog, settings};
use tracewell::format::systemview::description::{is_description, to_schema};
use tracewell::format::{self, Progress};
use tracewell::input::{Input, Settings};
use tracewell::model::Trace;
use tracewell::model::schema::{ArgumentKind, Extension};
use tracewell_wire::systemview::{SYNC, ids};

/// The event that begins a marker.
const MARK_START: u32 = 15;

/// An event of FreeRTOS.
const TASK_DELAY: u32 = 35;

/// Maximum length of a head in bytes.
const MAX_HEAD: usize = 1 << 16;

/// A stream under construction.
struct Stream(Vec<u8>);

impl Stream {
    fn new() -> Self {
        let mut stream = Self(vec![0; SYNC]);
        stream.packet(ids::TRACE_START, &[], "", &[]);
        stream
    }

    /// Adds a packet with numbers, a text unless it is empty, and further numbers.
    fn packet(&mut self, id: u32, numbers: &[u32], text: &str, more: &[u32]) -> &mut Self {
        let mut payload = with_numbers(Vec::new(), numbers);
        if !text.is_empty() {
            payload.push(u8::try_from(text.len()).unwrap());
            payload.extend(text.as_bytes());
        }
        put(&mut self.0, id, &with_numbers(payload, more));
        self
    }

    /// Returns the trace, and the texts of the arguments of all events.
    fn read(&self, settings: Settings) -> (Trace, Vec<String>) {
        let settings = Settings { format: Some("systemview".to_owned()), ..settings };
        let mut texts = Vec::new();
        let mut input = Input::from_bytes("stream", self.0.clone(), settings).unwrap();
        let trace = input.for_each(|event| texts.push(event.args().to_string())).unwrap();
        (trace, texts)
    }
}

#[test]
fn a_line_belongs_to_the_head_if_it_begins_in_the_first_64_kib() {
    for (start, title) in [(MAX_HEAD - 1, "late"), (MAX_HEAD, "")] {
        let mut head = vec![b';'; start - 1];
        head.extend(b"\n; Title late\n");
        let bytes = [head, Stream::new().0].concat();
        let (trace, texts) = Stream(bytes).read(Settings::default());
        assert_eq!((trace.text("title"), texts.len()), (title, 1), "{start}");
    }
}

#[test]
fn a_line_without_end_is_no_head() {
    let progress = |length: usize| {
        let mut decoder =
            format::by_name("systemview").unwrap().decoder(&Settings::default()).unwrap();
        let (mut trace, mut log) = (decoder.trace(), EventLog::default());
        let bytes = [&b";"[..], &vec![0xFF; length - 1]].concat();
        let window = format::Input { offset: 0, bytes: &bytes, last: false };
        decoder.decode(window, &mut trace, &mut log).unwrap()
    };
    let more = Progress::More { consumed: 0, wanted: MAX_HEAD };
    assert_eq!(progress(MAX_HEAD - 1), more);
    let Progress::More { consumed, .. } = progress(MAX_HEAD) else { panic!("more bytes follow") };
    assert!(consumed > MAX_HEAD / 2, "{consumed}");
}

#[test]
fn each_conversion_of_a_module_is_a_kind_of_argument() {
    let description = "M=m,0 all a=%d b=%i c=%x d=%X e=%b f=%B g=%p h=%t i=%T j=%I k=%s l=%f \
                       m=%F n=%u o=%q p";
    let mut stream = Stream::new();
    stream.packet(ids::INIT, &[1_000_000, 0, 0x1000, 2], "", &[]);
    stream.packet(ids::MODULEDESC, &[0, ids::FIRST_MODULE], description, &[]);
    let one = 1.0_f32.to_bits();
    let numbers = [u32::MAX, u32::MAX, 10, 11, 12, 13, 14, 1, 2, 3];
    stream.packet(ids::FIRST_MODULE, &numbers, "text", &[one, one, u32::MAX, 5, 6, 7]);
    let (trace, texts) = stream.read(Settings::default());
    let event = trace.schema.event(ids::FIRST_MODULE);
    let kinds: Vec<_> = event.args.iter().map(|arg| (arg.kind, arg.encoding.as_str())).collect();
    let (task, resource) = (ArgumentKind::Object(Some(1)), ArgumentKind::Object(Some(3)));
    let expected = [
        (ArgumentKind::Signed, ""),
        (ArgumentKind::Signed, ""),
        (ArgumentKind::Hex, ""),
        (ArgumentKind::Hex, ""),
        (ArgumentKind::Hex, ""),
        (ArgumentKind::Hex, ""),
        (ArgumentKind::Address, ""),
        (task, "id"),
        (task, "id"),
        (resource, "id"),
        (ArgumentKind::Text, ""),
        (ArgumentKind::Float, ""),
        (ArgumentKind::Float, ""),
        (ArgumentKind::Unsigned, ""),
        (ArgumentKind::Unsigned, ""),
        (ArgumentKind::List, ""),
    ];
    assert_eq!(kinds, expected);
    assert_eq!((event.label.as_str(), event.family.as_str()), ("all", "m"));
    let text = "a=-1, b=-1, c=0x0000000A, d=0x0000000B, e=0x0000000C, f=0x0000000D, \
                g=0x0000000E, h=0x00001004, i=0x00001008, j=0x0000100C, k=text, l=1, m=1, \
                n=4294967295, o=5, 6, 7";
    assert_eq!(texts[3], text);
}

/// The first event of an operating system changes the schema, but not the names so far.
#[test]
fn numbers_keep_their_names_when_the_events_of_the_system_are_added() {
    use ids::extended::{NAME_MARKER, REGISTER_DATA};
    let mut stream = Stream::new();
    stream.packet(ids::SYSDESC, &[], "O=FreeRTOS,I#15=Tick", &[]);
    stream.packet(ids::EXTENDED, &[NAME_MARKER, 7], "begin", &[]);
    stream.packet(ids::EXTENDED, &[REGISTER_DATA, 3], "speed", &[0]);
    stream.packet(ids::MODULEDESC, &[0, ids::FIRST_MODULE], "M=m,0 step", &[]);
    let events = |stream: &mut Stream| {
        stream.packet(ids::ISR_ENTER, &[15], "", &[]);
        stream.packet(MARK_START, &[7], "", &[]);
        stream.packet(ids::DATA_SAMPLE, &[3, 40], "", &[]);
    };
    events(&mut stream);
    stream.packet(TASK_DELAY, &[20, 21], "", &[]);
    for call in [TASK_DELAY, ids::FIRST_MODULE] {
        stream.packet(ids::END_CALL, &[call, 0], "", &[]);
    }
    events(&mut stream);
    let (trace, texts) = stream.read(Settings::default());
    let of_events = ["isr=Tick", "marker=begin", "data=speed, value=40"];
    let of_calls = ["call=task delay, result=0", "call=step, result=0"];
    assert_eq!(texts[5..8], of_events);
    assert_eq!(texts[8..], [&["ticks to delay=20, 21"], &of_calls[..], &of_events].concat());
    assert_eq!(trace.diagnostics.iter().len(), 0);
}

/// If a schema file does not fit the events of the target's system, the reader ignores the file
/// from the first of these events on.
#[test]
fn events_of_a_file_that_does_not_fit_the_system_lose_their_descriptions() {
    let file = "format = \"systemview\"\n[[event]]\nid = 700\nname = \"PAIR\"\n\
                args = [\"low\", \"high\"]\n\
                [[event]]\nname = \"TASK_DELAY\"\nmeans = { is = \"call\", value = \"none\" }\n";
    let file = Arc::new(Extension::parse(file, "mine.toml").unwrap());
    let mut stream = Stream::new();
    stream.packet(ids::SYSDESC, &[], "O=FreeRTOS", &[]);
    for id in [700, TASK_DELAY, 700] {
        stream.packet(id, &[20, 21], "", &[]);
    }
    let (trace, texts) = stream.read(Settings { schemas: vec![file], ..Settings::default() });
    assert_eq!(texts[2..], ["low=20, high=21", "ticks to delay=20, 21", "20, 21"]);
    assert_eq!(trace.schema.faults().len(), 1);
}

/// Options override the facts that the stream contains.
#[test]
fn the_base_and_the_shift_of_addresses_and_the_rate_can_be_given() {
    let mut stream = Stream::new();
    stream.packet(ids::INIT, &[1_000_000, 0, 0x1000, 2], "", &[]);
    stream.packet(ids::TASK_START_EXEC, &[3], "", &[]);
    for (options, task, rate) in [
        (&[][..], "task=task 0x0000100C", 1_000_000),
        (&["base=0x2000"], "task=task 0x0000200C", 1_000_000),
        (&["shift=4"], "task=task 0x00001030", 1_000_000),
        (&["base=8192", "shift=0", "rate=1kHz"], "task=task 0x00002003", 1000),
    ] {
        let (trace, texts) = stream.read(settings(options));
        assert_eq!((texts[2].as_str(), trace.clock.rate.unwrap().ratio().0), (task, rate));
    }
}

#[test]
fn a_description_file_becomes_a_schema_file() {
    let text = "# of the target\nOption ReversePriority\n\n\
                NamedType Bool 0=no 1=\"not yet\" *=%u\n\
                TaskState\t0xBF 4=waits,\t0x1b=\"back\\slash\u{1}\"\n\
                NamedType Bool 0x10=maybe\n\
                90\tSend a=%d b=%i c=%x d=%X e=%b f=%B | Returns %u # last\n\
                91 Wait g=%p h=%t i=%T j=%I\n\
                92 Done k=%s, l=%f m=%F n=%u o=%Bool p=%Other\n";
    let expected = r#"format = "systemview"

[enum."cause"]
names = [[4, "waits"], [27, "back\\slash "]]

[enum."type Bool"]
names = [[0, "no"], [1, "not yet"], [16, "maybe"]]

[[event]]
id = 90
name = "Send"
label = "Send"
args = ["a: signed", "b: signed", "c: hex", "d: hex", "e: hex", "f: hex", "values: list"]

[[event]]
id = 91
name = "Wait"
label = "Wait"
args = ["g: address", "h: task as id", "i: task as id", "j: resource as id", "values: list"]

[[event]]
id = 92
name = "Done"
label = "Done"
args = ["k: text", "l: float", "m: float", "n", "o: type Bool", "p", "values: list"]
"#;
    let schema = to_schema(text, "SYSVIEW_Mine.txt").unwrap();
    assert_eq!(schema, expected);
    assert!(Extension::parse(&schema, "SYSVIEW_Mine.txt").is_ok());
}

#[test]
fn the_error_for_a_description_file_names_the_line() {
    for (text, place) in [("Send 41\n", "1: …'Send'"), ("40 Send\n\n# 1\n42\n", "4: …'42'")] {
        let (line, word) = place.split_once('…').unwrap();
        let expected = format!(
            "f.txt:{line}expected an event id and a name, NamedType, TaskState or Option, found \
             {word}"
        );
        assert_eq!(to_schema(text, "f.txt"), Err(expected));
    }
}

#[test]
fn the_first_line_shows_a_description_file() {
    let files = ["Option X", "NamedType", "TaskState 0 1=a", "\n# 33 a\n  33\tb\n", "33 a\nformat"];
    assert!(files.iter().all(|text| is_description(text)));
    let others = ["", "# Option X\n", "Options X", "33", "33\nOption X", "format = 33", "-1 a"];
    assert!(!others.iter().any(|text| is_description(text)));
}
