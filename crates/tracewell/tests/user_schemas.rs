//! Tests that a user's schema file can give names and meanings to events of every dialect, and that
//! each error in such a file has a position.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use support::systemview::put;
use tracewell::analysis::scheduling::Scheduling;
use tracewell::format;
use tracewell::input::{Input, Settings};
use tracewell::model::schema::{ArgumentKind, Extension, Schema};
use tracewell::model::{Event, Meaning, Severity, Trace};
use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
use tracewell_wire::systemview::ids;

fn settings(texts: &[&str]) -> Settings {
    let parse = |text: &&str| Arc::new(Extension::parse(text, "app.toml").unwrap());
    Settings { schemas: texts.iter().map(parse).collect(), ..Settings::default() }
}

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the trace, and the label and the arguments of each event.
fn read(mut input: Input) -> (Trace, Vec<(String, String)>) {
    let mut events = Vec::new();
    let trace = input.for_each(|event| {
        events.push((event.label().to_string(), event.args().to_string()));
    });
    (trace.unwrap(), events)
}

fn example(texts: &[&str]) -> (Trace, Vec<(String, String)>) {
    read(Input::open(&file("examples/scheduling.trx"), settings(texts)).unwrap())
}

fn notes(trace: &Trace, severity: Severity) -> Vec<&str> {
    let notes = trace.diagnostics.iter().filter(|found| found.severity == severity);
    notes.map(|found| found.message.as_str()).filter(|text| text.contains("app.toml")).collect()
}

fn error(text: &str) -> String {
    let file = match Extension::parse(text, "app.toml") {
        Ok(file) => Arc::new(file),
        Err(error) => return error.to_string(),
    };
    let name = format::by_name(file.format()).map_or("threadx", |format| format.name);
    let settings = Settings { schemas: vec![file], ..Settings::default() };
    format::by_name(name).unwrap().decoder(&settings).err().unwrap().to_string()
}

#[test]
fn an_event_of_a_format_may_be_called_by_its_label() {
    let text = "format = \"rkh\"\n[[event]]\nname = \"SM_DCH\"\nlabel = \"dispatched\"\n";
    let file = Arc::new(Extension::parse(text, "app.toml").unwrap());
    let rkh = format::by_name("rkh").unwrap();
    let schema = rkh.extended((rkh.schema)(), &[file]).unwrap();
    let event = schema.events().find(|event| event.name == "RKH_TE_SM_DCH");
    assert_eq!(event.unwrap().label, "dispatched");
}

#[test]
fn parameters_of_systemview_beyond_a_description_are_reported_once() {
    let text = "format = \"systemview\"\n[[event]]\nid = 700\nname = \"PAIR\"\nargs = [\"a\"]\n";
    let read = |packets: &[u8]| {
        let settings = Settings { format: Some("systemview".to_owned()), ..settings(&[text]) };
        let bytes = [&[0; 10][..], &[10, 0], packets].concat();
        let (trace, events) = read(Input::from_bytes("stream", bytes, settings).unwrap());
        let warnings = trace.diagnostics.iter().map(|found| (found.offset, found.message.clone()));
        let arguments = events.into_iter().skip(1).map(|(_, arguments)| arguments);
        (arguments.collect::<Vec<_>>(), warnings.collect::<Vec<_>>())
    };
    // Packets of event 700: the id, the length of the parameters, the parameters and the delta.
    let (one, two) = ([0xBC, 5, 1, 7, 4], [0xBC, 5, 2, 1, 2, 3]);
    assert_eq!(read(&one), (vec!["a=7".to_owned()], Vec::new()));
    let warning =
        "event 700 has more parameters than its description; the additional ones are not shown"
            .to_owned();
    let (arguments, warnings) = read(&[&two[..], &two, &one].concat());
    assert_eq!(
        (arguments.as_slice(), warnings),
        (&["a=1", "a=1", "a=7"].map(str::to_owned)[..], vec![(Some(12), warning)])
    );
}

