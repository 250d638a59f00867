//! Tests reading several dumps of one run as one history: every event once, exact gaps, one
//! registry.

#[path = "support/dump.rs"]
mod dump;
mod support;

use dump::{Dump, USUAL, event, thread};
use std::path::PathBuf;

use support::{EventLog, in_pieces, settings};
use tracewell::input::{Input, Settings};
use tracewell::model::{Direction, LossCause, Severity, Trace};
use tracewell_wire::threadx::{Event, Layout, Width};

const A: u64 = 0x2100_0000;
const SLOTS: u64 = 8;

/// Creates the event with this number; the first event of the ring has number 0.
fn nth(number: u64) -> Event {
    let id = if number < 2 { 6 } else { 83 };
    event(A, id, 1000 + 10 * number)
}

/// Returns the ring after this number of events.
fn ring(layout: Layout, recorded: u64) -> Vec<u8> {
    let newest = |slot: u64| (0..recorded).rev().find(|number| number % SLOTS == slot);
    let events = (0..SLOTS).map(|slot| newest(slot).map_or(Event::UNUSED, nth)).collect();
    let next = usize::try_from(recorded % SLOTS).unwrap();
    Dump::new(layout, vec![thread(A, "alpha")], events, next).bytes()
}

fn joined(dumps: &[Vec<u8>]) -> (Trace, EventLog) {
    let mut bytes = Vec::new();
    let mut parts = Vec::new();
    for dump in dumps {
        parts.push(bytes.len().to_string());
        bytes.extend_from_slice(dump);
    }
    let option = format!("parts={}", parts[1..].join(","));
    let options: &[&str] = if parts.len() > 1 { &[&option] } else { &[] };
    read(bytes, options)
}

fn read(bytes: Vec<u8>, options: &[&str]) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let trace =
        Input::from_bytes("dumps", bytes, settings(options)).unwrap().read(&mut kept).unwrap();
    (trace, kept)
}

/// Returns the sequence numbers of the events, and the gaps. A gap consists of the next event's
/// sequence number and a count of missing events.
fn history((trace, kept): &(Trace, EventLog)) -> (Vec<u64>, Vec<(u64, Option<u64>)>) {
    let layout = tracewell::format::threadx::layout(trace);
    let numbers = kept.rows.iter().map(|row| {
        let number = (Event::read(layout, &row.record).unwrap().stamp - 1000) / 10;
        let first = (Event::read(layout, &kept.rows[0].record).unwrap().stamp - 1000) / 10;
        assert_eq!(row.ticks, 10 * (number - first), "ticks continue across dumps");
        number
    });
    let gaps = kept.losses.iter().map(|loss| (loss.before, loss.events)).collect();
    (numbers.collect(), gaps)
}

#[test]
fn every_two_dumps_of_a_ring_are_one_history_with_exact_gaps() {
    for (first, second) in (0..3 * SLOTS).flat_map(|a| (a..3 * SLOTS).map(move |b| (a, b))) {
        let place = format!("after {first} and {second} events");
        let both = joined(&[ring(USUAL, first), ring(USUAL, second)]);
        let (numbers, gaps) = history(&both);
        let held = |recorded: u64| recorded.saturating_sub(SLOTS)..recorded;
        let expected: Vec<_> =
            held(first).chain(held(second).filter(|number| *number >= first)).collect();
        assert_eq!(numbers, expected, "{place}");
        let lost_first = (first > SLOTS).then_some((0, None));
        let missing = held(second).start.saturating_sub(first);
        // The reader can count the missing events only if the first dump has events, and if fewer
        // events are missing than the ring has slots.
        let known = (first > 0 && missing < SLOTS).then_some(missing);
        let before = held(first).end - held(first).start;
        let between = (missing > 0).then_some((before, known));
        let expected: Vec<_> = lost_first.into_iter().chain(between).collect();
        assert_eq!(gaps, expected, "{place}");
    }
}

