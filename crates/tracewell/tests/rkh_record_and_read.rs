//! Tests that the reader decodes the output of the RKH recorder: all dialects, sizes and switches,
//! and streams whose buffer was too small.

#[path = "support/rkh.rs"]
mod streams;
mod support;

use proptest::prelude::*;
use support::{EventLog, settings};
use tracewell::format::{self, Input, Progress};
use tracewell::model::{Trace, values};
use tracewell_record::rkh as record;
use tracewell_record::rkh::{
    About, Buffer, Filter, FilterKinds, FrameBuffer, Options, Outcome, StreamBuffer,
};
use tracewell_wire::rkh::events::{Event, Table, V3_4};
use tracewell_wire::rkh::{Dialect, FieldType, Item, Settings, SymbolKind};

fn decode(bytes: &[u8], options: &[String]) -> (Trace, EventLog) {
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    let format = format::by_name("rkh").unwrap();
    let mut decoder = format.decoder(&settings(&options)).unwrap();
    let (mut trace, mut kept) = (decoder.trace(), EventLog::default());
    let input = Input { offset: 0, bytes, last: true };
    let progress = decoder.decode(input, &mut trace, &mut kept).unwrap();
    assert_eq!(progress, Progress::Done);
    (trace, kept)
}

/// Returns the version for the configuration record of a dialect. Returns 0 if the dialect records
/// no version.
fn version(dialect: Dialect) -> u16 {
    match dialect {
        Dialect::V2_4_3 => 0x2403,
        Dialect::V2_4_4 => 0x2404,
        Dialect::V2_4_5 => 0x2406,
        Dialect::V3_4 => 0x3203,
        _ => 0,
    }
}

fn some_settings() -> impl Strategy<Value = Settings> {
    let size = || prop::sample::select(vec![1, 2, 4_u8]);
    let address = || prop::sample::select(vec![2, 4_u8]);
    let sizes = prop::collection::vec(size(), 8);
    (sizes, address(), address(), any::<[bool; 6]>()).prop_map(|(s, pointer, function, on)| {
        Settings {
            id: s[0],
            sequence: on[0],
            stamp: if on[1] { s[1] } else { 0 },
            checksum: on[2],
            pointer,
            function,
            signal: s[2],
            event_size: s[3],
            block_count: s[4],
            block_size: s[5],
            queue_count: s[6],
            timer_ticks: s[7],
            sender: on[3],
            queue_low_water: on[4],
            pool_low_water: on[5],
        }
    })
}

/// The settings that a reader derives from the configuration record. Settings that the record does
/// not contain have defaults, except the size of function addresses, which is an option.
fn announced(dialect: Dialect, settings: Settings) -> Settings {
    let usual = Settings::default();
    let id = if dialect >= Dialect::V2_4_5 { settings.id } else { 1 };
    match dialect {
        Dialect::V2_3 => Settings {
            id,
            block_size: usual.block_size,
            sender: usual.sender,
            queue_low_water: usual.queue_low_water,
            pool_low_water: usual.pool_low_water,
            ..settings
        },
        _ => Settings { id, ..settings },
    }
}

/// The options that replace a configuration record.
fn options(dialect: Dialect, s: &Settings) -> Vec<String> {
    let fptr = format!("fptr={}", s.function);
    if dialect.configuration().is_some() {
        return vec![fptr];
    }
    let mut options = streams::options_of(dialect, s);
    options.push(fptr);
    options
}

/// An argument in the form that the reader should decode.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
    Absent,
}

/// A record that the program makes, with its values.
#[derive(Clone, Debug)]
enum Said {
    Event(prop::sample::Index, [u32; 8], String),
    User(u8, Vec<Thing>),
    Symbol(SymbolKind, u32, u32, String),
    Assertion(String, u16),
}

/// An item of a user event. It owns its text or its bytes.
#[derive(Clone, Debug)]
enum Thing {
    Signed(i32, u8, u8),
    Unsigned(u32, u8, u8),
    Hex(u32, u8),
    Text(String),
    Memory(Vec<u8>),
    Object(u32),
    Function(u32),
    Signal(u32),
}