#[test]
fn a_file_names_user_events_of_threadx_and_gives_them_a_meaning() {
    let text = r#"
        format = "threadx"
        [enum.uart]
        names = [[2, "UART 2"]]
        [[event]]
        id = 4100
        name = "RECEIVED"
        label = "received"
        args = ["device: uart", "count"]
        means = { is = "value", value = "count" }
        [[event]]
        id = 4097
        label = "command"
        [[event]]
        id = 7000
        label = "never"
        [[event]]
        name = "TX_TRACE_MUTEX_GET"
        label = "lock"
    "#;
    let (trace, events) = example(&[text]);
    let received: Vec<_> = events.iter().filter(|(label, _)| label == "received").collect();
    assert!(!received.is_empty());
    assert!(received[0].1.starts_with("device=UART 2, count=0"), "{received:?}");
    // Keys that are not in the file keep the values of the dialect.
    let command = events.iter().find(|(label, _)| label == "command").unwrap();
    assert!(command.1.starts_with("arg1=0x00000001, arg2="), "{command:?}");
    let lock = events.iter().find(|(label, _)| label == "lock").unwrap();
    assert!(lock.1.starts_with("mutex=log file"), "{lock:?}");
    let schema = &trace.schema;
    assert_eq!(schema.event(4100).means.unwrap().meaning, Meaning::Value);
    assert_eq!(
        (schema.event(4100).name.as_str(), schema.event(4097).family.as_str()),
        ("RECEIVED", "user")
    );
    assert_eq!(schema.event(52).means.unwrap().meaning, Meaning::Lock);
    let expected = ["app.toml: these events never occurred: 7000 (never)"];
    assert_eq!(notes(&trace, Severity::Note), expected);
    assert!(notes(&trace, Severity::Warning).is_empty());
}

#[test]
fn a_later_file_overrides_an_earlier_one_and_ranges_apply_to_many_ids() {
    let first = "format = \"threadx\"\n[[event]]\nid = 4100\nlabel = \"first\"\nargs = [\"x\"]\n";
    let second = "format = \"threadx\"\n[[event]]\nid = 4100\nlabel = \"second\"\n\
        [[range]]\nfirst = 4096\nlast = 4099\nname = \"APP\"\nlabel = \"app\"\nfamily = \"app\"\n";
    let (trace, events) = example(&[first, second]);
    assert!(events.iter().any(|(label, args)| label == "second" && args.starts_with("x=2")));
    assert!(events.iter().any(|(label, _)| label == "app 4097"));
    assert!(trace.diagnostics.iter().all(|found| !found.message.contains("app.toml")));
}

#[test]
fn a_meaning_of_a_file_changes_what_analyses_find() {
    let locks = |texts: &[&str]| {
        let mut found = Scheduling::default();
        let path = file("examples/scheduling.trx");
        let trace = Input::open(&path, settings(texts)).unwrap().read(&mut found).unwrap();
        format!("{:?}", found.figures(&trace))
    };
    // Without its meaning, the event no longer takes the mutex.
    let text = "format = \"threadx\"\n[[event]]\nid = 52\nmeans = { is = \"mark\" }\n";
    assert_ne!(locks(&[]), locks(&[text]));
    assert_eq!(locks(&[]), locks(&[]));
}

#[test]
fn events_of_rkh_shark_and_aix_get_names() {
    let cases = [
        (
            "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin",
            "format = \"rkh\"\n[[event]]\nname = \"RKH_TE_SM_TRN\"\nlabel = \"transition\"\n",
            "transition",
        ),
        (
            "crates/tracewell/tests/fixtures/shark/a_linear.dat",
            "format = \"shark\"\n[[event]]\nname = \"FTrace_EVT_id\"\nlabel = \"identity\"\n",
            "identity",
        ),
        (
            "examples/hooks.twx",
            "format = \"aix\"\n[[event]]\nid = 0x0010\nlabel = \"BEGIN\"\nargs = [\"hook\"]\n",
            "BEGIN",
        ),
    ];
    for (path, text, label) in cases {
        let (trace, events) = read(Input::open(&file(path), settings(&[text])).unwrap());
        assert!(events.iter().any(|(found, _)| found == label), "{path}: {label}");
        assert!(notes(&trace, Severity::Note).is_empty(), "{path}");
    }
}

