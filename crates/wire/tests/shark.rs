//! Tests S.Ha.R.K. layouts: compares them with known bytes, and reads back written structures.

use proptest::prelude::*;
use tracewell_wire::shark::{
    AreaRecords, BlockError, ChunkError, ChunkHeader, DatagramError, DatagramHeader, Frame,
    PackedBlock, PackedDamage, PackedRecord, Packer, Record, SenderStart, Unpacker, ids,
    usable_slots,
};

#[test]
fn a_record_has_the_high_half_of_its_timestamp_first() {
    let bytes = [0x82, 0x00, 0x18, 0x01, 7, 0, 0, 0, 0x44, 0x33, 0x22, 0x11, 0x20, 0x01, 0, 0];
    let record = Record { code_word: 0x82, par1: 0x118, tsc: 0x7_1122_3344, par2: 0x120 };
    assert_eq!(Record::read(&bytes), Some(record));
    assert_eq!(record.to_bytes(), bytes);
    assert_eq!((record.code(), record.is_fast(), record.is_empty()), (0x82, false, false));
    assert_eq!(Record::read(&bytes[..15]), None);
    assert_eq!(record.write(&mut [0; 15]), None);
    let fast = Record { code_word: 0x8001, ..record };
    assert_eq!((fast.code(), fast.is_fast(), fast.unexpected_code_bits()), (1, true, 0));
}

#[test]
fn families_and_filters_follow_from_the_code() {
    assert_eq!(ids::family(ids::TASK_SCHEDULE), ids::family::TASK);
    assert_eq!(ids::filter_bit(ids::TIMER_WAKEUP_END), 0x0800);
    assert_eq!(ids::filter_record(ids::family::TIMER), 0xFB);
    assert_eq!((ids::filter_bit(0xFB), ids::filter_bit(ids::NEXT_CHUNK)), (0, 0));
}

#[test]
fn the_end_test_leaves_the_last_slot_free() {
    let sizes = [0, 16, 17, 32, 1_000_000];
    assert_eq!(sizes.map(usable_slots), [0, 0, 1, 1, 62_499]);
}

#[test]
fn a_chunk_header_has_the_kernels_layout() {
    let header = ChunkHeader {
        number: 3,
        flags: ids::flag::JUMP_TO_NEXT | ids::flag::NO_DELETE,
        size: 4016,
        emergency_size: 128,
        head: 0x10_0018,
        position: 0x10_0130,
        start: 0x10_0030,
        recording_flags: u32::from(ids::flag::FULL),
        next: 0x20_0018,
    };
    let mut bytes = [0; 48];
    header.write(&mut bytes).unwrap();
    assert_eq!(bytes[..4], [0xBB, 0xFF, 0xAA, 0xFF]);
    assert_eq!((bytes[8], bytes[40], bytes[28], bytes[44]), (0x24, 2, 0x30, 0x18));
    assert_eq!((&bytes[12..20], header.area()), (&bytes[32..40], 4144));
    assert_eq!(ChunkHeader::read(&bytes), Ok(header));
    assert_eq!(ChunkHeader::read(&bytes[..47]), Err(ChunkError::TooShort));
    bytes[0] = 0xBC;
    assert_eq!(ChunkHeader::read(&bytes), Err(ChunkError::NotAChunk { found: 0xFFAA_FFBC }));
    assert_eq!(header.write(&mut [0; 47]), None);
}

#[test]
fn a_datagram_must_have_the_length_in_its_header() {
    let mut datagram = [0; 24 + 32];
    DatagramHeader::new(7, 2).write(&mut datagram).unwrap();
    assert_eq!(&datagram[..12], b"TRACER-V1.0\0");
    let (header, records) = DatagramHeader::read(&datagram).unwrap();
    assert_eq!((header.number, header.events, header.size, records.len()), (7, 2, 56, 32));
    let short = DatagramHeader::read(&datagram[..55]);
    assert_eq!(short, Err(DatagramError::Sizes { header, found: 55 }));
    assert_eq!(DatagramHeader::read(&datagram[..20]), Err(DatagramError::TooShort { found: 20 }));
    assert_eq!(DatagramHeader::read(b"TRACER"), Err(DatagramError::NotATracer));
    assert_eq!(DatagramHeader::new(1, DatagramHeader::MAX_EVENTS).size, 984);
}