#[test]
fn dumps_at_each_full_buffer_are_joined_without_a_gap() {
    let dumps: Vec<_> = (1..=5).map(|round| ring(USUAL, round * SLOTS)).collect();
    let both = joined(&dumps);
    let (numbers, gaps) = history(&both);
    assert_eq!(numbers, (0..5 * SLOTS).collect::<Vec<_>>());
    assert_eq!(gaps, []);
    assert_eq!(both.0.fact("dumps"), Some(5));
    assert_eq!(both.0.objects.len(), 1, "the thread is the same in each");
    assert_eq!(both.0.losses.events(), Some(0));
}

#[test]
fn a_pause_in_which_a_round_could_have_passed_is_a_gap_of_unknown_size() {
    let mut late = ring(USUAL, 2 * SLOTS);
    // All timestamps of the second dump are later by ten laps.
    let events = late.len() - 8 * 32;
    for slot in 0..8 {
        let at = events + slot * 32 + 12;
        let stamp = u32::from_le_bytes(late[at..at + 4].try_into().unwrap()) + 800;
        late[at..at + 4].copy_from_slice(&stamp.to_le_bytes());
    }
    let (trace, kept) = joined(&[ring(USUAL, SLOTS), late]);
    assert_eq!(kept.rows.len(), 16);
    assert_eq!(kept.losses.len(), 1);
    assert_eq!((kept.losses[0].before, kept.losses[0].events), (8, None));
    assert_eq!(kept.losses[0].cause, LossCause::Overwritten);
    let said = trace.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(
        said[0].contains("0 events are missing") && said[0].contains("multiple of 8"),
        "{said:?}"
    );
}

/// Returns a ring in which all slots are used, or only those before `next`. The oldest event has
/// the timestamp `first`, and each further event is `step` ticks later than the previous one.
fn later(first: u64, step: u64, next: u64, is_full: bool) -> Vec<u8> {
    let oldest = if is_full { next } else { 0 };
    let events = (0..SLOTS).map(|slot| {
        let number = (slot + SLOTS - oldest) % SLOTS;
        if is_full || slot < next { event(A, 83, first + step * number) } else { Event::UNUSED }
    });
    Dump::new(USUAL, vec![thread(A, "alpha")], events.collect(), next as usize).bytes()
}

/// The reader knows the size of the gap between two dumps if the missing events and half a ring of
/// further events do not fit into the pause, at the higher rate of the two dumps.
#[test]
fn a_gap_is_counted_if_the_pause_is_shorter_than_half_a_round_more() {
    // The step of the second dump, the slot that it writes next, whether it is full, and the
    // shortest pause after which the size of the gap is unknown. The first dump has a step of 16,
    // so its events take 112 ticks: pause / 112 = (missing + 4) / 8.
    for (step, next, is_full, limit) in [
        (16, 0, true, 56),
        (16, 3, true, 98),
        (20, 3, true, 98),
        // Here, the events of the second dump take 56 ticks.
        (8, 3, true, 49),
        (8, 4, true, 56),
        // A ring that is not full has no rate.
        (8, 4, false, 112),
    ] {
        for pause in [1, limit - 1, limit, limit + 1] {
            let first = later(1000, 16, 0, true);
            let place = first.len() as u64;
            let second = later(1000 + 7 * 16 + pause, step, next, is_full);
            let (trace, kept) = joined(&[first, second]);
            let what = format!("step {step}, slot {next}, pause {pause}");
            assert_eq!(kept.rows[8].ticks, 7 * 16 + pause, "{what}");
            let between: Vec<_> = kept.losses.iter().filter(|loss| loss.before == 8).collect();
            let is_known = pause < limit;
            assert_eq!(between.len(), usize::from(next > 0 || !is_known), "{what}");
            for loss in between {
                let events = is_known.then_some(next);
                assert_eq!((loss.events, loss.cause), (events, LossCause::Overwritten), "{what}");
                assert_eq!(loss.offset, place + place - 32 * (SLOTS - next), "{what}");
            }
            let notes: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
            let missing = notes.iter().filter(|note| note.contains("perhaps a multiple of 8 more"));
            assert_eq!(missing.count(), usize::from(!is_known), "{what}: {notes:?}");
        }
    }
}

