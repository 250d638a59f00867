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
