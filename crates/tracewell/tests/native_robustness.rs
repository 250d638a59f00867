//! Tests logs and images that are truncated, changed or constructed.

#[path = "support/native.rs"]
mod native;
mod support;

use std::sync::atomic::AtomicU64;

use native::{GEOMETRY, memory, read};
use support::{EventLog, in_pieces};
use tracewell::format::native::index::Index;
use tracewell::format::{self, Input as Window, Progress, Settings};
use tracewell::model::{Loss, LossCause, Severity, Trace};
use tracewell_record::stream::{Identity, Image, Log, Take, Writer};
use tracewell_wire::native::image::ImageHeader;
use tracewell_wire::native::{PacketHeader, WORD, block, put_words};

fn image(words: &[AtomicU64]) -> Image<'_> {
    native::image(words, 7, 1000, "test/step(number:u64,twice:hex)")
}

fn writer(image: &Image<'_>, lane: u32) -> Writer {
    let mut name = [0; 16];
    name[..6].copy_from_slice(b"worker");
    name[6] = b'0' + lane as u8;
    native::writer(image, lane, Identity { process: 7, thread: 8 + lane, name })
}

/// Returns a log with the events of two threads. The log has the same bytes in each run. The second
/// element is the number of events.
fn small_log() -> (Vec<u8>, u64) {
    let words = memory();
    let image = image(&words);
    let writers = [writer(&image, 0), writer(&image, 1)];
    let mut log = Log::new(Vec::new(), Take::Out);
    for number in 0..60 {
        let stamp = 1000 + 10 * number + if number > 40 { 1 << 33 } else { 0 };
        let writer = &writers[usize::from(number % 3 == 0)];
        writer.push(&image, 64, stamp, &[number, 2 * number], &[]).unwrap();
        if number % 20 == 19 {
            log.drain_image(&image, stamp + 1).unwrap();
        }
    }
    (log.close_image(&image, 1 << 40).unwrap(), 60)
}

fn numbers(trace: &Trace, kept: &EventLog) -> Vec<u64> {
    kept.rows.iter().map(|row| trace.payload.argument(&row.payload, 0).unwrap()).collect()
}

#[test]
fn the_small_log_is_read() {
    let (log, events) = small_log();
    let (trace, kept) = read(&log).unwrap();
    assert_eq!(numbers(&trace, &kept), (0..events).collect::<Vec<_>>());
    assert_eq!(trace.diagnostics.worst(), None);
    assert!(trace.losses.is_empty());
    assert_eq!(trace.clock.first_stamp, 1000);
    assert_eq!(kept.rows[59].ticks, 590 + (1 << 33));
    assert_eq!(trace.contexts.len(), 2);
}

#[test]
fn pieces_of_any_size_make_the_same_trace() {
    let (log, _) = small_log();
    let (_, whole) = read(&log).unwrap();
    for piece in [1, 3, 8, 100, 1000, log.len()] {
        let (trace, kept) = in_pieces("native", &Settings::default(), &log, piece).unwrap();
        assert_eq!(kept, whole, "pieces of {piece}");
        assert_eq!(trace.diagnostics.worst(), None);
    }
}

#[test]
fn damaged_words_between_blocks_are_skipped_as_they_arrive() {
    let (log, events) = small_log();
    let block::Lookup::Block(start) = block::find(&log) else { panic!() };
    let (head, rest) = log.split_at(block::HEAD + start.body.len());
    // Blocks begin at multiples of 8 bytes.
    for length in (8..3 * block::HEAD).step_by(8) {
        let damaged = [head, &vec![0xAA; length], rest].concat();
        // `in_pieces` checks that the decoder requests more bytes than it has.
        let (trace, kept) = in_pieces("native", &Settings::default(), &damaged, 1).unwrap();
        assert_eq!(numbers(&trace, &kept), (0..events).collect::<Vec<_>>(), "{length}");
        assert_eq!(trace.diagnostics.worst(), Some(Severity::Damage), "{length}");
    }
}

