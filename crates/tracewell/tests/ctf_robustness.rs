//! Tests truncated and changed CTF streams. The decoder must not panic, must count losses, and must
//! lose at most the damaged packets.

mod support;

use std::sync::Arc;

use support::fixture;
use tracewell::format::{self, Input, Progress, Settings, TraceFile};
use tracewell::model::{Batch, Flow, Sink, Trace};

/// Counts events.
#[derive(Default)]
struct Count(u64);

impl Sink for Count {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.0 += batch.len() as u64;
        Flow::Continue(())
    }
}

/// Reads a stream with the metadata of a fixture.
fn read(metadata: &[u8], stream: &[u8]) -> (u64, Trace) {
    let file = |name: &str, bytes: &[u8]| TraceFile::new(name.into(), Arc::new(bytes.to_vec()));
    let files = vec![file("metadata", metadata), file("stream", stream)];
    let settings = Settings { files: files.into(), ..Settings::default() };
    let mut decoder = format::by_name("ctf").unwrap().decoder(&settings).unwrap();
    let (mut trace, mut count) = (decoder.trace(), Count::default());
    let input = Input { offset: 0, bytes: metadata, last: true };
    assert_eq!(decoder.decode(input, &mut trace, &mut count), Ok(Progress::Done));
    (count.0, trace)
}

fn files(trace: &str, stream: &str) -> (Vec<u8>, Vec<u8>) {
    let folder = fixture("ctf").join(trace);
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    (read("metadata"), read(stream))
}

#[test]
fn a_truncated_stream_loses_its_last_packet() {
    // Each packet of this stream has 192 bytes. From a truncated stream, the reader delivers the
    // events of the complete packets.
    let (metadata, stream) = files("odd", "stream");
    let whole: Vec<u64> =
        (0..=10).map(|packets| read(&metadata, &stream[..192 * packets]).0).collect();
    assert!(whole.is_sorted() && whole[10] > whole[1], "{whole:?}");
    for length in 0..stream.len() {
        let (events, trace) = read(&metadata, &stream[..length]);
        assert_eq!(events, whole[length / 192], "{length} bytes");
        assert_eq!(trace.losses.damaged() > 0, length % 192 != 0, "{length} bytes");
    }
}

