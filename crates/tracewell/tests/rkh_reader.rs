//! Tests the RKH reader on constructed streams: losses, restarts, names, settings, damage.

#[path = "support/rkh.rs"]
mod streams;
mod support;

use proptest::prelude::*;
use streams::{Stream, captures, configuration, configure, options_of, texts};
use support::{EventLog, settings};
use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::format::rkh::schema;
use tracewell::format::{self, Confidence, Input, Progress};
use tracewell::input::Reading;
use tracewell::model::schema::ArgumentKind;
use tracewell::model::values;
use tracewell::model::{Diagnostic, Loss, LossCause, Severity, Trace};
use tracewell::report::info::Census;
use tracewell::report::{Layout, Report, ReportOptions};
use tracewell::select::Selection;
use tracewell::text::calendar::Zone;
use tracewell_wire::rkh::{Dialect, Field, FieldType, Item, Settings, ids};

/// Decodes with a window that grows by `piece` bytes at a time and drops the bytes that the reader
/// has consumed.
fn decode(bytes: &[u8], options: &[&str], piece: usize) -> (Trace, EventLog) {
    let format = format::by_name("rkh").unwrap();
    let mut decoder = format.decoder(&settings(options)).unwrap();
    let (mut trace, mut kept) = (decoder.trace(), EventLog::default());
    let (mut start, mut end) = (0, 0);
    loop {
        end = bytes.len().min(end + piece);
        let last = end == bytes.len();
        let input = Input { offset: start as u64, bytes: &bytes[start..end], last };
        match decoder.decode(input, &mut trace, &mut kept).unwrap() {
            Progress::Done => break,
            Progress::More { consumed, wanted } => {
                assert!(!last && wanted > end - start - consumed);
                start += consumed;
                // The window holds at most one frame. Before the first frame, it holds the sample
                // from which the reader infers the settings.
                assert!(end - start <= if trace.contexts.is_empty() { 8192 } else { 2048 });
            }
        }
    }
    assert_eq!(trace.events, kept.rows.len() as u64);
    (trace, kept)
}

fn whole(stream: &Stream, options: &[&str]) -> (Trace, EventLog) {
    decode(&stream.bytes, options, stream.bytes.len().max(1))
}

/// A stream that begins with the configuration record of RKH 3.4.
fn configured(settings: Settings) -> Stream {
    let mut stream = Stream::new(settings);
    configure(&mut stream);
    stream
}

const MP_PUT: u32 = 0x02;
const MP_PUT_ARGS: [u8; 5] = [0, 1, 0, 0x20, 7];
const SM_DCH: u32 = 0x71;
const AO: u32 = 0xAE;
const OBJ: u32 = 0xA6;
const SIG: u32 = 0xA7;
const FUN: u32 = 0xA8;

#[test]
fn any_pieces_decode_as_the_whole() {
    for capture in captures() {
        let bytes = std::fs::read(&capture.path).unwrap();
        let options: Vec<_> = capture.options.iter().map(String::as_str).collect();
        let (trace, kept) = decode(&bytes, &options, bytes.len());
        for piece in [1, 7, 64, 1000] {
            let (again, same) = decode(&bytes, &options, piece);
            assert!(kept == same, "{} in pieces of {piece}", capture.path.display());
            assert_eq!(trace.facts, again.facts);
            assert_eq!(
                format!("{:?}", trace.objects.iter().collect::<Vec<_>>()),
                format!("{:?}", again.objects.iter().collect::<Vec<_>>())
            );
            assert!(trace.diagnostics.iter().eq(again.diagnostics.iter()));
        }
    }
}

#[test]
fn a_restart_of_the_target_is_no_loss() {
    let mut stream = configured(Settings::default());
    stream.record(SIG, 5000, b"\x01ONE\0").record(MP_PUT, 5001, &MP_PUT_ARGS);
    configure(&mut stream);
    stream.number(0).record(SIG, 10, b"\x01EINS\0").record(SM_DCH, 11, &[0; 9]);
    let (trace, kept) = whole(&stream, &[]);
    assert!(trace.losses.is_empty());
    assert_eq!(trace.fact("restarts"), Some(1));
    let ticks: Vec<_> = kept.rows.iter().map(|row| row.ticks).collect();
    // One tick separates the two runs, because the time between them is unknown.
    assert_eq!(ticks, [0, 0, 1, 1, 2, 3]);
    let signals: Vec<_> = trace
        .objects
        .with_key(trace.schema.key(Some(9), 1))
        .iter()
        .map(|id| trace.objects.get(*id).unwrap())
        .map(|o| (o.label.as_str(), o.lifetime.from, o.lifetime.until))
        .collect();
    assert_eq!(signals, [("ONE", None, Some(1)), ("EINS", Some(2), None)]);
}

#[test]
fn a_configuration_record_within_a_run_changes_neither_number_nor_clock() {
    let mut stream = configured(Settings::default());
    stream.record(MP_PUT, 100, &MP_PUT_ARGS);
    configure(&mut stream);
    stream.record(MP_PUT, 150, &MP_PUT_ARGS);
    let (trace, kept) = whole(&stream, &[]);
    assert_eq!((trace.fact("restarts"), trace.losses.is_empty()), (Some(0), true));
    assert_eq!(kept.rows.last().unwrap().ticks, 50);
}

#[test]
fn zero_after_255_is_a_restart_only_if_the_clock_says_so() {
    for (stamp, restarts, ticks) in [(900, 0, 800), (50, 1, 1)] {
        let mut stream = configured(Settings::default());
        stream.number(255).record(MP_PUT, 100, &MP_PUT_ARGS);
        configure(&mut stream);
        stream.number(0).record(MP_PUT, stamp, &MP_PUT_ARGS);
        let (trace, kept) = whole(&stream, &[]);
        assert_eq!((trace.fact("restarts"), trace.losses.is_empty()), (Some(restarts), true));
        assert_eq!(kept.rows.last().unwrap().ticks, ticks);
    }
}

#[test]
fn a_decreasing_timestamp_shows_a_restart_if_the_first_frame_of_the_run_is_not_there() {
    for is_damaged in [false, true] {
        let mut stream = configured(Settings::default());
        stream.record(MP_PUT, 5000, &MP_PUT_ARGS).record(MP_PUT, 5001, &MP_PUT_ARGS);
        configure(&mut stream);
        if is_damaged {
            stream.number(0).record(MP_PUT, 9, &MP_PUT_ARGS);
            let checksum = stream.bytes.len() - 2;
            stream.bytes[checksum] ^= 1;
        }
        let offset = stream.bytes.len() as u64;
        stream.number(1).record(MP_PUT, 10, &MP_PUT_ARGS).record(MP_PUT, 12, &MP_PUT_ARGS);
        let (trace, kept) = whole(&stream, &[]);
        assert_eq!((trace.fact("restarts"), trace.fact("lost_frames")), (Some(1), Some(1)));
        let missing = Loss { before: 4, events: Some(1), cause: LossCause::Missing, offset };
        assert_eq!(kept.losses.last(), Some(&missing));
        assert_eq!(kept.losses.len(), 1 + usize::from(is_damaged));
        let ticks: Vec<_> = kept.rows.iter().map(|row| row.ticks).collect();
        assert_eq!(ticks, [0, 0, 1, 1, 2, 4]);
    }
}

#[test]
fn without_numbers_a_decreasing_timestamp_after_a_configuration_record_shows_a_restart() {
    let mut stream = configured(Settings { sequence: false, ..Settings::default() });
    stream.record(MP_PUT, 5000, &MP_PUT_ARGS).record(MP_PUT, 5001, &MP_PUT_ARGS);
    configure(&mut stream);
    stream.record(MP_PUT, 5003, &MP_PUT_ARGS);
    configure(&mut stream);
    stream.record(MP_PUT, 10, &MP_PUT_ARGS).record(MP_PUT, 12, &MP_PUT_ARGS);
    // Without a configuration record, the counter has wrapped.
    stream.record(MP_PUT, 11, &MP_PUT_ARGS);
    let (trace, kept) = whole(&stream, &[]);
    assert_eq!((trace.fact("restarts"), trace.losses.is_empty()), (Some(1), true));
    let ticks: Vec<_> = kept.rows.iter().map(|row| row.ticks).collect();
    assert_eq!(ticks, [0, 0, 1, 1, 3, 3, 4, 6, 5 + (1 << 32)]);
}

