//! Tests the container for AIX entries. Reading returns the written structures and distinguishes
//! truncation from damage. A changed byte changes only its own field.

use proptest::prelude::*;
use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{
    Damage, Env, FileHeader, Frame, FrameHeader, ReadError, Texts, TimeConversion,
};

/// The largest length of an entry: a hook word of 64 bits, and a count of 16 bits.
const LONGEST_ENTRY: usize = 8 + 0xFFFF;
const LONGEST_HEADER: usize = 64 << 10;

const TEXTS: Texts<'_> = Texts {
    system: b"AIX 7.3",
    node: b"node",
    machine: b"00C0FFEE4C00",
    address: b"",
    command: b"trace -a",
    buffering: b"alternate",
};

const HEADER: FileHeader<'_> = FileHeader {
    order: ByteOrder::Big,
    env: Env::Bits64,
    per_cpu: true,
    circular: false,
    wall_clock_ns: 1,
    start_tick: 2,
    conversion: TimeConversion { multiplier: 3, divisor: 4 },
    cpus: 5,
    cpus_traced: 6,
    channel: 7,
    texts: TEXTS,
};

fn orders() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)]
}

fn envs() -> impl Strategy<Value = Env> {
    prop_oneof![Just(Env::Bits32), Just(Env::Bits64)]
}

fn heads() -> impl Strategy<Value = FrameHeader> {
    let ids = any::<(Option<u64>, Option<u64>)>();
    (envs(), any::<u16>(), any::<u64>(), ids).prop_map(|(env, cpu, tick, (tid, pid))| FrameHeader {
        env,
        cpu,
        tick,
        tid,
        pid,
    })
}

fn header_bytes(header: &FileHeader<'_>) -> Vec<u8> {
    let mut bytes = vec![0xEE; header.length()];
    assert_eq!(header.write(&mut bytes), Some(header.length()));
    bytes
}

fn frame_bytes(order: ByteOrder, frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = vec![0xEE; Frame::size(frame.entry.len())];
    assert_eq!(frame.write(order, &mut bytes), Some(bytes.len()));
    bytes
}

fn damaged<T>(damage: Damage) -> Result<T, ReadError> {
    Err(ReadError::Damaged(damage))
}

#[test]
fn a_header_has_its_fields_where_the_table_says() {
    let bytes = header_bytes(&HEADER);
    assert_eq!(bytes[..8], *b"TWX1\x02\x01\x40\x01");
    let wide: Vec<_> = (8..40).step_by(8).map(|at| bytes[at + 7]).collect();
    let narrow: Vec<_> = (40..56).step_by(4).map(|at| bytes[at + 3]).collect();
    assert_eq!((wide, narrow), (vec![1, 2, 3, 4], vec![5, 6, 7, 142]));
    assert_eq!(bytes[56..96], [0; 40]);
    assert_eq!(bytes[96..], *b"AIX 7.3\0node\x0000C0FFEE4C00\0\0trace -a\0alternate\0");
    let little = FileHeader { order: ByteOrder::Little, env: Env::Bits32, ..HEADER };
    let bytes = header_bytes(&little);
    assert_eq!((&bytes[4..8], &bytes[52..56]), (&[1, 1, 32, 1][..], &[142, 0, 0, 0][..]));
}

#[test]
fn a_frame_has_its_fields_where_the_table_says() {
    let head =
        FrameHeader { env: Env::Bits32, cpu: 0x0102, tick: 0x33, tid: Some(0x44), pid: None };
    let bytes = frame_bytes(ByteOrder::Big, &Frame { head, entry: &[0xAA; 5] });
    assert_eq!(bytes[..8], [0, 0, 0, 5, 32, 1, 1, 2]);
    assert_eq!([bytes[15], bytes[23]], [0x33, 0x44]);
    assert_eq!(bytes[24..32], [0; 8]);
    assert_eq!(bytes[32..], [0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0, 0, 0]);
}

