//! Compares the ThreadX reader with the expected results of every dump: all columns, all rows.

mod support;

use std::path::Path;

use support::{dumps, number, read, table};
use tracewell::format::threadx::layout;
use tracewell::format::{Settings, by_name};
use tracewell::model::{ContextKind, Object};
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::{Event, Layout, PriorityWord, RegistrySlot, Width};

#[test]
fn the_layout_before_the_first_dump_is_the_usual_one() {
    let decoder = by_name("threadx").unwrap().decoder(&Settings::default()).unwrap();
    let usual = Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 };
    assert_eq!(layout(&decoder.trace()), usual);
}

#[test]
fn events_agree_with_the_expected_answers() {
    for (dump, answers) in dumps() {
        if answers.join("events.tsv").exists() {
            // TraceX computes times modulo the mask plus 1, so `check_events` reads the dump in the
            // same way.
            check_events(&dump, &answers.join("events.tsv"));
        }
    }
}

fn check_events(dump: &Path, answers: &Path) {
    let (trace, kept) = read(dump, &["modulus=4294967296"]);
    let mask = trace.fact("timer_valid_mask").unwrap();
    let modulus = format!("modulus={}", mask + 1);
    let (trace, kept) =
        if mask == 0xFFFF_FFFF { (trace, kept) } else { read(dump, &[modulus.as_str()]) };
    let expected: Vec<_> =
        table(answers).into_iter().filter(|row| row["inserted"] == "0").collect();
    assert_eq!(kept.rows.len(), expected.len(), "{}", dump.display());
    for (row, expected) in kept.rows.iter().zip(&expected) {
        let event = Event::read(layout(&trace), &row.record).unwrap();
        let words = |name: &str| number(&expected[name]);
        let context = trace.contexts.get(row.context).unwrap();
        let place = format!("{} event {}", dump.display(), row.seq);
        assert_eq!(context.key, words("context"), "{place}");
        assert_eq!(event.id_word, words("raw_id"), "{place}");
        assert_eq!(event.priority_word, words("raw_priority"), "{place}");
        assert_eq!(u64::from(row.id), words("id"), "{place}");
        assert_eq!(event.stamp & mask, words("time_stamp"), "{place}");
        assert_eq!(row.ticks, words("relative_ticks"), "{place}");
        let info = ["info1", "info2", "info3", "info4"];
        for (index, name) in info.into_iter().enumerate() {
            let argument = trace.payload.argument(&row.payload, index);
            assert_eq!(argument, Some(words(name)), "{place} {name}");
        }
        let threshold = match event.priority() {
            PriorityWord::Thread { threshold: Some(t), .. } => t.to_string(),
            _ => "-".to_owned(),
        };
        assert_eq!(threshold, expected["threshold"], "{place}");
        if context.kind == ContextKind::Thread {
            assert_eq!(u64::from(row.priority.unwrap()), words("priority"), "{place}");
        } else {
            assert_eq!(row.priority, None, "{place}");
        }
    }
}

#[test]
fn objects_agree_with_the_expected_answers() {
    for (dump, answers) in dumps() {
        if answers.join("objects.tsv").exists() {
            check_objects(&dump, &answers.join("objects.tsv"));
        }
    }
}

fn check_objects(dump: &Path, answers: &Path) {
    let (trace, _) = read(dump, &[]);
    let expected = table(answers);
    // TraceX has one unnamed thread per address. Tracewell also lists the earlier objects at an
    // address, so this test leaves them out.
    let earlier = |object: &Object| object.record.is_empty() && object.lifetime.until.is_some();
    let objects: Vec<_> =
        trace.objects.iter().map(|(_, object)| object).filter(|object| !earlier(object)).collect();
    assert_eq!(objects.len(), expected.len(), "{}", dump.display());
    for (object, expected) in objects.into_iter().zip(&expected) {
        let place = format!("{} object {}", dump.display(), expected["index"]);
        assert_eq!(u64::from(object.kind), number(&expected["type"]), "{place}");
        assert_eq!(object.key, number(&expected["address"]), "{place}");
        let slot = RegistrySlot::read(layout(&trace), &object.record);
        let bytes = slot.map_or((0, 0), |slot| (slot.reserved1, slot.reserved2));
        assert_eq!(u64::from(bytes.0), number(&expected["reserved1"]), "{place}");
        assert_eq!(u64::from(bytes.1), number(&expected["reserved2"]), "{place}");
        let parameter = |index: usize| object.parameters.get(index).copied().unwrap_or(0);
        assert_eq!(parameter(0), number(&expected["param1"]), "{place}");
        assert_eq!(parameter(1), number(&expected["param2"]), "{place}");
        if expected["name"] == "Un-named Thread" {
            assert_eq!(object.label, format!("thread 0x{:08X}", object.key), "{place}");
        } else {
            assert_eq!(object.label, expected["name"], "{place}");
        }
    }
}

#[test]
fn headers_agree_with_the_expected_answers() {
    for (dump, answers) in dumps() {
        if !answers.join("header.tsv").exists() {
            continue;
        }
        let (trace, _) = read(&dump, &[]);
        let mut compared = 0;
        for row in table(&answers.join("header.tsv")) {
            if let Some(fact) = trace.fact(&row["field"]) {
                assert_eq!(fact, number(&row["value"]), "{} {}", dump.display(), row["field"]);
                compared += 1;
            }
        }
        assert_eq!(compared, 14, "{}", dump.display());
    }
}

#[test]
fn cores_of_smp_dumps_are_kept() {
    for (dump, answers) in dumps() {
        if !answers.join("events_raw.tsv").exists() {
            continue;
        }
        let (trace, kept) = read(&dump, &[]);
        let expected = table(&answers.join("events_raw.tsv"));
        assert_eq!(kept.rows.len(), expected.len(), "{}", dump.display());
        for (row, expected) in kept.rows.iter().zip(&expected) {
            let event = Event::read(layout(&trace), &row.record).unwrap();
            let place = format!("{} event {}", dump.display(), row.seq);
            assert_eq!(u64::from(row.cpu), number(&expected["core"]), "{place}");
            assert_eq!(u64::from(row.id), number(&expected["id"]), "{place}");
            assert_eq!(event.context, number(&expected["context"]), "{place}");
            assert_eq!(event.priority_word, number(&expected["priority_word"]), "{place}");
            assert_eq!(event.stamp, number(&expected["time_stamp"]), "{place}");
            for (index, name) in ["info1", "info2", "info3", "info4"].into_iter().enumerate() {
                assert_eq!(event.info[index], number(&expected[name]), "{place} {name}");
            }
        }
    }
}

#[test]
fn objects_live_from_their_creation_to_their_deletion() {
    let (trace, _) = read(&support::fixture("threadx/tiny.trx"), &[]);
    let lives = |name: &str| -> Vec<_> {
        let named = trace.objects.iter().filter(|(_, object)| object.label.starts_with(name));
        named.map(|(_, object)| (object.lifetime.from, object.lifetime.until)).collect()
    };
    // Three semaphores lived at one address, and have two slots in total. Three mutexes share one
    // slot. A shared slot contains only the last object.
    assert_eq!(
        lives("dynamic sem"),
        [(Some(15_862), Some(15_884)), (Some(114_344), Some(114_366))]
    );
    assert_eq!(lives("dynamic mutex"), [(Some(114_378), Some(114_381))]);
    assert_eq!(lives("block pool")[0].1, None);
    let at = |ticks| trace.objects.at(0x565D_D200, ticks, None).map(|(id, _)| id.0);
    assert_eq!((at(15_870), at(114_350)), (Some(32), Some(34)));
}
