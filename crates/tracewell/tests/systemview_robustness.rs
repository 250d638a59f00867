//! Tests the SystemView reader on damaged and truncated streams: every truncation and every changed
//! byte of a recording, streams that begin anywhere, and any division into windows.

mod support;

use support::{EventLog, Row, fixture, in_pieces, settings};
use tracewell::format::{FORMATS, recognise};
use tracewell::model::{LossCause, Severity, Trace};

fn recorder() -> Vec<u8> {
    std::fs::read(fixture("systemview/recorder.bin")).unwrap()
}

fn decode(bytes: &[u8], options: &[&str], piece: usize) -> (Trace, EventLog) {
    in_pieces("systemview", &settings(options), bytes, piece.max(1)).unwrap()
}

fn whole(bytes: &[u8]) -> (Trace, EventLog) {
    decode(bytes, &["kernel=freertos"], bytes.len())
}

fn worst(trace: &Trace) -> Option<Severity> {
    trace.diagnostics.worst()
}

/// Returns the identity of an event: its id and bytes.
fn identity(row: &Row) -> (u32, &[u8]) {
    (row.id, &row.record)
}

#[test]
fn every_truncation_gives_the_events_before_it() {
    let bytes = recorder();
    let (_, all) = whole(&bytes);
    for end in (0..bytes.len()).filter(|end| *end < 600 || end % 37 == 0) {
        let (trace, kept) = whole(&bytes[..end]);
        assert_eq!(kept.rows, all.rows[..kept.rows.len()], "cut at {end}");
        let read: usize = kept.rows.iter().map(|row| row.record.len()).sum();
        // A sync precedes the first packet. One incomplete packet follows the last complete one.
        let rest = end.saturating_sub(10 + read);
        assert!(rest < 600, "cut at {end}: {rest} bytes are not events");
        assert!(worst(&trace) <= Some(Severity::Note), "cut at {end}");
        match (end >= 10 && rest > 0, kept.losses.as_slice()) {
            (true, [loss]) => assert_eq!(loss.cause, LossCause::Truncated, "cut at {end}"),
            (false, losses) => assert!(losses.len() <= 1, "cut at {end}"),
            (true, losses) => panic!("cut at {end}: {losses:?}"),
        }
    }
}

#[test]
fn a_changed_byte_invents_few_events_and_the_rest_is_found_again() {
    let bytes = recorder();
    let (_, all) = whole(&bytes);
    let known: std::collections::HashSet<_> = all.rows.iter().map(identity).collect();
    let mut lost_most = 0;
    for at in (10..bytes.len() - 2000).step_by(97) {
        for flip in [0x80, 0xFF] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            let (_, kept) = whole(&changed);
            let invented = kept.rows.iter().filter(|row| !known.contains(&identity(row))).count();
            assert!(
                invented <= 24,
                "byte {at} ^ {flip:#x}: {invented} events are not in the trace"
            );
            let found = kept.rows.iter().rev().zip(all.rows.iter().rev());
            let same = found.take_while(|(a, b)| identity(a) == identity(b)).count();
            lost_most = lost_most.max(all.rows.len() - same);
            assert!(same > 100, "byte {at} ^ {flip:#x}: only the last {same} events are the same");
        }
    }
    assert!(lost_most > 0, "the changes have effects");
}

#[test]
fn each_overflow_counts_the_events_since_the_one_before() {
    let start = [[0; 10].as_slice(), &[10, 0]].concat();
    // The count in an overflow packet is a running total that omits the first event of each loss.
    let overflows = [[1, 5, 1], [1, 7, 1], [1, 7, 1]].concat();
    let (_, kept) = whole(&[start, overflows].concat());
    let lost: Vec<_> = kept.losses.iter().map(|loss| (loss.events, loss.cause)).collect();
    assert_eq!(lost, [6, 3, 1].map(|events| (Some(events), LossCause::BufferFull)));
}