#[test]
fn a_truncated_header_asks_for_more_bytes_but_never_too_many() {
    let bytes = header_bytes(&HEADER);
    for cut in 0..bytes.len() {
        let Err(ReadError::Incomplete { needed }) = FileHeader::read(&bytes[..cut]) else {
            panic!("{cut} bytes of {} are enough", bytes.len());
        };
        assert!(cut < needed && needed <= bytes.len(), "{needed} bytes requested after {cut}");
    }
}

#[test]
fn each_changed_byte_of_a_header_changes_the_header_or_is_damage() {
    let bytes = header_bytes(&HEADER);
    let ignored = |at: usize| (56..96).contains(&at);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        if let Ok((header, _)) = FileHeader::read(&changed) {
            // Bit 6 of the flags has no meaning.
            assert_eq!(header == HEADER, ignored(at) || at == 7, "byte {at}");
        }
    }
}

#[test]
fn damaged_headers_report_what_was_found() {
    let bytes = header_bytes(&HEADER);
    let with = |at: usize, value: &[u8]| {
        let mut changed = bytes.clone();
        changed[at..at + value.len()].copy_from_slice(value);
        FileHeader::read(&changed).map(|(_, length)| length)
    };
    assert_eq!(with(0, b"TWX2"), damaged(Damage::Magic { found: *b"TWX2" }));
    assert_eq!(with(4, &[3]), damaged(Damage::Endian { found: 3 }));
    assert_eq!(with(5, &[2]), damaged(Damage::Version { found: 2 }));
    assert_eq!(with(6, &[33]), damaged(Damage::Environment { found: 33 }));
    for found in [0, 101, LONGEST_HEADER as u32 + 1, u32::MAX] {
        let expected = damaged(Damage::HeaderLength { found });
        assert_eq!(with(52, &found.to_be_bytes()), expected);
    }
    let most = ReadError::Incomplete { needed: LONGEST_HEADER };
    assert_eq!(with(52, &(LONGEST_HEADER as u32).to_be_bytes()), Err(most));
    assert_eq!(with(bytes.len() - 1, b"x"), damaged(Damage::Texts { found: 5 }));
    let nothing = FileHeader::read(b"TRC").unwrap_err();
    assert_eq!(nothing, ReadError::Incomplete { needed: 4 });
}

#[test]
fn bytes_after_the_texts_of_a_header_are_skipped() {
    let mut bytes = header_bytes(&HEADER);
    bytes.extend(b"later");
    bytes[55] += 5;
    assert_eq!(FileHeader::read(&bytes), Ok((HEADER, bytes.len())));
}

#[test]
fn a_text_ends_at_its_nul_and_a_header_at_its_limit() {
    let texts = Texts { node: b"no\0de", ..TEXTS };
    let bytes = header_bytes(&FileHeader { texts, ..HEADER });
    assert_eq!(FileHeader::read(&bytes).unwrap().0.texts, Texts { node: b"no", ..TEXTS });
    let long = vec![b'x'; LONGEST_HEADER];
    let header = FileHeader { texts: Texts { node: &long, ..TEXTS }, ..HEADER };
    assert_eq!(header.write(&mut vec![0; header.length()]), None);
}

#[test]
fn frames_of_impossible_lengths_are_damaged() {
    let mut bytes = [0; 32];
    for (bits, shortest) in [(32, 4), (64, 8)] {
        bytes[4] = bits;
        for found in [0, shortest - 1, LONGEST_ENTRY as u32 + 1, u32::MAX] {
            bytes[..4].copy_from_slice(&found.to_be_bytes());
            let expected = damaged(Damage::EntryLength { found });
            assert_eq!(Frame::read(ByteOrder::Big, &bytes), expected);
        }
        for (found, needed) in [(shortest, 40), (LONGEST_ENTRY as u32, 32 + 65_544)] {
            bytes[..4].copy_from_slice(&found.to_be_bytes());
            let expected = Err(ReadError::Incomplete { needed });
            assert_eq!(Frame::read(ByteOrder::Big, &bytes), expected);
        }
    }
    bytes[4] = 16;
    let expected = damaged(Damage::Environment { found: 16 });
    assert_eq!(Frame::read(ByteOrder::Big, &bytes), expected);
}

