//! Tests the ThreadX layouts: reading returns the written structures, sizes and offsets match the
//! header files, and no input causes a panic.

use proptest::prelude::*;
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{
    Event, Header, HeaderError, Layout, PriorityWord, RegistrySlot, Width, context,
};

fn layouts() -> impl Strategy<Value = Layout> {
    let order = prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)];
    let width = prop_oneof![Just(Width::Bits32), Just(Width::Bits64)];
    (order, width, 1..100_u16).prop_map(|(order, width, name_size)| Layout {
        order,
        width,
        name_size,
    })
}

const LITTLE: Layout = Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 };
const WIDE: Layout = Layout { width: Width::Bits64, ..LITTLE };

fn header() -> Header {
    Header {
        timer_valid_mask: 0x00FF_FFFF,
        trace_base_address: 0x2000_0000,
        registry_start: 0x2000_0030,
        registry_end: 0x2000_0630,
        buffer_start: 0x2000_0630,
        buffer_end: 0x2000_1630,
        buffer_current: 0x2000_0650,
        reserved1: 0,
        reserved: Header::RESERVED,
    }
}

#[test]
fn sizes_equal_those_of_the_c_structures() {
    let sizes = |l: Layout| (l.header_size(), l.registry_slot_size(), l.event_size());
    assert_eq!(sizes(LITTLE), (48, 48, 32));
    assert_eq!(sizes(WIDE), (96, 64, 64));
    assert_eq!(Layout { name_size: 33, ..WIDE }.registry_slot_size(), 72);
}

#[test]
fn a_header_has_its_fields_where_the_target_puts_them() {
    let mut bytes = [0xEE; 48];
    header().write(LITTLE, &mut bytes).unwrap();
    assert_eq!(&bytes[..4], b"BTXT");
    assert_eq!(bytes[4..8], [0xFF, 0xFF, 0xFF, 0]);
    assert_eq!(bytes[16..20], [0, 0, 32, 0]);
    assert_eq!(bytes[32..36], [0x50, 0x06, 0, 0x20]);
    assert_eq!(
        bytes[36..],
        [0xAA, 0xAA, 0xAA, 0xAA, 0xBB, 0xBB, 0xBB, 0xBB, 0xCC, 0xCC, 0xCC, 0xCC]
    );
    let big = Layout { order: ByteOrder::Big, ..LITTLE };
    header().write(big, &mut bytes).unwrap();
    assert_eq!((&bytes[..4], &bytes[16..20]), (&b"TXTB"[..], &[0, 0, 0, 32][..]));
}

#[test]
fn a_wide_header_has_its_halves_and_padding_in_word_4() {
    let mut bytes = [0xEE; 96];
    header().write(WIDE, &mut bytes).unwrap();
    assert_eq!(bytes[..8], *b"BTXT\0\0\0\0");
    assert_eq!(bytes[32..40], [0, 0, 32, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[40..44], [0x30, 0x06, 0, 0x20]);
    assert_eq!(bytes[64..68], [0x50, 0x06, 0, 0x20]);
    assert_eq!(bytes[72..80], [0xAA, 0xAA, 0xAA, 0xAA, 0, 0, 0, 0]);
}

#[test]
fn a_narrow_header_with_mask_0_is_not_taken_for_a_wide_one() {
    let mut bytes = vec![0; 200];
    Header { timer_valid_mask: 0, ..header() }.write(LITTLE, &mut bytes).unwrap();
    assert_eq!(Header::read(&bytes).unwrap().0, LITTLE);
}

#[test]
fn bytes_that_are_not_a_header_are_refused_with_a_reason() {
    assert_eq!(Header::read(b""), Err(HeaderError::TooShort { needed: 4 }));
    assert_eq!(Header::read(b"TXTB"), Err(HeaderError::TooShort { needed: 48 }));
    assert_eq!(Header::read(b"BTXT"), Err(HeaderError::TooShort { needed: 8 }));
    let found = *b"TXTA";
    assert_eq!(Header::read(b"TXTAxxxx"), Err(HeaderError::NotThreadX { found }));
}

#[test]
fn priorities_are_unpacked_from_their_ten_bits() {
    let slot = |reserved1, reserved2| {
        let bytes = [0, 1, reserved1, reserved2];
        let mut all = [0; 48];
        all[..4].copy_from_slice(&bytes);
        RegistrySlot::read(LITTLE, &all).unwrap().priority()
    };
    assert_eq!((slot(0x83, 0xFF), slot(0x80, 0), slot(0, 7)), (Some(1023), Some(0), None));
    assert_eq!(RegistrySlot::priority_bytes(1023), [0x83, 0xFF]);
    let event =
        |context, priority_word| Event { context, priority_word, ..Event::UNUSED }.priority();
    let thread = |priority, threshold| PriorityWord::Thread { priority, threshold };
    assert_eq!(event(0x1000, PriorityWord::of_thread(14, 12)), thread(14, Some(12)));
    assert_eq!(event(0x1000, 16), thread(16, None));
    assert_eq!(event(context::INTERRUPT, 0x8000_1000), PriorityWord::Interrupted(0x8000_1000));
    assert_eq!(event(context::INITIALIZATION, 0), PriorityWord::Initialization);
}

#[test]
fn a_name_ends_at_its_nul_and_the_bytes_after_it_stay() {
    let slot = RegistrySlot {
        available: 0,
        object_type: 5,
        reserved1: 0,
        reserved2: 0,
        pointer: 0x2000_1000,
        parameter1: 1,
        parameter2: 0,
        name: b"bus",
    };
    let mut bytes = [0xEE; 48];
    slot.write(LITTLE, &mut bytes).unwrap();
    assert_eq!(bytes[16..21], *b"bus\0\xEE");
    assert_eq!(RegistrySlot::read(LITTLE, &bytes), Some(slot));
    let long = [b'x'; 40];
    RegistrySlot { name: &long, ..slot }.write(LITTLE, &mut bytes).unwrap();
    assert_eq!(RegistrySlot::read(LITTLE, &bytes).unwrap().name, &long[..31]);
}

proptest! {
    #[test]
    fn headers_there_and_back(layout in layouts(), words: [u32; 10], reserved1: u16) {
        let [mask, base, registry_start, registry_end, start, end, current, a, b, c] =
            words.map(u64::from);
        let header = Header {
            timer_valid_mask: mask.max(1),
            trace_base_address: base,
            registry_start,
            registry_end,
            buffer_start: start,
            buffer_end: end,
            buffer_current: current,
            reserved1,
            reserved: [a, b, c],
        };
        let mut bytes = vec![0; layout.header_size()];
        header.write(layout, &mut bytes).unwrap();
        prop_assert_eq!(Header::read(&bytes), Ok((layout, header)));
    }

    #[test]
    fn events_there_and_back(layout in layouts(), words: [u64; 8]) {
        let [context, priority_word, id_word, stamp, info @ ..] =
            words.map(|word| word & layout.width.max());
        let event = Event { context, priority_word, id_word, stamp, info };
        let mut bytes = vec![0; layout.event_size()];
        event.write(layout, &mut bytes).unwrap();
        prop_assert_eq!(Event::read(layout, &bytes), Some(event));
        prop_assert_eq!(Event::read(layout, &bytes[1..]), None);
    }

    #[test]
    fn any_bytes_are_read_without_panic(layout in layouts(), bytes: Vec<u8>) {
        let _ = Header::read(&bytes);
        let _ = RegistrySlot::read(layout, &bytes);
        let _ = Event::read(layout, &bytes);
    }
}
