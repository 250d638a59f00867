//! Compares runs of the simulated system. The comparison must report an intended change, and must
//! not report noise.

use std::path::Path;

#[path = "../../record/examples/scheduling/simulation/mod.rs"]
mod simulation;

use simulation::{Change, Run};
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};
use tracewell::report::Layout;
use tracewell::report::compare::{Finding, FindingKind, Profile, Profiling, compare, text};

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.options.add("rate=100MHz").unwrap();
    settings
}

/// Returns the profile of a run of one second.
fn run(seed: u32, change: Option<Change>) -> Profile {
    let image = simulation::image(&Run { seed, ms: 1000, change });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), image).unwrap();
    profile(file.path())
}

fn profile(path: &Path) -> Profile {
    let mut profiling = Profiling::default();
    let trace = Input::open(path, settings()).unwrap().read(&mut profiling).unwrap();
    profiling.profile(&trace)
}

fn names(findings: &[Finding]) -> Vec<(String, &str)> {
    let name = |kind| match kind {
        FindingKind::Time(measure) => measure.name().to_owned(),
        other => format!("{other:?}"),
    };
    findings.iter().map(|finding| (name(finding.kind), finding.subject.as_str())).collect()
}

#[test]
fn runs_with_different_noise_are_not_different() {
    let runs: Vec<_> = (1..=20).map(|seed| run(seed * 7919, None)).collect();
    for pair in runs.windows(2) {
        let found = compare(&pair[..1], &pair[1..]);
        assert_eq!(names(&found.findings), []);
        assert!(found.compared > 40, "{}", found.compared);
    }
    let found = compare(&runs[..10], &runs[10..]);
    assert_eq!(names(&found.findings), []);
}

#[test]
fn a_seeded_change_is_found_and_nothing_else() {
    for seed in [3, 5, 8] {
        let long = Some(Change::LongInterrupt);
        let found = compare(&[run(seed, None)], &[run(seed * 13, long)]);
        assert_eq!(names(&found.findings), [("interrupt".to_owned(), "7")]);
    }
}

#[test]
fn a_change_is_found_with_its_consequences() {
    for seed in [3, 5, 8] {
        let found = compare(&[run(seed, None)], &[run(seed * 13, Some(Change::LongLock))]);
        let names = names(&found.findings);
        // The logger keeps the mutex longer, so control waits longer for it.
        let expected = [("hold", "log file"), ("wait", "log file"), ("blocking", "control")];
        for (kind, of) in expected {
            assert!(names.contains(&(kind.to_owned(), of)), "{kind} of {of}: {names:?}");
        }
        // The bus and the sensor may change too, because control preempts the logger while the
        // logger holds the bus. Nothing else changed: no load, no rate, no interrupt, no other
        // object.
        let concerned = ["log file", "control", "bus", "sensor"];
        assert!(names.iter().all(|(_, of)| concerned.contains(of)), "{names:?}");
    }
}

#[test]
fn an_improvement_is_a_change_that_is_not_worse() {
    let found = compare(&[run(1, Some(Change::LongLock))], &[run(2, None)]);
    assert!(!found.findings.is_empty());
    assert!(!found.findings.iter().any(Finding::is_worse));
}

#[test]
fn traces_of_other_formats_have_other_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let old = profile(&root.join("examples/scheduling.trx"));
    let new = profile(&root.join("crates/tracewell/tests/fixtures/shark/b_cyclic.dat"));
    let found = compare(&[old], &[new]);
    let text = text(&found, Layout::default());
    assert!(text.starts_with("note: the traces have different formats (shark, threadx)"), "{text}");
    let is = |kind: FindingKind, name: &str| {
        found.findings.iter().any(|finding| finding.kind == kind && finding.subject == name)
    };
    assert!(is(FindingKind::Gone("context"), "control"));
    assert!(is(FindingKind::Gone("object"), "mutex log file"), "{text}");
    assert!(is(FindingKind::Gone("event"), "tx_mutex_get"));
}

/// The ticks, the id and the payload of each event.
#[derive(Default, PartialEq, Debug)]
struct Rows(Vec<(u64, u32, Vec<u8>)>);

impl Sink for Rows {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.0.extend(batch.events().map(|event| (event.ticks, event.id, event.payload.to_vec())));
        Flow::Continue(())
    }
}

#[test]
fn the_committed_runs_are_those_of_the_simulation() {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/runs");
    for (name, run) in [
        ("before.trx.gz", Run { ms: 200, ..simulation::example() }),
        ("after.trx.gz", Run { seed: 2, ms: 200, change: Some(Change::LongLock) }),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), simulation::image(&run)).unwrap();
        let [committed, simulated] = [runs.join(name), file.path().to_owned()].map(|path| {
            let mut rows = Rows::default();
            Input::open(&path, settings()).unwrap().read(&mut rows).unwrap();
            rows
        });
        assert!(
            committed == simulated,
            "{name}: cargo run -p tracewell-record --example scheduling"
        );
    }
}
