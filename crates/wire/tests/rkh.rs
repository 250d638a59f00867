//! Tests RKH's byte format: reading returns the written data for chunks of any size, and no input
//! causes a panic. Compares the optimised functions with simple models of them.

use proptest::prelude::*;
use tracewell_wire::rkh::{
    Configuration, Cut, Cutter, Dialect, Field, FieldType, Form, Item, Items, MAX_FRAME_LEN,
    Settings, Symbol, Unstuffed, checksum, encode, ids, stuff, switches, unstuff, unstuff_in_place,
};

/// Random bytes. Flags and escapes are frequent among them.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => any::<u8>(), 1 => Just(0x7E), 1 => Just(0x7D), 1 => 0x5C..=0x60_u8];
    prop::collection::vec(byte, 0..400)
}

/// A simple receiver: a state machine that reads one byte at a time.
fn frames_by_state_machine(bytes: &[u8]) -> (Vec<Unstuffed>, Vec<Vec<u8>>) {
    let (mut outcomes, mut frames, mut frame) = (Vec::new(), Vec::new(), Vec::new());
    let (mut escaped, mut stuffed) = (false, 0);
    for &byte in bytes {
        match byte {
            0x7E => {
                if escaped {
                    outcomes.push(Unstuffed::Aborted);
                    frames.push(Vec::new());
                } else if stuffed > 0 {
                    outcomes.push(Unstuffed::Frame(frame.len()));
                    frames.push(frame.clone());
                }
                (escaped, stuffed) = (false, 0);
                frame.clear();
                continue;
            }
            _ if escaped => {
                frame.push(byte ^ 0x20);
                escaped = false;
            }
            0x7D => escaped = true,
            _ => frame.push(byte),
        }
        stuffed += 1;
    }
    (outcomes, frames)
}

fn frames(bytes: &[u8]) -> (Vec<Unstuffed>, Vec<Vec<u8>>) {
    Cutter::new(bytes)
        .map(|cut| {
            let stuffed = &bytes[cut.start..cut.end];
            assert_eq!(cut.escaped, stuffed.contains(&0x7D));
            let mut room = [0; MAX_FRAME_LEN];
            let outcome = unstuff(stuffed, &mut room);
            let frame = match outcome {
                Unstuffed::Frame(length) => room[..length].to_vec(),
                _ => Vec::new(),
            };
            (outcome, frame)
        })
        .unzip()
}