#[test]
fn a_followed_stream_does_not_fill_the_window() {
    let words = memory();
    let image = image(&words);
    let writer = writer(&image, 0);
    let mut log = Log::new(Vec::new(), Take::Out);
    for number in 0..10_000 {
        writer.push(&image, 64, number, &[number, 0], &[]).unwrap();
        if number % 20 == 19 {
            log.drain_image(&image, number + 1).unwrap();
        }
    }
    // Omits the index, which is one large block.
    let bytes = log.sink();
    let format = format::by_name("native").unwrap();
    let mut decoder = format.decoder(&Settings::default()).unwrap();
    let (mut trace, mut kept) = (decoder.trace(), EventLog::default());
    let mut start = 0;
    for end in (1000..bytes.len()).step_by(1000) {
        let window = Window { offset: start as u64, bytes: &bytes[start..end], last: false };
        let progress = decoder.decode(window, &mut trace, &mut kept).unwrap();
        let Progress::More { consumed, .. } = progress else { panic!("more follows") };
        start += consumed;
        assert!(end - start < 2000, "{} bytes are kept", end - start);
        assert!(kept.rows.len() * 24 + 6000 > start / 2);
    }
}

#[test]
fn every_truncation_keeps_the_complete_packets_and_says_that_it_is_one() {
    let (log, events) = small_log();
    let mut most = 0;
    for length in 0..log.len() {
        let Some((trace, kept)) = read(&log[..length]) else {
            assert!(length < 8, "{length}");
            continue;
        };
        let found = numbers(&trace, &kept);
        assert!(found.is_sorted() && found.iter().all(|number| *number < events));
        assert!(found.len() >= most, "{length}");
        most = found.len();
        assert!(trace.diagnostics.worst() >= Some(Severity::Warning), "{length}");
        assert_eq!(trace.losses.events(), None, "{length}");
    }
    assert_eq!(most as u64, events);
}

#[test]
fn each_changed_byte_costs_a_block_at_most_and_shows() {
    let (log, events) = small_log();
    for at in 0..log.len() {
        let mut damaged = log.clone();
        damaged[at] ^= 0x41;
        let Some((trace, kept)) = read(&damaged) else {
            assert!(at < 8, "{at}");
            continue;
        };
        let found = numbers(&trace, &kept);
        assert!(found.is_sorted(), "{at}");
        assert!(found.len() as u64 + 18 >= events, "byte {at}: {} events", found.len());
        assert_eq!(trace.diagnostics.worst(), Some(Severity::Damage), "{at}");
        let lost = events - found.len() as u64;
        let causes: Vec<_> = trace.losses.iter().map(|(cause, _)| cause).collect();
        // A damaged end block is indistinguishable from a truncated end block.
        let expected = [LossCause::Damaged, LossCause::Truncated];
        assert!(causes.len() == 1 && expected.contains(&causes[0]), "{at}: {causes:?}");
        assert!(trace.losses.events().is_none_or(|events| events == lost), "{at}");
    }
}

#[test]
fn bytes_after_the_end_of_a_log_are_reported_at_their_position() {
    let (log, events) = small_log();
    let end = log.len() as u64;
    for (rest, reported) in [
        (&b"garbage"[..], "7 bytes follow the end of the log"),
        (&log[..], "another log begins here"),
    ] {
        let bytes = [&log, rest].concat();
        let (trace, kept) = read(&bytes).unwrap();
        assert_eq!(kept.rows.len() as u64, events);
        let loss = Loss { before: events, events: None, cause: LossCause::Damaged, offset: end };
        assert_eq!(kept.losses, [loss]);
        let remarks: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
        let [remark] = &remarks[..] else { panic!("{remarks:?}") };
        assert!(remark.starts_with(&format!("damaged: at byte {end}: {reported}")), "{remark}");
        assert!(remark.contains(&format!("{} byte", rest.len())), "{remark}");
        for piece in [1, 100] {
            let (again, same) = in_pieces("native", &Settings::default(), &bytes, piece).unwrap();
            assert!(same == kept && again.diagnostics.iter().eq(trace.diagnostics.iter()));
        }
    }
    // Zeros up to the next page can follow a block.
    let (trace, kept) = read(&[&log[..], &[0; 40]].concat()).unwrap();
    assert_eq!((kept.losses.len(), trace.diagnostics.iter().count()), (0, 0));
}

#[test]
fn the_index_is_made_again_from_the_blocks() {
    let (log, events) = small_log();
    let index = Index::read(&log).unwrap();
    assert_eq!(Index::rebuild(&log), index);
    assert_eq!(index.entries().iter().map(|entry| u64::from(entry.events)).sum::<u64>(), events);
    let found: Vec<_> = index.between(1000, 1050).collect();
    assert!(!found.is_empty() && found.len() < index.entries().len());
    for entry in found {
        let at = entry.offset as usize;
        assert!(matches!(block::find(&log[at..]), block::Lookup::Block(_)));
    }
    for length in 0..log.len() {
        assert_eq!(Index::read(&log[..length]), None);
        assert!(Index::rebuild(&log[..length]).entries().len() <= index.entries().len());
    }
}