#[test]
fn a_second_dump_in_one_file_is_read_if_it_is_of_the_same_ring_and_reported_otherwise() {
    let same = [ring(USUAL, 5), ring(USUAL, 7)].concat();
    let (trace, kept) = read(same, &[]);
    assert_eq!(kept.rows.len(), 7);
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Note));
    let mut other = Dump::small(USUAL);
    other.header.trace_base_address += 0x1000;
    let mut header = other.header;
    for place in [&mut header.registry_start, &mut header.registry_end, &mut header.buffer_start] {
        *place += 0x1000;
    }
    header.buffer_end += 0x1000;
    header.buffer_current += 0x1000;
    other.header = header;
    let first = ring(USUAL, 5);
    let (trace, kept) = read([first.clone(), other.bytes()].concat(), &[]);
    assert_eq!(kept.rows.len(), 5);
    let said: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
    let place = first.len();
    assert!(said[0].contains(&format!("-O offset={place} reads it")), "{said:?}");
    assert!(said[1].contains("bytes from here on belong to no dump"), "{said:?}");
}

#[test]
fn a_dump_of_another_target_is_not_joined() {
    let (trace, kept) =
        joined(&[ring(USUAL, 5), ring(Layout { width: Width::Bits64, ..USUAL }, 7)]);
    assert_eq!(kept.rows.len(), 5);
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Damage));
}

#[test]
fn joined_dumps_are_read_alike_whole_and_in_pieces() {
    let dumps = [ring(USUAL, 5), ring(USUAL, 12), ring(USUAL, 30)];
    let whole = joined(&dumps).1;
    let length = dumps[0].len();
    let settings = Settings { parts: vec![length, 2 * length], ..Settings::default() };
    let bytes = dumps.concat();
    for piece in [1, 7, 100, 1000] {
        let (_, kept) = in_pieces("threadx", &settings, &bytes, piece).unwrap();
        assert_eq!(kept, whole, "{piece}");
    }
}

#[test]
fn an_object_that_took_a_slot_between_two_dumps_is_another() {
    let first = ring(USUAL, 5);
    let events = (0..SLOTS).map(|slot| if slot < 7 { nth(slot) } else { Event::UNUSED }).collect();
    let second = Dump::new(USUAL, vec![thread(A, "omega")], events, 7).bytes();
    let (trace, kept) = joined(&[first, second]);
    let name = |row: usize| trace.contexts.get(kept.rows[row].context).unwrap().name.as_str();
    assert_eq!((kept.rows.len(), name(4), name(5)), (7, "alpha", "omega"));
    // The address refers to the other thread only from the later dump's first new event on.
    let owner = |row: usize| {
        let (_, object) = trace.objects.at(A, kept.rows[row].ticks, Some(1)).unwrap();
        object.label.as_str()
    };
    assert_eq!((owner(4), owner(5)), ("alpha", "omega"));
}

#[test]
fn slots_that_one_of_two_dumps_lacks_do_not_separate_the_dumps() {
    // The end of the first dump was lost: its last two slots, both used.
    let mut first = ring(USUAL, 12);
    first.truncate(first.len() - 2 * USUAL.event_size());
    let (numbers, gaps) = history(&joined(&[first, ring(USUAL, 14)]));
    assert_eq!(numbers, [4, 5, 8, 9, 10, 11, 12, 13]);
    // The ring had overwritten the events before event 4, and the lost slots contained 6 and 7.
    assert_eq!(gaps, [(0, None), (2, Some(2))]);
}

/// Returns the messages of this severity.
fn said(trace: &Trace, severity: Severity) -> Vec<String> {
    let diagnostics = trace.diagnostics.iter().filter(|said| said.severity == severity);
    diagnostics.map(ToString::to_string).collect()
}