impl Thing {
    fn item(&self) -> Item<'_> {
        match self {
            Self::Signed(value, bytes, width) => {
                Item::Signed { value: *value, bytes: *bytes, width: *width }
            }
            Self::Unsigned(value, bytes, width) => {
                Item::Unsigned { value: *value, bytes: *bytes, width: *width }
            }
            Self::Hex(value, width) => Item::Hex { value: *value, width: *width },
            Self::Text(text) => Item::Text(text.as_bytes()),
            Self::Memory(memory) => Item::Memory(memory),
            Self::Object(address) => Item::Object(*address),
            Self::Function(address) => Item::Function(*address),
            Self::Signal(signal) => Item::Signal(*signal),
        }
    }

    /// Returns the item that the reader should decode. Numbers are truncated to the sizes in the
    /// settings.
    fn listed(&self, settings: &Settings) -> values::ListItem<'_> {
        use values::ListItem;
        match self {
            Self::Signed(value, bytes, width) => {
                let unused = 32 - 8 * u32::from(*bytes);
                ListItem::Signed(i64::from(value << unused >> unused), *width)
            }
            Self::Unsigned(value, bytes, width) => ListItem::Unsigned(cut(*value, *bytes), *width),
            Self::Hex(value, width) => ListItem::Hex(u64::from(*value), *width),
            Self::Text(text) => ListItem::Text(text.as_bytes()),
            Self::Memory(memory) => ListItem::Bytes(memory),
            Self::Object(address) => ListItem::Object(cut(*address, settings.pointer), 0),
            Self::Function(address) => ListItem::Object(cut(*address, settings.function), 6),
            Self::Signal(signal) => ListItem::Object(cut(*signal, settings.signal), 9),
        }
    }
}

fn cut(value: u32, bytes: u8) -> u64 {
    u64::from(value) & (u64::MAX >> (64 - 8 * u32::from(bytes)))
}

fn some_thing() -> impl Strategy<Value = Thing> {
    let bytes = || prop::sample::select(vec![1, 2, 4_u8]);
    prop_oneof![
        (any::<i32>(), bytes(), 0..16_u8).prop_map(|(v, b, w)| Thing::Signed(v, b, w)),
        (any::<u32>(), bytes(), 0..16_u8).prop_map(|(v, b, w)| Thing::Unsigned(v, b, w)),
        (any::<u32>(), 0..16_u8).prop_map(|(v, w)| Thing::Hex(v, w)),
        "[a-z~}]{0,9}".prop_map(Thing::Text),
        prop::collection::vec(any::<u8>(), 0..60).prop_map(Thing::Memory),
        any::<u32>().prop_map(Thing::Object),
        any::<u32>().prop_map(Thing::Function),
        any::<u32>().prop_map(Thing::Signal),
    ]
}

fn some_said() -> impl Strategy<Value = Said> {
    // Numbers that contain the bytes of flags and escapes.
    let number = prop_oneof![any::<u32>(), Just(0x7E7D_7D7E), Just(0x7D), 0..256_u32];
    let kinds = vec![
        SymbolKind::Object,
        SymbolKind::ActiveObject,
        SymbolKind::Queue,
        SymbolKind::Timer,
        SymbolKind::Actor,
        SymbolKind::Function,
        SymbolKind::State,
        SymbolKind::Pseudostate,
        SymbolKind::Signal,
        SymbolKind::EventPool,
        SymbolKind::UserEvent,
    ];
    prop_oneof![
        5 => (any::<prop::sample::Index>(), prop::array::uniform8(number), "[A-Z~}]{0,12}")
            .prop_map(|(which, values, text)| Said::Event(which, values, text)),
        2 => (0..32_u8, prop::collection::vec(some_thing(), 0..7))
            .prop_map(|(index, things)| Said::User(index, things)),
        1 => (prop::sample::select(kinds), any::<u32>(), any::<u32>(), "[&a-z_]{0,20}")
            .prop_map(|(kind, owner, key, name)| Said::Symbol(kind, owner, key, name)),
        1 => ("[a-z]{1,8}", any::<u16>()).prop_map(|(module, line)| Said::Assertion(module, line)),
    ]
}

type Recorder<'m, B> = record::Trace<'m, Ticks, B>;

/// A clock that advances by three ticks per reading.
#[derive(Debug, Default)]
struct Ticks(u64);

impl tracewell_record::clock::Clock for Ticks {
    fn ticks(&mut self) -> u64 {
        self.0 += 3;
        self.0
    }
}

/// Records an event with arguments of all kinds. Returns the arguments that the reader should
/// decode.
fn say_event<B: Buffer>(
    trace: &mut Recorder<'_, B>,
    event: &Event,
    numbers: &[u32; 8],
    text: &str,
) -> (u8, Vec<Value>) {
    let settings = trace.options().settings;
    let mut record = trace.begin(event, About::signal(1, numbers[0])).unwrap();
    let mut expected = Vec::new();
    for (field, number) in event.fields.iter().zip(numbers) {
        let (next, value) = match field.field_type {
            FieldType::Text => (record.text(text.as_bytes()), Value::Bytes(text.into())),
            FieldType::Rest => (record.bytes(text.as_bytes()), Value::Bytes(text.into())),
            sized => {
                let bytes = sized.bytes(&settings).unwrap();
                (record.arg(*number), Value::Number(cut(*number, bytes)))
            }
        };
        record = next;
        expected.push(if field.condition.holds(&settings) { value } else { Value::Absent });
    }
    assert_eq!(record.end(), Outcome::Recorded);
    (event.code, expected)
}

