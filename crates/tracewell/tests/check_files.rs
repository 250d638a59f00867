//! Tests rules on traces of every format. Rules that were generated from one trace hold for that
//! trace and for no other.

use std::path::{Path, PathBuf};

use tracewell::check::{Check, Rules, RulesWriter, Verdict, WriteOptions};
use tracewell::input::{Input, Settings};
use tracewell::report;
use tracewell::source::Source;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

const TRACES: [&str; 8] = [
    "examples/scheduling.trx",
    "examples/hooks.twx",
    "crates/tracewell/tests/fixtures/threadx/tiny.trx",
    "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin",
    "crates/tracewell/tests/fixtures/rkh/ahsm-b.bin",
    "crates/tracewell/tests/fixtures/rkh/ahsm-overrun.bin",
    "fuzz/corpus/native/small_log",
    "crates/tracewell/tests/fixtures/shark/b_cyclic.dat",
];

fn open(path: &str) -> Input {
    Input::open(&repository(path), Settings::default()).unwrap()
}

fn verdict(rules: &str, path: &str) -> Verdict {
    let parsed = Rules::parse(&Source::new("test.rules", rules));
    let rules = parsed.rules.unwrap_or_else(|| panic!("{path}: {:?}", parsed.findings));
    let mut check = Check::new(&rules);
    let trace = open(path).read(&mut check).unwrap();
    assert_eq!(rules.unknown_names(&trace), [], "{path}");
    check.verdict(&trace)
}

#[test]
fn rules_of_a_trace_hold_for_it_and_not_for_another() {
    for path in TRACES {
        let mut writer = RulesWriter::new(Vec::new(), path, WriteOptions::default()).unwrap();
        let trace = open(path).read(&mut writer).unwrap();
        let rules = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let found = verdict(&rules, path);
        let source = Source::new("test.rules", rules.clone());
        assert!(
            found.passed(),
            "{path}: {}",
            report::check::text(&source, &found, report::Layout::default())
        );
        assert_eq!((found.steps, found.events), (trace.events, trace.events), "{path}");
        let lines: Vec<_> = rules.lines().filter(|line| !line.starts_with('#')).collect();
        // The first two lines are `strict` and an empty line.
        let head = 2;
        for at in [head, lines.len() / 2, lines.len() - 1] {
            let mut fewer = lines.clone();
            fewer.remove(at);
            assert!(!verdict(&fewer.join("\n"), path).passed(), "{path} without {}", lines[at]);
        }
        let differ = (head..lines.len() - 1).find(|at| lines[*at] != lines[*at + 1]).unwrap();
        let mut swapped = lines.clone();
        swapped.swap(differ, differ + 1);
        assert!(!verdict(&swapped.join("\n"), path).passed(), "{path}");
    }
}

#[test]
fn statements_mean_the_same_on_every_format() {
    for path in TRACES {
        let rules = "
            *(@context = $who)
            *(@context = $who, @ticks >= 0)
            count 2.. *(@family = *)
            never *(@id = 4294967295)
            whenever *(@id = $id) then *
        ";
        // The last event has no response.
        let found = verdict(rules, path);
        let kinds: Vec<_> = found.failures.iter().map(|failure| failure.kind.as_str()).collect();
        assert_eq!(kinds, ["unanswered"], "{path}");
        assert_eq!(found.steps, 2, "{path}");
    }
}

/// The response time of a message depends on events that no pattern names.
#[test]
fn conditions_on_messages_consider_all_events_before_them() {
    let path = "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin";
    for condition in ["nseq >= 0", "rt >= 0"] {
        let verdict = verdict(&format!("count 1.. SMA_GET({condition})"), path);
        assert!(verdict.passed(), "{condition}: {:#?}", verdict.failures);
    }
}