proptest! {
    #[test]
    fn frames_agree_with_the_state_machine(bytes in stream()) {
        prop_assert_eq!(frames(&bytes), frames_by_state_machine(&bytes));
    }

    #[test]
    fn a_stream_may_arrive_in_pieces(bytes in stream(), piece in 1..90_usize) {
        let (mut cuts, mut start, mut end) = (Vec::new(), 0, 0);
        while end < bytes.len() {
            end = bytes.len().min(end + piece);
            let mut cutter = Cutter::new(&bytes[start..end]);
            cuts.extend(cutter.by_ref().map(|cut| Cut {
                start: start + cut.start,
                end: start + cut.end,
                escaped: cut.escaped,
            }));
            start += cutter.rest();
        }
        prop_assert_eq!(cuts, Cutter::new(&bytes).collect::<Vec<_>>());
    }

    #[test]
    fn encoded_frames_are_read_back(
        plain in prop::collection::vec(any::<u8>(), 1..200),
        check: bool,
    ) {
        let mut room = vec![0; 2 * plain.len() + 3];
        let length = encode(&plain, check, &mut room).unwrap();
        let wire = &mut room[..length];
        prop_assert!(!wire[..length - 1].contains(&0x7E));
        prop_assert_eq!(wire[length - 1], 0x7E);
        let mut out = [0; 256];
        let expected = plain.len() + usize::from(check);
        prop_assert_eq!(unstuff(&wire[..length - 1], &mut out), Unstuffed::Frame(expected));
        prop_assert_eq!(&out[..plain.len()], &plain[..]);
        prop_assert!(!check || checksum::holds(&out[..expected]));
        prop_assert_eq!(unstuff_in_place(&mut wire[..length - 1]), Unstuffed::Frame(expected));
        prop_assert_eq!(&wire[..expected], &out[..expected]);
    }

    #[test]
    fn a_short_buffer_is_reported(
        plain in prop::collection::vec(any::<u8>(), 1..60),
        room in 0..130_usize,
    ) {
        let mut whole = [0; 130];
        let length = encode(&plain, true, &mut whole).unwrap();
        let mut out = vec![0; room];
        let written = encode(&plain, true, &mut out);
        prop_assert_eq!(written, (room >= length).then_some(length));
        let needed = stuff(&plain, &mut whole).unwrap();
        prop_assert_eq!(stuff(&plain, &mut out).is_some(), room >= needed);
    }

    #[test]
    fn the_sum_is_the_sum_of_the_bytes(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        let slow = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        prop_assert_eq!(checksum::sum(&bytes), slow);
        prop_assert_eq!(checksum::of(&bytes), slow.wrapping_neg());
    }

    #[test]
    fn a_code_has_one_id(code: u8, groups: bool) {
        for width in [1, 2, 4] {
            prop_assert_eq!(ids::code(ids::id(code, width, groups), width, groups), Some(code));
        }
    }

    #[test]
    fn items_are_read_back(items in prop::collection::vec(item(), 0..20), settings in settings()) {
        let mut room = [0; 8192];
        let mut length = 0;
        let mut expected = Vec::new();
        for owned in &items {
            let item = owned.item(&settings);
            length += item.write(&settings, &mut room[length..]).unwrap();
            expected.push(item);
        }
        let mut read = Items::new(&room[..length], settings);
        prop_assert_eq!(read.by_ref().collect::<Vec<_>>(), expected);
        prop_assert!(read.rest().is_empty());
    }

    #[test]
    fn a_configuration_is_read_back(
        settings in settings(), form in 0..3_u8, version in 0..5_usize, hz: u16, pools in 0..16_u8,
    ) {
        let record = configuration(settings, form, version, hz, pools);
        let (frame, length) = configuration_frame(&record);
        let found = Configuration::recognise(&frame[..length]);
        prop_assert_eq!(found, Some(record));
        // A record with a checksum and one inverted bit is not a configuration record.
        for bit in 0..8 * length {
            let mut damaged = frame;
            damaged[bit / 8] ^= 1 << (bit % 8);
            let found = Configuration::recognise(&damaged[..length]);
            prop_assert!(!record.settings.checksum || found.is_none_or(|f| !f.settings.checksum));
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), id in 0..4_usize) {
        let _ = Configuration::recognise(&bytes);
        let with_id = [[[0xAC].as_slice(), &[0xAD], &[0xAE], &[0x0C, 0x05]][id], bytes.as_slice()];
        let _ = Configuration::recognise(&with_id.concat());
        let mut items = Items::new(&bytes, Settings::default());
        let count = items.by_ref().count();
        prop_assert!(count <= bytes.len());
    }
}

#[derive(Clone, Debug)]
enum Owned {
    Number(u8, u8, u32),
    Text(Vec<u8>),
    Memory(Vec<u8>),
}

fn item() -> impl Strategy<Value = Owned> {
    prop_oneof![
        (0..10_u8, 0..16_u8, any::<u32>())
            .prop_map(|(kind, w, value)| Owned::Number(kind, w, value)),
        prop::collection::vec(1..=255_u8, 0..40).prop_map(Owned::Text),
        prop::collection::vec(any::<u8>(), 0..256).prop_map(Owned::Memory),
    ]
}