fn say<B: Buffer>(trace: &mut Recorder<'_, B>, said: &Said) -> Option<(u8, Vec<Value>)> {
    let (table, settings) = (trace.options().table, trace.options().settings);
    match said {
        Said::Event(which, numbers, text) => {
            let event = which.get(table.events);
            let configuration = table.configuration.is_some_and(|tcfg| tcfg.code == event.code);
            (!configuration).then(|| say_event(trace, event, numbers, text))
        }
        Said::User(index, things) if table.user.field_type == FieldType::Items => {
            let items: Vec<_> = things.iter().map(Thing::item).collect();
            assert_eq!(trace.user_items(*index, &items), Outcome::Recorded);
            let mut list = Vec::new();
            things.iter().for_each(|thing| thing.listed(&settings).write(&mut list));
            let code = table.user_code(*index).unwrap();
            Some((code, vec![Value::Number(u64::from(*index)), Value::Bytes(list)]))
        }
        Said::User(index, things) => {
            let bytes = vec![0x7D; things.len()];
            let outcome = trace.user(*index, |record| record.bytes(&bytes));
            assert_eq!(outcome, Outcome::Recorded);
            Some((table.user_code(*index).unwrap(), vec![Value::Bytes(bytes)]))
        }
        Said::Symbol(kind, owner, key, name) => {
            let outcome = trace.symbol(*kind, Some(*owner), *key, name.as_bytes());
            let event = table.symbol(*kind);
            assert_eq!(outcome == Outcome::Recorded, event.is_some());
            let event = event?;
            let numbers: &[u32] = if event.fields.len() > 2 { &[*owner, *key] } else { &[*key] };
            let sized = event.fields.iter().filter_map(|field| field.field_type.bytes(&settings));
            let numbers = sized.zip(numbers).map(|(b, number)| Value::Number(cut(*number, b)));
            Some((event.code, numbers.chain([Value::Bytes(name.clone().into())]).collect()))
        }
        Said::Assertion(module, line) => {
            let outcome = trace.assertion(module.as_bytes(), *line);
            assert_eq!(outcome == Outcome::Recorded, table.assertion.is_some());
            let values = vec![Value::Bytes(module.clone().into()), Value::Number((*line).into())];
            Some((table.assertion?.code, values))
        }
    }
}

/// Returns the arguments of an event in the form that the reader decodes.
fn read(trace: &Trace, row: &[u8], expected: &[Value]) -> Vec<Value> {
    let value = |(index, expected): (usize, &Value)| match trace.payload.argument(row, index) {
        None => Value::Absent,
        Some(place) if matches!(expected, Value::Bytes(_)) => {
            Value::Bytes(values::bytes(row, place).to_vec())
        }
        Some(number) => Value::Number(number),
    };
    expected.iter().enumerate().map(value).collect()
}

fn opened<'m>(options: Options, memory: &'m mut [u8]) -> Recorder<'m, StreamBuffer<'m>> {
    let mut trace = record::Trace::new(options, StreamBuffer::new(memory), &mut [], Ticks(0));
    assert_eq!(trace.open(), Outcome::Recorded);
    trace.filters().all(Filter::Off);
    trace
}

