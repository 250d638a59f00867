//! Fuzz target for the state-machine analyses: computes figures and diagrams from arbitrary frames.

use tracewell::analysis::machines::{Figures, Machines};
use tracewell::export::{self, ExportNames};
use tracewell::format::Options;
use tracewell::input::{Input, Settings};
use tracewell::report::analyses::Section;
use tracewell::report::{self, Layout};

/// Reads any bytes as RKH frames with a one-byte timestamp and no checksums. Analyses and draws
/// their state machines.
pub fn machines(data: &[u8]) {
    let mut machines = Machines::default();
    let trace = input(data).read(&mut machines).expect("a stream is never refused");
    let figures = machines.figures(&trace);
    for machine in &figures.machines {
        for time in &machine.states {
            assert!(time.total <= trace.span && time.stays.count <= time.left, "{time:?}");
        }
        let ended: u64 = machine.outcomes.iter().map(|outcome| outcome.count).sum();
        assert!(ended <= trace.events && machine.steps <= trace.events);
    }
    for flow in &figures.flows {
        assert!(flow.waiting.count <= flow.posted.min(flow.taken), "{flow:?}");
        assert!(flow.response.max <= trace.span, "{flow:?}");
    }
    let kept = figures.messages.len() as u64 + figures.more_messages;
    assert!(kept <= trace.events, "a message needs an event");
    let text = report::machines::text(&trace, &figures, &Section::ALL, Layout::default());
    let Figures { machines, flows, levels, timers, .. } = &figures;
    let listed = [machines.len(), flows.len(), levels.len(), timers.len()];
    assert_eq!(text.is_empty(), listed == [0; 4]);
    let rows = report::machines::MachineFigures::new(&trace, &figures);
    assert_eq!(rows.machines.map_or(0, |machines| machines.len()), figures.machines.len());
    ["mermaid", "plantuml", "svg"].into_iter().for_each(|language| drawn(data, language));
}

fn input(data: &[u8]) -> Input {
    let mut settings = Settings { format: Some("rkh".to_owned()), ..Settings::default() };
    for option in ["dialect=3.4", "checksum=off", "seq=off", "ts=1", "rate=1000", "sender=on"] {
        settings.options.add(option).expect("it has a value");
    }
    Input::from_bytes("fuzz", data.to_vec(), settings).expect("the format is given")
}

fn drawn(data: &[u8], language: &str) {
    let export = export::by_name(language).expect("it is in the list");
    let mut options = Options::default();
    options.add("most=20").expect("it has a value");
    let mut out = Vec::new();
    let names = ExportNames { input: "fuzz".to_owned(), output: String::new() };
    // The trace may contain no machine to draw.
    if export.write(&mut input(data), &options, &names, &mut out).is_ok() {
        let text = String::from_utf8(out).expect("diagrams are text");
        // A name is no longer than its frame, and each step adds only a few lines.
        assert!(text.lines().count() <= 4 * (data.len() + 20), "{language}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{language}");
    }
}
