//! Fuzz target for the exporters. Checks that the output is well-formed and complete, and reads it
//! back if there is a decoder.

use tracewell::export::{self, Export, ExportNames};
use tracewell::format::Options;
use tracewell::model::{Batch, Flow, Sink, Trace};

use super::any_trace::{assert_harmless, input, opened};

/// Opens any bytes as a trace of any dialect, and writes the trace in every format.
pub fn exports(data: &[u8]) {
    let Some(mut original) = input(data) else { return };
    let mut events = Events::default();
    let Ok(trace) = original.read(&mut events) else { return };
    for format in export::EXPORTS {
        let Some(written) = written(format, data) else { continue };
        match format.name {
            "jsonl" => json_lines(&written, &trace),
            "tsv" => table(&written, &trace, b'\t'),
            "csv" => table(&written, &trace, b','),
            "threadx" => {
                let again = read_again("threadx", &written);
                assert_eq!(again.ids, events.ids, "ids of the events");
            }
            "aix" => {
                let again = read_again("aix", &written);
                assert_eq!(again.ids.len(), events.ids.len(), "number of events");
            }
            "perfetto" => packets(&written, &trace),
            "vcd" => dump(&written),
            _ => assert_harmless(&String::from_utf8_lossy(&written)),
        }
    }
}

/// Returns the output of an exporter, or `None` if the trace lacks data that the format requires.
fn written(format: &Export, data: &[u8]) -> Option<Vec<u8>> {
    let names = ExportNames { input: "fuzz".to_owned(), output: "out".to_owned() };
    let mut out = Vec::new();
    format.write(&mut input(data)?, &Options::default(), &names, &mut out).ok()?;
    Some(out)
}

fn read_again(format: &str, bytes: &[u8]) -> Events {
    let mut events = Events::default();
    let mut input = opened(format, std::iter::empty(), bytes).expect("no option is given");
    input.read(&mut events).expect("the written bytes can be read");
    events
}

/// The ids of all events.
#[derive(Default)]
struct Events {
    ids: Vec<u32>,
}

impl Sink for Events {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        self.ids.extend(&batch.columns.id);
        Flow::Continue(())
    }
}

fn json_lines(written: &[u8], trace: &Trace) {
    let mut events = 0;
    for line in written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let value: serde_json::Value = serde_json::from_slice(line).expect("a line is JSON");
        events += u64::from(value.get("seq").is_some());
    }
    assert_eq!(events, trace.events);
}

/// Checks that a trace for Perfetto consists of whole packets, at least one for each event.
fn packets(mut written: &[u8], trace: &Trace) {
    let mut packets = 0;
    while let [0x0A, rest @ ..] = written {
        let digits = rest.iter().take_while(|byte| **byte >= 0x80).count() + 1;
        let length = rest[..digits].iter().rev();
        let length = length.fold(0, |length, byte| length << 7 | usize::from(byte & 0x7F));
        written = &rest[digits + length..];
        packets += 1;
    }
    assert!(written.is_empty(), "bytes after the last packet");
    assert!(packets >= trace.events, "an event without a packet");
}

/// Checks that a value change dump is plain text with ascending times.
fn dump(written: &[u8]) {
    let text = std::str::from_utf8(written).expect("a dump is text");
    assert_harmless(text);
    let times = text.lines().filter_map(|line| line.strip_prefix('#'));
    let times: Vec<u64> = times.map(|time| time.parse().expect("a time is a number")).collect();
    assert!(times.is_sorted_by(|a, b| a < b), "times ascend");
}

/// Checks a table: a row of names, then one row per event and loss, all with the same number of
/// cells.
fn table(written: &[u8], trace: &Trace, separator: u8) {
    let rows = rows(written, separator);
    let columns = rows.first().map_or(0, |cells| *cells);
    assert!(rows.iter().all(|cells| *cells == columns), "rows with different numbers of cells");
    assert!(rows.len() as u64 > trace.events, "an event without a row");
}

/// Returns the number of cells of each row. According to RFC 4180, cells in quotation marks may
/// contain separators and line ends. Tables with tabs have no such cells.
fn rows(written: &[u8], separator: u8) -> Vec<usize> {
    let (mut rows, mut cells, mut quoted) = (Vec::new(), 1, false);
    for byte in written {
        match *byte {
            b'"' if separator == b',' => quoted = !quoted,
            _ if quoted => {}
            b'\n' => rows.push(std::mem::replace(&mut cells, 1)),
            byte if byte == separator => cells += 1,
            _ => {}
        }
    }
    assert!(!quoted && cells == 1, "the last row has no line end");
    rows
}