#[test]
fn an_event_of_a_program_is_named_by_its_name() {
    static SENT: EventType<(u32, u32)> =
        EventType::new(Family::new(3, "net"), "sent", &["length", "port"]);
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    stream.start();
    stream.record(&SENT, (5, 80));
    let bytes = stream.save(Vec::new()).unwrap();
    let text = r#"
        format = "native"
        [[event]]
        name = "net/sent"
        label = "frame sent"
        args = ["bytes: hex"]
        means = { is = "value", value = "bytes" }
        [[event]]
        name = "received"
        means = { is = "mark" }
    "#;
    let open = |text| Input::from_bytes("stream", bytes.clone(), settings(&[text])).unwrap();
    let (trace, events) = read(open(text));
    // Arguments that the file does not list keep their names.
    assert_eq!(events, [("frame sent".to_owned(), "bytes=0x0000000000000005, port=80".to_owned())]);
    let sent = trace.schema.events().find(|event| event.name == "sent").unwrap();
    assert_eq!(sent.means.unwrap().meaning, Meaning::Value);
    assert_eq!(notes(&trace, Severity::Note), ["app.toml: these events never occurred: received"]);
    // The arguments are known only when the trace defines the event.
    let wrong = "format = \"native\"\n[[event]]\nname = \"sent\"\n\
        means = { is = \"value\", value = \"size\" }\n";
    let (trace, events) = read(open(wrong));
    assert_eq!(events.len(), 1);
    assert_eq!(notes(&trace, Severity::Warning), ["app.toml:4:9: no argument named 'size'"]);
}