#[test]
fn lives_of_tasks_have_ticks_since_the_first_event() {
    // The first packet, a start, is at 100 ticks. Task 5 is created after 7 ticks, ends after 9
    // more, and is created again after 4 more.
    let packets = [&[0; 10][..], &[10, 100], &[8, 5, 7], &[29, 1, 5, 9], &[8, 5, 4]].concat();
    let (trace, kept) = whole(&packets);
    assert_eq!(kept.rows.iter().map(|row| row.ticks).collect::<Vec<_>>(), [0, 7, 16, 20]);
    let lives = trace.objects.iter().map(|(_, object)| object.lifetime);
    let lives: Vec<_> = lives.map(|life| (life.from, life.until)).collect();
    assert_eq!(lives, [(None, Some(16)), (Some(20), None)]);
}

#[test]
fn a_stream_that_begins_anywhere_is_read_from_a_plausible_packet_on() {
    let bytes = recorder();
    let (_, all) = whole(&bytes);
    for start in (11..2000).step_by(41) {
        let (trace, kept) = whole(&bytes[start..]);
        let read: usize = kept.rows.iter().map(|row| row.record.len()).sum();
        assert!(bytes.len() - start - read < 400, "begun at {start}: read {read}");
        let same = kept.rows.iter().rev().zip(all.rows.iter().rev());
        let same = same.take_while(|(a, b)| identity(a) == identity(b)).count();
        assert!(same + 24 >= kept.rows.len(), "begun at {start}: {same} of {}", kept.rows.len());
        // The reader reports that no sync confirms the events.
        assert_eq!(worst(&trace), Some(Severity::Warning), "begun at {start}");
        let notes: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
        assert!(notes.iter().any(|note| note.contains("no sync follows")), "{notes:?}");
    }
}

#[test]
fn windows_do_not_change_the_result() {
    for name in ["recorder", "damaged", "quiet", "restart", "zero", "long", "wrap"] {
        let bytes = std::fs::read(fixture(&format!("systemview/{name}.bin"))).unwrap();
        let (expected_trace, expected) = decode(&bytes, &[], bytes.len());
        let notes = |trace: &Trace| -> Vec<_> {
            trace.diagnostics.iter().map(ToString::to_string).collect()
        };
        for piece in [1, 2, 3, 5, 7, 64, 1000] {
            if piece < 5 && bytes.len() > 5000 {
                continue;
            }
            let (trace, kept) = decode(&bytes, &[], piece);
            assert_eq!(kept, expected, "{name} in pieces of {piece}");
            assert_eq!(notes(&trace), notes(&expected_trace), "{name} in pieces of {piece}");
        }
    }
}

#[test]
fn only_this_format_recognises_streams() {
    for name in ["recorder", "damaged", "quiet", "restart", "zero", "long", "wrap"] {
        let bytes = std::fs::read(fixture(&format!("systemview/{name}.bin"))).unwrap();
        let start = &bytes[..bytes.len().min(1 << 16)];
        assert_eq!(recognise(start).map(|format| format.name), Some("systemview"), "{name}");
        let certain = FORMATS.iter().filter(|format| (format.recognise)(start).is_some());
        assert_eq!(certain.count(), 1, "{name}");
    }
    assert_eq!(recognise(&[0; 1000]).map(|format| format.name), None);
    assert_eq!(recognise(b"; a file of settings\n[part]\n").map(|format| format.name), None);
    let head = b";\n; Version     SEGGER SystemViewer V2.42\n;\n";
    assert_eq!(recognise(head).map(|format| format.name), Some("systemview"));
}

#[test]
fn greetings_before_a_stream_are_no_loss() {
    let stream = recorder();
    let (_, expected) = whole(&stream);
    let mut tcp = [0; 32];
    tcp[..26].copy_from_slice(b"SEGGER SystemView V3.60.00");
    for greeting in [&b"SV\x06\x07"[..], &tcp] {
        let (trace, kept) = whole(&[greeting, &stream].concat());
        assert_eq!(kept.rows, expected.rows);
        assert!(kept.losses.is_empty() && worst(&trace).is_none());
    }
}

