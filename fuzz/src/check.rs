//! The targets of rules: their text, and their comparison with traces.

use tracewell::check::{Check, Rules, RulesWriter, WriteOptions};
use tracewell::format::{self, Input, Options};
use tracewell::model::{Sink, Trace};
use tracewell::report;
use tracewell::source::Source;

/// Reads any text as rules; what is wrong with it has places in it.
pub fn check_parser(data: &[u8]) {
    let source = Source::from_bytes("fuzz.rules", data);
    let parsed = Rules::parse(&source);
    assert!(parsed.rules.is_some() || !parsed.findings.is_empty());
    for finding in &parsed.findings {
        assert!(finding.span.end as usize <= source.text.len(), "{finding:?}");
        assert!(finding.span.start <= finding.span.end, "{finding:?}");
        assert!(finding.show(&source).lines().count() >= 3, "{finding:?}");
    }
}

/// Compares a trace with rules: their text goes up to the first NUL, behind it are frames of RKH with one
/// byte of time and no checksums. Rules that the trace itself makes hold for it.
pub fn check_matcher(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, frames) = data.split_at(end);
    let source = Source::from_bytes("fuzz.rules", text);
    if let Some(rules) = Rules::parse(&source).rules {
        let mut check = Check::new(&rules);
        let trace = decode(frames, &mut check);
        for finding in rules.doubts(&trace) {
            assert!(finding.span.end as usize <= source.text.len(), "{finding:?}");
        }
        let verdict = check.finish(&trace);
        assert_eq!(verdict.events, trace.events);
        assert!(report::check::text(&source, &verdict).lines().count() > verdict.failures.len());
        let json = report::check::json(&source, &verdict);
        assert_eq!(json["passed"], verdict.failures.is_empty());
    }
    holds_for_itself(frames);
}

fn holds_for_itself(frames: &[u8]) {
    let mut writer = RulesWriter::new(Vec::new(), "fuzz", WriteOptions::default());
    let written = decode(frames, &mut writer);
    let text = writer.finish().expect("a vector takes all bytes");
    let source = Source::from_bytes("written.rules", &text);
    let parsed = Rules::parse(&source);
    if written.events == 0 {
        return assert!(parsed.rules.is_none(), "{}", source.text);
    }
    let rules = parsed.rules.unwrap_or_else(|| panic!("{:?}\n{}", parsed.findings, source.text));
    let mut check = Check::new(&rules);
    let trace = decode(frames, &mut check);
    let verdict = check.finish(&trace);
    let told = || format!("{}\n{}", source.text, report::check::text(&source, &verdict));
    assert!(verdict.passed(), "{}", told());
    assert_eq!((verdict.steps, trace.events), (written.events, written.events));
}

fn decode(frames: &[u8], sink: &mut dyn Sink) -> Trace {
    let format = format::by_name("rkh").expect("it is in the list");
    let mut options = Options::default();
    for option in ["dialect=3.4", "checksum=off", "seq=off", "ts=1", "rate=1000"] {
        options.add(option).expect("it has a value");
    }
    let mut decoder = (format.decoder)(&options).expect("the options are its own");
    let mut trace = decoder.trace();
    let input = Input { offset: 0, bytes: frames, last: true };
    decoder.decode(input, &mut trace, sink).expect("a stream is never refused");
    trace
}