#[test]
fn a_damaged_packet_costs_that_packet() {
    let (metadata, stream) = files("odd", "stream");
    let (all, _) = read(&metadata, &stream);
    let per_packet: Vec<_> = (0..10)
        .map(|packet| read(&metadata, &stream[192 * packet..192 * (packet + 1)]).0)
        .collect();
    for packet in 0..10 {
        let mut damaged = stream.clone();
        // Damage the magic number.
        damaged[192 * packet] ^= 0xFF;
        let (events, trace) = read(&metadata, &damaged);
        assert_eq!(events, all - per_packet[packet], "packet {packet}");
        assert_eq!(trace.losses.damaged(), 1);
        let message = &trace.diagnostics.iter().next().unwrap().message;
        let expected =
            format!("stream: at byte {}: expected a packet with the magic number", 192 * packet);
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn a_packet_that_ends_beyond_the_file_costs_that_packet() {
    let (metadata, stream) = files("odd", "stream");
    let (all, _) = read(&metadata, &stream);
    for packet in 0..10 {
        let own = read(&metadata, &stream[192 * packet..192 * (packet + 1)]).0;
        let mut damaged = stream.clone();
        // This byte is part of the packet's size.
        damaged[192 * packet + 32] ^= 0x70;
        let (events, trace) = read(&metadata, &damaged);
        assert_eq!(events, all - own, "packet {packet}");
        assert_eq!(trace.losses.damaged(), 1);
        let message = &trace.diagnostics.iter().next().unwrap().message;
        let expected = format!("stream: at byte {}: expected a packet of", 192 * packet);
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn packets_of_another_trace_are_read_with_one_warning() {
    let (metadata, mut stream) = files("odd", "stream");
    let (all, _) = read(&metadata, &stream);
    for packet in 2..10 {
        stream[192 * packet + 7] ^= 0x70;
    }
    let (events, trace) = read(&metadata, &stream);
    assert_eq!((events, trace.losses.damaged()), (all, 0));
    let messages: Vec<_> = trace.diagnostics.iter().map(|found| &*found.message).collect();
    let expected = "stream: at byte 384: the packet has the UUID 79e490";
    assert!(messages.len() == 1 && messages[0].starts_with(expected), "{messages:?}");
}

#[test]
fn a_uuid_is_compared_where_its_offset_is_fixed() {
    let warnings = |first: &str, bytes: &[u8]| {
        let metadata = format!(
            "/* CTF 1.8 */
            typealias integer {{ size = 8; }} := u8;
            typealias integer {{ size = 32; }} := u32;
            trace {{ major = 1; minor = 8; byte_order = le;
                uuid = \"00010203-0405-0607-0809-0a0b0c0d0e0f\";
                packet.header := struct {{ {first} u8 uuid[16]; u8 last; }}; }};
            event {{ fields := struct {{ u8 a; }}; }};"
        );
        let (events, trace) = read(metadata.as_bytes(), bytes);
        assert_eq!((events, trace.losses.damaged()), (5, 0), "{first}");
        trace.diagnostics.iter().filter(|found| found.message.contains("has the UUID")).count()
    };
    let (own, other): (Vec<u8>, Vec<u8>) = ((0..16).collect(), (1..17).collect());
    let magic = 0xC1FC_1FC1_u32.to_le_bytes();
    let with_id = [&magic[..], &[0; 4]].concat();
    for (first, bytes) in [
        ("u32 magic;", &magic[..]),
        ("u32 magic; u32 stream_id;", &with_id),
        ("u32 stream_id;", &[0; 4]),
        ("u8 a;", &[9]),
        ("", &[]),
        ("integer { size = 3; } a;", &[9]),
        ("u8 a; integer { size = 16; align = 32; } b;", &[9; 6]),
        ("struct { u8 a; integer { size = 16; align = 16; } b; } s; u8 c;", &[9; 5]),
        ("u8 a; struct { u8 b; integer { size = 16; align = 16; } c; } s[2];", &[9; 10]),
        ("u8 a[0]; u8 b[3]; integer { size = 8; encoding = UTF8; } c[2];", &[9; 5]),
        ("floating_point { exp_dig = 8; mant_dig = 24; align = 8; } f;", &[9; 4]),
    ] {
        let packet = |uuid: &[u8]| [bytes, uuid, &[7; 6]].concat();
        assert_eq!(
            (warnings(first, &packet(&own)), warnings(first, &packet(&other))),
            (0, 1),
            "{first}"
        );
    }
    // Without a fixed offset, the UUID is not compared.
    for (first, bytes) in [
        ("string s;", &b"a\0"[..]),
        ("u8 n; u8 a[n];", &[1, 9]),
        ("struct { integer { size = 16; align = 16; } a; u8 b; } s[2];", &[9; 7]),
    ] {
        assert_eq!(warnings(first, &[bytes, &other, &[7; 6]].concat()), 0, "{first}");
    }
}

#[test]
fn any_changed_byte_is_read() {
    for (trace, name) in [("odd", "stream"), ("classes", "stream"), ("zephyr", "channel0_0")] {
        let (metadata, stream) = files(trace, name);
        let bytes = stream.len().min(240);
        for at in 0..bytes {
            for flip in [0x01, 0xFF] {
                let mut changed = stream[..bytes].to_vec();
                changed[at] ^= flip;
                let (events, trace) = read(&metadata, &changed);
                assert!(events <= 8 * bytes as u64 && events == trace.events, "byte {at}");
            }
        }
    }
}

/// Reads a stream of events with these fields.
fn read_fields(fields: &str, stream: &[u8]) -> (u64, Trace) {
    let metadata = format!(
        "/* CTF 1.8 */\n\
         typealias integer {{ size = 8; align = 8; }} := u8;\n\
         typealias integer {{ size = 64; align = 8; }} := u64;\n\
         trace {{ major = 1; minor = 8; byte_order = le; }};\n\
         stream {{ }};\n\
         event {{ name = \"e\"; fields := struct {{ {fields} }}; }};\n"
    );
    read(metadata.as_bytes(), stream)
}

#[test]
fn elements_without_bits_are_limited() {
    // Each array alone is within the limit.
    let (events, trace) = read_fields("u8 a; struct { } x[65000][65000];", &[1, 2, 3]);
    assert_eq!((events, trace.losses.damaged()), (0, 1));
    // Only the first element has bits: the padding for its alignment.
    let empty_later = "u64 n; u8 a; enum : u8 { A = 0 } t; \
                       variant <t> { struct { u8 b[0]; struct { } c[0]; } align(64) A; } v[n];";
    let stream = [&[0xFF; 8][..], &[1, 0], &[0; 64]].concat();
    let (events, trace) = read_fields(empty_later, &stream);
    assert_eq!((events, trace.losses.damaged()), (0, 1));
    // One event is within the limit, but two events together exceed it.
    let (events, trace) = read_fields("u8 a; struct { } x[65000];", &[1; 1000]);
    assert_eq!((events, trace.losses.damaged()), (1, 1));
    let (events, trace) = read_fields("u8 a; struct { } x[9];", &[1; 10_000]);
    assert!(events == 10_000 && trace.losses.damaged() == 0, "{events}");
}

#[test]
fn zeros_after_the_last_event_are_no_damage() {
    let (metadata, stream) = files("zephyr", "channel0_0");
    let (events, trace) = read(&metadata, &stream);
    let (before, cut) = read(&metadata, &stream[..2048]);
    // The first 2048 bytes end within an event. In the whole stream, zeros follow the last event.
    assert_eq!(events, before + 1);
    assert_eq!((trace.losses.damaged(), cut.losses.damaged()), (0, 1));
}

#[test]
fn metadata_of_another_zephyr_is_reported() {
    let (metadata, stream) = files("zephyr", "channel0_0");
    let text = String::from_utf8(metadata).unwrap();
    let warnings = |header: &str| {
        let changed = text.replacen("uint32_t timestamp;\n\tuint8_t id;", header, 1);
        let (_, trace) = read(changed.as_bytes(), &stream);
        let messages = trace.diagnostics.iter().map(|found| found.message.clone());
        messages.filter(|message| message.contains("firmware")).collect::<Vec<_>>()
    };
    assert_eq!(warnings("uint32_t timestamp;\n\tuint8_t id;"), [] as [String; 0]);
    for (header, declared) in [
        ("uint32_t timestamp; uint16_t id;", "stamps of 32 bits and ids of 16 bits"),
        ("uint64_t timestamp; uint16_t id;", "stamps of 64 bits and ids of 16 bits"),
    ] {
        let [warning] = &warnings(header)[..] else { panic!("{header}") };
        assert!(warning.contains(declared), "{warning}");
        let found =
            "but the stream contains stamps of 32 bits and ids of 8 bits, as in Zephyr up to";
        assert!(warning.contains(found), "{warning}");
    }
}

#[test]
fn the_fields_of_a_context_are_limited_over_all_events() {
    // Each event type has the fields of the context, which makes 10^8 fields in total.
    let fields: String = (0..20_000).map(|field| format!("u8 f{field}; ")).collect();
    let events: String = (0..5_000)
        .map(|id| format!("event {{ id = {id}; name = \"e\"; fields := struct {{ u8 a; }}; }};\n"))
        .collect();
    let metadata = format!(
        "/* CTF 1.8 */\n\
         typealias integer {{ size = 8; align = 8; }} := u8;\n\
         typealias integer {{ size = 16; align = 8; }} := u16;\n\
         trace {{ major = 1; minor = 8; byte_order = le; }};\n\
         stream {{ event.header := struct {{ u16 id; }}; event.context := struct {{ {fields} }}; }};\n\
         {events}"
    );
    let first = [&[0, 0][..], &[7; 20_001]].concat();
    let last = [&4999_u16.to_le_bytes()[..], &[7; 20_001]].concat();
    let (events, trace) = read(metadata.as_bytes(), &first);
    assert_eq!((events, trace.losses.damaged()), (1, 0));
    let (events, trace) = read(metadata.as_bytes(), &last);
    assert_eq!((events, trace.losses.damaged()), (0, 1));
}

/// The header of an event contains its id: 8 bits up to Zephyr 4.3, then 16 bits.
#[test]
fn metadata_of_another_release_of_zephyr_gets_a_warning_from_the_eighth_event_on() {
    let (metadata, stream) = files("zephyr", "channel0_0");
    let text = String::from_utf8(metadata.clone()).unwrap();
    let newer = text.replacen("uint8_t id", "uint16_t id", 1).into_bytes();
    let warning = |metadata: &[u8], stream: &[u8]| {
        let (_, trace) = read(metadata, stream);
        let messages = trace.diagnostics.iter().map(|found| found.message.clone());
        messages.into_iter().find(|message| message.contains("does not belong to the firmware"))
    };
    let expected = "it declares events with stamps of 32 bits and ids of 16 bits, as in Zephyr \
                    from 4.4 on, before May 2026, but the stream contains stamps of 32 bits and \
                    ids of 8 bits, as in Zephyr up to 4.3";
    assert!(warning(&newer, &stream).unwrap().contains(expected));
    let warns = |length: &usize| warning(&newer, &stream[..*length]).is_some();
    let first = (1..stream.len()).find(warns).unwrap();
    assert_eq!([first - 1, first].map(|length| read(&metadata, &stream[..length]).0), [7, 8]);
    // Streams of Zephyr have no packets.
    let packets = text.replacen("stream {", "stream { packet.context := struct { };", 1);
    assert!(packets.len() > text.len());
    let newer = packets.replacen("uint8_t id", "uint16_t id", 1).into_bytes();
    assert_eq!(warning(&newer, &stream), None);
}

/// The sizes of the stamp and the id in the header of an event, in bits.
type Header = (u32, u32);

/// Returns metadata of Zephyr in which events have this header.
fn zephyr((stamp, id): Header) -> String {
    format!(
        "/* CTF 1.8 */
        typealias integer {{ size = 8; }} := u8;
        trace {{ major = 1; minor = 8; byte_order = le; }};
        stream {{ event.header := struct {{
            integer {{ size = {stamp}; }} timestamp; integer {{ size = {id}; }} id; }}; }};
        event {{ name = thread_switched_in; id = 17; fields := struct {{ u8 thread_id; }}; }};
        event {{ name = thread_ready; id = 18; fields := struct {{ u8 thread_id; }}; }};"
    )
}

/// Returns a stream of Zephyr in which each event has this header.
fn switches((stamp, id): Header, stamps: &[u64]) -> Vec<u8> {
    let event = |(index, now): (usize, &u64)| {
        let stamp = &now.to_le_bytes()[..stamp as usize / 8];
        let id = &[17 + index as u8 % 2, 0][..id as usize / 8];
        [stamp, id, &[200]].concat()
    };
    stamps.iter().enumerate().flat_map(event).collect()
}

/// Returns the warning that the metadata does not belong to the firmware.
fn warning(metadata: &str, stream: &[u8]) -> Option<String> {
    let (_, trace) = read(metadata.as_bytes(), stream);
    let messages = trace.diagnostics.iter().map(|found| found.message.clone());
    messages.into_iter().find(|message| message.contains("does not belong to the firmware"))
}

const OLD: Header = (32, 8);
const NEW: Header = (32, 16);
const NEWEST: Header = (64, 16);

#[test]
fn metadata_of_another_zephyr_is_found_by_the_header_that_fits() {
    let stamps: Vec<u64> = (1..=20).map(|event| event * 1000).collect();
    let of = |header: Header| match header {
        OLD => "Zephyr up to 4.3",
        NEW => "Zephyr from 4.4 on, before May 2026",
        _ => "Zephyr from May 2026 on",
    };
    for declared in [OLD, NEW, NEWEST] {
        for header in [OLD, NEW, NEWEST] {
            let found = warning(&zephyr(declared), &switches(header, &stamps));
            let [words, expected] = [declared, header].map(|header| {
                format!("{} bits and ids of {} bits, as in {}", header.0, header.1, of(header))
            });
            if header == declared {
                assert_eq!(found, None, "{header:?}");
            } else {
                let found = found.unwrap();
                assert!(found.contains(&format!("declares events with stamps of {words}, but")));
                assert!(found.contains(&format!("stream contains stamps of {expected};")));
            }
        }
    }
    // No release of Zephyr has this header.
    let found = warning(&zephyr((64, 8)), &switches(NEW, &stamps)).unwrap();
    assert!(found.contains("declares events with stamps of 64 bits and ids of 8 bits, but"));
    assert_eq!(warning(&zephyr(NEW), &switches((64, 8), &stamps)), None);
    // Other systems have no event `thread_switched_in`, and Zephyr has no packets.
    let other = zephyr(OLD).replace("thread_switched_in", "switched");
    let packets =
        zephyr(OLD).replace("byte_order = le;", "byte_order = le; packet.header := struct { };");
    for metadata in [other, packets] {
        assert_eq!(warning(&metadata, &switches(NEW, &stamps)), None);
    }
}

#[test]
fn times_of_a_zephyr_advance_by_less_than_a_second() {
    let steps = |first: u64, step: u64| -> Vec<u64> {
        (0..10).map(|event: u64| first.wrapping_add(event.wrapping_mul(step))).collect()
    };
    let second = 1_000_000_000;
    for (header, first, step, fits) in [
        (NEW, 0, 0, true),
        (NEW, 0, 400_000_000, true),
        // Stamps of 32 bits wrap.
        (NEW, (1 << 32) - 1000, 300, true),
        (NEW, 1 << 30, u64::MAX, false),
        (NEWEST, 0, second - 1, true),
        (NEWEST, 0, second, false),
        (NEWEST, 0, second + 1, false),
        (NEWEST, 0, (1 << 32) + 5, false),
        (NEWEST, (1 << 32) - 1000, 300, true),
        (NEWEST, 1 << 40, u64::MAX, false),
    ] {
        let stream = switches(header, &steps(first, step));
        let found = warning(&zephyr(OLD), &stream);
        assert_eq!(found.is_some(), fits, "{header:?} {first} {step}: {found:?}");
    }
}

#[test]
fn the_first_64_events_of_a_zephyr_decide() {
    for (before, fits) in [(63, false), (64, true)] {
        let stamps: Vec<u64> = (1..=before).map(|event| event * 1000).collect();
        let mut stream = switches(NEW, &stamps);
        // The metadata declares no event with this id.
        stream.extend([0, 0, 1, 0, 19, 0, 200]);
        assert_eq!(warning(&zephyr(OLD), &stream).is_some(), fits, "{before}");
    }
}

/// Returns the number of events, and the messages without the place in the file.
fn messages(metadata: &str, stream: &[u8]) -> (u64, Vec<String>) {
    let (events, trace) = read(metadata.as_bytes(), stream);
    let messages = trace.diagnostics.iter().map(|found| found.message.clone());
    let rest = |message: String| message.strip_prefix("stream: at byte ").unwrap().to_owned();
    (events, messages.map(rest).collect())
}

#[test]
fn packets_have_sizes_that_fit() {
    let metadata = "/* CTF 1.8 */
        typealias integer { size = 8; } := u8;
        trace { major = 1; minor = 8; byte_order = le;
            packet.header := struct { integer { size = 32; } magic; u8 stream_id; }; };
        stream { id = 0; packet.context := struct { u8 packet_size; u8 content_size; }; };
        event { stream_id = 0; fields := struct { u8 a; }; };";
    let whole = |class: u8, size: u8, content: u8, events: &[u8]| {
        [&0xC1FC_1FC1_u32.to_le_bytes()[..], &[class, size, content], events].concat()
    };
    let content = |found: u8| {
        vec![format!("0: expected a packet with 56 to 64 bits of content, found {found}")]
    };
    let size = |found: u8| {
        vec![format!("0: expected a packet of whole bytes, found a size of {found} bits")]
    };
    for (size_of_packet, size_of_content, expected) in [
        (64, 64, (1, vec![])),
        (64, 56, (0, vec![])),
        (64, 55, (0, content(55))),
        (64, 65, (0, content(65))),
        (64, 72, (0, content(72))),
        (0, 0, (0, size(0))),
        (63, 56, (0, size(63))),
        (65, 56, (0, size(65))),
        (
            72,
            64,
            (
                0,
                vec![
                    "0: expected a packet of 9 bytes, found the end of the file after 8".to_owned(),
                ],
            ),
        ),
        (
            64,
            60,
            (
                0,
                vec![
                    "7: expected an event, found a field beyond the end of the packet's content"
                        .to_owned(),
                ],
            ),
        ),
    ] {
        let stream = whole(0, size_of_packet, size_of_content, &[7]);
        assert_eq!(messages(metadata, &stream), expected, "{size_of_packet} {size_of_content}");
    }
    // Some packets with two events, and the bytes after a packet.
    let good = whole(0, 72, 72, &[7, 8]);
    assert_eq!(messages(metadata, &[&good[..], &good].concat()), (4, vec![]));
    let padded = whole(0, 96, 64, &[7, 8, 9, 10, 11]);
    assert_eq!(messages(metadata, &[&padded[..], &good].concat()), (3, vec![]));
    let class = "0: expected a stream class of the metadata, found id 1".to_owned();
    assert_eq!(messages(metadata, &whole(1, 64, 64, &[7])), (0, vec![class]));
    for length in 1..7 {
        let beyond = "0: expected a packet, found a field beyond the end of the packet's content";
        assert_eq!(messages(metadata, &good[..length]), (0, vec![beyond.to_owned()]), "{length}");
    }
    // Reading continues at the next magic number.
    let mut wrong = good.clone();
    wrong[0] = 0xC0;
    let magic =
        "0: expected a packet with the magic number 0xC1FC1FC1, found 0xC1FC1FC0".to_owned();
    assert_eq!(messages(metadata, &wrong), (0, vec![magic.clone()]));
    for length in 4..=wrong.len() {
        let stream = [&wrong[..length], &good].concat();
        assert_eq!(messages(metadata, &stream), (2, vec![magic.clone()]), "{length}");
    }
}

#[test]
fn an_event_that_occupies_no_bits_ends_its_packet() {
    let metadata = "/* CTF 1.8 */
        typealias integer { size = 8; } := u8;
        trace { major = 1; minor = 8; byte_order = le; };
        stream { packet.context := struct { u8 packet_size; u8 n; }; };
        event { fields := struct { u8 a[stream.packet.context.n]; }; };";
    let empty = "2: found an event without bits, which would repeat without end".to_owned();
    assert_eq!(messages(metadata, &[32, 0, 1, 2]), (1, vec![empty.clone()]));
    assert_eq!(messages(metadata, &[32, 1, 1, 2]), (2, vec![]));
    assert_eq!(messages(metadata, &[32, 2, 1, 2]), (1, vec![]));
    assert_eq!(messages(metadata, &[32, 0, 1, 2, 32, 1, 1, 2]), (3, vec![empty]));
}

/// Returns the ticks of events with these stamps of 64 bits, and the messages.
fn ticks(stamps: &[u64]) -> (Vec<u64>, Vec<String>) {
    #[derive(Default)]
    struct Ticks(Vec<u64>);

    impl Sink for Ticks {
        fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
            self.0.extend(batch.events().map(|event| event.ticks));
            Flow::Continue(())
        }
    }

    let metadata = b"/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le; };
        stream { event.header := struct { integer { size = 64; } timestamp; }; };
        event { fields := struct { integer { size = 8; } a; }; };";
    let stream: Vec<u8> =
        stamps.iter().flat_map(|stamp| [&stamp.to_le_bytes()[..], &[7]].concat()).collect();
    let file = |name: &str, bytes: &[u8]| TraceFile::new(name.into(), Arc::new(bytes.to_vec()));
    let files = vec![file("metadata", metadata), file("stream", &stream)];
    let settings = Settings { files: files.into(), ..Settings::default() };
    let mut decoder = format::by_name("ctf").unwrap().decoder(&settings).unwrap();
    let (mut trace, mut ticks) = (decoder.trace(), Ticks::default());
    let input = Input { offset: 0, bytes: metadata, last: true };
    assert_eq!(decoder.decode(input, &mut trace, &mut ticks), Ok(Progress::Done));
    (ticks.0, trace.diagnostics.iter().map(|found| found.message.clone()).collect())
}

#[test]
fn a_clock_that_went_back_far_continues_from_the_previous_event() {
    let message = |back: &str, at: u64| {
        format!(
            "stream: at byte {at}: the clock went back by {back}; times continue from the previous \
             event"
        )
    };
    let start = 5_000_000;
    assert_eq!(ticks(&[start, start, start + 3]), (vec![0, 0, 3], vec![]));
    // A slightly smaller stamp is out of order, so later stamps are not shifted.
    for (back, words) in [(1, "1 cycle"), (1_000_000, "1000000 cycles")] {
        assert_eq!(
            ticks(&[start, start - back, start + 10, start + 12]),
            (vec![0, 0, 10, 12], vec![message(words, 9)])
        );
    }
    // Otherwise the clock started again.
    assert_eq!(
        ticks(&[start, start - 1_000_001, start, start + 1]),
        (vec![0, 0, 1_000_001, 1_000_002], vec![message("1000001 cycles", 9)])
    );
    assert_eq!(
        ticks(&[start, 10, 20, 5, 30, 4_000_000]),
        (
            vec![0, 0, 10, 10, 20, 3_999_990],
            vec![message("4999990 cycles", 9), message("15 cycles", 27)]
        )
    );
}