impl Owned {
    fn item(&self, settings: &Settings) -> Item<'_> {
        let cut = |value: u32, bytes: u8| value & u32::MAX >> (32 - 8 * u32::from(bytes));
        let signed = |value: u32, bytes: u8| {
            let unused = 32 - 8 * u32::from(bytes);
            (value << unused).cast_signed() >> unused
        };
        match *self {
            Self::Text(ref text) => Item::Text(text),
            Self::Memory(ref memory) => Item::Memory(memory),
            Self::Number(kind @ 0..3, width, value) => {
                let bytes = 1 << kind;
                Item::Signed { value: signed(value, bytes), bytes, width }
            }
            Self::Number(kind @ 3..6, width, value) => {
                let bytes = 1 << (kind - 3);
                Item::Unsigned { value: cut(value, bytes), bytes, width }
            }
            Self::Number(6, width, value) => Item::Hex { value, width },
            Self::Number(7, _, value) => Item::Object(cut(value, settings.pointer)),
            Self::Number(8, _, value) => Item::Function(cut(value, settings.function)),
            Self::Number(_, _, value) => Item::Signal(cut(value, settings.signal)),
        }
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let size = || prop::sample::select(vec![1, 2, 4_u8]);
    let sizes = (size(), size(), size(), size(), size(), size(), size(), size());
    (sizes, prop::sample::select(vec![2, 4_u8]), any::<[bool; 6]>()).prop_map(|(s, pointer, on)| {
        Settings {
            id: s.0,
            sequence: on[0],
            stamp: if on[1] { s.1 } else { 0 },
            checksum: on[2],
            pointer,
            function: pointer,
            signal: s.2,
            event_size: s.3,
            block_count: s.4,
            block_size: s.5,
            queue_count: s.6,
            timer_ticks: s.7,
            sender: on[3],
            queue_low_water: on[4],
            pool_low_water: on[5],
        }
    })
}

fn configuration(
    mut settings: Settings,
    form: u8,
    version: usize,
    stamps_per_second: u16,
    max_pools: u8,
) -> Configuration {
    let form = [Form::Five, Form::Ten, Form::Thirteen][usize::from(form)];
    let version = [0x2405, 0x2406, 0x3000, 0x3203, 0x3400][version];
    let plain = Settings::default();
    let (version, stamps_per_second, max_pools) = match form {
        Form::Thirteen => (version, stamps_per_second, max_pools),
        Form::Ten => (0x2403, 0, max_pools),
        Form::Five => (0, 0, 0),
    };
    if form != Form::Thirteen {
        settings.id = 1;
    }
    if form == Form::Five {
        // The record does not contain these settings.
        settings.block_size = plain.block_size;
        (settings.sender, settings.queue_low_water, settings.pool_low_water) =
            (false, false, false);
    }
    let flags = [
        (settings.sender, switches::SENDER),
        (settings.queue_low_water, switches::QUEUE_LOW_WATER),
        (settings.pool_low_water, switches::POOL_LOW_WATER),
        (settings.sequence, switches::SEQUENCE),
        (settings.stamp > 0, switches::STAMP),
        (settings.checksum, switches::CHECKSUM),
    ];
    let flags = flags.iter().filter(|(on, _)| *on).fold(0, |flags, (_, bit)| flags | bit);
    let stamp_size = if settings.stamp > 0 { settings.stamp } else { 4 };
    Configuration { form, version, flags, settings, stamp_size, max_pools, stamps_per_second }
}

fn configuration_frame(record: &Configuration) -> ([u8; 64], usize) {
    let mut frame = [0; 64];
    let code = match (record.form, record.version) {
        (Form::Thirteen, 0x3000..) => 0xAC,
        (Form::Thirteen, _) => 0xAE,
        _ => 0xAD,
    };
    let s = &record.settings;
    frame[..4].copy_from_slice(&ids::id(code, s.id, true).to_le_bytes());
    let header = if record.form == Form::Thirteen { usize::from(s.id) } else { s.header() };
    let mut length = header + record.write_payload(&mut frame[header..]).unwrap();
    if s.checksum {
        frame[length] = checksum::of(&frame[..length]);
        length += 1;
    }
    (frame, length)
}

/// The first bytes of a real stream: RKH 3.4.00's demo on Linux.
const DEMO: [u8; 32] = [
    0x7E, 0xAC, 0x00, 0x34, 0x0E, 0xFE, 0x03, 0x00, 0x14, 0x42, 0x11, 0x02, 0x14, 0xE8, 0x03, 0xA9,
    0x7E, 0xAE, 0x00, 0x79, 0x7D, 0x5D, 0x00, 0x00, 0x80, 0x20, 0x05, 0x08, 0x6D, 0x79, 0x00, 0xC9,
];

