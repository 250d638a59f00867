//! Programs in C that record like RKH.

#[path = "../../../record/examples/door/door.rs"]
mod door;

use std::path::Path;
use std::process::Command;

use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Event, Flow, Sink, Trace};
use tracewell::text::{Describer, TextBuffer};

use super::{Link, compile, compiler, here, run};

/// A sink that collects the report's description of each event.
#[derive(Default)]
struct Lines(Describer, Vec<String>);

impl Sink for Lines {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for row in batch.events() {
            let event = Event::new(trace, &row);
            let mut out = TextBuffer::default();
            self.0.put(&mut out, event);
            let text = String::from_utf8_lossy(out.as_bytes());
            self.1.push(format!("{} {} {text}", event.context_name(), event.label()));
        }
        Flow::Continue(())
    }
}

fn report(path: &Path) -> Vec<String> {
    let mut lines = Lines::default();
    let trace = Input::open(path, Settings::default()).unwrap().read(&mut lines).unwrap();
    assert!(trace.losses.is_empty());
    lines.1
}

const REPORT: [&str; 17] = [
    "framework SMA FIFO ao=door, sig=CODE, snr=keypad, pid=static, rc=0, nelem=1, nmin=3",
    "door SMA GET ao=door, sig=CODE, pid=static, rc=0, nelem=0, nmin=3",
    "door SM DCH ao=door, sig=CODE, st=locked",
    "door SM TRN ao=door, sst=locked, tst=unlocked",
    "door SM EXSTATE ao=door, st=locked",
    "door SM EXE_ACT type=effect, ao=door, st=locked, act=open_bolt",
    "door SM ENSTATE ao=door, st=unlocked",
    "door SM STATE ao=door, st=unlocked",
    "door TMR START t=relock, ao=door, nt=50, per=0",
    "door SM EVT_PROC ao=door",
    "framework SMA FIFO ao=door, sig=TIMEOUT, snr=relock, pid=static, rc=0, nelem=1, nmin=3",
    "door SMA GET ao=door, sig=TIMEOUT, pid=static, rc=0, nelem=0, nmin=3",
    "door SM DCH ao=door, sig=TIMEOUT, st=unlocked",
    "door SM TRN ao=door, sst=unlocked, tst=locked",
    "door SM EXSTATE ao=door, st=unlocked",
    "door SM EXE_ACT type=effect, ao=door, st=unlocked, act=close_bolt",
    "door SM ENSTATE ao=door, st=locked",
];

#[test]
fn the_door_in_c_and_in_rust_record_the_same() {
    let mut rust = Vec::new();
    door::run(|block| rust.extend_from_slice(block));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("door.rkh");
    std::fs::write(&path, &rust).unwrap();
    let read = report(&path);
    // The stream starts with the configuration and thirteen names.
    assert_eq!(read[14..14 + REPORT.len()], REPORT);
    assert!(read.iter().any(|line| line.contains("wrong code")));
    assert_eq!(read.last().unwrap(), "framework FWK ASSERT mod=door, line=42");

    let Some(cc) = compiler("CC", "cc") else { return };
    for link in [Link::Static, Link::Shared] {
        let source = here().join("../../examples/c/door.c");
        let program = compile(&cc, "-std=c99", &source, link, folder.path());
        run(Command::new(&program).arg(&path));
        assert!(std::fs::read(&path).unwrap() == rust, "{link:?}: the streams differ");
        let piped = Command::new(&program).output().unwrap();
        assert!(piped.stdout == rust, "{link:?}: standard output differs");
    }
}

#[test]
fn the_c_interface_returns_the_outcome_of_each_call() {
    let Some(cc) = compiler("CC", "cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = here().join("tests/c/rkh.c");
    let program = compile(&cc, "-std=c99", &source, Link::Static, folder.path());
    let path = folder.path().join("whole.rkh");
    run(Command::new(&program).arg(&path));
    let mut lines = Lines::default();
    let trace = Input::open(&path, Settings::default()).unwrap().read(&mut lines).unwrap();
    // Some of the twenty records fit. The last record was written after the other records were
    // sent.
    let ids: Vec<_> = lines.1.iter().map(|line| line.split(' ').nth(2).unwrap()).collect();
    assert_eq!(ids[..2], ["TCFG", "EN"], "{:?}", lines.1);
    assert_eq!(ids.last(), Some(&"EX"));
    assert_eq!(trace.losses.iter().count(), 1);
    assert_eq!(trace.losses.damaged(), 0);
    let kept = ids.len() as u64 - 3;
    assert_eq!(trace.fact("lost_frames"), Some(20 - kept));
}