#[test]
fn a_capture_is_split_into_its_frames() {
    let mut capture = Frame::prefix(3).to_vec();
    capture.extend(b"abc");
    capture.extend(Frame::prefix(0));
    capture.extend(Frame::prefix(9));
    capture.extend(b"de");
    let first = Frame::read(&capture).unwrap();
    assert_eq!((first.datagram, first.whole), (&b"abc"[..], true));
    let second = Frame::read(first.rest).unwrap();
    assert_eq!((second.datagram, second.whole), (&b""[..], true));
    let third = Frame::read(second.rest).unwrap();
    assert_eq!((third.datagram, third.whole, third.rest), (&b"de"[..], false, &b""[..]));
    assert_eq!(Frame::read(&[1, 0, 0]), None);
}

#[test]
fn a_repeated_number_with_different_bytes_shows_a_new_sender() {
    let mut start = SenderStart::default();
    let mut take = |number, byte| start.restarts(&DatagramHeader::new(number, 0), &[byte]);
    // One duplicate, one late packet, and two different packets with the number 65. Checksums are
    // kept only for numbers up to 64.
    assert_eq!(
        [(1, 1), (2, 2), (2, 2), (64, 9), (3, 3), (65, 1), (65, 2)].map(|(n, b)| take(n, b)),
        [false; 7]
    );
    // A new sender's second, first and third packet, and a duplicate of the first. A third sender
    // follows.
    let expected = [true, false, false, false, true];
    assert_eq!([(2, 7), (1, 6), (3, 8), (1, 6), (1, 5)].map(|(n, b)| take(n, b)), expected);
    // Packet numbers start at 1, so packets with the number 0 are ignored.
    assert_eq!([(0, 1), (0, 2)].map(|(n, b)| take(n, b)), [false; 2]);
}

fn pack(records: &[Record]) -> Vec<u8> {
    let mut packer = Packer::default();
    records.iter().flat_map(|record| packer.pack(record).bytes().to_vec()).collect()
}

#[test]
fn packed_records_have_the_documented_bytes() {
    let first = Record { code_word: 0x20, par1: 0x100, tsc: 1000, par2: 300 };
    let back = Record { code_word: 0x8009, par1: 1, tsc: 999, par2: 0 };
    let packed = pack(&[first, back]);
    // The numbers of the first record are 0x100 << 1 = 512, 1000 << 1 = 2000 and 300. Those of the
    // second record are 3, 1 (which stands for -1) and 0.
    let bytes = [0x20, 0x80, 0x04, 0xD0, 0x0F, 0xAC, 0x02, 0x09, 0x03, 0x01, 0x00];
    assert_eq!(packed, bytes);
    assert!(Unpacker::new(&packed).eq([first, back]));
    let furthest = Record { code_word: 0x80FE, par1: u16::MAX, tsc: 1 << 63, par2: u32::MAX };
    assert_eq!(pack(&[furthest]).len(), PackedRecord::MAX_LEN);
}

#[test]
fn packed_records_end_at_a_zero_and_at_invalid_bytes() {
    let packed = pack(&[Record { code_word: 9, par1: 1, tsc: 2, par2: 3 }]);
    let mut padded = Unpacker::new(&[9, 2, 4, 3, 0, 9, 2, 4, 3]);
    assert_eq!((padded.by_ref().count(), padded.is_damaged(), padded.rest().len()), (1, false, 5));
    for cut in 1..packed.len() {
        let mut records = Unpacker::new(&packed[..cut]);
        assert_eq!((records.by_ref().count(), records.is_damaged()), (0, true));
        assert_eq!(records.rest(), &packed[..cut]);
    }
    // A first parameter of 17 bits, and a second one of 33 bits.
    for damaged in [&[9, 0x80, 0x80, 0x08, 0, 0][..], &[9, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x10]] {
        let mut records = Unpacker::new(damaged);
        assert_eq!((records.next(), records.is_damaged()), (None, true));
    }
    assert_eq!(Unpacker::new(&[0xFF; 40]).next(), None);
}

/// Returns a block with its header.
fn block(unpacked: usize, stored: &[u8]) -> Vec<u8> {
    let block = PackedBlock::new(unpacked, stored).unwrap();
    [&block.head()[..], block.stored()].concat()
}

/// A substitute for LZ4. Expands two bytes: the first byte is repeated, and the second byte is the
/// number of repetitions.
fn run(stored: &[u8], output: &mut [u8]) -> Option<usize> {
    let &[byte, times] = stored else { return None };
    output.get_mut(..usize::from(times))?.fill(byte);
    Some(usize::from(times))
}

fn record(code: u16, tsc: u64) -> Record {
    Record { code_word: code, par1: 0, tsc, par2: 0 }
}

