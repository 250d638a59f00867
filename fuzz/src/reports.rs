//! Fuzz targets for reports: lines, metadata, figures, the layout of AIX's report, TraceX's
//! analyses.

use tracewell::analysis::scheduling::{Scheduling, Wanted};
use tracewell::export::tracex;
use tracewell::report::analyses::Section;
use tracewell::report::info::Census;
use tracewell::report::trcrpt::{self, TrcReport};
use tracewell::report::{Layout, Report, ReportOptions, scheduling};
use tracewell::template::{Program, Source};
use tracewell::text::calendar::Zone;
use tracewell::text::display_width;

use super::any_trace::{assert_harmless, input, opened};

/// Opens any bytes as a trace of any dialect, and reports it: one line per event, facts, scheduling
/// figures.
pub fn reports(data: &[u8]) {
    lines(data);
    facts(data);
    figures(data);
}

fn lines(data: &[u8]) {
    let Some(mut input) = input(data) else { return };
    let mut report = Report::new(Vec::new(), ReportOptions::default());
    let Ok(trace) = input.read(&mut report) else { return };
    let text = report.into_inner().expect("a vector takes all bytes");
    let text = String::from_utf8(text).expect("a report is text");
    assert!(text.lines().count() as u64 > trace.events, "an event without a line");
    assert_harmless(&text);
    let options = ReportOptions { layout: SCREEN, ..ReportOptions::default() };
    let mut report = Report::new(Vec::new(), options);
    // The input is in memory, so it can be read a second time.
    input.read(&mut report).expect("it was read before");
    let text = report.into_inner().expect("a vector takes all bytes");
    assert_fits(&String::from_utf8(text).expect("a report is text"));
}

const SCREEN: Layout = Layout { width: Some(60), color: false };

/// Asserts that no line of a text is wider than [`SCREEN`].
fn assert_fits(text: &str) {
    let wide = text.lines().find(|line| display_width(line) > 60);
    assert_eq!(wide, None);
}

fn facts(data: &[u8]) {
    let Some(mut input) = input(data) else { return };
    let mut census = Census::default();
    let Ok(trace) = input.read(&mut census) else { return };
    assert_harmless(&census.text(&trace, Layout::default(), &Zone::utc()));
    assert_fits(&census.text(&trace, SCREEN, &Zone::utc()));
    let json = serde_json::to_value(census.summary(&trace)).expect("figures are JSON");
    assert_eq!(json["events"], trace.events);
    let counts = json["event_counts"].as_array().expect("it is a list").iter();
    let counted: u64 = counts.filter_map(|count| count["events"].as_u64()).sum();
    assert_eq!(counted, trace.events, "counts by id add up to all events");
}

fn figures(data: &[u8]) {
    let Some(mut input) = input(data) else { return };
    let wanted =
        Wanted { jobs: true, waits: true, budgets: true, distributions: true, ..Wanted::default() };
    let mut scheduling = Scheduling::new(wanted.clone());
    let Ok(trace) = input.read(&mut scheduling) else { return };
    let figures = scheduling.figures(&trace);
    let most = trace.span.saturating_mul(trace.cpus.max(1).into());
    assert!(
        figures.charged_ticks.is_none_or(|charged| charged <= most),
        "more ticks were charged than the processors had"
    );
    let all = |layout| scheduling::text(&trace, &figures, &wanted, &Section::ALL, layout);
    assert_harmless(&all(Layout::default()));
    assert_harmless(&all(SCREEN));
    let figures = scheduling::SchedulingFigures::new(&trace, &figures, &wanted);
    serde_json::to_writer(std::io::sink(), &figures).expect("a sink takes all bytes");
}

/// A template for some events of each dialect, and one for all others.
const TEMPLATES: &str = "0AA 1.0 L=SVC \"@first\" \"word \" D4 X4 \\n \"rest \" HL\n\
                         0034 1.0 L=KERN \"object \" X4 \" value \" U4, 0 \"none\", \\* \"some\"\n\
                         0001 1.0 L=INT \"one \" $D1%X8\n007 1.0 $DEFAULT\n";

/// Prints any bytes in the layout of AIX's report. The first byte selects columns, the second the
/// dialect.
pub fn trcrpt_layout(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let Some(mut input) = input(data) else { return };
    let program = Program::of(&[Source::new("fuzz.fmt", TEMPLATES)]).program;
    let mut options = trcrpt::Options::default();
    let switches = ["exec", "pid", "tid", "svc", "cpuid", "2line", "hist", "ids"];
    for (bit, name) in switches.iter().enumerate() {
        let value = if first >> bit & 1 == 1 { "on" } else { "off" };
        options.set(name, value).expect("it is a switch");
    }
    let timestamp = (first % 5).to_string();
    let _ = options.set("timestamp", &timestamp);
    let width = 20 + usize::from(*first);
    let settings = trcrpt::Settings { options, width, threads: 1, ..trcrpt::Settings::default() };
    let mut report = TrcReport::new(Vec::new(), &program, settings);
    if input.read(&mut report).is_err() {
        return;
    }
    let text = report.into_inner().expect("a vector takes all bytes");
    let text = String::from_utf8(text).expect("a report is text");
    assert_harmless(&text);
}

/// Opens any bytes as a ThreadX dump, and computes TraceX's figures. Checks that each thread's
/// events are counted once, and that the charged time does not exceed the duration of the trace.
pub fn tracex(data: &[u8]) {
    let Some(mut input) = opened("threadx", std::iter::empty(), data) else { return };
    let Ok((source, trace)) = tracex::load(&mut input) else { return };
    let events: u64 = trace.popular_services().iter().map(|(_, count)| count).sum();
    assert!(events <= 2 * source.events + 2, "{events} of {} services", source.events);
    let _ = (trace.profile(), trace.statistics(), trace.stack_usage(), trace.thread_summaries());
    let _ = (trace.filex(), trace.netx());
}