#[test]
fn a_file_that_is_no_dump_does_not_hide_the_others() {
    let dumps = [ring(USUAL, 5), ring(USUAL, 12)];
    let expected = history(&joined(&dumps));
    let garbage = b"no dump of anything".to_vec();
    let cut = dumps[0][..30].to_vec();
    for bad in [&garbage, &cut] {
        for place in 0..=2 {
            let mut files = dumps.to_vec();
            files.insert(place, bad.clone());
            let both = joined(&files);
            let what = format!("{} bytes at place {place}", bad.len());
            assert_eq!(history(&both), expected, "{what}");
            let start: usize = files[..place].iter().map(Vec::len).sum();
            let damage = said(&both.0, Severity::Damage);
            assert_eq!(damage.len(), 1, "{what}: {damage:?}");
            assert!(damage[0].starts_with(&format!("damaged: at byte {start}: ")), "{damage:?}");
        }
    }
    // If no file is a dump, the error of the first file is reported.
    let bytes = [cut.clone(), cut].concat();
    let mut input = Input::from_bytes("dumps", bytes, settings(&["parts=30"])).unwrap();
    let error = input.read(&mut EventLog::default()).unwrap_err().to_string();
    assert!(error.starts_with("dumps: at byte 0: too short: "), "{error}");
}

/// Writes bytes in an encoding.
type Encode = fn(&[u8]) -> Vec<u8>;

/// Writes bytes as Intel HEX with 16-bit addresses.
fn intel_hex(bytes: &[u8]) -> Vec<u8> {
    let line = |(at, data): (usize, &[u8])| {
        let [high, low] = (16 * at as u16).to_be_bytes();
        let mut record = vec![data.len() as u8, high, low, 0];
        record.extend_from_slice(data);
        format!(":{}{:02X}\n", digits(&record), sum_of(&record).wrapping_neg())
    };
    let lines: String = bytes.chunks(16).enumerate().map(line).collect();
    (lines + ":00000001FF\n").into_bytes()
}

/// Writes bytes as S-records with 16-bit addresses.
fn s_records(bytes: &[u8]) -> Vec<u8> {
    let line = |(at, data): (usize, &[u8])| {
        let [high, low] = (16 * at as u16).to_be_bytes();
        let mut record = vec![data.len() as u8 + 3, high, low];
        record.extend_from_slice(data);
        format!("S1{}{:02X}\n", digits(&record), !sum_of(&record))
    };
    let lines: String = bytes.chunks(16).enumerate().map(line).collect();
    (lines + "S9030000FC\n").into_bytes()
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn sum_of(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// Reads files with these contents as one run. Each content has the name of its file.
fn joined_files(contents: &[(&str, Vec<u8>)]) -> (Trace, EventLog) {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = contents.iter().map(|(name, _)| folder.path().join(name)).collect();
    for ((_, content), file) in contents.iter().zip(&files) {
        std::fs::write(file, content).unwrap();
    }
    let mut kept = EventLog::default();
    let trace = Input::open_run(&files, settings(&[])).unwrap().read(&mut kept).unwrap();
    (trace, kept)
}

#[test]
fn each_file_of_a_run_may_be_text() {
    let dumps = [ring(USUAL, 5), ring(USUAL, 12), ring(USUAL, 30)];
    let expected = history(&joined(&dumps));
    let encodings: [Encode; 3] = [intel_hex, s_records, <[u8]>::to_vec];
    for first in 0..3 {
        for second in 0..3 {
            let files = [first, second, (first + second) % 3].map(|kind| encodings[kind]);
            let contents: Vec<_> = ["a", "b", "c"]
                .into_iter()
                .zip(files)
                .zip(&dumps)
                .map(|((name, encode), dump)| (name, encode(dump)))
                .collect();
            let both = joined_files(&contents);
            assert_eq!(history(&both), expected, "{first} {second}");
            assert!(both.0.diagnostics.worst() <= Some(Severity::Note), "{:?}", both.0.diagnostics);
            // A note states the encoding of each file.
            let notes = said(&both.0, Severity::Note);
            let is_text = |(_, content): &(&str, Vec<u8>)| content.is_ascii();
            let texts: Vec<_> = contents.iter().filter(|file| is_text(file)).collect();
            let note = |name: &str| format!("note: {name}: decoded from ");
            assert!(
                texts.iter().all(|(name, _)| {
                    notes.iter().filter(|said| said.starts_with(&note(name))).count() == 1
                }),
                "{notes:?}"
            );
        }
    }
}

#[test]
fn the_faults_in_the_text_of_a_file_are_reported_with_its_name() {
    let dumps = [ring(USUAL, 5), ring(USUAL, 12)];
    let mut text = intel_hex(&dumps[1]);
    text.extend_from_slice(b":00\n");
    let (trace, kept) = joined_files(&[("a.hex", intel_hex(&dumps[0])), ("b.hex", text)]);
    assert_eq!(kept.rows.len(), 12);
    let warnings: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|said| said.contains("b.hex: line ")), "{warnings:?}");
}

