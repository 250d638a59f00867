//! Compares the figures of random traces with stored figures. Each row has the name of a trace, the
//! number of its events, and a digest for each kind of figures that the trace has.

use std::fmt::{Debug, Write};

use tracewell::analysis::critical_path::Question;
use tracewell::analysis::machines::Sequence;
use tracewell::analysis::scheduling::{Expected, Mark, Wanted};
use tracewell::analysis::summary::SummaryBuilder;
use tracewell::analysis::tracks::{TrackBuilder, Tracks};
use tracewell::check::{Check, RulesWriter, WriteOptions};
use tracewell::input::Input;
use tracewell::model::{Sink, Trace};
use tracewell::report::analyses::Analyses;
use tracewell::report::document::DocumentWriter;
use tracewell::select::{Bound, Ranged, Selection};

use crate::answer::digest;
use crate::edits::Random;
use crate::random_traces;
use crate::rules;
use crate::support::settings;
use crate::table;

/// A kind of random traces. Their names begin with the name of the dialect.
struct Kind {
    name: &'static str,
    /// Number of traces.
    traces: usize,
    generate: fn(&mut Random) -> Vec<u8>,
    /// The options with which the traces are read.
    options: &'static [&'static str],
}

const fn kind(
    name: &'static str,
    traces: usize,
    generate: fn(&mut Random) -> Vec<u8>,
    options: &'static [&'static str],
) -> Kind {
    Kind { name, traces, generate, options }
}

const KINDS: [Kind; 8] = [
    kind("threadx", 10, random_traces::threadx, &["rate=1MHz"]),
    kind("shark", 10, random_traces::shark, &["kind=records"]),
    kind("target", 10, random_traces::target, &["rate=1MHz"]),
    kind("rkh", 10, random_traces::rkh, &["dialect=3.4", "rate=1kHz"]),
    kind("native", 10, random_traces::spans, &[]),
    kind("shark with losses", 3, random_traces::shark_with_losses, &["kind=capture"]),
    kind("target with losses", 3, random_traces::target_with_losses, &["rate=1MHz"]),
    kind("rkh with losses", 3, random_traces::rkh_with_losses, &["dialect=3.4", "rate=1kHz"]),
];

#[test]
fn figures() {
    let mut rows = Vec::new();
    for Kind { name: kind, traces, generate, options } in KINDS {
        let format = kind.split(' ').next().unwrap_or_default();
        for number in 0..traces {
            let name = format!("{kind} {number}");
            let bytes = generate(&mut Random::of(&name));
            // Some traces have a clock of unknown rate.
            let options = if number % 4 == 3 && format != "rkh" { &[] } else { options };
            let trace = RandomTrace { format, bytes, options, number };
            let (row, texts) = trace.row();
            if std::env::var("SHOW").is_ok_and(|shown| shown == name) {
                table::print(&texts);
            }
            rows.push((name, row));
        }
    }
    table::check("figures", "trace\tevents\tdigests", rows);
}

struct RandomTrace {
    format: &'static str,
    bytes: Vec<u8>,
    options: &'static [&'static str],
    number: usize,
}

impl RandomTrace {
    fn read(&self, sink: &mut dyn Sink) -> Trace {
        let mut settings = settings(self.options);
        settings.format = Some(self.format.to_owned());
        let mut input = Input::from_bytes("random", self.bytes.clone(), settings).unwrap();
        input.read(sink).unwrap()
    }

    fn wanted(&self) -> Wanted {
        let expected = Expected { period: Some(200_000), deadline: Some(150_000) };
        let names = ["alpha", "beta", "0x0100", "task 1"];
        Wanted {
            jobs: true,
            waits: true,
            budgets: true,
            distributions: true,
            uses: self.number % 2 == 1,
            holes: self.number % 3 == 1,
            pairs: vec![(Mark::Number(1), Mark::Number(2)), (Mark::Number(2), Mark::Number(2))],
            expected: names.map(|name| (name.to_owned(), expected)).into_iter().collect(),
            ..Wanted::default()
        }
    }