fn taken(buffer: &mut impl Buffer) -> Vec<u8> {
    let mut bytes = Vec::new();
    buffer.flush(|block| bytes.extend_from_slice(block));
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_record_is_decoded_under_all_widths_and_switches(
        dialect in 0..8_usize,
        settings in some_settings(),
        signals in any::<bool>(),
        said in prop::collection::vec(some_said(), 1..60),
    ) {
        let dialect = Dialect::ALL[dialect];
        let settings = announced(dialect, settings);
        let filters = FilterKinds { signals: signals && settings.signal == 1, ..FilterKinds::ALL };
        let table = Table::of(dialect);
        let version = version(dialect);
        let options = Options { table, settings, version, filters, ..Options::default() };
        let (mut memory, mut signals) = (vec![0; 1 << 16], [0; 32]);
        let buffer = StreamBuffer::new(&mut memory);
        let mut trace = record::Trace::new(options, buffer, &mut signals, Ticks(0));
        prop_assert_eq!(trace.open(), Outcome::Recorded);
        trace.filters().all(Filter::Off);
        let expected: Vec<_> = said.iter().filter_map(|said| say(&mut trace, said)).collect();
        let bytes = taken(trace.buffer());

        let (read_trace, kept) = decode(&bytes, &self::options(dialect, &settings));
        prop_assert!(read_trace.losses.is_empty());
        let configured = usize::from(dialect.configuration().is_some());
        prop_assert_eq!(kept.rows.len(), configured + expected.len());
        prop_assert_eq!(read_trace.fact("good"), Some(kept.rows.len() as u64));
        for (row, (code, values)) in kept.rows[configured..].iter().zip(&expected) {
            prop_assert_eq!(row.id, u32::from(*code));
            prop_assert_eq!(&read(&read_trace, &row.payload, values), values);
        }
        for (name, size) in [
            ("id_bytes", settings.id),
            ("stamp_bytes", settings.stamp),
            ("pointer_bytes", settings.pointer),
            ("function_bytes", settings.function),
            ("signal_bytes", settings.signal),
            ("event_size_bytes", settings.event_size),
            ("block_count_bytes", settings.block_count),
            ("block_size_bytes", settings.block_size),
            ("queue_count_bytes", settings.queue_count),
            ("timer_bytes", settings.timer_ticks),
            ("sender", u8::from(settings.sender)),
            ("checksum", u8::from(settings.checksum)),
        ] {
            prop_assert_eq!(read_trace.fact(name), Some(u64::from(size)), "{}", name);
        }
    }

    #[test]
    fn a_full_stream_buffer_drops_its_oldest_bytes(
        size in 40..400_usize,
        rounds in prop::collection::vec((1..60_u32, 0..300_usize), 1..30),
    ) {
        let mut memory = vec![0; size];
        let mut trace = opened(Options::default(), &mut memory);
        let (mut bytes, mut all, takes) = (Vec::new(), 0, rounds.len());
        for (records, most) in rounds {
            for _ in 0..records {
                trace.record(&V3_4::SM_TRN, About::object(0), &[all, 0x7E7D, all]);
                all += 1;
            }
            bytes.extend_from_slice(trace.buffer().block(most));
        }
        let overwritten = trace.buffer().overwritten();
        bytes.extend(taken(trace.buffer()));
        // A reader that attaches late has no configuration record.
        let (read, kept) = decode(&bytes, &["dialect=3.4".to_owned()]);
        let argument = |row: &[u8], index| read.payload.argument(row, index);
        let (whole, glued): (Vec<_>, Vec<_>) = kept
            .rows
            .iter()
            .filter(|row| row.id != 0xAC)
            .map(|row| [0, 1, 2].map(|index| argument(&row.payload, index)))
            .partition(|row| row[0].is_some() && row[0] == row[2] && row[1] == Some(0x7E7D));
        // Each decoded record was recorded, and the order is the same. One in 256 joined frames has
        // a valid checksum by chance. Each removal of bytes causes at most one joined frame.
        let numbers: Vec<_> = whole.iter().map(|row| row[0].unwrap()).collect();
        prop_assert!(numbers.is_sorted_by(|a, b| a < b));
        prop_assert!(glued.len() <= takes);
        // If no record was overwritten, every number is present.
        prop_assert!(overwritten > 0 || numbers.len() == all as usize);
        // The newest record is always present and whole.
        prop_assert_eq!(numbers.last(), Some(&u64::from(all - 1)));
    }

    #[test]
    fn a_full_frame_buffer_drops_whole_frames_and_counts_them(
        size in 40..400_usize,
        rounds in prop::collection::vec((1..60_u32, 0..300_usize), 1..30),
    ) {
        let mut memory = vec![0; size];
        let buffer = FrameBuffer::new(&mut memory);
        let mut trace = record::Trace::new(Options::default(), buffer, &mut [], Ticks(0));
        prop_assert_eq!(trace.open(), Outcome::Recorded);
        trace.filters().all(Filter::Off);
        let (mut bytes, mut all, mut recorded) = (Vec::new(), 0, Vec::new());
        let mut gaps = Vec::new();
        for (records, most) in rounds {
            for _ in 0..records {
                match trace.record(&V3_4::SM_TRN, About::object(0), &[all, 0x7E7D, all]) {
                    Outcome::Recorded => {
                        let before = recorded.last().map_or(0, |last| last + 1);
                        gaps.extend((before != u64::from(all)).then(|| u64::from(all) - before));
                        recorded.push(u64::from(all));
                    }
                    outcome => prop_assert_eq!(outcome, Outcome::Dropped),
                }
                all += 1;
            }
            bytes.extend_from_slice(trace.buffer().block(most));
        }
        prop_assert_eq!(trace.buffer().dropped(), all - recorded.len() as u32);
        bytes.extend(taken(trace.buffer()));
        let (read, kept) = decode(&bytes, &[]);
        prop_assert_eq!(kept.rows.len(), recorded.len() + 1);
        let numbers: Vec<_> =
            kept.rows[1..]
                .iter()
                .map(|row| read.payload.argument(&row.payload, 0).unwrap())
                .collect();
        prop_assert_eq!(numbers, recorded);
        prop_assert_eq!(read.losses.damaged(), 0);
        // Sequence numbers have eight bits, so the reader sees each gap modulo 256.
        let visible: Vec<_> = gaps.iter().map(|gap| gap % 256).filter(|gap| *gap > 0).collect();
        let found: Vec<_> = kept.losses.iter().map(|loss| loss.events.unwrap()).collect();
        prop_assert_eq!(found, visible);
    }
}