#[test]
fn an_empty_file_of_a_run_is_damage_as_is_one_that_cannot_be_decompressed() {
    let dumps = [ring(USUAL, 5), ring(USUAL, 12)];
    let expected = history(&joined(&dumps));
    for (bad, message) in [
        (&b""[..], "damaged: bad: expected a part of the trace, found an empty file"),
        (b"\x1F\x8B\x08garbage", "damaged: bad: "),
    ] {
        for place in 0..=2 {
            let mut contents = vec![("a", dumps[0].clone()), ("b", dumps[1].clone())];
            contents.insert(place, ("bad", bad.to_vec()));
            let both = joined_files(&contents);
            assert_eq!(history(&both), expected, "{place}");
            let damage = said(&both.0, Severity::Damage);
            assert!(damage.len() == 1 && damage[0].starts_with(message), "{place}: {damage:?}");
        }
    }
    // The name of a missing file is probably wrong, so it is an error, as for a single file.
    let folder = tempfile::tempdir().unwrap();
    let files = ["a", "missing"].map(|name| folder.path().join(name));
    std::fs::write(&files[0], &dumps[0]).unwrap();
    let error = Input::open_run(&files, settings(&[])).unwrap_err().to_string();
    assert!(error.starts_with(&files[1].display().to_string()), "{error}");
    // If no file can be decompressed, the fault of the first file is reported.
    for file in &files {
        std::fs::write(file, b"\x1F\x8B\x08garbage").unwrap();
    }
    let error = Input::open_run(&files, settings(&[])).unwrap_err().to_string();
    assert!(error.starts_with(&files[0].display().to_string()), "{error}");
}

/// A ring of 40 slots with these timestamps, which has not wrapped.
fn stamps(mask: u64, stamps: impl Iterator<Item = u64>) -> Vec<u8> {
    let id = |number: usize| if number < 2 { 6 } else { 83 };
    let events = stamps.enumerate().map(|(number, stamp)| event(A, id(number), stamp));
    let mut events: Vec<_> = events.collect();
    let next = events.len();
    events.resize(40, Event::UNUSED);
    let mut dump = Dump::new(USUAL, vec![thread(A, "alpha")], events, next);
    dump.header.timer_valid_mask = mask;
    dump.bytes()
}

const MASK: u64 = u32::MAX as u64;
const SECOND: u64 = 1_000_000_000;

/// Returns two dumps of a Linux port. The clock passes the end of a second after the first dump.
fn within_seconds() -> [Vec<u8>; 2] {
    let first = (0..10).map(|number| SECOND / 2 + 1000 * number);
    let later = first.clone().chain((0..10).map(|number| 1000 * number));
    [stamps(MASK, first), stamps(MASK, later)]
}

/// Returns a dump without events, and a later dump of a 16-bit counter that counts down.
fn counting_down() -> [Vec<u8>; 2] {
    let later = (0..20).map(|number| 60_000 - 100 * number);
    [stamps(0xFFFF, std::iter::empty()), stamps(0xFFFF, later)]
}

#[test]
fn the_clock_is_inferred_from_all_dumps() {
    let dumps = within_seconds();
    for both in [joined(&dumps), read(dumps.concat(), &[])] {
        let clock = &both.0.clock;
        assert_eq!((clock.counter.last, clock.rate.is_some()), (SECOND - 1, true));
        assert_eq!(both.1.rows[10].ticks, SECOND / 2);
        assert_eq!(said(&both.0, Severity::Warning), [""; 0]);
    }
    let dumps = counting_down();
    for both in [joined(&dumps), read(dumps.concat(), &[])] {
        assert_eq!(both.0.clock.counter.direction, Direction::Down);
        assert_eq!((both.1.rows.len(), both.1.rows[19].ticks), (20, 1900));
        assert_eq!(said(&both.0, Severity::Warning), [""; 0]);
    }
    // The user's options override what the dumps show.
    let (trace, _) = read(dumps.concat(), &["direction=up", "modulus=65000"]);
    let counter = trace.clock.counter;
    assert_eq!((counter.direction, counter.last), (Direction::Up, 64_999));
}