    /// Returns the row without its name, and the texts of the digests.
    fn row(&self) -> (String, String) {
        let mut digests = Digests::default();
        let mut builder = TrackBuilder::with_figures(self.wanted());
        let trace = self.read(&mut builder);
        let all = builder.finish(&trace);
        digests.tracks("tracks", &all);
        let mut builder = SummaryBuilder::default();
        let trace = self.read(&mut builder);
        let summary = builder.finish(&trace);
        let middle = trace.span / 3..trace.span / 3 * 2;
        for (name, range, resolution) in
            [("whole", 0..trace.span, trace.span / 20), ("middle", middle, trace.span / 300)]
        {
            let tracks = summary.tracks(range, resolution).unwrap();
            digests.tracks(name, &tracks);
        }
        // A range that begins and ends at ticks of events.
        let ends: Vec<_> =
            all.arrows.iter().map(|arrow| [arrow.from.ticks, arrow.to.ticks]).collect();
        if let [[first, _], .., [_, last]] = ends[..] {
            let tracks = summary.tracks(first.min(last)..first.max(last), 0).unwrap();
            digests.tracks("between", &tracks);
        }
        for (number, rules) in rules::of(self.format).iter().enumerate() {
            let mut check = Check::new(rules);
            let trace = self.read(&mut check);
            let verdict = check.verdict(&trace);
            digests.add(&format!("rule.{number}"), &format!("{verdict:?}"));
            digests.add(&format!("rule.{number}.strict"), &format!("{:?}", verdict.strict()));
        }
        let mut writer = RulesWriter::new(Vec::new(), "test", WriteOptions::default()).unwrap();
        self.read(&mut writer);
        let written = writer.into_inner().unwrap();
        digests.add("written_rules", &String::from_utf8_lossy(&written));
        // The steps of machines, messages and kernel objects, with and without a limit.
        for most in [usize::MAX, 20] {
            let mut sequence = Sequence::new(most, Selection::default());
            self.read(&mut sequence);
            let (steps, more) = sequence.finish();
            digests.add(&format!("steps.{more}"), &format!("{steps:?}"));
        }
        // The question about the longest response or wait of a task, for the first tasks.
        let questions: Vec<_> =
            trace.contexts.iter().take(4).map(|(_, context)| &context.name).collect();
        for name in questions {
            let analyses = Analyses::new(self.wanted()).with_histograms();
            let analyses = analyses.with_explanation(Question::Worst(name.clone()));
            self.figures(&format!("{name}."), analyses, None, &mut digests);
        }
        let selection = Selection {
            from: Some(Bound::Ticks(trace.span / 4)),
            to: Some(Bound::Ticks(trace.span / 4 * 3)),
            ..Selection::default()
        };
        let analyses = Analyses::new(self.wanted()).with_histograms();
        self.figures("in a range: ", analyses, Some(selection), &mut digests);
        (format!("{}\t{}", trace.events, digests.row.trim_end()), digests.texts)
    }

    /// Adds the figures of a trace, or of a part of it. Leaves out figures that the row contains
    /// already.
    fn figures(
        &self,
        prefix: &str,
        analyses: Analyses,
        selection: Option<Selection>,
        digests: &mut Digests,
    ) {
        let (analyses, trace) = match selection {
            Some(selection) => {
                let mut ranged = Ranged::new(analyses, selection);
                let trace = self.read(&mut ranged);
                (ranged.into_inner(), trace)
            }
            None => {
                let mut analyses = analyses;
                let trace = self.read(&mut analyses);
                (analyses, trace)
            }
        };
        let mut document = DocumentWriter::new(Vec::new(), 1);
        analyses.write_json(&trace, "random", None, &mut document).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&document.end().unwrap()).unwrap();
        for (key, value) in json["traces"][0].as_object().unwrap() {
            let text = value.to_string();
            if !["null", "[]", "{}", "0"].contains(&&*text) && !digests.seen.contains(&text) {
                digests.add(&format!("{prefix}{key}"), &text);
                digests.seen.push(text);
            }
        }
    }
}

/// The digests of a row.
#[derive(Default)]
struct Digests {
    row: String,
    /// Each text after its key.
    texts: String,
    seen: Vec<String>,
}

impl Digests {
    fn add(&mut self, key: &str, text: &str) {
        let key = key.replace(' ', "_");
        let _ = write!(self.row, "{key}={} ", &digest(text)[..4]);
        let _ = writeln!(self.texts, "{key} {text}");
    }

    fn of_list<T: Debug>(&mut self, key: &str, list: &[T]) {
        if !list.is_empty() {
            self.add(key, &format!("{list:?}"));
        }
    }

    fn tracks(&mut self, name: &str, tracks: &Tracks) {
        let Tracks { cores, jobs, locks, marks, arrows, levels, machines, spans, .. } = tracks;
        let contexts: Vec<_> = tracks.contexts().collect();
        self.of_list(&format!("{name}.contexts"), &contexts);
        self.of_list(&format!("{name}.cores"), cores);
        self.of_list(&format!("{name}.jobs"), jobs);
        self.of_list(&format!("{name}.locks"), locks);
        self.of_list(&format!("{name}.marks"), marks);
        self.of_list(&format!("{name}.arrows"), arrows);
        self.of_list(&format!("{name}.levels"), levels);
        self.of_list(&format!("{name}.machines"), machines);
        self.of_list(&format!("{name}.spans"), spans);
        self.of_list(&format!("{name}.servers"), &tracks.servers);
        self.of_list(&format!("{name}.findings"), &tracks.findings);
        self.of_list(&format!("{name}.reasons"), &tracks.reasons);
    }
}
