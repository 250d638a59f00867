//! Fuzz targets that parse rules and check traces with them.

use tracewell::check::{Check, Rules, RulesWriter, WriteOptions};
use tracewell::format::{self, Input, Settings};
use tracewell::model::{Sink, Trace};
use tracewell::report;
use tracewell::source::Source;
use tracewell::text::display_width;

/// Reads any text as rules. Checks that the positions of errors are within the text.
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

/// Checks a trace with rules. The rules end at the first NUL; RKH frames with a one-byte timestamp
/// and no checksums follow. Also generates rules from the trace and checks that they hold.
pub fn check_matcher(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, frames) = data.split_at(end);
    let source = Source::from_bytes("fuzz.rules", text);
    if let Some(rules) = Rules::parse(&source).rules {
        let mut check = Check::new(&rules);
        let trace = decode(frames, &mut check);
        for finding in rules.unknown_names(&trace) {
            assert!(finding.span.end as usize <= source.text.len(), "{finding:?}");
        }
        let verdict = check.verdict(&trace);
        assert_eq!(verdict.events, trace.events);
        let screen = report::Layout { width: Some(60), color: false };
        let text = report::check::text(&source, &verdict, screen);
        assert!(text.lines().count() > verdict.failures.len());
        assert!(text.lines().all(|line| display_width(line) <= 60), "{text}");
        let rows = report::check::VerdictRow::new(&source, &verdict);
        assert_eq!(rows.passed, verdict.failures.is_empty() && !verdict.decides_nothing());
        let failed: u64 = rows.rules.iter().map(|rule| rule.failed).sum();
        assert_eq!(failed, rows.failures.len() as u64);
    }
    holds_for_itself(frames);
}

fn holds_for_itself(frames: &[u8]) {
    let mut writer = RulesWriter::new(Vec::new(), "fuzz", WriteOptions::default()).unwrap();
    let written = decode(frames, &mut writer);
    writer.finish(&written).expect("a vector takes all bytes");
    let text = writer.into_inner().expect("a vector takes all bytes");
    let source = Source::from_bytes("written.rules", &text);
    let parsed = Rules::parse(&source);
    if written.events == 0 {
        return assert!(parsed.rules.is_none(), "{}", source.text);
    }
    let rules = parsed.rules.unwrap_or_else(|| panic!("{:?}\n{}", parsed.findings, source.text));
    let mut check = Check::new(&rules);
    let trace = decode(frames, &mut check);
    let verdict = check.verdict(&trace);
    let layout = report::Layout::default();
    let told = || format!("{}\n{}", source.text, report::check::text(&source, &verdict, layout));
    assert!(verdict.passed(), "{}", told());
    assert_eq!((verdict.steps, trace.events), (written.events, written.events));
}

fn decode(frames: &[u8], sink: &mut dyn Sink) -> Trace {
    let format = format::by_name("rkh").expect("it is in the list");
    let mut settings = Settings::default();
    for option in ["dialect=3.4", "checksum=off", "seq=off", "ts=1", "rate=1000"] {
        settings.options.add(option).expect("it has a value");
    }
    let mut decoder = format.decoder(&settings).expect("the format has these options");
    let mut trace = decoder.trace();
    let input = Input { offset: 0, bytes: frames, last: true };
    decoder.decode(input, &mut trace, sink).expect("a stream is never refused");
    trace
}
