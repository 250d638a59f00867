//! Reads arrival files as traces.

mod support;

use std::fs;
use std::path::Path;

use support::{EventLog, fixture, settings};
use tracewell::input::Input;
use tracewell::model::{LossCause, Severity, Trace};
use tracewell_wire::arrivals::{Arrival, ArrivalKind, HEADER};

const FIRST: u64 = 1_700_000_000_000_000_000;

fn file() -> Vec<u8> {
    let told = [
        (0, 0, ArrivalKind::Opened),
        (1_000_000, 300, ArrivalKind::Bytes),
        (2_500_000, 70, ArrivalKind::Dropped),
        (9_000_000, 41, ArrivalKind::Bytes),
        (9_000_001, 0, ArrivalKind::Closed),
        (10_000_000, 0, ArrivalKind::Restarted),
    ];
    let entry = |(after, bytes, kind)| Arrival { time_ns: FIRST + after, bytes, kind }.to_bytes();
    HEADER.into_iter().chain(told.into_iter().flat_map(entry)).collect()
}

fn read(bytes: Vec<u8>) -> (Trace, EventLog) {
    let mut kept = EventLog::default();
    let mut input = Input::from_bytes("arrivals", bytes, settings(&[])).unwrap();
    (input.read(&mut kept).unwrap(), kept)
}

#[test]
fn entries_are_events_at_the_host_s_time_with_their_positions() {
    let (trace, kept) = read(file());
    assert_eq!((trace.format, trace.events, trace.span), ("arrivals", 6, 10_000_000));
    let rows: Vec<_> = kept
        .rows
        .iter()
        .map(|row| {
            let argument = |index| trace.payload.argument(&row.payload, index).unwrap();
            (row.ticks, trace.schema.event(row.id).name.as_str(), argument(0), argument(1))
        })
        .collect();
    let expected = [
        (0, "opened", 0, 0),
        (1_000_000, "bytes", 300, 0),
        (2_500_000, "dropped", 70, 300),
        (9_000_000, "bytes", 41, 300),
        (9_000_001, "closed", 0, 341),
        (10_000_000, "restarted", 0, 341),
    ];
    assert_eq!(rows, expected);
    assert_eq!(trace.wall_clock_ns(trace.span), Some(FIRST + 10_000_000));
}

#[test]
fn every_truncation_and_every_changed_byte_is_reported_or_read() {
    let whole = file();
    for length in 8..whole.len() {
        let bytes = whole[..length].to_vec();
        if length < HEADER.len() {
            let mut input = Input::from_bytes("cut", bytes, settings(&[])).unwrap();
            assert!(input.read(&mut EventLog::default()).is_err());
            continue;
        }
        let (trace, kept) = read(bytes);
        let rest = (length - HEADER.len()) % Arrival::SIZE;
        assert_eq!(trace.events as usize, (length - HEADER.len()) / Arrival::SIZE);
        let cut: Vec<_> = kept.losses.iter().map(|loss| loss.cause).collect();
        assert_eq!(cut, vec![LossCause::Truncated; usize::from(rest > 0)]);
    }
    for at in HEADER.len()..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        let (trace, kept) = read(bytes);
        let unknown = (at - HEADER.len()) % Arrival::SIZE >= 12;
        assert_eq!((trace.events, kept.losses.len()), (6 - u64::from(unknown), unknown.into()));
    }
}

#[test]
fn the_span_is_the_largest_time_even_if_time_decreases() {
    let mut bytes = file();
    let last = Arrival { time_ns: FIRST + 3, bytes: 1, kind: ArrivalKind::Bytes };
    bytes.extend(last.to_bytes());
    let (trace, kept) = read(bytes);
    assert_eq!((kept.rows.last().unwrap().ticks, trace.span), (3, 10_000_000));
    let remarks: Vec<_> = trace.diagnostics.iter().map(ToString::to_string).collect();
    let [remark] = &remarks[..] else { panic!("{remarks:?}") };
    assert!(remark.starts_with("note: at byte 112: time goes backwards here"), "{remark}");
}

/// Returns the warnings about a trace. `place` puts a sidecar next to the trace.
fn warnings_about_a_sidecar(place: impl FnOnce(&Path)) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.trx");
    fs::copy(fixture("threadx/tiny.trx"), &path).unwrap();
    place(&folder.path().join("t.trx.arrivals"));
    let trace = Input::open(&path, settings(&[])).unwrap().read(&mut EventLog::default()).unwrap();
    let warnings = trace.diagnostics.iter().filter(|it| it.severity == Severity::Warning);
    let shown = warnings.map(|it| it.message.replace(&*folder.path().to_string_lossy(), "DIR"));
    shown.collect()
}

#[test]
fn a_sidecar_that_cannot_be_read_is_a_warning_and_a_missing_one_is_not() {
    assert_eq!(warnings_about_a_sidecar(|_| ()), Vec::<String>::new());
    let folder = warnings_about_a_sidecar(|path| fs::create_dir(path).unwrap());
    assert_eq!(folder, ["cannot read DIR/t.trx.arrivals: expected a regular file"]);
    let other = warnings_about_a_sidecar(|path| fs::write(path, "a,b\n1,2\n").unwrap());
    let expected = "DIR/t.trx.arrivals is ignored: expected an arrival file, which begins \
                    with 'TWARRIVE', found 'a,b\\n1,2\\n'";
    assert_eq!(other, [expected]);
}