#[test]
fn a_program_with_other_switches_or_widths_is_a_new_run() {
    let usual = Settings::default();
    for (before, after, number, lost) in [
        (Settings { sequence: false, ..usual }, usual, 0, 0),
        (Settings { sequence: false, ..usual }, usual, 2, 2),
        (usual, Settings { sequence: false, ..usual }, 0, 0),
        (usual, Settings { stamp: 2, ..usual }, 3, 3),
        (
            Settings { sequence: false, ..usual },
            Settings { sequence: false, stamp: 2, ..usual },
            0,
            0,
        ),
    ] {
        let mut stream = configured(before);
        stream.record(MP_PUT, 100, &MP_PUT_ARGS).record(MP_PUT, 150, &MP_PUT_ARGS);
        stream.settings = after;
        configure(&mut stream);
        stream.number(number).record(MP_PUT, 50, &MP_PUT_ARGS);
        let (trace, kept) = whole(&stream, &[]);
        assert_eq!((trace.fact("restarts"), trace.fact("lost_frames")), (Some(1), Some(lost)));
        assert_eq!(kept.rows.last().unwrap().ticks, 51);
    }
}

#[test]
fn within_a_run_a_counter_may_wrap_or_frames_may_be_missing_after_a_configuration_record() {
    for (number, stamp, lost, ticks) in [(1, 20, 0, 176), (3, 120, 2, 20)] {
        let mut stream = configured(Settings { stamp: 1, ..Settings::default() });
        stream.record(MP_PUT, 100, &MP_PUT_ARGS);
        configure(&mut stream);
        stream.number(number).record(MP_PUT, stamp, &MP_PUT_ARGS);
        let (trace, kept) = whole(&stream, &[]);
        assert_eq!((trace.fact("restarts"), trace.fact("lost_frames")), (Some(0), Some(lost)));
        assert_eq!(kept.rows.last().unwrap().ticks, ticks);
    }
}

/// Adds the configuration record of a target with this clock.
fn configure_rate(stream: &mut Stream, ticks_per_second: u16) {
    let mut frame = vec![0xAC];
    frame.extend(configuration(stream.settings, 0x3400));
    frame.truncate(12);
    frame.extend(ticks_per_second.to_le_bytes());
    stream.frame(&frame);
}

#[test]
fn a_new_rate_of_the_clock_changes_no_earlier_time() {
    let mut stream = configured(Settings::default());
    stream.record(MP_PUT, 5000, &MP_PUT_ARGS).record(MP_PUT, 8510, &MP_PUT_ARGS);
    let offset = stream.bytes.len() as u64;
    configure_rate(&mut stream, 30);
    stream.number(0).record(MP_PUT, 7, &MP_PUT_ARGS).record(MP_PUT, 6, &MP_PUT_ARGS);
    let offsets = [offset, stream.bytes.len() as u64];
    configure(&mut stream);
    stream.number(0).record(MP_PUT, 0, &MP_PUT_ARGS).record(MP_PUT, 1, &MP_PUT_ARGS);
    configure(&mut stream);
    stream.record(MP_PUT, 2, &MP_PUT_ARGS);
    let (trace, kept) = whole(&stream, &[]);
    let nanoseconds = |trace: &Trace, row: usize| trace.clock.nanoseconds(kept.rows[row].ticks);
    // One tick of the new rate separates the first two runs. In the second run, the counter wraps.
    let second = 3_510_000_000;
    let third = second + (1 << 32) * 1_000_000_000 / 30;
    let times = [0, 0, second, second, second + 33_333_333, third];
    let later = [third, third + 1_000_000, third + 2_000_000, third + 2_000_000, third + 3_000_000];
    for (row, time) in times.into_iter().chain(later).enumerate() {
        assert_eq!(nanoseconds(&trace, row), Some(time), "{row}");
    }
    let notes = trace.diagnostics.iter().map(ToString::to_string);
    let notes: Vec<_> = notes.filter(|note| note.contains("clock")).collect();
    let [second, third] = offsets;
    let changed = |offset, rates| {
        format!("note: at byte {offset}: the target's clock changed {rates} ticks per second")
    };
    assert_eq!(notes, [changed(second, "from 1000 to 30"), changed(third, "from 30 to 1000")]);
    let info = Census::default().text(&trace, Layout::default(), &Zone::utc());
    assert!(info.contains("counting up, 1000 ticks per second at first\n"), "{info}");

    // The rate that the user specified holds for the whole trace.
    let (trace, _) = whole(&stream, &["rate=1000000"]);
    assert_eq!(nanoseconds(&trace, 2), Some(3_510_000));
    assert_eq!(trace.clock.changes, []);
}

#[test]
fn the_first_rate_also_holds_for_earlier_events() {
    let mut stream = Stream::new(Settings::default());
    stream.record(MP_PUT, 5, &MP_PUT_ARGS).record(MP_PUT, 7, &MP_PUT_ARGS);
    configure(&mut stream);
    let (trace, kept) = whole(&stream, &["dialect=3.4"]);
    assert_eq!(trace.clock.nanoseconds(kept.rows[1].ticks), Some(2_000_000));
    assert_eq!(trace.clock.changes, []);
}

#[test]
fn a_gap_is_counted_before_the_frame_that_shows_it() {
    let mut stream = configured(Settings::default());
    stream.number(250).record(MP_PUT, 1, &MP_PUT_ARGS).number(4).record(MP_PUT, 2, &MP_PUT_ARGS);
    let offset = stream.bytes.len() as u64;
    stream.number(4).record(MP_PUT, 3, &MP_PUT_ARGS);
    let (trace, kept) = whole(&stream, &[]);
    let missing = |before, events, offset| Loss {
        before,
        events: Some(events),
        cause: LossCause::Missing,
        offset,
    };
    let first = kept.losses[0].offset;
    assert_eq!(kept.losses, [missing(2, 9, first), missing(3, 255, offset)]);
    assert_eq!((trace.fact("first_seq"), trace.fact("last_seq")), (Some(250), Some(4)));
    let remarks: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        remarks,
        [format!(
            "warning: at byte {offset}: repeated sequence number: a duplicate frame, or 255 lost"
        )]
    );
}

#[test]
fn nothing_in_a_damaged_frame_is_used() {
    let mut stream = configured(Settings::default());
    stream.record(MP_PUT, 1, &MP_PUT_ARGS);
    let damaged = stream.bytes.len();
    stream.record(MP_PUT, 2, &MP_PUT_ARGS).record(MP_PUT, 3, &MP_PUT_ARGS);
    stream.bytes[damaged + 1] ^= 0x40;
    let (trace, kept) = whole(&stream, &[]);
    assert_eq!((trace.fact("good"), trace.fact("bad_checksum")), (Some(3), Some(1)));
    let causes: Vec<_> = kept.losses.iter().map(|l| (l.before, l.events, l.cause)).collect();
    assert_eq!(causes, [(2, Some(0), LossCause::Damaged), (2, Some(1), LossCause::Missing)]);
    assert_eq!(kept.losses[0].offset, damaged as u64);
    assert_eq!((trace.losses.events(), trace.losses.damaged()), (Some(1), 1));
}

#[test]
fn every_kind_of_damage_has_its_count() {
    let mut stream = configured(Settings::default());
    stream
        .raw(&[1, 2, 0x7D, 0x7E]) // aborted
        .record(MP_PUT, 1, &MP_PUT_ARGS)
        .frame(&[MP_PUT as u8, 0]) // shorter than a header
        .record(0x1F, 1, &[1, 2, 3]) // no such id
        .record(MP_PUT, 2, &[1, 2]) // too few arguments
        .record(SIG, 2, b"\x01ONE\0more") // too many
        .raw(&[0x7E, 0x7E]) // nothing between flags
        .raw(&[0x55; 1025])
        .raw(&[0x7E]) // too long
        .raw(&[0x55; 1024])
        .raw(&[0x7E]) // just not too long
        .record(MP_PUT, 3, &MP_PUT_ARGS)
        .raw(&[1, 2, 3]); // not finished
    let (trace, kept) = whole(&stream, &[]);
    let counts: Vec<_> = [
        "good",
        "bad_checksum",
        "short",
        "unknown_id",
        "bad_args",
        "aborted",
        "oversize",
        "lost_frames",
        "tail_bytes",
    ]
    .map(|fact| trace.fact(fact).unwrap())
    .into();
    // The sum of 1024 bytes of 0x55 is 0 modulo 256, so these bytes are a frame with a valid
    // checksum. Its id is unknown, and its sequence number 0x55 is out of order.
    assert_eq!(counts, [3, 0, 1, 2, 2, 1, 1, 0, 3]);
    let damaged = kept.losses.iter().filter(|loss| loss.cause == LossCause::Damaged);
    assert_eq!(damaged.count(), 4);
    // The reader cannot decode the frame 0x1F, the second MP_PUT and SIG. It shows them without
    // arguments, because their checksums and sequence numbers are valid.
    let ids: Vec<_> = kept.rows.iter().map(|row| row.id).collect();
    assert_eq!(ids, [0xAC, MP_PUT, 0x1F, MP_PUT, SIG, MP_PUT]);
    let cut = kept.losses.iter().filter(|loss| loss.cause == LossCause::Truncated);
    assert_eq!(cut.count(), 1);
}