#[test]
fn a_target_configures_its_reader_with_and_without_checksums() {
    for dialect in Dialect::ALL.into_iter().filter(|dialect| dialect.configuration().is_some()) {
        for checksum in [true, false] {
            let settings = Settings { checksum, signal: 2, queue_count: 4, ..Settings::default() };
            let options = Options {
                table: Table::of(dialect),
                settings,
                version: version(dialect),
                stamps_per_second: 40_000,
                ..Options::default()
            };
            let mut memory = [0; 256];
            let mut trace = opened(options, &mut memory);
            trace.symbol(SymbolKind::Signal, None, 0x1234, b"TICK");
            let (read, kept) = decode(&taken(trace.buffer()), &[]);
            assert_eq!(read.fact("signal_bytes"), Some(2), "{dialect} {checksum}");
            assert_eq!(read.fact("queue_count_bytes"), Some(4), "{dialect} {checksum}");
            assert_eq!(read.fact("checksum"), Some(u64::from(checksum)), "{dialect} {checksum}");
            assert_eq!(kept.rows.len(), 2);
            assert_eq!(read.objects.iter().last().unwrap().1.label, "TICK");
            let has_rate = matches!(dialect, Dialect::V2_4_4 | Dialect::V2_4_5 | Dialect::V3_4);
            assert_eq!(read.clock.rate.is_some(), has_rate, "{dialect}");
        }
    }
}

#[test]
fn an_aborted_record_is_one_aborted_frame() {
    let mut memory = [0; 256];
    let mut trace = opened(Options::default(), &mut memory);
    trace.record(&V3_4::FWK_EN, About::NOTHING, &[]);
    // A record with a missing argument, a record with a surplus argument, and a record without an
    // end.
    let outcome = trace.begin(&V3_4::SM_TRN, About::object(0)).unwrap().arg(1).end();
    assert!(matches!(outcome, Outcome::Refused(_)));
    let outcome =
        trace.begin(&V3_4::SM_STATE, About::object(0)).unwrap().arg(1).arg(2).arg(3).end();
    assert!(matches!(outcome, Outcome::Refused(_)));
    drop(trace.begin(&V3_4::SM_STATE, About::object(0)).unwrap().arg(1));
    trace.begin(&V3_4::SM_STATE, About::object(0)).unwrap().arg(1).pause();
    trace.record(&V3_4::FWK_EX, About::NOTHING, &[]);
    let (read, kept) = decode(&taken(trace.buffer()), &[]);
    assert_eq!(kept.rows.iter().map(|row| row.id).collect::<Vec<_>>(), [0xAC, 0xA0, 0xA1]);
    assert_eq!(read.fact("aborted"), Some(4));
    assert_eq!(read.fact("lost_frames"), Some(4));
    assert_eq!(read.fact("bad_checksum"), Some(0));
}

#[test]
fn a_restart_of_the_target_is_no_loss() {
    let mut memory = [0; 256];
    let mut trace = opened(Options::default(), &mut memory);
    trace.record(&V3_4::FWK_EN, About::NOTHING, &[]);
    let mut bytes = taken(trace.buffer());
    trace.open();
    trace.record(&V3_4::FWK_EN, About::NOTHING, &[]);
    bytes.extend(taken(trace.buffer()));
    let (read, kept) = decode(&bytes, &[]);
    assert_eq!(kept.rows.len(), 4);
    assert!(read.losses.is_empty());
}
