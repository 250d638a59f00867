//! Compares the S.Ha.R.K. reader with the expected results of every set: all columns, all rows.

mod support;

use std::path::PathBuf;

use support::shark::{Set, sets};
use support::{EventLog, number};
use tracewell::model::{Clock, FactForm, LossCause, Severity, Trace};
use tracewell_wire::shark::{Record, ids};

/// The first `trace_start`, from which the expected results count times.
fn origin(clock: &Clock, kept: &EventLog) -> i64 {
    let start = kept.rows.iter().find(|row| row.id == u32::from(ids::TRACE_START));
    start.map_or(0, |row| clock.nanoseconds(row.ticks).unwrap() as i64)
}

fn check(set: &Set, files: &[PathBuf]) -> (Trace, EventLog) {
    let (trace, kept) = set.read(files);
    let expected = set.expected("events");
    assert_eq!(kept.rows.len(), expected.len(), "{}", set.name);
    let origin = origin(&trace.clock, &kept);
    for (row, expected) in kept.rows.iter().zip(&expected) {
        let place = format!("{} event {}", set.name, row.seq);
        let record = Record::read(&row.record).unwrap();
        assert_eq!(row.seq, number(&expected["seq"]), "{place}");
        assert_eq!(record.tsc, number(&expected["tsc"]), "{place}");
        assert_eq!(row.ticks, record.tsc - trace.clock.first_stamp, "{place}");
        let time = trace.clock.nanoseconds(row.ticks).unwrap() as i64 - origin;
        assert_eq!(time.to_string(), expected["time_ns"], "{place}");
        assert_eq!(u64::from(record.code_word), number(&expected["code_word"]), "{place}");
        assert_eq!(u64::from(row.id), number(&expected["code"]), "{place}");
        assert_eq!(trace.schema.event(row.id).label, expected["event"], "{place}");
        assert_eq!(u64::from(record.par2), number(&expected["par2"]), "{place}");
        let par1 = trace.payload.argument(&row.payload, 0);
        assert_eq!(par1, Some(number(&expected["par1"])), "{place}");
        let par2 = (expected["par2_valid"] == "1").then(|| number(&expected["par2"]));
        assert_eq!(trace.payload.argument(&row.payload, 1), par2, "{place}");
    }
    (trace, kept)
}

#[test]
fn events_of_files_agree_with_the_expected_answers() {
    for set in sets() {
        let (trace, kept) = check(&set, &set.files());
        assert_eq!(trace.facts[0].form, FactForm::Text("records"));
        let wrapped = trace.fact("descents").unwrap() > 0;
        let causes: Vec<_> = kept.losses.iter().map(|loss| loss.cause).collect();
        assert_eq!(causes, vec![LossCause::Overwritten; usize::from(wrapped)], "{}", set.name);
    }
}

#[test]
fn records_are_at_the_expected_positions() {
    for set in sets() {
        let (files, expected) = (set.files(), set.expected("events"));
        let (trace, kept) = set.read(&files);
        assert_eq!(trace.fact("parts").unwrap() as usize, files.len());
        let bytes: Vec<_> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
        for (row, expected) in kept.rows.iter().zip(&expected) {
            let slot = 16 * number(&expected["slot"]) as usize;
            let part = files.iter().position(|file| file.ends_with(&expected["file"])).unwrap();
            assert_eq!(row.record, bytes[part][slot..slot + 16], "{} {}", set.name, row.seq);
        }
    }
}

#[test]
fn a_file_that_holds_no_records_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.dat");
    std::fs::write(&bad, "no records at all").unwrap();
    let set = sets().into_iter().find(|set| set.files().len() > 1).unwrap();
    let expected = set.read(&set.files()).1;
    for place in 0..=set.files().len() {
        let mut files = set.files();
        files.insert(place, bad.clone());
        let (trace, kept) = set.read(&files);
        let events = |log: &EventLog| -> Vec<_> {
            log.rows.iter().map(|row| (row.ticks, row.id, row.record.clone())).collect()
        };
        assert_eq!(events(&kept), events(&expected), "{place}");
        let damage = trace.diagnostics.iter().filter(|said| said.severity == Severity::Damage);
        let damage: Vec<_> = damage.map(|said| said.message.as_str()).collect();
        assert_eq!(damage.len(), 1, "{damage:?}");
        assert!(damage[0].starts_with("expected records of S.Ha.R.K.'s new tracer"), "{damage:?}");
    }
}

#[test]
fn chunk_images_hold_the_same_events() {
    for set in sets() {
        let one = set.folder.join(format!("{}.raw", set.name));
        let chunk = |n: usize| set.folder.join(format!("{}.chunk{n}.raw", set.name));
        let images: Vec<_> = std::iter::once(one).chain((0..3).map(chunk)).collect();
        let images: Vec<_> = images.into_iter().filter(|image| image.exists()).collect();
        assert_eq!(images.len(), set.files().len(), "{}", set.name);
        let (trace, _) = check(&set, &images);
        assert!(trace.fact("empty_slots").unwrap() > 0, "{}", set.name);
    }
}

#[test]
fn captures_hold_the_same_events() {
    let captures: Vec<_> = sets()
        .into_iter()
        .map(|set| (set.folder.join(format!("{}.udpcap", set.name)), set))
        .filter(|(capture, _)| capture.exists())
        .collect();
    assert!(!captures.is_empty());
    for (capture, set) in captures {
        let (trace, kept) = check(&set, &[capture]);
        assert_eq!(trace.facts[0].form, FactForm::Text("capture"));
        assert!(trace.losses.is_empty() && kept.losses.is_empty());
    }
}

#[test]
fn a_chunk_whose_area_is_not_a_multiple_of_a_record_is_complete() {
    let bytes = std::fs::read(support::fixture("shark/odd_size.chunk.raw")).unwrap();
    assert_eq!((bytes.len() - 48) % Record::SIZE, 4);
    let mut kept = EventLog::default();
    let settings = support::settings(&[]);
    let trace =
        tracewell::input::Input::from_bytes("odd", bytes, settings).unwrap().read(&mut kept);
    let trace = trace.unwrap();
    assert_eq!((kept.rows.len(), kept.losses.len()), (101, 0));
    assert_eq!(trace.diagnostics.iter().count(), 0);
}