/// On average, one damaged frame in 256 has a valid checksum by chance.
#[test]
fn a_frame_that_is_not_an_event_changes_neither_time_nor_number() {
    let phantom = |id: u32, arguments: &[u8], number: u8| {
        let mut stream = configured(Settings::default());
        stream.record(MP_PUT, 100, &MP_PUT_ARGS);
        stream.number(number).record(id, 0xFFFF_FFF0, arguments);
        stream.number(1).record(MP_PUT, 107, &MP_PUT_ARGS).record(MP_PUT, 109, &MP_PUT_ARGS);
        stream
    };
    for (id, arguments) in [(0x1F, &[][..]), (MP_PUT, &[1, 2]), (SIG, b"\x01ONE\0more")] {
        for number in [0, 1, 2, 77, 255] {
            let stream = phantom(id, arguments, number);
            let (trace, kept) = whole(&stream, &[]);
            assert_eq!((trace.span, trace.fact("lost_frames")), (9, Some(0)), "{id} {number}");
            let ticks = kept.rows.iter().map(|row| row.ticks);
            assert!(ticks.eq([0, 0, 0, 7, 9]) || kept.rows.len() == 4, "{id} {number}");
            let unread = trace.fact("unknown_id").unwrap() + trace.fact("bad_args").unwrap();
            assert_eq!((unread, trace.fact("last_seq")), (1, Some(2)), "{id} {number}");
            let damaged = usize::from(number != 1);
            assert_eq!(trace.losses.damaged() as usize, damaged, "{id} {number}");
            assert_eq!(kept.rows.len(), 5 - damaged, "{id} {number}");
        }
    }
    // If the first frame of a stream is not an event, numbers and times begin with the next frame.
    let mut stream = configured(Settings::default());
    stream.number(9).record(0x1F, 5, &[]).number(3).record(MP_PUT, 1000, &MP_PUT_ARGS);
    let (trace, _) = whole(&stream, &[]);
    assert_eq!((trace.fact("first_seq"), trace.clock.first_stamp), (Some(3), 1000));
    assert_eq!((trace.fact("lost_frames"), trace.span), (Some(0), 0));
}

#[test]
fn an_unknown_event_with_the_next_number_is_no_loss() {
    let mut stream = configured(Settings::default());
    stream.record(MP_PUT, 100, &MP_PUT_ARGS).record(0x1F, 101, &[]).record(0x1E, 102, &[1]);
    stream.record(MP_PUT, 103, &MP_PUT_ARGS).record(0x1F, 104, &[]);
    stream.number(9).record(MP_PUT, 120, &MP_PUT_ARGS);
    let (trace, kept) = whole(&stream, &[]);
    let rows: Vec<_> = kept.rows.iter().map(|row| (row.id, row.ticks)).collect();
    let expected =
        [(0xAC, 0), (MP_PUT, 0), (0x1F, 0), (0x1E, 0), (MP_PUT, 3), (0x1F, 3), (MP_PUT, 20)];
    assert_eq!(rows, expected);
    // Numbers 5 to 8 are missing; number 4 was received.
    assert_eq!((trace.fact("sequence_gaps"), trace.fact("lost_frames")), (Some(1), Some(4)));
    assert_eq!(trace.payload.arguments(&kept.rows[2].payload), 0);
}

#[test]
fn without_numbers_a_frame_that_is_not_an_event_is_damage() {
    let mut stream = configured(Settings { sequence: false, ..Settings::default() });
    stream.record(MP_PUT, 100, &MP_PUT_ARGS).record(0x1F, 7, &[]).record(MP_PUT, 103, &MP_PUT_ARGS);
    let (trace, kept) = whole(&stream, &[]);
    assert_eq!((kept.rows.len(), trace.losses.damaged(), trace.span), (3, 1, 3));
}

/// The oldest form of the configuration record has only five bytes, so a damaged frame can look
/// like one.
#[test]
fn a_configuration_record_without_version_and_checksum_is_not_trusted_among_frames_with_checksums()
{
    let mut stream = configured(Settings::default());
    stream.record(MP_PUT, 100, &MP_PUT_ARGS);
    let plain = Settings { checksum: false, stamp: 2, signal: 2, ..Settings::default() };
    let record = [&[0xAD, 0, 1, 0][..], &configuration(plain, 0)].concat();
    stream.raw(&record).raw(&[0x7E]);
    stream.record(MP_PUT, 103, &MP_PUT_ARGS);
    let (trace, kept) = whole(&stream, &[]);
    assert_eq!(trace.facts[0].form, tracewell::model::FactForm::Text("3.4"));
    assert_eq!((kept.rows.len(), trace.fact("bad_checksum"), trace.span), (3, Some(1), 3));
    // At the start of a stream, no earlier frame contradicts the configuration record.
    let mut stream = Stream::new(plain);
    stream.record(0xAD, 9, &configuration(plain, 0)).record(0x62, 11, &[1, 0, 0, 0, 2, 0]);
    let (trace, _) = whole(&stream, &[]);
    assert_eq!(trace.facts[0].form, tracewell::model::FactForm::Text("2.3"));
}

#[test]
fn a_frame_cut_off_at_either_end_is_a_loss_in_its_place() {
    let mut stream = configured(Settings::default());
    stream.record(MP_PUT, 1, &MP_PUT_ARGS);
    let whole_frames = stream.bytes.len() as u64;
    stream.raw(&[2, 1, 7]);
    stream.bytes.splice(0..0, [1, 2, 3]);
    for piece in [1, 5, 1000] {
        let (trace, kept) = decode(&stream.bytes, &[], piece);
        assert_eq!((trace.fact("dropped_bytes"), trace.fact("tail_bytes")), (Some(3), Some(3)));
        let truncated = LossCause::Truncated;
        let loss = |before, events, offset| Loss { before, events, cause: truncated, offset };
        assert_eq!(kept.losses, [loss(0, Some(1), 0), loss(2, Some(1), 3 + whole_frames)]);
        let remarks: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
        let expected = [
            "note: at byte 0: 3 bytes before the first flag: the end of a frame that began earlier"
                .to_owned(),
            format!(
                "note: at byte {}: 3 bytes after the last flag: a frame that is cut off",
                3 + whole_frames
            ),
        ];
        assert_eq!(remarks, expected);
    }
}

#[test]
fn bytes_without_a_frame_are_damage() {
    for bytes in [&[][..], b"key = value\n", b"~", b"a ~ b ~ c", &[0x7E, 1, 2, 0x7E]] {
        let (trace, _) = decode(bytes, &[], bytes.len().max(1));
        assert_eq!(trace.events, 0);
        let last = trace.diagnostics.iter().last().unwrap().to_string();
        let bytes = bytes.len();
        assert!(
            last.contains(&format!("expected RKH frames, found none in {bytes} byte")),
            "{last}"
        );
        assert_eq!(trace.diagnostics.worst(), Some(Severity::Damage));
    }
}

#[test]
fn without_checksums_a_frame_of_the_wrong_length_is_rejected() {
    let plain = Settings { checksum: false, ..Settings::default() };
    let mut stream = configured(plain);
    stream.record(MP_PUT, 1, &MP_PUT_ARGS).number(77).record(MP_PUT, 2, &[1]);
    stream.number(78).record(0x1F, 2, &[]).number(1).record(MP_PUT, 3, &MP_PUT_ARGS);
    let (trace, _) = whole(&stream, &[]);
    let counts = ["good", "bad_args", "unknown_id", "lost_frames"].map(|fact| trace.fact(fact));
    assert_eq!(counts, [Some(3), Some(1), Some(1), Some(0)]);
    assert_eq!(trace.losses.damaged(), 2);
    // Only the diagnostic about the first frame that cannot be decoded gives advice.
    let is_advice = |remark: &Diagnostic| remark.message.contains("; try another dialect");
    assert!(trace.diagnostics.iter().map(is_advice).eq([true, false]));
}

#[test]
fn a_stream_without_flags_needs_no_memory() {
    let format = format::by_name("rkh").unwrap();
    let mut decoder = format.decoder(&settings(&[])).unwrap();
    let (mut trace, mut kept) = (decoder.trace(), EventLog::default());
    let mut piece = vec![0x55; 1 << 20];
    piece[7] = 0x7E;
    for index in 0..64_u64 {
        let input = Input { offset: index << 20, bytes: &piece, last: index == 63 };
        let progress = decoder.decode(input, &mut trace, &mut kept).unwrap();
        match progress {
            Progress::Done => assert_eq!(index, 63),
            Progress::More { consumed, .. } => assert_eq!(consumed, piece.len()),
        }
        piece[7] = 0x55;
    }
    assert_eq!((trace.fact("oversize"), trace.fact("good")), (Some(1), Some(0)));
    // The bytes before the flag and the oversized frame are losses. The third diagnostic reports
    // that the stream has no frames.
    assert_eq!((kept.losses.len(), trace.diagnostics.iter().count()), (2, 3));
}