#[test]
fn the_configuration_record_of_a_target_has_its_settings() {
    let cut = Cutter::new(&DEMO).next().unwrap();
    assert_eq!(cut, Cut { start: 1, end: 16, escaped: false });
    let record = Configuration::recognise(&DEMO[1..16]).unwrap();
    assert_eq!((record.form, record.version, record.flags), (Form::Thirteen, 0x3400, 0x3_FE0E));
    assert_eq!((record.max_pools, record.stamps_per_second), (4, 1000));
    assert_eq!(record.dialect(), Some(Dialect::V3_4));
    let expected = Settings { queue_low_water: true, pool_low_water: true, ..Settings::default() };
    assert_eq!(record.settings, expected);
}

#[test]
fn a_frame_with_an_escape_is_read_from_a_real_stream() {
    let mut frame = [0; 16];
    assert_eq!(unstuff(&DEMO[17..], &mut frame), Unstuffed::Frame(14));
    assert_eq!(frame[..6], [0xAE, 0x00, 0x79, 0x7D, 0x00, 0x00]);
    assert!(checksum::holds(&frame[..14]));
}

#[test]
fn an_escape_turns_any_byte() {
    let mut out = [0; 4];
    assert_eq!(unstuff(&[0x7D, 0x7D, 1], &mut out), Unstuffed::Frame(2));
    assert_eq!(out[..2], [0x5D, 1]);
    assert_eq!(unstuff(&[1, 0x7D], &mut out), Unstuffed::Aborted);
    assert_eq!(unstuff(&[1, 2, 3, 4, 5], &mut out), Unstuffed::TooLong);
    assert_eq!(unstuff(&[1, 2, 3, 4, 0x7D, 5], &mut out), Unstuffed::TooLong);
    assert_eq!(unstuff_in_place(&mut [9, 1, 0x7D]), Unstuffed::Aborted);
}

#[test]
fn more_pools_than_four_bits_can_hold_do_not_corrupt_the_record() {
    let mut frame = DEMO[1..16].to_vec();
    // The number of pools, 20, has five bits. RKH combined the number by OR with a byte whose upper
    // half contained the block size, 4.
    frame[11] = 0x40 | 20;
    frame[14] = checksum::of(&frame[..14]);
    let record = Configuration::recognise(&frame).unwrap();
    assert_eq!(record.settings.block_size, 4);
}

#[test]
fn a_record_without_a_block_size_is_another_record() {
    let mut frame = DEMO[1..16].to_vec();
    frame[11] &= 0x0F;
    frame[14] = checksum::of(&frame[..14]);
    assert_eq!(Configuration::recognise(&frame), None);
}

#[test]
fn fields_have_the_names_of_the_schema() {
    let field: Field = "ptr?sender".parse().unwrap();
    let mut settings = Settings::default();
    assert!(!field.condition.holds(&settings));
    settings.sender = true;
    assert!(field.condition.holds(&settings));
    assert_eq!(field.field_type.bytes(&settings), Some(4));
    for (name, bytes) in [("ntick", Some(2)), ("hi4", Some(0)), ("strz", None), ("teid", Some(1))] {
        let field: Field = name.parse().unwrap();
        assert_eq!(field.field_type.bytes(&settings), bytes, "{name}");
    }
    assert_eq!("strz".parse::<Field>().unwrap().field_type, FieldType::Text);
    for bad in ["", "u64", "ptr?", "ptr?always", "?sender"] {
        assert!(bad.parse::<Field>().is_err(), "{bad}");
    }
}

#[test]
fn a_symbol_has_its_owner_first() {
    let mut out = [0xEE; 16];
    let state = Symbol { owner: Some(0x0805_2080), key: 0x0805_1D40, name: b"&S1" };
    assert_eq!(state.write(4, 4, &mut out), Some(12));
    assert_eq!(out[..12], *b"\x80\x20\x05\x08\x40\x1D\x05\x08&S1\0");
    assert_eq!(state.spoken(), b"S1");
    let signal = Symbol { owner: None, key: 7, name: b"TERM" };
    assert_eq!(signal.write(4, 1, &mut out), Some(6));
    assert_eq!(out[..6], *b"\x07TERM\0");
    assert_eq!(signal.write(4, 1, &mut out[..5]), None);
    assert_eq!(Symbol { name: b"a\0b", ..signal }.write(4, 1, &mut out), None);
}