#[test]
fn frames_of_impossible_lengths_are_not_written() {
    let head = FrameHeader { env: Env::Bits64, cpu: 0, tick: 0, tid: None, pid: None };
    let long = vec![0; LONGEST_ENTRY + 1];
    let mut bytes = vec![0xEE; 70_000];
    for entry in [&long[..7], &long] {
        assert_eq!(Frame { head, entry }.write(ByteOrder::Little, &mut bytes), None);
    }
    assert!(bytes.iter().all(|&byte| byte == 0xEE));
    let longest = Frame { head, entry: &long[1..] };
    assert_eq!(longest.write(ByteOrder::Little, &mut bytes), Some(32 + 65_544));
}

proptest! {
    #[test]
    fn headers_there_and_back(
        (order, env) in (orders(), envs()),
        flags: [bool; 2],
        [wall_clock_ns, start_tick, multiplier, divisor]: [u64; 4],
        [cpus, cpus_traced, channel]: [u32; 3],
        texts in prop::array::uniform6(prop::collection::vec(1..=255_u8, 0..20)),
    ) {
        let [system, node, machine, address, command, buffering] = texts.each_ref().map(|t| &t[..]);
        let header = FileHeader {
            order,
            env,
            per_cpu: flags[0],
            circular: flags[1],
            wall_clock_ns,
            start_tick,
            conversion: TimeConversion { multiplier, divisor },
            cpus,
            cpus_traced,
            channel,
            texts: Texts { system, node, machine, address, command, buffering },
        };
        let bytes = header_bytes(&header);
        prop_assert_eq!(FileHeader::read(&bytes), Ok((header, bytes.len())));
    }

    #[test]
    fn frames_there_and_back(
        order in orders(),
        head in heads(),
        entry in prop::collection::vec(any::<u8>(), 8..60),
    ) {
        let frame = Frame { head, entry: &entry };
        let bytes = frame_bytes(order, &frame);
        prop_assert_eq!(Frame::read(order, &bytes), Ok((frame, bytes.len())));
        for cut in 0..bytes.len() {
            let needed = if cut < FrameHeader::LENGTH { FrameHeader::LENGTH } else { bytes.len() };
            let read = Frame::read(order, &bytes[..cut]);
            prop_assert_eq!(read, Err(ReadError::Incomplete { needed }));
        }
    }

    #[test]
    fn each_changed_byte_of_a_frame_changes_the_frame_or_is_damage(
        order in orders(),
        head in heads(),
        entry in prop::collection::vec(any::<u8>(), 8..30),
    ) {
        let frame = Frame { head, entry: &entry };
        let bytes = frame_bytes(order, &frame);
        let unknown = |at: usize| match at {
            16..24 => head.tid.is_none(),
            24..32 => head.pid.is_none(),
            _ => at >= FrameHeader::LENGTH + entry.len(),
        };
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            // Bit 7 is not a flag. All remaining bits have a meaning.
            changed[at] ^= if at == 5 { 1 } else { 0x80 };
            match Frame::read(order, &changed) {
                Ok((read, _)) => prop_assert_eq!(read == frame, unknown(at), "byte {}", at),
                Err(_) => prop_assert!(at < 5, "byte {}", at),
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(order in orders(), mut bytes: Vec<u8>, magic: bool) {
        if let (true, Some(start)) = (magic, bytes.first_chunk_mut()) {
            *start = FileHeader::MAGIC;
        }
        if let Ok((_, length)) = FileHeader::read(&bytes) {
            prop_assert!(length <= bytes.len());
        }
        if let Ok((frame, size)) = Frame::read(order, &bytes) {
            prop_assert!(size <= bytes.len() && frame.entry.len() + 32 <= size);
        }
    }
}