#[test]
fn timestamps_wrap_at_their_width() {
    for (bytes, last) in [(1, 0xFF), (2, 0xFFFF), (4, 0xFFFF_FFFF_u32)] {
        let mut stream = configured(Settings { stamp: bytes, ..Settings::default() });
        stream.record(MP_PUT, last - 1, &MP_PUT_ARGS).record(MP_PUT, 3, &MP_PUT_ARGS);
        let (trace, kept) = whole(&stream, &[]);
        assert_eq!((kept.rows[2].ticks, trace.span), (5, 5));
        assert_eq!(trace.clock.first_stamp, u64::from(last - 1));
        assert_eq!(trace.clock.rate.unwrap().ratio(), (1000, 1));
    }
}

#[test]
fn numbers_and_addresses_do_not_mix() {
    let narrow = Settings { pointer: 2, function: 2, ..Settings::default() };
    let mut stream = configured(narrow);
    stream
        .record(AO, 1, b"\x05\0ao\0")
        .record(SIG, 2, b"\x05signal\0")
        .record(FUN, 3, b"\x05\0function\0")
        .record(0xB2, 4, b"\x04pool\0")
        .record(0x42, 5, &[5, 0, 5, 5, 1, 2])
        .record(0x70, 6, &[1, 5, 0, 9, 0, 5, 0])
        .record(0x42, 7, &[6, 0, 6, 0, 1, 2])
        .record(0xA9, 8, &[7, 0]);
    let (trace, kept) = whole(&stream, &[]);
    let texts = texts(&stream.bytes, &[]);
    assert_eq!(texts[5], "ao=ao, sig=signal, pid=pool, rc=1, nelem=2");
    assert_eq!(texts[6], "type=entry, ao=ao, st=0x00000009, act=function");
    assert_eq!(texts[7], "ao=0x00000006, sig=6, pid=static, rc=1, nelem=2");
    assert_eq!(texts[8], "fn=0x00000007");
    let context = |row: usize| trace.contexts.get(kept.rows[row].context).unwrap().name.as_str();
    assert_eq!([context(1), context(5), context(7)], ["framework", "ao", "ao 0x00000006"]);
}

#[test]
fn assertions_and_user_events_are_shown_as_text() {
    let mut stream = configured(Settings::default());
    let mut items = [0; 128];
    let mut length = 0;
    let settings = Settings::default();
    for item in [
        Item::Signed { value: -7, bytes: 2, width: 5 },
        Item::Unsigned { value: 42, bytes: 1, width: 0 },
        Item::Hex { value: 0xBEEF, width: 8 },
        Item::Text(b"two words"),
        Item::Text(b""),
        Item::Memory(&[0, 0x7E, 0xFF]),
        Item::Object(0x2000_0000),
        Item::Signal(3),
    ] {
        length += item.write(&settings, &mut items[length..]).unwrap();
    }
    stream
        .record(0xAB, 1, b"\x08NINTH\0")
        .record(0xC8, 2, &items[..length])
        .record(0xC0, 3, &[])
        .record(0xC1, 3, &[0x0C])
        .record(0xAD, 4, b"rkhsma\0\x39\x05");
    let (trace, _) = whole(&stream, &[]);
    let texts = texts(&stream.bytes, &[]);
    let expected =
        "event=NINTH, -0007, 42, 0x0000BEEF, two words, \"\", [007EFF], 0x20000000, 3".to_owned();
    assert_eq!(texts[2], expected);
    assert_eq!(texts[3], "event=0");
    assert_eq!(texts[5], "mod=rkhsma, line=1337");
    // An item of an unknown type makes the record undecodable.
    assert_eq!((trace.fact("bad_args"), texts[4].as_str()), (Some(1), ""));
}

#[test]
fn older_configuration_records_have_a_header() {
    for (version, dialect) in [(0, "2.3"), (0x2403, "2.4.3")] {
        let settings = Settings { stamp: 2, signal: 2, ..Settings::default() };
        let mut stream = Stream::new(settings);
        stream.record(0xAD, 9, &configuration(settings, version)).record(SM_DCH, 10, &[]);
        stream.record(0x62, 11, &[1, 0, 0, 0, 2, 0]);
        let (trace, kept) = whole(&stream, &[]);
        assert_eq!(trace.facts[0].form, tracewell::model::FactForm::Text(dialect));
        assert_eq!(trace.schema.event(kept.rows[2].id).name, "RKH_TE_SM_DCH");
        assert_eq!(trace.payload.argument(&kept.rows[2].payload, 1), Some(2));
        assert_eq!((kept.rows[0].ticks, kept.rows[2].ticks), (0, 2));
    }
}

#[test]
fn a_stream_may_change_its_dialect() {
    let mut stream = configured(Settings::default());
    stream.record(0xA6, 1, b"\0\0\0\x20first\0");
    let mut frame = vec![0xAE];
    frame.extend(configuration(Settings::default(), 0x2405));
    stream.frame(&frame).number(0).record(0xA6, 1, &[0, 0, 0, 0x20, 3]);
    configure(&mut stream);
    stream.number(0).record(0xA6, 1, b"\0\0\0\x20second\0");
    let (trace, kept) = whole(&stream, &[]);
    let names: Vec<_> =
        kept.rows.iter().map(|row| trace.schema.event(row.id).name.as_str()).collect();
    let expected = ["TCFG", "OBJ", "TCFG", "DEFER", "TCFG", "OBJ"];
    assert_eq!(names, expected.map(|name| format!("RKH_TE_FWK_{name}")));
    assert_eq!((trace.fact("good"), trace.fact("restarts")), (Some(6), Some(2)));
    assert!(trace.losses.is_empty());
}

#[test]
fn settings_that_are_not_given_are_inferred() {
    for capture in captures() {
        let mut bytes = std::fs::read(&capture.path).unwrap();
        let options: Vec<_> = capture.options.iter().map(String::as_str).collect();
        let (given, _) = decode(&bytes, &options, bytes.len());
        // Remove the first quarter of the stream, including the configuration record.
        bytes.drain(..bytes.len() / 4);
        let (trace, _) = decode(&bytes, &[], bytes.len());
        let name = capture.path.display();
        assert_eq!(trace.facts[0], given.facts[0], "{name}");
        assert_eq!(trace.fact("bad_args"), Some(0), "{name}");
        assert_eq!(trace.fact("unknown_id"), Some(0), "{name}");
        for fact in ["id_bytes", "stamp_bytes", "pointer_bytes", "signal_bytes", "sequence"] {
            assert_eq!(trace.fact(fact), given.fact(fact), "{name} {fact}");
        }
    }
}

#[test]
fn after_a_pause_fewer_bytes_show_the_settings_or_nothing_is_decided() {
    for capture in captures() {
        let mut bytes = std::fs::read(&capture.path).unwrap();
        // Remove the first quarter of the stream, including the configuration record.
        bytes.drain(..bytes.len() / 4);
        let (full, _) = decode(&bytes, &[], bytes.len());
        for length in [500, 3000, 4500, 6000].map(|length: usize| length.min(bytes.len() / 2)) {
            let mut kept = EventLog::default();
            let format = format::by_name("rkh").unwrap();
            let mut reading = Reading::begin(format, &settings(&[])).unwrap();
            reading.push(&bytes[..length], &mut kept).unwrap();
            assert_eq!(kept.rows.len(), 0);
            reading.pause(&mut kept).unwrap();
            assert!(length >= 4096 || kept.rows.is_empty());
            reading.push(&bytes[length..], &mut kept).unwrap();
            reading.end(&mut kept).unwrap();
            let name = capture.path.display();
            for fact in &full.facts {
                let found = reading.trace().fact(fact.name);
                assert_eq!(found, Some(fact.value), "{name} {length} {}", fact.name);
            }
        }
    }
}

/// The reader infers the settings from a full sample. After a pause, half a sample is enough if the
/// reader infers the same settings from a quarter of a sample.
#[test]
fn a_stream_is_recognised_by_the_checksums_of_frames_of_at_least_three_bytes() {
    let is_rkh = |frame: &[u8], frames: usize| {
        let stream = [&[0x7E], &[frame, &[0x7E]].concat().repeat(frames)[..]].concat();
        let input = tracewell::input::Input::from_bytes("stream", stream, settings(&[]));
        input.is_ok_and(|input| input.format().name == "rkh")
    };
    assert!(is_rkh(&[1, 2, 0xFD], 4) && !is_rkh(&[1, 2, 0xFD], 3));
    assert!(!is_rkh(&[1, 2, 0xFE], 4), "the checksum is wrong");
    assert!(!is_rkh(&[1, 0xFF], 4), "each frame has two bytes");
}