#[test]
#[cfg(target_os = "linux")]
fn the_data_of_a_posix_event_has_fields() {
    use std::os::fd::AsRawFd;
    use tracewell_posix::{Attributes, Controller, StreamPolicy, define, record};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = std::fs::File::create(&path).unwrap();
    let policy = Some(StreamPolicy::Flush);
    let attributes = Attributes { stream_policy: policy, ..Attributes::default() };
    let stream = Controller::create_with_log(0, &attributes, log.as_raw_fd()).unwrap();
    let id = define(b"pump").unwrap();
    stream.stream().start();
    record(id, &[7, 0, 0xfe, 0xff, 9], false, 0x1234);
    record(id, &[8], false, 0x1234);
    record(id, &[0x80, 0, 0, 0x80, 0], false, 0x1234);
    stream.shutdown().unwrap();
    let text = r#"
        format = "posix"
        [[event]]
        name = "pump"
        label = "pump speed"
        args = ["speed as u16", "_: hex as u8", "_ as u8", "last: unsigned as u8", "bytes: bytes"]
        means = { is = "value", value = "speed" }
    "#;
    let (trace, events) = read(Input::open(&path, settings(&[text])).unwrap());
    let pumped: Vec<_> = events.iter().filter(|(label, _)| label == "pump speed").collect();
    let [(_, first), (_, second), _] = pumped[..] else { panic!("{events:?}") };
    assert_eq!(first, "speed=7, last=9, bytes=0700FEFF09, prog address=0x0000000000001234");
    assert_eq!(second, "bytes=08, prog address=0x0000000000001234");
    assert!(notes(&trace, Severity::Warning).is_empty(), "{:?}", trace.diagnostics);
    // Exports would show a further slot as an argument without a name.
    let count = |event: Event<'_>| {
        let slots = event.trace.payload.arguments(event.row.payload);
        assert_eq!(slots, event.kind().args.len(), "{}", event.label());
    };
    Input::open(&path, settings(&[text])).unwrap().for_each(count).unwrap();
    let signed = text
        .replace(r#""_: hex as u8", "_ as u8", "last: unsigned as u8""#, r#""c: signed as i16""#);
    let (_, events) = read(Input::open(&path, settings(&[&signed])).unwrap());
    assert!(events.iter().any(|(_, args)| args.starts_with("speed=7, c=-2, bytes=")), "{events:?}");
    assert!(events.iter().any(|(_, args)| args.starts_with("speed=128, c=-32768,")), "{events:?}");
    let wrong = text.replace("u16", "u24");
    assert!(error(&wrong).contains("app.toml:6:17: unknown encoding 'u24'; expected one of u8, "));
    // Without an encoding, the first argument would consist of all the data.
    for wrong in ["speed", "speed: unsigned", "speed: hex"] {
        let wrong = text.replace("speed as u16", wrong);
        let message = error(&wrong);
        assert!(message.contains("app.toml:6:17: expected ' as ' and an encoding"), "{message}");
    }
    let hidden = text.replace(r#", "bytes: bytes""#, r#", "_: bytes", "_""#);
    let (_, events) = read(Input::open(&path, settings(&[&hidden])).unwrap());
    assert!(events.iter().any(|(_, args)| args == "speed=7, last=9"), "{events:?}");
}

/// The bytes of this structure in C, on a little-endian machine: `struct { uint16_t state; int16_t
/// offset; float speed; double load; char name[8]; }`.
#[cfg(target_os = "linux")]
#[test]
fn a_structure_of_c_is_named_in_a_schema() {
    use std::os::fd::AsRawFd;
    use tracewell_posix::{Attributes, Controller, StreamPolicy, define, record};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = std::fs::File::create(&path).unwrap();
    let policy = Some(StreamPolicy::Flush);
    let attributes = Attributes { stream_policy: policy, ..Attributes::default() };
    let stream = Controller::create_with_log(0, &attributes, log.as_raw_fd()).unwrap();
    let id = define(b"structure").unwrap();
    stream.stream().start();
    // 1.5 is 0x3FC00000 as a float and 0x3FF8000000000000 as a double.
    let numbers = [0x2a, 0, 0xff, 0xff, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f];
    record(id, &[&numbers[..], b"pump\0\0\x01\x02"].concat(), false, 0x1234);
    record(id, &[&numbers[..], b"eightchr"].concat(), false, 0x1234);
    record(id, &[&numbers[..], b"cut"].concat(), false, 0x1234);
    stream.shutdown().unwrap();
    let text = r#"
        format = "posix"
        [[event]]
        name = "structure"
        args = ["state: hex as u16", "offset as i16", "speed as f32", "load: float as f64",
                "name as char[8]", "_: bytes", "_"]
    "#;
    let (trace, events) = read(Input::open(&path, settings(&[text])).unwrap());
    let described = events.iter().filter(|(label, _)| label == "structure").map(|(_, args)| args);
    let numbers = "state=0x002A, offset=-1, speed=1.5, load=1.5";
    let expected =
        [format!("{numbers}, name=pump"), format!("{numbers}, name=eightchr"), numbers.to_owned()];
    assert!(described.eq(&expected), "{events:?}");
    assert!(notes(&trace, Severity::Warning).is_empty(), "{:?}", trace.diagnostics);
    let bytes = text.replace("name as char[8]", "name: bytes as char[8]");
    let (_, events) = read(Input::open(&path, settings(&[&bytes])).unwrap());
    let is_whole = |(_, args): &(String, String)| args.ends_with("name=70756D7000000102");
    assert!(events.iter().any(is_whole), "{events:?}");
}

#[test]
fn a_range_up_to_the_last_id_can_be_moved() {
    let text = r#"
        format = "rkh"
        [[range]]
        first = 256
        last = 4294967295
        name = "LATER"
        label = "later"
        family = "later"
        args = []
    "#;
    let file = Arc::new(Extension::parse(text, "app.toml").unwrap());
    let rkh = format::by_name("rkh").unwrap();
    let schema = rkh.extended((rkh.schema)(), &[file]).unwrap();
    let mut both = Schema::clone(&schema);
    both.adopt(&schema, 256);
    assert_eq!([300, u32::MAX].map(|id| both.event(id).name.as_str()), ["LATER"; 2]);
}

#[test]
fn a_table_names_the_signals_of_rkh() {
    let path = file("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin");
    let names = |texts: &[&str]| {
        let (_, events) = read(Input::open(&path, settings(texts)).unwrap());
        let sent = events.into_iter().filter(|(label, _)| label == "SM DCH");
        let signal =
            |args: &str| args.split_once("sig=").unwrap().1.split(',').next().map(str::to_owned);
        sent.filter_map(|(_, args)| signal(&args)).collect::<Vec<_>>()
    };
    // The trace itself names the signals 1 and 2. The file has precedence.
    let own = names(&[]);
    assert!(own.contains(&"ONE".to_owned()) && own.contains(&"TWO".to_owned()), "{own:?}");
    let text = "format = \"rkh\"\n[enum.signal]\nnames = [[1, \"GO\"]]\n";
    let renamed = names(&[text]);
    let expected = own.iter().map(|name| if name == "ONE" { "GO" } else { name.as_str() });
    assert!(renamed.iter().eq(expected), "{renamed:?}");
    // The short name of an event is its name as well.
    let short = "format = \"rkh\"\n[[event]]\nname = \"SM_DCH\"\nlabel = \"dispatched\"\n";
    let (_, events) = read(Input::open(&path, settings(&[short])).unwrap());
    assert!(events.iter().any(|(label, _)| label == "dispatched"));
}

/// The decoder reads the schema of the operating system when its first event occurs.
#[test]
fn a_file_that_does_not_fit_the_system_does_not_affect_other_files() {
    let head = "format = \"systemview\"\n";
    let table = "[enum.way]\nnames = [[20, \"up\"]]\n";
    let turn = "[[event]]\nid = 700\nname = \"TURN\"\nargs = [\"way: way\"]\n";
    // Only one event of the system has this name.
    let call = "[[event]]\nname = \"TASK_DELAY\"\nmeans = { is = \"call\", value = \"none\" }\n";
    let single = "[[event]]\nid = 701\nname = \"SINGLE\"\nargs = [\"only: way\"]\n";
    let read = |files: [String; 3]| {
        let settings = settings(&files.each_ref().map(String::as_str));
        let mut bytes = [&[0; 10][..], &[10, 0]].concat();
        put(&mut bytes, ids::SYSDESC, b"\x0AO=FreeRTOS");
        // Event 35 is TASK_DELAY of FreeRTOS.
        for id in [700, 701, 35, 700, 701] {
            put(&mut bytes, id, &[20]);
        }
        let settings = Settings { format: Some("systemview".to_owned()), ..settings };
        let (trace, events) = read(Input::from_bytes("stream", bytes, settings).unwrap());
        let of_user = events.into_iter().skip(2).map(|(_, arguments)| arguments);
        let faults = trace.schema.faults().iter().map(ToString::to_string).collect::<Vec<_>>();
        (of_user.collect::<Vec<_>>(), faults)
    };
    let (of_system, turns) = ("ticks to delay=20", "way=up");
    // The file that does not fit has the only event that uses the table of another file.
    let (events, faults) =
        read([format!("{head}{table}"), format!("{head}{call}{single}"), format!("{head}{turn}")]);
    assert_eq!(events, [turns, "only=up", of_system, turns, "20"]);
    assert!(matches!(&faults[..], [fault] if fault.contains("'none'")), "{faults:?}");
    let other = turn.replace(": way", "");
    let (events, faults) =
        read([format!("{head}{table}"), format!("{head}{call}{single}"), format!("{head}{other}")]);
    assert_eq!(events[3], "way=20");
    assert_eq!(faults.len(), 1, "{faults:?}");
}

#[test]
fn a_file_can_use_the_table_of_another_file() {
    let table = "[enum.way]\nnames = [[20, \"up\"]]\n";
    let event = "[[event]]\nid = 192\nname = \"TURN\"\nargs = [\"way: way as u8\"]\n";
    let texts = [table, event].map(|text| format!("format = \"rkh\"\n{text}"));
    let path = file("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin");
    let input = Input::open(&path, settings(&texts.each_ref().map(String::as_str))).unwrap();
    let (trace, _) = read(input);
    assert!(trace.schema.faults().is_empty(), "{:?}", trace.schema.faults());
    assert!(matches!(trace.schema.event(192).args[0].kind, ArgumentKind::Enum(_)));
    let range = "[[range]]\nfirst = 200\nlast = 210\nname = \"R\"\nlabel = \"r\"\n\
                 family = \"user\"\nargs = [\"way: way as u8\"]\n";
    let texts = [table, range].map(|text| format!("format = \"rkh\"\n{text}"));
    let input = Input::open(&path, settings(&texts.each_ref().map(String::as_str))).unwrap();
    assert!(read(input).0.schema.faults().is_empty());
}

#[test]
fn a_file_for_another_format_is_reported() {
    let other = "format = \"rkh\"\n";
    let message = "app.toml has no effect: it is for format rkh, and this trace has format threadx";
    let (trace, _) = example(&[other]);
    assert_eq!(notes(&trace, Severity::Warning), [message]);
    // If another file fits the trace, this is only a note.
    let (trace, _) = example(&[other, "format = \"threadx\"\n"]);
    assert!(notes(&trace, Severity::Warning).is_empty());
    assert_eq!(notes(&trace, Severity::Note), [message]);
}

#[test]
fn errors_of_a_schema_file_have_a_position_and_a_suggestion() {
    let threadx = "format = \"threadx\"\n[[event]]\n";
    let cases = [
        ("", "app.toml:1:1: missing field `format`"),
        (
            "format = \"thredx\"\n",
            "--schema: app.toml:1:10: no format named 'thredx'; did you mean \
            'threadx'?; expected one of threadx, aix, ",
        ),
        (
            &format!("{threadx}id = 5000\nlable = \"a\"\n"),
            "app.toml:4:1: unknown key 'lable'; did \
            you mean 'label'?; expected one of id, name, label, ",
        ),
        (
            &format!("{threadx}id = 5000\nname = \"A\"\nmeans = {{ is = \"lokc\" }}\n"),
            "app.toml:5:16: unknown word 'lokc'; did you mean 'lock'?; expected one of ",
        ),
        (&format!("{threadx}label = \"a\"\n"), "app.toml:2:1: expected a key `id` or `name`"),
        (
            &format!("{threadx}id = 5000\n"),
            "--schema: app.toml:3:6: event 5000 is new; expected a `name` or a `label`",
        ),
        (
            &format!("{threadx}id = 70000\nname = \"A\"\n"),
            "--schema: app.toml:3:6: expected an id up to 65535, found 70000",
        ),
        (
            &format!("{threadx}name = \"TX_TRACE_MUTEX_GTE\"\n"),
            "--schema: app.toml:3:8: no event named 'TX_TRACE_MUTEX_GTE'; did you mean \
            'TX_TRACE_MUTEX_GET'?; an event that is not in the schema needs an `id`",
        ),
        (
            &format!("{threadx}id = 5000\nname = \"A\"\nargs = [\"a\", \"b: mutx\"]\n"),
            "--schema: app.toml:5:14: unknown kind 'mutx'; expected a built-in kind or one of ",
        ),
        (
            &format!("{threadx}id = 5000\nname = \"A\"\nargs = [\"a as u8\"]\n"),
            "--schema: app.toml:3:6: argument 'a': arguments of this format are words; expected \
            no encoding, found 'as u8'",
        ),
        (
            "format = \"rkh\"\n[[event]]\nid = 192\nlabel = \"a\"\nargs = [\"a\"]\n",
            "--schema: app.toml:3:6: argument 'a': expected ' as ' and an encoding after the kind, \
            such as 'as u16'",
        ),
        (
            "format = \"threadx\"\n[enum.unit]\nnames = [[1, \"one\"]]\n",
            "--schema: app.toml:2:1: no argument uses the table 'unit'; write its name as a kind, \
            as in \"value: unit\"",
        ),
        (
            "format = \"rkh\"\n\n[enum.state]\nnames = [[1, \"GO\"]]\n",
            "--schema: app.toml:3:1: 'state' is a type of objects that the trace names; choose \
            another name",
        ),
    ];
    for (text, expected) in cases {
        let found = error(text);
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
}

#[test]
fn the_events_of_a_ctf_trace_can_act_on_objects() {
    let text = "format = \"ctf\"\n[[event]]\nname = \"tw:ints\"\n\
                means = { is = \"lock\", object = \"u32\" }\nargs = [\"u32: mutex\"]\n";
    let input = Input::open(&file("examples/lttng"), settings(&[text])).unwrap();
    let (trace, _) = read(input);
    let mut events = trace.schema.events();
    let event = events.find(|event| event.name == "tw:ints").unwrap();
    let object = event.means.unwrap().object.unwrap();
    assert_eq!(event.args[object].name, "u32");
    let ArgumentKind::Object(Some(kind)) = event.args[object].kind else { panic!("{event:?}") };
    assert_eq!(trace.schema.object_kind(kind).unwrap().label, "mutex");
    assert_eq!(event.means.unwrap().meaning, Meaning::Lock);
}
