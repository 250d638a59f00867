//! Tests the pictures of the spans of a program that uses `tracing`: the chart in text and the
//! trace for Perfetto. `export_page` tests the page.

mod support;

#[path = "support/native.rs"]
mod native;

#[path = "support/pftrace.rs"]
mod pftrace;

use pftrace::{contents, number};
use tracewell::analysis::tracks::TrackBuilder;
use tracewell::export::{ExportNames, viewers};
use tracewell::format::Options;
use tracewell::input::{Input, Settings};
use tracewell::report::chart::{ChartOptions, chart};

fn input() -> Input {
    Input::from_bytes("log", native::log_of_spans(), Settings::default()).unwrap()
}

#[test]
fn a_chart_has_a_row_for_each_level_of_each_thread() {
    let mut builder = TrackBuilder::default();
    let trace = input().read(&mut builder).unwrap();
    let tracks = builder.finish(&trace);
    let options = ChartOptions { width: 63, ascii: true, ..ChartOptions::default() };
    let text = chart(&trace, &tracks, &options).unwrap();
    // 50 columns of 20 us each; the name of a row occupies 12 characters and is followed by a
    // blank.
    let begin = text.lines().position(|line| line.starts_with("first spans")).expect(&text);
    let rows: Vec<_> = text.lines().skip(begin).take(3).collect();
    let row = |name: &str, parts: &[(char, usize)]| {
        let cells: String = parts.iter().map(|(c, n)| c.to_string().repeat(*n)).collect();
        format!("{name:<12} {cells}").trim_end().to_owned()
    };
    let expected = [
        row("first spans", &[(' ', 5), ('1', 40)]),
        row("", &[(' ', 10), ('2', 10), (' ', 5), ('2', 5)]),
        row("second spans", &[(' ', 15), ('1', 20)]),
    ];
    assert_eq!(rows, expected, "{text}");
    assert!(text.contains("spans: 1 request   2 query"), "{text}");
}

#[test]
fn slices_for_perfetto_are_nested_and_named() {
    let (options, names) = (Options::default(), ExportNames::default());
    let mut bytes = Vec::new();
    viewers::PERFETTO.write(&mut input(), &options, &names, &mut bytes).unwrap();
    let mut known = std::collections::HashMap::new();
    let mut shown = Vec::new();
    for packet in contents(&bytes, 1) {
        for interned in contents(packet, 12) {
            for entry in contents(interned, 2) {
                let name = String::from_utf8(contents(entry, 2)[0].to_vec()).unwrap();
                known.insert(number(entry, 1).unwrap(), name);
            }
        }
        let Some(event) = contents(packet, 11).first().copied() else { continue };
        let (time, track) = (number(packet, 8).unwrap(), number(event, 11).unwrap());
        match number(event, 9) {
            Some(1) => shown.push(format!("{time} {track} {}", known[&number(event, 10).unwrap()])),
            Some(2) => shown.push(format!("{time} {track} end")),
            _ => {}
        }
    }
    let [first, second] = [1_u64 << 32, (1 << 32) + 1];
    let expected = [
        format!("100000 {first} request"),
        format!("200000 {first} query"),
        format!("300000 {second} request"),
        format!("400000 {first} end"),
        format!("500000 {first} query"),
        format!("600000 {first} end"),
        format!("700000 {second} end"),
        format!("900000 {first} end"),
    ];
    assert_eq!(shown, expected);
}