#[test]
fn the_first_events_have_the_same_clock_as_all_events() {
    for dumps in [within_seconds(), counting_down()] {
        let clock = joined(&dumps).0.clock.counter;
        let settings = settings(&[&format!("parts={}", dumps[0].len())]);
        let mut input = Input::from_bytes("dumps", dumps.concat(), settings).unwrap();
        input.set_only_first(Some(3));
        let trace = input.read(&mut EventLog::default()).unwrap();
        assert_eq!(trace.clock.counter, clock);
    }
}

#[test]
fn a_dump_that_arrives_later_and_contradicts_the_clock_causes_a_warning() {
    for (dumps, options) in
        [(within_seconds(), ["modulus=4294967296"]), (counting_down(), ["direction=up"])]
    {
        let place = dumps[0].len();
        let warnings = |options: &[&str]| {
            // The search for a later dump needs some bytes, here less than the first dump has.
            let settings = settings(&[&["search=64"], options].concat());
            let (trace, _) = in_pieces("threadx", &settings, &dumps.concat(), 100).unwrap();
            said(&trace, Severity::Warning)
        };
        let warned = warnings(&[]);
        let expected = format!(
            "warning: at byte {place}: the timestamps of this dump contradict the clock of the \
             earlier dumps, so times may be wrong; -O direction= and -O modulus= set the clock"
        );
        assert_eq!(warned, [expected]);
        assert_eq!(warnings(&options), [""; 0]);
    }
    // A dump without a contradiction causes no warning: a single step back is a wrap.
    let steps = |first: u64| (0..9).map(move |step| (first + 0x1000 * step) & 0xFFFF);
    let [first, second] = [steps(0), steps(0xE000)].map(|stamped| stamps(0xFFFF, stamped));
    let settings = settings(&["search=64"]);
    let (trace, _) = in_pieces("threadx", &settings, &[first, second].concat(), 100).unwrap();
    assert_eq!(said(&trace, Severity::Warning), [""; 0]);
}

#[test]
fn remarks_on_the_clock_are_about_all_dumps() {
    // A counter that wraps once in each dump counts up.
    let wrapping = |start: u64| (0..20).map(move |step| (start + 5000 * step) & 0xFFFF);
    let dumps: Vec<_> = (0..5).map(|dump| stamps(0xFFFF, wrapping(7000 * dump))).collect();
    assert_eq!(said(&joined(&dumps).0, Severity::Warning), [""; 0]);
    // A dump with many steps back causes a warning, even if the other dumps are in order.
    let rising = |start: u64| (0..20).map(move |step| start + 100 * step);
    let mut dumps: Vec<_> = (0..5).map(|dump| stamps(0xFFFF, rising(3000 * dump))).collect();
    dumps.insert(2, stamps(0xFFFF, (0..10).map(|step| 1000 + 100 * step - 150 * (step % 2))));
    let warned = said(&joined(&dumps).0, Severity::Warning);
    assert!(warned.len() == 1 && warned[0].contains("run in both directions"), "{warned:?}");
    // Two dumps with one event each: the clock ran between them.
    let one = |stamp: u64| stamps(MASK, std::iter::once(stamp));
    assert_eq!(said(&joined(&[one(100), one(200)]).0, Severity::Warning), [""; 0]);
    let still = |events: usize| stamps(MASK, std::iter::repeat_n(5, events));
    for dumps in [[still(0), still(3)], [still(2), still(4)]] {
        let warned = said(&joined(&dumps).0, Severity::Warning);
        assert!(warned.len() == 1 && warned[0].contains("every timestamp is 5:"), "{warned:?}");
    }
}