#[test]
fn three_of_four_checksums_or_a_configuration_record_show_a_stream() {
    let confidence = |bytes: &[u8]| {
        [Confidence::Certain, Confidence::Possible].into_iter().find(|least| {
            format::recognise_with(bytes, *least).is_some_and(|format| format.name == "rkh")
        })
    };
    let frames = |good: usize, bad: usize| {
        let good = [1, 2, 0xFD, 0x7E].repeat(good);
        [&[0x7E], &good[..], &[1, 2, 0xFE, 0x7E].repeat(bad)].concat()
    };
    assert_eq!(confidence(&frames(6, 2)), Some(Confidence::Possible));
    assert_eq!(confidence(&frames(5, 2)), None);
    // Only the first 64 frames are examined.
    assert_eq!(confidence(&frames(48, 100)), Some(Confidence::Possible));
    assert_eq!(confidence(&frames(47, 100)), None);
    let stream = configured(Settings::default()).bytes;
    assert_eq!(confidence(&stream), Some(Confidence::Certain));
    for before in [&[0x7E, 1, 2][..], &[1, 2]] {
        assert_eq!(confidence(&[before, &stream].concat()), Some(Confidence::Possible));
    }
}

#[test]
fn settings_are_inferred_as_soon_as_enough_bytes_are_there() {
    let from = settings_of_capture();
    let bytes = resettled(&from, &from);
    // The names at the beginning fit several settings.
    let bytes = bytes[bytes.len() / 2..].repeat(4);
    for (length, has_paused, is_decided) in [
        (8191, false, false),
        (8192, false, true),
        (4095, true, false),
        (4096, true, true),
        (8191, true, true),
    ] {
        let mut kept = EventLog::default();
        let format = format::by_name("rkh").unwrap();
        let mut reading = Reading::begin(format, &settings(&[])).unwrap();
        reading.push(&bytes[..length], &mut kept).unwrap();
        if has_paused {
            reading.pause(&mut kept).unwrap();
        }
        assert_eq!(!kept.rows.is_empty(), is_decided, "{length} {has_paused}");
    }
}

#[test]
fn a_key_that_is_renamed_again_and_again_has_a_limited_number_of_objects() {
    let mut stream = configured(Settings::default());
    for number in 0..3000_u32 {
        stream.record(SIG, number, format!("\x01name {number}\0").as_bytes());
    }
    stream.record(SM_DCH, 3000, &[0, 0, 0, 0, 1, 0, 0, 0, 0]);
    let (trace, _) = whole(&stream, &[]);
    assert_eq!(trace.objects.with_key(trace.schema.key(Some(9), 1)).len(), 256);
    let texts = texts(&stream.bytes, &[]);
    assert_eq!(texts.last().unwrap(), "ao=none, sig=name 2999, st=none");
}

#[test]
fn a_target_that_restarts_again_and_again_has_a_limited_number_of_contexts() {
    let mut stream = configured(Settings::default());
    for number in 0..600 {
        if number > 0 {
            configure(&mut stream);
        }
        stream.number(0);
        if number < 599 {
            stream.record(AO, 1, &symbol(0x2000, &format!("run {number}")));
        }
        stream.record(EVT_PROC, 2, &0x2000_u32.to_le_bytes());
    }
    let (trace, kept) = whole(&stream, &[]);
    assert_eq!((trace.fact("restarts"), trace.contexts.len()), (Some(599), 257));
    let name = |row: usize| trace.contexts.get(kept.rows[row].context).unwrap().name.as_str();
    // The last run contains no names.
    assert_eq!((name(2), name(5), name(kept.rows.len() - 1)), ("run 0", "run 1", "ao 0x00002000"));
}

#[test]
fn bytes_before_the_first_flag_are_dropped() {
    let mut stream = configured(Settings::default());
    stream.record(MP_PUT, 1, &MP_PUT_ARGS);
    stream.bytes.splice(0..0, [1, 2, 3]);
    let (trace, _) = whole(&stream, &[]);
    assert_eq!((trace.fact("dropped_bytes"), trace.fact("good")), (Some(3), Some(2)));
}

#[test]
fn each_dialect_has_the_table_of_its_reference() {
    let Some(shared) = support::shared() else { return };
    for dialect in Dialect::ALL {
        let schema = schema(dialect);
        let rows = support::table(&shared.join(format!("data/rkh/events-{dialect}.tsv")));
        for row in rows {
            let id = support::number(&row["id"]) as u32;
            let event = schema.event(id);
            assert_eq!(event.name, row["event"], "{dialect} {id}");
            assert_eq!(event.family, row["group"], "{dialect} {id}");
            if row["args"].contains("tcfg") || row["group"] == "USR" {
                continue;
            }
            let args = event.args.iter().map(|a| format!("{}:{}", a.name, a.encoding));
            let args = args.collect::<Vec<_>>().join(" ");
            assert_eq!(args, row["args"].trim_matches('-'), "{dialect} {id}");
        }
    }
}

#[test]
fn all_dialects_have_the_same_types_and_tables() {
    let newest = schema(Dialect::V3_4);
    for dialect in Dialect::ALL {
        let schema = schema(dialect);
        for code in 0..20 {
            assert_eq!(schema.object_kind(code), newest.object_kind(code));
        }
        for event in schema.events() {
            for arg in &event.args {
                assert!(arg.encoding.parse::<Field>().is_ok(), "{dialect} {}", event.name);
                if let ArgumentKind::Enum(table) = arg.kind {
                    assert_eq!(schema.enum_name(table, 3), newest.enum_name(table, 3));
                }
            }
        }
    }
}

/// Appends the bytes of an argument with this value. Returns the number that the reader should
/// decode, or `None` for arguments that have no fixed number of bytes.
fn argument(field: FieldType, value: u32, settings: &Settings, out: &mut Vec<u8>) -> Option<u64> {
    match field {
        FieldType::Text | FieldType::Rest | FieldType::Items | FieldType::Number => None,
        FieldType::HighHalf => {
            out.push((value as u8) << 4);
            Some(u64::from(value & 15))
        }
        FieldType::LowHalf => {
            let value = value & 15;
            match out.last_mut() {
                Some(byte) if byte.trailing_zeros() >= 4 => *byte |= value as u8,
                _ => out.push(value as u8),
            }
            Some(u64::from(value))
        }
        _ => {
            let bytes = usize::from(field.bytes(settings).unwrap());
            out.extend(&value.to_le_bytes()[..bytes]);
            Some(u64::from(value) & (u64::MAX >> (64 - 8 * bytes)))
        }
    }
}