#[test]
fn nothing_is_lost_before_the_first_sync_if_only_zeros_precede_it() {
    let stream = recorder();
    let (_, all) = whole(&stream);
    for unused in [1, 10, 11, 500, 40_000] {
        let bytes = [vec![0; unused], stream.clone()].concat();
        for piece in [101, bytes.len()] {
            let (trace, kept) = decode(&bytes, &["kernel=freertos"], piece);
            assert_eq!(kept.losses, all.losses, "{unused}");
            assert!(kept.rows.iter().map(identity).eq(all.rows.iter().map(identity)), "{unused}");
            assert_eq!(worst(&trace), None, "{unused}");
        }
        // Unused memory without a stream contains no packet.
        let zeros = vec![0; unused];
        let (trace, kept) = decode(&zeros, &[], 7);
        assert_eq!((kept.rows.len(), kept.losses.len(), worst(&trace)), (0, 0, None), "{unused}");
        // Bytes before a sync are missing packets.
        let bytes = [&zeros, &[1, 2, 0x80][..], &stream].concat();
        let (_, kept) = whole(&bytes);
        assert_eq!(kept.losses[0].cause, LossCause::Overwritten, "{unused}");
    }
}

#[test]
fn an_id_of_two_bytes_does_not_confirm_a_sync() {
    let sync = [0; 10];
    let start = [&sync[..], &[10, 5]].concat();
    // Event 202, whose id begins with the byte 0xCA: its id, its length and its time difference.
    let other = [0xCA, 1, 0, 7];
    let damage = [0xFF; 6];
    for options in [&[][..], &["cores=in-ids"]] {
        let bytes = [&start[..], &damage, &sync, &other, &start].concat();
        let (_, kept) = decode(&bytes, options, bytes.len());
        let ids: Vec<_> = kept.rows.iter().map(|row| row.id).collect();
        assert_eq!(ids, [10, 10], "{options:?}");
        // The time difference of ISR_EXIT is the first of ten zeros; the others are NOP packets.
        let bytes = [&start[..], &[3, 0], &sync[1..], &other].concat();
        let (_, kept) = decode(&bytes, options, bytes.len());
        assert!(kept.losses.is_empty(), "{options:?}");
    }
    // The byte 0x4A is the id of TRACE_START of core 1.
    let of_core_1 = [&sync[..], &[0x4A, 5]].concat();
    let bytes = [&start[..], &damage, &of_core_1].concat();
    let (_, kept) = decode(&bytes, &["cores=in-ids"], bytes.len());
    assert_eq!(kept.rows.iter().map(|row| row.cpu).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn options_are_checked_and_override_the_stream() {
    let stream = recorder();
    let (trace, kept) = decode(&stream, &["rate=1kHz", "base=0x1000", "shift=4"], stream.len());
    assert_eq!(trace.clock.nanoseconds(1), Some(1_000_000));
    let created = kept.rows.iter().find(|row| row.id == 8).unwrap();
    let address = trace.payload.argument(&created.payload, 0).unwrap();
    assert!(address > 0x1000 && (address - 0x1000).is_multiple_of(16));
    let format = tracewell::format::by_name("systemview").unwrap();
    for (option, message) in [
        ("kernel=freerots", "-O kernel: expected freertos, "),
        ("shift=32", "-O shift: expected a number up to 31, found '32'"),
        ("base=0xx", "-O base: expected a number up to 4294967295, found '0xx'"),
        ("cores=2", "-O cores: expected in-ids, found '2'"),
        ("rate=fast", "-O rate: expected ticks per second"),
    ] {
        let error = format.decoder(&settings(&[option])).err().unwrap().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn impossible_streams_in_a_head_are_reported() {
    let after_the_end = [b"; Offset Core0 18446744073709551615\n", &recorder()[..]].concat();
    let (trace, kept) = whole(&after_the_end);
    assert_eq!((kept.rows.len(), worst(&trace)), (0, Some(Severity::Warning)));
    let message = "expected the stream of core 0 at 18446744073709551615 bytes after the head, \
                   found the end of the input";
    assert_eq!(trace.diagnostics.iter().next().unwrap().message, message);

    // The packet enters an interrupt on core 1.
    let head = b"; Version x\n; ESP_Extension\n; Offset Core65535 0\n";
    let start = [&[0; 10][..], &[10, 0, 2 | 0x40, 15, 1, 3, 1]].concat();
    let (trace, kept) = whole(&[&head[..], &start].concat());
    assert_eq!(kept.rows.iter().map(|row| row.cpu).collect::<Vec<_>>(), [0, 1, 0]);
    let found = trace.diagnostics.iter().next().unwrap();
    assert_eq!((found.severity, found.offset), (Severity::Warning, Some(28)));
}