#[test]
fn a_block_has_the_documented_bytes() {
    let bytes = block(4, &[9, 0, 2, 0]);
    assert_eq!(bytes[..5], [0xFF, 4, 0, 4, 0]);
    // CRC-32C of 04 00 04 00 09 00 02 00, computed by another implementation.
    assert_eq!(bytes[5..9], [0x20, 0xFE, 0x84, 0x13]);
    let (read, rest) = PackedBlock::read(&bytes).unwrap();
    assert_eq!(
        (read.unpacked(), read.stored(), read.is_compressed(), rest),
        (4, &[9, 0, 2, 0][..], false, &[][..])
    );
    for cut in 0..bytes.len() {
        assert_eq!(PackedBlock::read(&bytes[..cut]), Err(BlockError::Head));
    }
    for (unpacked, stored) in [(0, 0), (4, 0), (4, 5), (4097, 4)] {
        assert_eq!(PackedBlock::new(unpacked, &[0; 8][..stored]), None);
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert!(PackedBlock::read(&changed).is_err(), "{at}");
    }
}

#[test]
fn blocks_and_records_of_an_area_follow_each_other() {
    let area = [
        &pack(&[record(9, 1)]),
        &block(8, &[1, 8]),
        &block(4, &[9, 0, 6, 0]),
        &pack(&[record(9, 2)])[..],
        &[0, 7],
    ]
    .concat();
    let records: Vec<_> = AreaRecords::new(&area, Some(run)).collect();
    // The bytes 01 01 01 01 occur twice. Each time, they are a fast record of code 1. Its time is
    // one tick earlier than that of the previous record, and its second parameter is 1.
    let odd = |tsc| Ok(Record { code_word: 0x8001, par1: 0, tsc, par2: 1 });
    let expected =
        [Ok(record(9, 1)), odd(u64::MAX), odd(u64::MAX - 1), Ok(record(9, 3)), Ok(record(9, 2))];
    assert_eq!(records, expected);
}

#[test]
fn reading_continues_after_a_damaged_block() {
    let good = block(4, &[9, 0, 6, 0]);
    let mut summed = good.clone();
    summed[10] ^= 1;
    let damages: [(&[u8], usize); 4] = [
        (&summed, 0),
        // The first block expands to fewer bytes than its header specifies. The second block cannot
        // be expanded.
        (&block(9, &[1, 8]), 0),
        (&block(7, &[1, 8, 0]), 0),
        // The block ends after two bytes of a record. No record continues in the next block.
        (&block(2, &[9, 0]), 11),
    ];
    for (damaged, at) in damages {
        let area = [damaged, &good].concat();
        let records: Vec<_> = AreaRecords::new(&area, Some(run)).collect();
        assert_eq!(records, [Err(PackedDamage { at }), Ok(record(9, 3))], "{damaged:?}");
    }
    assert_eq!(
        AreaRecords::new(&block(8, &[1, 8]), None).next(),
        Some(Err(PackedDamage { at: 0 }))
    );
    // After an invalid header, the next block cannot be found.
    let area = [&good[..], &[0xFF, 0, 0, 0, 0], &good].concat();
    let records: Vec<_> = AreaRecords::new(&area, Some(run)).collect();
    assert_eq!(records, [Ok(record(9, 3)), Err(PackedDamage { at: good.len() })]);
}

proptest! {
    #[test]
    fn unpacking_undoes_packing(
        records in prop::collection::vec(
            (1..=254_u16, any::<bool>(), any::<(u16, u64, u32)>()),
            0..40,
        ),
    ) {
        let records: Vec<_> = records
            .into_iter()
            .map(|(code, fast, (par1, tsc, par2))| {
                let code_word = code | if fast { Record::FAST } else { 0 };
                Record { code_word, par1, tsc, par2 }
            })
            .collect();
        let packed = pack(&records);
        let mut unpacked = Unpacker::new(&packed);
        prop_assert!(unpacked.by_ref().eq(records));
        prop_assert!(!unpacked.is_damaged());
    }

    #[test]
    fn unpacking_accepts_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        // A record has at least four bytes, so the length of the input limits the memory.
        prop_assert!(Unpacker::new(&bytes).count() <= bytes.len() / 4);
        prop_assert!(AreaRecords::new(&bytes, None).count() <= bytes.len());
    }

    #[test]
    fn reading_undoes_writing(code_word: u16, par1: u16, tsc: u64, par2: u32) {
        let record = Record { code_word, par1, tsc, par2 };
        prop_assert_eq!(Record::from_bytes(&record.to_bytes()), record);
    }

    #[test]
    fn writing_undoes_reading(bytes: [u8; 16]) {
        prop_assert_eq!(Record::from_bytes(&bytes).to_bytes(), bytes);
    }
}
