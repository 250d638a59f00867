//! Compares the verdicts of rules, and the messages about wrong rules, with stored ones.
//!
//! | table | content |
//! |---|---|
//! | `rules` | rules on a trace of letters: the kinds of failures and the reasons for open rules |
//! | `random_rules` | random rules on random traces: counts of the outcomes |
//! | `wrong_rules` | the messages about texts that are not rules, or that are edited in many ways |
//! | `thresholds` | figures with given values: counts of the outcomes, with and without a baseline |
//! | `unknown_names` | warnings about names in rules on traces of several formats |
//!
//! Each row ends with a digest of the whole answers: text, JSON and annotations.

use std::collections::BTreeMap;
use std::fmt::Write;

use tracewell::check::{
    Baseline, Check, Failure, Figure, Figures, Parsed, Quantity, Rules, RulesWriter, Value, Verdict,
};
use tracewell::input::Input;
use tracewell::model::{Rate, Sink};
use tracewell::report::{Layout, check as report};
use tracewell::source::Source;

use crate::answer::digest;
use crate::edits::Random;
use crate::letters;
use crate::rule_texts;
use crate::support::{fixture, settings};
use crate::table;

/// The whole answer to some rules, and a phrase about its outcome.
struct Answer {
    outcome: String,
    text: String,
}

/// Rows of a table. `SHOW='CASE'` prints the whole answers of a row.
struct Rows {
    shown: Option<String>,
    rows: Vec<(String, String)>,
}

impl Rows {
    fn new() -> Self {
        Self { shown: std::env::var("SHOW").ok(), rows: Vec::new() }
    }

    /// Adds a row that states the only outcome.
    fn one(&mut self, case: &str, answer: &Answer) {
        self.add(case, &answer.outcome, &answer.text);
    }

    /// Adds a row that counts the outcomes.
    fn many(&mut self, case: &str, answers: &[Answer]) {
        let mut counts = BTreeMap::<_, usize>::new();
        answers.iter().for_each(|answer| *counts.entry(&*answer.outcome).or_default() += 1);
        let counts: Vec<_> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
        let texts: Vec<_> = answers.iter().map(|answer| &*answer.text).collect();
        self.add(case, &counts.join(", "), &texts.join("\n"));
    }

    fn add(&mut self, case: &str, outcome: &str, text: &str) {
        let case = one_line(case);
        if self.shown.as_deref() == Some(&case) {
            table::print(&format!("== {case}\n{text}\n"));
        }
        self.rows.push((case, format!("{}\t{}", one_line(outcome), digest(text))));
    }

    fn check(self, table: &str) {
        table::check(table, "case\toutcome\tdigest", self.rows);
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " / ").replace('\t', " ")
}

/// Parses rules. Returns the rules, and the text of all messages.
fn parsed(text: &str) -> (Source, Option<Rules>, String) {
    let source = Source::new("test.rules", text);
    let Parsed { rules, findings } = Rules::parse(&source);
    let mut messages = String::new();
    for finding in findings {
        let kind = if finding.is_error { "error" } else { "warning" };
        let span = finding.span;
        let _ = writeln!(messages, "{kind} {}..{} {}", span.start, span.end, finding.message);
    }
    (source, rules, messages)
}

/// Returns a phrase for each failure and for each open rule: the kind, the place in the rules, the
/// number of the event, and the message.
fn outcome(source: &Source, verdict: &Verdict, with_messages: bool) -> String {
    let failures = verdict.failures.iter().map(|failure| {
        let Failure { kind, message, at, span, .. } = failure;
        let event = at.as_ref().map_or_else(String::new, |line| format!(" at event {}", line.seq));
        match with_messages {
            true => format!("{}{event}, '{}': {message}", kind.as_str(), source.slice(*span)),
            false => kind.as_str().to_owned(),
        }
    });
    let open = verdict.rules.iter().filter_map(|rule| {
        let why = rule.open_because.as_ref()?;
        Some(if with_messages { why.clone() } else { "open".to_owned() })
    });
    let mut phrases: Vec<_> = failures.chain(open).collect();
    if !with_messages {
        phrases.truncate(1);
    }
    match phrases.is_empty() {
        true => "passed".to_owned(),
        false => phrases.join("; "),
    }
}