#[test]
fn a_made_up_image_is_read_without_panic() {
    let words = memory();
    let image = image(&words);
    let writers = [writer(&image, 0), writer(&image, 1)];
    (0..100).for_each(|n| {
        let _ = writers[n as usize % 2].push(&image, 64, 1000 + n, &[n, 0], &[]);
    });
    let mut bytes = native::bytes(&words);
    let (_, kept) = read(&bytes).unwrap();
    assert!(kept.rows.len() > 90);
    // Changes every byte of the header and of the lanes, and truncates the log.
    let lanes = GEOMETRY.heads() * 8;
    let places =
        (8..120).chain(128..200).chain(lanes..lanes + 256).chain(GEOMETRY.data() * 8..bytes.len());
    for at in places.step_by(23) {
        let before = std::mem::replace(&mut bytes[at], 0xE7);
        if let Some((_, kept)) = read(&bytes) {
            assert!(kept.rows.len() <= 8 * 64, "{at}");
        }
        bytes[at] = before;
    }
    for length in (0..bytes.len()).step_by(50_021) {
        let _ = read(&bytes[..length]);
    }
}

/// A status block says which times are complete. An event at exactly this time must wait, because
/// another thread may still record an event with the same time.
#[test]
fn events_wait_until_their_time_is_complete() {
    let words = memory();
    let image = image(&words);
    let writers = [writer(&image, 0), writer(&image, 1)];
    let mut log = Log::new(Vec::new(), Take::Out);
    for (stamp, number) in [(1090, 1), (1100, 3), (1100, 4)] {
        writers[1].push(&image, 64, stamp, &[number, 0], &[]).unwrap();
    }
    log.drain_image(&image, 1100).unwrap();
    let (_, early) = in_pieces("native", &Settings::default(), log.sink(), 1).unwrap();
    writers[0].push(&image, 64, 1100, &[2, 0], &[]).unwrap();
    log.drain_image(&image, 1101).unwrap();
    let log = log.close_image(&image, 1 << 40).unwrap();
    for piece in [1, 64, log.len()] {
        let (trace, kept) = in_pieces("native", &Settings::default(), &log, piece).unwrap();
        assert_eq!(numbers(&trace, &kept), [1, 2, 3, 4], "pieces of {piece}");
        assert_eq!(trace.diagnostics.worst(), None, "pieces of {piece}");
        assert_eq!(early.rows.len(), 3);
    }
}

#[test]
fn a_lane_above_4095_is_damage() {
    let words = memory();
    let image = image(&words);
    writer(&image, 0).push(&image, 64, 1000, &[5, 0], &[]).unwrap();
    let mut log = Log::new(Vec::new(), Take::Out);
    log.drain_image(&image, 1001).unwrap();
    let bytes = log.close_image(&image, 1 << 40).unwrap();
    let mut at = 0;
    let place = loop {
        let block::Lookup::Block(found) = block::find(&bytes[at..]) else { panic!() };
        let end = at + block::HEAD + found.body.len();
        if found.kind == Some(block::Kind::Packet) {
            break at..end;
        }
        at = end;
    };
    for (lane, events) in [(0, 1), (4095, 1), (4096, 0), (u32::MAX, 0)] {
        let mut changed = bytes.clone();
        let packet = &mut changed[place.clone()];
        let block::Lookup::Block(found) = block::find(&bytes[at..]) else { panic!() };
        let header = PacketHeader::read(&packet[block::HEAD..]).unwrap();
        let words = PacketHeader { lane, ..header }.words();
        put_words(&mut packet[block::HEAD..], &words).unwrap();
        block::seal(packet, block::Kind::Packet, found.number).unwrap();
        let (trace, kept) = read(&changed).unwrap();
        assert_eq!(kept.rows.len(), events, "{lane}");
        let damage: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
        let message = format!(
            "damaged: at byte {}: expected the header of a packet with a lane below 4096",
            place.start + block::HEAD
        );
        assert_eq!(damage.contains(&message), events == 0, "{lane}: {damage:?}");
    }
}