fn some_settings() -> impl Strategy<Value = Settings> {
    let size = || prop::sample::select(vec![1, 2, 4_u8]);
    let sizes = prop::collection::vec(size(), 8);
    (sizes, prop::sample::select(vec![2, 4_u8]), any::<[bool; 6]>()).prop_map(|(s, pointer, on)| {
        Settings {
            id: s[0],
            sequence: on[0],
            stamp: if on[1] { s[1] } else { 0 },
            checksum: on[2],
            pointer,
            function: pointer,
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_event_of_every_dialect_is_decoded(
        dialect in 0..8_usize,
        settings in some_settings(),
        events in prop::collection::vec((any::<prop::sample::Index>(), any::<[u32; 12]>()), 1..40),
        piece in 1..200_usize,
    ) {
        let dialect = Dialect::ALL[dialect];
        let schema = schema(dialect);
        let mut stream = Stream::new(settings);
        let mut expected = Vec::new();
        for (number, (which, values)) in events.iter().enumerate() {
            let events: Vec<_> = schema.events().collect();
            let event = *which.get(&events);
            if event.name.ends_with("TCFG") {
                continue; // It would change the settings.
            }
            let (mut bytes, mut args) = (Vec::new(), Vec::new());
            for (arg, value) in event.args.iter().zip(values) {
                let field: Field = arg.encoding.parse().unwrap();
                if !field.condition.holds(&settings) {
                    args.push(None);
                    continue;
                }
                let value = argument(field.field_type, *value, &settings, &mut bytes);
                if value.is_none() {
                    bytes.extend(b"some text\0");
                }
                args.push(value);
            }
            let id = ids::id(event.id as u8, settings.id, dialect.has_groups());
            stream.record(id, 3 * number as u32, &bytes);
            expected.push((event.id, args));
        }
        let options = options_of(dialect, &settings);
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        let (trace, kept) = decode(&stream.bytes, &options, piece);
        prop_assert!(trace.losses.is_empty());
        prop_assert_eq!(trace.fact("good"), Some(expected.len() as u64));
        for (row, (id, args)) in kept.rows.iter().zip(&expected) {
            prop_assert_eq!(row.id, *id);
            for (index, arg) in args.iter().enumerate() {
                let found = trace.payload.argument(&row.payload, index);
                match arg {
                    Some(value) => prop_assert_eq!(found, Some(*value)),
                    None => if let Some(place) = found {
                        let text = values::bytes(&row.payload, place);
                        prop_assert!(text.starts_with(b"some text"));
                    },
                }
            }
        }
    }

    #[test]
    fn damage_loses_only_the_frames_it_touches(
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
        cut in any::<prop::sample::Index>(),
        piece in 1..3000_usize,
    ) {
        let mut bytes = include_bytes!("fixtures/rkh/ahsm-a.bin").to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let (trace, kept) = decode(&bytes, &[], piece);
        // A new flag splits a frame in two, and a missing flag joins two frames.
        prop_assert!(trace.fact("good").unwrap() >= 392 - 2 || at < 17);
        prop_assert!(kept.losses.len() <= 3 || at < 17);
        bytes.truncate(cut.index(bytes.len()));
        let (cut, _) = decode(&bytes, &[], piece);
        prop_assert!(cut.events <= trace.events);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(
        prop_oneof![any::<u8>(), Just(0x7E), Just(0x7D), Just(0xAC)], 0..600),
        piece in 1..100_usize,
    ) {
        let (whole, rows) = decode(&bytes, &["checksum=off"], bytes.len().max(1));
        let (pieces, same) = decode(&bytes, &["checksum=off"], piece);
        prop_assert_eq!(rows, same);
        prop_assert_eq!(whole.facts, pieces.facts);
    }
}

/// Returns the event lines of a stream's report, with only context and text.
fn reported(stream: &Stream) -> Vec<(String, String)> {
    let mut input =
        tracewell::input::Input::from_bytes("stream", stream.bytes.clone(), settings(&[])).unwrap();
    let mut report = Report::new(Vec::new(), ReportOptions::default());
    input.read(&mut report).unwrap();
    let text = String::from_utf8(report.into_inner().unwrap()).unwrap();
    let lines = text.lines().skip(3).take_while(|line| !line.is_empty());
    let cut = lines.filter(|line| !line.contains("missing")).map(|line| {
        let (head, rest) = line.split_once("    -  ").unwrap();
        let context =
            head.trim().rsplit("  ").next().unwrap().trim_start_matches('>').trim().to_owned();
        (context, rest.split_once("  ").map_or(rest, |(_, text)| text).trim().to_owned())
    });
    cut.collect()
}

fn symbol(key: u32, name: &str) -> Vec<u8> {
    [&key.to_le_bytes()[..], name.as_bytes(), &[0]].concat()
}

const EVT_PROC: u32 = 0x69;
const SM_TRN: u32 = 0x62;

#[test]
fn an_address_without_a_name_has_none_after_a_restart() {
    let mut stream = configured(Settings::default());
    stream.record(AO, 100, &symbol(0x2000, "motor"));
    stream.record(EVT_PROC, 101, &0x2000_u32.to_le_bytes());
    configure(&mut stream);
    stream.number(0).record(EVT_PROC, 5, &0x2000_u32.to_le_bytes());
    stream.record(AO, 6, &symbol(0x2000, "valve"));
    stream.record(EVT_PROC, 6, &0x2000_u32.to_le_bytes());
    let lines = reported(&stream);
    let steps: Vec<_> = lines.iter().filter(|(_, text)| text.starts_with("ao=")).collect();
    let expected =
        [("motor", "ao=motor"), ("ao 0x00002000", "ao=0x00002000"), ("valve", "ao=valve")]
            .map(|(context, text)| (context.to_owned(), text.to_owned()));
    assert_eq!(steps, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_context_has_its_name_once_the_symbol_arrives() {
    let mut stream = configured(Settings::default());
    stream.record(EVT_PROC, 1, &0x2000_u32.to_le_bytes());
    stream.record(AO, 2, &symbol(0x2000, "motor"));
    stream.record(EVT_PROC, 3, &0x2000_u32.to_le_bytes());
    let contexts: Vec<_> = reported(&stream).into_iter().map(|(context, _)| context).collect();
    assert_eq!(contexts[1..], ["ao 0x00002000", "framework", "motor"]);
    let mut input =
        tracewell::input::Input::from_bytes("stream", stream.bytes.clone(), settings(&[])).unwrap();
    let selection = Selection { contexts: vec!["motor".to_owned()], ..Selection::default() };
    let mut writer = EventWriter::new(Vec::new(), EventFormat::Tsv, selection);
    input.read(&mut writer).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.lines().nth(1).unwrap().contains("\tmotor\t"), "{text}");
}

/// Before version 2.4.3, RKH has no symbol record for active objects. It names them with the record
/// for objects.
#[test]
fn a_context_is_named_after_the_object_at_its_address() {
    let mut stream = configured(Settings::default());
    stream.record(OBJ, 1, &symbol(0x2000, "&motor"));
    stream.record(EVT_PROC, 2, &0x2000_u32.to_le_bytes());
    stream.record(EVT_PROC, 3, &0x3000_u32.to_le_bytes());
    stream.record(OBJ, 4, &symbol(0x3000, "valve_object"));
    stream.record(EVT_PROC, 5, &0x3000_u32.to_le_bytes());
    stream.record(AO, 6, &symbol(0x3000, "valve"));
    stream.record(OBJ, 7, &symbol(0x3000, "valve_object_again"));
    stream.record(EVT_PROC, 8, &0x3000_u32.to_le_bytes());
    let contexts: Vec<_> = reported(&stream).into_iter().map(|(context, _)| context).collect();
    let steps: Vec<_> = contexts.iter().filter(|context| *context != "framework").collect();
    assert_eq!(steps, ["motor", "ao 0x00003000", "valve_object", "valve"]);
}

/// A trace of several days.
#[test]
fn columns_of_a_report_never_touch() {
    let mut stream = configured(Settings { stamp: 4, ..Settings::default() });
    stream.record(EVT_PROC, 1, &0x2000_u32.to_le_bytes());
    stream.record(EVT_PROC, u32::MAX, &0x2000_u32.to_le_bytes());
    for options in [&["rate=1000"][..], &["rate=1000000000"]] {
        let mut report = Report::new(Vec::new(), ReportOptions::default());
        let bytes = stream.bytes.clone();
        let mut input =
            tracewell::input::Input::from_bytes("stream", bytes, settings(options)).unwrap();
        input.read(&mut report).unwrap();
        let text = String::from_utf8(report.into_inner().unwrap()).unwrap();
        let line = text.lines().find(|line| line.trim_start().starts_with("2 ")).unwrap();
        let words: Vec<_> = line.split_whitespace().collect();
        assert!(words[1].parse::<f64>().is_ok() && words[2].parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn the_last_of_several_names_of_one_moment_is_valid() {
    let mut stream = configured(Settings::default());
    for name in ["first", "second"] {
        stream.record(AO, 7, &symbol(0x2000, name));
        stream.record(EVT_PROC, 7, &0x2000_u32.to_le_bytes());
    }
    let texts: Vec<_> = reported(&stream).into_iter().map(|(_, text)| text).collect();
    assert_eq!((texts[2].as_str(), texts[4].as_str()), ("ao=first", "ao=second"));
}

#[test]
fn an_internal_transition_stays_in_its_state() {
    for (dialect, id) in
        [("2.0-pre", 20_u32), ("2.0", 20), ("2.3", 0x63), ("2.4.4", 0x62), ("3.4", 0x62)]
    {
        let mut stream = Stream::new(Settings::default());
        let args =
            [&1_u32.to_le_bytes()[..], &0x30_u32.to_le_bytes(), &0_u32.to_le_bytes()].concat();
        stream.record(id, 1, &args);
        let text = texts(&stream.bytes, &[&format!("dialect={dialect}")]).remove(0);
        assert_eq!(text, "ao=0x00000001, sst=0x00000030, tst=0x00000030 (internal)", "{dialect}");
    }
    let mut stream = configured(Settings::default());
    stream.record(SM_TRN, 1, &[&[1, 0, 0, 0][..], &[2, 0, 0, 0], &[3, 0, 0, 0]].concat());
    let text = texts(&stream.bytes, &[]).remove(1);
    assert_eq!(text, "ao=0x00000001, sst=0x00000002, tst=0x00000003");
}

/// The arguments of each event in the order in which Trazer 3.2 prints them. RKH's record macros
/// use the same names for the arguments. If a dialect records fewer arguments, the Trazer releases
/// that belong to this dialect print fewer.
const TRAZER: [(&str, &[&str]); 63] = [
    ("MP_INIT", &["mp", "nblock", "bsize"]),
    ("MP_GET", &["mp", "nfree", "nmin"]),
    ("MP_PUT", &["mp", "nfree"]),
    ("QUE_INIT", &["q", "ao", "nelem"]),
    ("QUE_GET", &["q", "nelem"]),
    ("QUE_FIFO", &["q", "nelem", "nmin"]),
    ("QUE_LIFO", &["q", "nelem", "nmin"]),
    ("QUE_FULL", &["q"]),
    ("QUE_DPT", &["q"]),
    ("QUE_GET_LAST", &["q"]),
    ("SMA_ACT", &["ao", "prio", "qsize"]),
    ("SMA_TERM", &["ao", "prio"]),
    ("SMA_GET", &["ao", "sig", "pid", "rc", "nelem", "nmin"]),
    ("SMA_FIFO", &["ao", "sig", "snr", "pid", "rc", "nelem", "nmin"]),
    ("SMA_LIFO", &["ao", "sig", "snr", "pid", "rc", "nelem", "nmin"]),
    ("SMA_REG", &["ao", "prio"]),
    ("SMA_UNREG", &["ao", "prio"]),
    ("SMA_DCH", &["ao", "sig", "st"]),
    ("SMA_DEFER", &["q", "sig"]),
    ("SMA_RCALL", &["ao", "sig"]),
    ("SM_INIT", &["ao", "ist"]),
    ("SM_CLRH", &["ao", "h"]),
    ("SM_TRN", &["ao", "sst", "tst"]),
    ("SM_STATE", &["ao", "st"]),
    ("SM_ENSTATE", &["ao", "st"]),
    ("SM_EXSTATE", &["ao", "st"]),
    ("SM_NENEX", &["ao", "nen", "nex"]),
    ("SM_NTRNACT", &["ao", "nta", "nts"]),
    ("SM_TS_STATE", &["ao", "st"]),
    ("SM_CSTATE", &["ao", "st"]),
    ("SM_DCH", &["ao", "sig", "st"]),
    ("SM_DCH_RC", &["ao", "rc"]),
    ("SM_EVT_PROC", &["ao"]),
    ("SM_EVT_NFOUND", &["ao", "sig"]),
    ("SM_GRD_FALSE", &["ao"]),
    ("SM_CND_NFOUND", &["ao"]),
    ("SM_UNKN_STATE", &["ao"]),
    ("SM_EX_HLEVEL", &["ao"]),
    ("SM_EX_TSEG", &["ao"]),
    ("SM_EXE_ACT", &["type", "ao", "st", "act"]),
    ("TMR_INIT", &["t", "sig"]),
    ("TMR_START", &["t", "ao", "nt", "per"]),
    ("TMR_STOP", &["t", "nt", "per"]),
    ("TMR_TOUT", &["t", "sig", "ao"]),
    ("TMR_REM", &["t"]),
    ("FWK_EN", &[]),
    ("FWK_EX", &[]),
    ("FWK_EPREG", &["ep", "ss", "es", "ps"]),
    ("FWK_AE", &["es", "sig", "pid", "rc", "nused", "nmin", "actor"]),
    ("FWK_GC", &["sig", "pid", "rc"]),
    ("FWK_GCR", &["sig", "pid", "rc", "nused", "nmin", "actor"]),
    ("FWK_DEFER", &["q", "sig"]),
    ("FWK_RCALL", &["ao", "sig"]),
    ("FWK_OBJ", &["obj", "nm"]),
    ("FWK_SIG", &["sig", "nm"]),
    ("FWK_FUN", &["fn", "nm"]),
    ("FWK_EXE_FUN", &["fn"]),
    ("FWK_SYNC_EVT", &["fn", "snr", "ao"]),
    ("FWK_TUSR", &["ut", "nm"]),
    ("FWK_ASSERT", &["mod", "line"]),
    ("FWK_AO", &["obj", "nm"]),
    ("FWK_STATE", &["ao", "obj", "nm"]),
    ("FWK_EPOOL", &["ep", "nm"]),
];

/// Returns an event's name without the parts that differ between releases: the prefix and the names
/// of groups.
fn unprefixed(name: &str) -> String {
    let name = name.strip_prefix("RKH_TE_").or(name.strip_prefix("RKH_TRCE_")).unwrap_or(name);
    let renamed = [("RQ_", "QUE_"), ("TIM_", "TMR_"), ("RKH_", "FWK_")];
    let found =
        renamed.iter().find_map(|(old, new)| Some(new.to_string() + name.strip_prefix(old)?));
    found.unwrap_or_else(|| name.to_owned())
}

#[test]
fn the_text_of_every_event_of_every_dialect_agrees_with_trazer() {
    let settings = Settings {
        sender: true,
        queue_low_water: true,
        pool_low_water: true,
        ..Settings::default()
    };
    for dialect in Dialect::ALL {
        let schema = schema(dialect);
        let chosen = options_of(dialect, &settings);
        let chosen: Vec<_> = chosen.iter().map(String::as_str).collect();
        let mut compared = 0;
        for event in schema.events().filter(|event| !event.name.ends_with("TCFG")) {
            let mut bytes = Vec::new();
            let mut values = Vec::new();
            for (number, arg) in (0x21_u32..).zip(&event.args) {
                let field: Field = arg.encoding.parse().unwrap();
                let value = argument(field.field_type, number, &settings, &mut bytes);
                if value.is_none() {
                    bytes.extend(b"text\0");
                }
                values.push(value);
            }
            let mut stream = Stream::new(settings);
            stream.record(ids::id(event.id as u8, 1, dialect.has_groups()), 1, &bytes);
            let text = texts(&stream.bytes, &chosen).remove(0);
            let parts: Vec<_> = text.split(", ").filter_map(|part| part.split_once('=')).collect();
            // All recorded arguments are present, in order, each with its own value.
            assert_eq!(parts.len(), event.args.len(), "{dialect} {}: {text}", event.name);
            for ((arg, value), (name, shown)) in event.args.iter().zip(&values).zip(&parts) {
                assert_eq!(*name, arg.name.replace('_', " "), "{dialect}: {text}");
                let hex = value.map(|value| format!("{value:X}"));
                let said = match (value, hex) {
                    (Some(value), Some(hex)) => {
                        *shown == value.to_string() || shown.ends_with(&hex)
                    }
                    _ => !shown.is_empty(),
                };
                assert!(said, "{dialect} {}: {name}={shown}, {value:?}", event.name);
            }
            let row = TRAZER.iter().find(|(name, _)| *name == unprefixed(&event.name));
            let Some((_, printed)) = row else { continue };
            compared += 1;
            for (arg, _) in &parts {
                // Trazer prints each recorded argument, except the address of a pool. Older
                // releases record fewer arguments.
                let pool = event.name.ends_with("_EPOOL") && *arg == "obj";
                assert!(pool || printed.contains(arg), "{dialect} {}: {text}", event.name);
            }
            if dialect == Dialect::V3_4 {
                assert_eq!(parts.len(), printed.len(), "{}: {text}", event.name);
            }
        }
        assert!(compared >= 38, "{dialect}: {compared}");
    }
}

/// RKH 2.4.5 and later versions evaluate a guard before they record the beginning of the step.
#[test]
fn a_false_guard_belongs_to_its_step_and_ends_it_only_before_2_4_5() {
    for (version, steps) in
        [(0x2404, "framework"), (0x2405, "ao 0x00002000"), (0x3400, "ao 0x00002000")]
    {
        let mut stream = Stream::new(Settings::default());
        let id = if version == 0x2404 {
            0xAD
        } else if version == 0x2405 {
            0xAE
        } else {
            0xAC
        };
        let mut frame = vec![id];
        frame.extend(configuration(Settings::default(), version));
        stream.frame(&frame);
        stream.record(0x6B, 1, &0x2000_u32.to_le_bytes()).record(MP_PUT, 2, &MP_PUT_ARGS);
        let (trace, kept) = whole(&stream, &[]);
        assert_eq!(trace.schema.event(kept.rows[1].id).name, "RKH_TE_SM_GRD_FALSE");
        let context =
            |row: usize| trace.contexts.get(kept.rows[row].context).unwrap().name.as_str();
        assert_eq!([context(1), context(2)], ["ao 0x00002000", steps], "{version:x}");
    }
}

/// Common frames take the fast path, all others the slow path.
#[test]
fn fast_frames_belong_to_the_active_object_whose_address_they_have() {
    let narrow = Settings { pointer: 2, function: 2, ..Settings::default() };
    let mut stream = configured(narrow);
    // The bytes after an address differ from frame to frame.
    for number in 0..100_u8 {
        let [low, high] = [u16::from(number % 3) + 5, 0].map(|byte| byte as u8);
        stream.record(SM_DCH, u32::from(number), &[low, high, number, !number, 0x80]);
    }
    let (trace, kept) = whole(&stream, &[]);
    for (number, row) in kept.rows[1..].iter().enumerate() {
        let context = trace.contexts.get(row.context).unwrap();
        assert_eq!(context.key, number as u64 % 3 + 5, "frame {number}");
    }
    // The framework and three active objects.
    assert_eq!((trace.contexts.len(), trace.fact("good")), (4, Some(101)));
}

/// Addresses that a wrong mask would make equal.
#[test]
fn fast_frames_do_not_mix_addresses_that_are_complements_or_all_ones() {
    let mut stream = configured(Settings::default());
    let addresses = [0x2000_u32, !0x2000, u32::MAX];
    for number in 0..99_u32 {
        let address = addresses[number as usize % 3].to_le_bytes();
        stream.record(SM_DCH, number, &[&address[..], &[1, 2, 3, 4, 5]].concat());
    }
    let (trace, kept) = whole(&stream, &[]);
    for (number, row) in kept.rows[1..].iter().enumerate() {
        let context = trace.contexts.get(row.context).unwrap();
        assert_eq!(context.key, u64::from(addresses[number % 3]), "frame {number}");
    }
}

#[test]
fn a_step_continues_after_fast_frames_until_one_ends_it() {
    let mut stream = configured(Settings::default());
    let ao = 0x2000_u32.to_le_bytes();
    let begin = [&ao[..], &[1, 0, 0, 0, 0]].concat();
    let mut expected = vec!["framework"];
    for number in 0..60 {
        stream.record(SM_DCH, 3 * number, &begin);
        // The slow path decodes this record, which names a signal.
        stream.record(SIG, 3 * number + 1, b"\x01ONE\0");
        stream.record(EVT_PROC, 3 * number + 1, &ao);
        stream.record(SIG, 3 * number + 2, b"\x01ONE\0");
        expected.extend(["ao 0x00002000", "ao 0x00002000", "ao 0x00002000", "framework"]);
    }
    let (trace, kept) = whole(&stream, &[]);
    let contexts = kept.rows.iter().map(|row| trace.contexts.get(row.context).unwrap());
    assert_eq!(contexts.map(|context| context.name.as_str()).collect::<Vec<_>>(), expected);
}

/// Converts the frames of a capture from one set of settings to another. Omits the configuration
/// record and user events.
fn resettled(from: &Settings, to: &Settings) -> Vec<u8> {
    let bytes = include_bytes!("fixtures/rkh/ahsm-a.bin");
    let schema = schema(Dialect::V3_4);
    let mut stream = Stream::new(*to);
    let mut cutter = tracewell_wire::rkh::Cutter::new(bytes);
    cutter.skip_to_flag();
    for cut in cutter {
        let mut frame = bytes[cut.start..cut.end].to_vec();
        let tracewell_wire::rkh::Unstuffed::Frame(length) =
            tracewell_wire::rkh::unstuff_in_place(&mut frame)
        else {
            continue;
        };
        let stamp = u32::from_le_bytes(frame[2..6].try_into().unwrap());
        let code = frame[0];
        let mut rest = &frame[6..length - 1];
        // Items of user events have their own sizes.
        if code == ids::TCFG || code >= ids::USER {
            continue;
        }
        let mut arguments = Vec::new();
        for arg in &schema.event(u32::from(code)).args {
            let field: Field = arg.encoding.parse().unwrap();
            if !field.condition.holds(from) {
                continue;
            }
            let (Some(old), Some(new)) = (field.field_type.bytes(from), field.field_type.bytes(to))
            else {
                arguments.extend(std::mem::take(&mut rest));
                break;
            };
            let mut value = rest[..usize::from(old)].to_vec();
            rest = &rest[usize::from(old)..];
            value.resize(usize::from(new), 0);
            arguments.extend(value);
        }
        stream.record(ids::id(code, to.id, true), stamp, &arguments);
    }
    // The reader attaches after the target has recorded the names.
    stream.bytes
}

/// The settings of the capture that [`resettled`] converts.
fn settings_of_capture() -> Settings {
    let (trace, _) = decode(include_bytes!("fixtures/rkh/ahsm-a.bin"), &[], 1 << 20);
    let size = |fact| trace.fact(fact).unwrap() as u8;
    Settings {
        signal: size("signal_bytes"),
        event_size: size("event_size_bytes"),
        block_count: size("block_count_bytes"),
        block_size: size("block_size_bytes"),
        queue_count: size("queue_count_bytes"),
        timer_ticks: size("timer_bytes"),
        sender: trace.fact("sender") == Some(1),
        queue_low_water: trace.fact("queue_low_water") == Some(1),
        pool_low_water: trace.fact("pool_low_water") == Some(1),
        ..Settings::default()
    }
}

#[test]
fn settings_that_are_not_given_are_inferred_or_requested() {
    let from = settings_of_capture();
    let mut refused = 0;
    for id in [1, 2, 4] {
        for sequence in [true, false] {
            for stamp in [1, 4] {
                for checksum in [true, false] {
                    for (pointer, function) in [(4, 4), (4, 2)] {
                        let to =
                            Settings { id, sequence, stamp, checksum, pointer, function, ..from };
                        let bytes = resettled(&from, &to);
                        let name = format!("{to:?}");
                        let Some(trace) = decode_or_refuse(&bytes[bytes.len() / 4..]) else {
                            refused += 1;
                            continue;
                        };
                        let facts = [
                            "id_bytes",
                            "sequence",
                            "stamp_bytes",
                            "checksum",
                            "pointer_bytes",
                            "function_bytes",
                        ];
                        let found = facts.map(|fact| trace.fact(fact).unwrap());
                        let expected =
                            [id, sequence.into(), stamp, checksum.into(), pointer, function];
                        assert_eq!(found, expected.map(u64::from), "{name}");
                        assert_eq!(trace.fact("bad_args"), Some(0), "{name}");
                    }
                }
            }
        }
    }
    assert_eq!(refused, 0, "of 48");
}

/// Returns the trace, or `None` if the reader asks for options.
fn decode_or_refuse(bytes: &[u8]) -> Option<Trace> {
    let (trace, kept) = decode(bytes, &[], bytes.len());
    if trace.fact("unsettled").is_none() {
        return Some(trace);
    }
    asks_for_options(&trace, &kept);
    None
}

fn asks_for_options(trace: &Trace, kept: &EventLog) {
    let first = trace.diagnostics.iter().next().unwrap();
    assert!(first.message.contains("give them with -O dialect="), "{first}");
    assert_eq!((first.severity, trace.events), (Severity::Damage, 0));
    assert_eq!((kept.losses.len(), kept.losses[0].events), (1, None));
}

#[test]
fn frames_that_leave_the_settings_open_are_not_decoded_before_a_configuration_record() {
    let mut stream = Stream::new(Settings::default());
    for number in 0..20 {
        stream.record(0x1F, number, &[]).record(0x1E, number, &[1, 2, 3]);
    }
    let (trace, kept) = whole(&stream, &[]);
    asks_for_options(&trace, &kept);
    assert_eq!(trace.fact("unsettled"), Some(40));
    // A restarted target announces its settings.
    stream.bytes.extend(vec![0x55; 9000]);
    stream.bytes.push(0x7E);
    stream.settings = Settings::default();
    configure(&mut stream);
    stream.number(0).record(MP_PUT, 5, &MP_PUT_ARGS);
    let (trace, kept) = whole(&stream, &[]);
    assert_eq!((trace.fact("good"), kept.rows.len()), (Some(2), 2));
}

/// If an event has at most three frames and none fits the settings, these frames could be damaged.
/// If an event has four frames and none fits, the settings are wrong.
#[test]
fn default_settings_with_alternatives_are_used_with_a_warning_if_they_explain_each_event() {
    for (unknown, good, worst) in
        [(0, 60, Severity::Warning), (3, 60, Severity::Warning), (4, 0, Severity::Damage)]
    {
        let mut stream = Stream::new(Settings::default());
        for number in 0..60 {
            stream.record(EVT_PROC, number, &0x2000_u32.to_le_bytes());
        }
        for number in 0..unknown {
            stream.record(0x1F, 60 + number, &[]);
        }
        let (trace, _) = whole(&stream, &[]);
        let found = (trace.fact("good"), trace.diagnostics.worst());
        assert_eq!(found, (Some(good), Some(worst)), "{unknown}");
        let remark = trace.diagnostics.iter().next().unwrap();
        assert!(remark.message.contains("give them with -O dialect="), "{remark}");
    }
}

/// The default settings are used only if they are among the settings that explain the most frames.
#[test]
fn if_several_settings_but_not_the_default_ones_explain_the_frames_the_reader_asks_for_options() {
    // A timestamp of two bytes with an address of four is as long as the reverse.
    let narrow = Settings { stamp: 2, ..Settings::default() };
    // In older dialects, the event 0x70 has only an address. In newer ones, it has more arguments,
    // and with other settings these are together as long as the address.
    for (settings, id) in [(narrow, EVT_PROC), (Settings::default(), 0x70)] {
        let mut stream = Stream::new(settings);
        for number in 0..60 {
            stream.record(id, number, &0x2000_u32.to_le_bytes());
        }
        let (trace, kept) = whole(&stream, &[]);
        asks_for_options(&trace, &kept);
        assert_eq!(trace.fact("unsettled"), Some(60), "{id:#x}");
    }
}