/// Writes a verdict in all forms.
fn whole(source: &Source, verdict: &Verdict) -> String {
    let mut text = format!(
        "passed {}, undecided {}, steps {}\n",
        verdict.passed(),
        verdict.undecided(),
        verdict.steps
    );
    for Failure { kind, .. } in &verdict.failures {
        let about = [kind.is_about_rules(), kind.is_about_events()];
        let _ = writeln!(text, "about rules, events: {about:?}");
    }
    for warning in verdict.warnings.iter().chain(&verdict.absent) {
        let _ = writeln!(text, "{}", warning.show(source));
    }
    text += &report::text(source, verdict, Layout::default());
    text += &report::github(source, verdict, "trace");
    let json = report::VerdictRow::new(source, verdict);
    text += &serde_json::to_string_pretty(&json).expect("it is a document");
    text
}

/// Checks rules on a trace of letters.
fn answer(text: &str, events: &str, rate: Option<Rate>, with_messages: bool) -> Answer {
    let (source, rules, mut messages) = parsed(text);
    let Some(rules) = rules else {
        return Answer { outcome: "refused".to_owned(), text: messages };
    };
    let mut check = Check::new(&rules);
    let trace = letters::feed_at(rate, events, 4, &mut check);
    let _ = writeln!(messages, "{:?}, {}", rules.check(&trace), rules.has_thresholds());
    // Programs show failures while they read a trace.
    for failure in check.failures() {
        let lines: Vec<_> = failure.context.iter().map(|line| line.seq).collect();
        let _ = writeln!(messages, "{} so far, {lines:?}", failure.kind.as_str());
    }
    let verdict = check.verdict(&trace);
    let outcome = outcome(&source, &verdict, with_messages);
    let strict = whole(&source, &verdict.clone().strict());
    Answer { outcome, text: format!("{messages}{}{strict}", whole(&source, &verdict)) }
}

fn microseconds() -> Option<Rate> {
    Rate::new(1_000_000, 1)
}

#[test]
fn rules() {
    let mut rows = Rows::new();
    for (rules, traces) in rule_texts::RULES {
        for events in *traces {
            let answer = answer(rules, events, microseconds(), true);
            rows.one(&format!("{rules} [{events}]"), &answer);
        }
    }
    rows.check("rules");
}

/// Returns a trace of random letters.
fn random_events(random: &mut Random) -> String {
    let (mut text, mut ticks) = (String::new(), 0);
    for _ in 0..random.below(30) {
        if random.below(25) == 0 {
            text.push_str(random.one_of(&["! ", "!3 ", "!0 "]));
        }
        ticks += random.one_of(&[0, 1, 5, 10, 10, 10, 20, 50]);
        let letter = random.one_of(&["A", "B", "C", "D", "A", "B", "C", "E"]);
        let context = if random.below(4) == 0 { "#2" } else { "" };
        let _ = write!(text, "{letter}{}@{ticks}{context} ", random.below(3));
    }
    text
}

#[test]
fn random_rules() {
    let mut random = Random::of("traces");
    let traces: Vec<_> = (0..10).map(|_| random_events(&mut random)).collect();
    let mut rows = Rows::new();
    for number in 0..150 {
        let text = rule_texts::random(&mut Random::of(&format!("rules {number}")));
        let answers = traces.iter().enumerate().map(|(number, events)| {
            let rate = if number == 0 { None } else { microseconds() };
            answer(&text, events, rate, false)
        });
        rows.many(&format!("{number}: {text}"), &answers.collect::<Vec<_>>());
    }
    rows.check("random_rules");
}

/// Returns the tokens of a text: words, signs, and white space.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let is_word = |c: char| c.is_alphanumeric() || "_.$@*?\"".contains(c);
    let mut before = None;
    for (at, c) in text.char_indices() {
        if before.is_some_and(|before| !(is_word(before) && is_word(c))) {
            tokens.push(&text[start..at]);
            start = at;
        }
        before = Some(c);
    }
    tokens.push(&text[start..]);
    tokens
}

/// Returns texts that differ from this one in one token.
fn edited(text: &str) -> Vec<String> {
    const OTHERS: [&str; 14] = [
        "}", "{", ")", "(", ",", "\n", "7", "2..1", "within", "A", "\"", "..", "ticks", "optional",
    ];
    let tokens = tokens(text);
    let mut texts = Vec::new();
    for at in 0..tokens.len() {
        let with = |new: &[&str]| [&tokens[..at], new, &tokens[at + 1..]].concat().concat();
        texts.push(with(&[]));
        texts.push(tokens[..at].concat());
        texts.push(with(&[tokens[at], " ", tokens[at]]));
        texts.extend([OTHERS[at % 7], OTHERS[7 + at % 7]].map(|other| with(&[" ", other, " "])));
    }
    texts
}

