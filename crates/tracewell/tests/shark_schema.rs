//! Compares the S.Ha.R.K. schema with the reference table: every code, name, filter and parameter.

mod support;

use support::{number, shared, table};
use tracewell::model::Meaning;
use tracewell::model::schema::ArgumentKind;
use tracewell_wire::shark::ids;

/// Names in the table that no event of the schema has. The first name stands for an empty slot. The
/// second name is another name for the code of a filter record.
const NO_EVENTS: [&str; 2] = ["FTrace_EVT_empty", "FTrace_EVT_user_event_15"];

#[test]
fn every_event_of_the_reference_table_is_there() {
    let Some(shared) = shared() else { return };
    let schema = tracewell::format::shark::schema();
    let rows = table(&shared.join("data/shark/events.tsv"));
    let events: Vec<_> =
        rows.iter().filter(|row| !NO_EVENTS.contains(&row["name"].as_str())).collect();
    // The schema also contains the manual's code for unlocking.
    assert_eq!((rows.len(), schema.events().len()), (events.len() + 2, events.len() + 1));
    for row in events {
        let code = number(&row["code"]) as u8;
        let event = schema.event(u32::from(code));
        assert_eq!(event.name, row["name"], "0x{code:02X}");
        assert_eq!(event.filter, u32::from(ids::filter_bit(code)), "{}", event.name);
        assert_eq!(event.args.len(), 2, "{}", event.name);
        for (argument, column) in event.args.iter().zip(["par1", "par2"]) {
            let told = !matches!(row[column].as_str(), "-" | "0" | "ignored")
                && !row[column].starts_with("0 (undefined");
            let named = argument.kind != ArgumentKind::Unnamed;
            // The schema can name more arguments, for example the level of a deadline miss.
            assert!(named || !told, "{} {column} {}", event.name, row[column]);
        }
        let context = row["par1"].contains("context");
        assert_eq!(context, ids::names_context(code), "{}", event.name);
    }
}

#[test]
fn filter_records_have_the_codes_of_the_reference_table() {
    let Some(shared) = shared() else { return };
    let mut seen = 0;
    for row in table(&shared.join("data/shark/filters.tsv")) {
        if row["name"].starts_with("FTrace_filter_") {
            let family = number(&row["family"]) as u8;
            let code = ids::filter_record(family);
            assert_eq!(u64::from(code), number(&row["code_header"]));
            assert_eq!(tracewell::format::shark::schema().event(u32::from(code)).name, row["name"]);
            seen += 1;
        }
    }
    assert_eq!(seen, 12);
}

#[test]
fn the_events_that_analyses_need_are_defined() {
    let schema = tracewell::format::shark::schema();
    let means = |code: u8| schema.event(u32::from(code)).means.map(|means| means.meaning);
    let expected = [
        (ids::TASK_SCHEDULE, Meaning::Schedule),
        (ids::TASK_ACTIVATE, Meaning::Activate),
        (ids::TASK_TIMER, Meaning::Release),
        (ids::TASK_END_CYCLE, Meaning::Complete),
        (ids::TASK_DEADLINE_MISS, Meaning::DeadlineMissed),
        (ids::TASK_WCET_VIOLATION, Meaning::WcetExceeded),
        (ids::SET_MUTEX_LOCK, Meaning::Lock),
        (ids::SET_MUTEX_UNLOCK, Meaning::Unlock),
        (ids::SERVER_EXHAUST, Meaning::BudgetExhausted),
    ];
    for (code, meaning) in expected {
        assert_eq!(means(code), Some(meaning), "0x{code:02X}");
    }
    let labels: Vec<_> = schema.events().map(|event| event.label.as_str()).collect();
    let mut unique = labels.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), labels.len());
}