#[test]
fn an_image_is_decoded_when_all_its_bytes_have_arrived() {
    const HEADER: usize = ImageHeader::WORDS * WORD;
    let words = memory();
    let image = image(&words);
    writer(&image, 0).push(&image, 64, 1000, &[5, 0], &[]).unwrap();
    let bytes = native::bytes(&words);
    let total = GEOMETRY.total() * WORD;
    assert_eq!(bytes.len(), total);
    // The decoder may get more bytes than it needs.
    let bytes = [bytes, vec![0xAA; WORD]].concat();
    let decode = |length: usize, last: bool| {
        let mut decoder = format::by_name("native").unwrap().decoder(&Settings::default()).unwrap();
        let (mut trace, mut kept) = (decoder.trace(), EventLog::default());
        let window = Window { offset: 0, bytes: &bytes[..length], last };
        let progress = decoder.decode(window, &mut trace, &mut kept);
        let diagnostics: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
        (progress, kept.rows.len(), diagnostics)
    };
    for (length, wanted) in [
        (0, WORD),
        (WORD - 1, WORD),
        (WORD, HEADER),
        (HEADER - 1, HEADER),
        (HEADER, total),
        (total - 1, total),
    ] {
        let more = (Ok(Progress::More { consumed: 0, wanted }), 0, vec![]);
        assert_eq!(decode(length, false), more, "{length}");
    }
    for (length, last) in [(total, false), (total, true), (total + WORD, false)] {
        assert_eq!(decode(length, last), (Ok(Progress::Done), 1, vec![]), "{length}");
    }
    for length in [HEADER, total - 1] {
        let (progress, rows, diagnostics) = decode(length, true);
        assert_eq!((progress, rows), (Ok(Progress::Done), usize::from(length > HEADER)));
        let message = format!(
            "damaged: at byte {length}: expected {total} bytes of a stream's memory, found {length}"
        );
        assert_eq!(diagnostics, [message]);
    }
}

/// Damages one record of an image at a time. The reader cannot find the records that follow it in
/// the same packet, but those of later packets. Another thread records at the same time.
#[test]
fn damage_in_a_packet_is_one_loss_at_its_place() {
    const EVENTS: u64 = 60;
    const FIRST: u64 = 0xABCD_0000;
    let words = memory();
    let image = image(&words);
    let writers = [writer(&image, 0), writer(&image, 1)];
    for number in 0..EVENTS {
        writers[0].push(&image, 64, 1000 + 10 * number, &[FIRST + number, 0], &[]).unwrap();
        writers[1].push(&image, 64, 1005 + 10 * number, &[number, 0], &[]).unwrap();
    }
    let bytes = native::bytes(&words);
    let (whole, kept) = read(&bytes).unwrap();
    assert_eq!((kept.rows.len() as u64, whole.losses.is_empty()), (2 * EVENTS, true));
    let mut continued = 0;
    for number in 0..EVENTS {
        let argument = (FIRST + number).to_le_bytes();
        let at = bytes.windows(8).position(|word| word == argument).unwrap();
        let mut damaged = bytes.clone();
        // The last two bytes of a header are the number of words.
        damaged[at - 2..at].fill(0xFF);
        let (trace, kept) = read(&damaged).unwrap();
        let (found, others): (Vec<u64>, Vec<u64>) =
            numbers(&trace, &kept).into_iter().partition(|argument| *argument >= FIRST);
        assert_eq!(others, (0..EVENTS).collect::<Vec<_>>(), "{number}");
        assert!(found.iter().take(number as usize).copied().eq(FIRST..FIRST + number), "{number}");
        assert_eq!(trace.diagnostics.worst(), Some(Severity::Damage), "{number}");
        let [loss] = &kept.losses[..] else { panic!("{number}: {:?}", kept.losses) };
        assert_eq!(loss.cause, LossCause::Damaged, "{number}");
        // The loss follows the lane's events up to the damage. The two threads take turns.
        let before = 2 * number;
        assert!((before.saturating_sub(1)..=before).contains(&loss.before), "{number}: {loss:?}");
        assert_eq!(loss.events, None, "{number}");
        continued += u64::from(found.last().is_some_and(|last| *last > FIRST + number));
    }
    assert!(continued > 20 && continued < EVENTS, "{continued}");
}

/// The fuzzer's corpus contains this log.
#[test]
fn the_corpus_has_the_small_log() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/native/small_log");
    let (log, _) = small_log();
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(path, &log).unwrap();
    }
    assert_eq!(std::fs::read(path).unwrap(), log);
}