#[test]
fn wrong_rules() {
    let mut rows = Rows::new();
    for text in rule_texts::WRONG {
        let (_, _, text_of_findings) = parsed(text);
        let outcome = text_of_findings.trim_end();
        rows.add(text, outcome, outcome);
    }
    let all = rule_texts::RULES.iter().map(|(text, _)| *text);
    for text in all.chain(rule_texts::THRESHOLDS.iter().copied()) {
        let edited = edited(text).into_iter().map(|text| {
            let (_, rules, messages) = parsed(&text);
            let figures = rules.iter().flat_map(|rules| rules.figures());
            let figures: Vec<_> = figures.map(Figure::to_string).collect();
            // After a gap between events, steps could not fail.
            let answer = answer(&text, "!2 A1 B1 C2 D0#2 A2 B X", microseconds(), false);
            Answer { text: format!("{messages}{figures:?}{}", answer.text), ..answer }
        });
        rows.many(&format!("edited: {text}"), &edited.collect::<Vec<_>>());
    }
    rows.check("wrong_rules");
}

/// The same values for every figure.
struct Given(Result<Vec<Value>, String>);

impl Figures for Given {
    fn values(&self, _: &Figure) -> Result<Vec<Value>, String> {
        self.0.clone()
    }
}

#[test]
fn thresholds() {
    // Pairs of a tolerance and the values of each figure.
    let baselines = [
        (0, rule_texts::BASELINE),
        (50_000, rule_texts::BASELINE),
        (50_000, &[Quantity::Nanoseconds(40_000_000), Quantity::Share(200_000)]),
        (1_000_000, &[Quantity::Ticks(500), Quantity::Count(3)]),
        (1_000_000, &[]),
    ];
    let baseline = |figure: &str, (tolerance, quantities): (u64, &[Quantity])| {
        let mut baseline = Baseline::new(tolerance);
        quantities.iter().for_each(|quantity| baseline.add(figure, *quantity));
        baseline
    };
    let mut rows = Rows::new();
    for text in rule_texts::THRESHOLDS {
        let (source, rules, messages) = parsed(text);
        let Some(rules) = rules else {
            rows.add(text, "refused", &messages);
            continue;
        };
        let mut answers = Vec::new();
        for given in rule_texts::values() {
            for known in std::iter::once(None).chain(baselines.map(Some)) {
                let figure = rules.figures().next().map_or_else(String::new, Figure::to_string);
                let known = known.map(|known| baseline(&figure, known));
                let mut check = Check::new(&rules);
                let trace = letters::feed("A !3 B !1 C", &mut check);
                let figures = Given(given.clone());
                let verdict = check.verdict_with(&trace, &figures, known.as_ref());
                let outcome = outcome(&source, &verdict, false);
                let strict = whole(&source, &verdict.clone().strict());
                answers.push(Answer { outcome, text: whole(&source, &verdict) + &strict });
            }
        }
        rows.many(text, &answers);
    }
    rows.check("thresholds");
}

#[test]
fn unknown_names() {
    const TRACES: [(&str, &[&str]); 2] =
        [("threadx/tiny.trx", &["rate=1000000"]), ("rkh/ahsm-a.bin", &[])];
    let mut rows = Rows::new();
    for (path, options) in TRACES {
        for text in rule_texts::NAMES {
            let (source, rules, messages) = parsed(text);
            let rules = rules.unwrap_or_else(|| panic!("{text}: {messages}"));
            let mut check = Check::new(&rules);
            let mut input = Input::open(&fixture(path), settings(options)).unwrap();
            let trace = input.read(&mut check).unwrap();
            let verdict = check.verdict(&trace);
            let warnings = verdict.warnings.iter().chain(&verdict.absent);
            let warnings: Vec<_> = warnings.map(|warning| &*warning.message).collect();
            let outcome = format!("{}: {}", outcome(&source, &verdict, false), warnings.join("; "));
            let text_of_all = whole(&source, &verdict) + &whole(&source, &verdict.strict());
            rows.add(&format!("{path}: {text}"), &outcome, &text_of_all);
        }
    }
    for (events, options) in rule_texts::written() {
        let mut writer = RulesWriter::new(Vec::new(), "a\tname", options.clone()).unwrap();
        let mut trace = letters::feed(events, &mut writer);
        writer.remark(&mut trace);
        let full = writer.is_full();
        writer.finish(&trace).unwrap();
        let mut text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let warnings: Vec<_> = trace.diagnostics.iter().map(|found| &found.message).collect();
        let _ = write!(text, "{full} {warnings:?}");
        rows.add(&format!("written: {events} {options:?}"), &text, &text);
    }
    rows.check("unknown_names");
}
