//! Compares the tracks of brief events with the tracks of whole events.

use super::*;

/// Asks for all events as a whole.
struct Whole(Builder);

impl Moments for Whole {
    fn event(&mut self, event: Event<'_>, subject: Option<ContextId>) {
        self.0.event(event, subject);
    }

    fn preempted(&mut self, task: ContextId) {
        self.0.preempted(task);
    }

    fn wait_began(&mut self, wait: &Wait) {
        self.0.wait_began(wait);
    }

    fn wait_ended(&mut self, wait: &Wait, at: Position) {
        self.0.wait_ended(wait, at);
    }

    fn locked(&mut self, task: ContextId, key: u64, kind: Option<u32>, at: Position) {
        self.0.locked(task, key, kind, at);
    }

    fn unlocked(&mut self, task: ContextId, key: u64, kind: Option<u32>, at: Position) {
        self.0.unlocked(task, key, kind, at);
    }

    fn job(&mut self, task: ContextId, change: JobChange, at: Position) {
        self.0.job(task, change, at);
    }

    fn runs(
        &mut self,
        cpu: u16,
        before: &Running<OnBehalf>,
        now: &Running<OnBehalf>,
        idle: bool,
        at: Position,
    ) {
        self.0.runs(cpu, before, now, idle, at);
    }

    fn gap(&mut self, from: Position, loss: Option<&Loss>) {
        self.0.gap(from, loss);
    }
}

/// Returns all tracks and counts of a builder as text.
fn shown(builder: Builder) -> String {
    let Builder { cores, contexts, locks, marks, arrows, gaps, entries, left_out, .. } = builder;
    let (rows, reasons) = contexts.finish();
    let counts = (entries, left_out);
    format!(
        "{cores:?}\n{rows:?}\n{reasons:?}\n{:?}\n{marks:?}\n{arrows:?}\n{gaps:?}\n{counts:?}",
        locks.finish()
    )
}

#[test]
fn brief_events_lead_to_the_same_tracks() {
    let traces = [
        "examples/scheduling.trx",
        "crates/tracewell/tests/fixtures/threadx/tiny.trx",
        "crates/tracewell/tests/fixtures/threadx/two-slots.trx",
        "crates/tracewell/tests/fixtures/shark/b_cyclic.dat",
        "crates/tracewell/tests/fixtures/shark/cbs_server.dat",
    ];
    for name in traces {
        let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
        let open = || crate::open(&path).unwrap();
        let mut brief = Scheduling::with_moments(Wanted::default(), Builder::default());
        let trace = open().read(&mut brief).unwrap();
        let mut whole = Scheduling::with_moments(Wanted::default(), Whole(Builder::default()));
        open().read(&mut whole).unwrap();
        let (brief, whole) = (brief.finish(&trace).1, whole.finish(&trace).1);
        assert!(brief.cores[0].changes().len() > 3, "{name}");
        assert_eq!(shown(brief), shown(whole.0), "{name}");
    }
}
