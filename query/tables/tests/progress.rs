//! Tests that readings report their progress.

// Other tests use the other functions of this module.
#[allow(dead_code)]
mod common;

use std::ops::ControlFlow::{Break, Continue};
use std::sync::{Arc, Mutex};

use common::{fixture, settings};
use tracewell_tables::{Error, Progress, Request, Source, Table};

/// The reports of readings.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<Progress>>>);

impl Reports {
    /// Returns the reports since the last call. Checks that their numbers of bytes never decrease,
    /// and that only the last report is complete.
    fn take(&self, name: &str) -> Vec<Progress> {
        let reports = std::mem::take(&mut *self.0.lock().unwrap());
        assert!(reports.is_sorted_by_key(|report| report.bytes), "{name}: {reports:?}");
        let last = reports.last().unwrap();
        assert!(last.bytes > 0 && last.total == Some(last.bytes), "{name}: {reports:?}");
        let is_complete = |report: &&Progress| report.total == Some(report.bytes);
        assert_eq!(reports.iter().filter(is_complete).count(), 1, "{name}: {reports:?}");
        reports
    }
}

#[test]
fn each_reading_reports_its_progress() {
    let compressed = "../../../../examples/runs/before.trx.gz";
    for name in ["threadx/tiny.trx", "rkh/ahsm-a.bin", "shark/a_linear.dat", compressed] {
        let reports = Reports::default();
        let received = reports.clone();
        let watch = move |progress| {
            received.0.lock().unwrap().push(progress);
            Continue(())
        };
        let source = Source::open_watched(fixture(name), settings(&[]), Vec::new(), watch).unwrap();
        let first = reports.take(name);
        // The size of decompressed bytes is unknown in the first reading.
        assert_eq!(first[0].total.is_none(), name == compressed, "{name}: {first:?}");
        for table in [Table::Events, Table::Spans, Table::Losses, Table::Figures] {
            source.read(table, &Request::default(), &mut |_| Continue(())).unwrap();
            let again = reports.take(name);
            assert!(again.iter().all(|report| report.total.is_some()), "{name}: {again:?}");
        }
    }
}

#[test]
fn a_reading_can_be_ended() {
    let source = common::open("threadx/tiny.trx", &[]).watched(|_| Break(()));
    let ended = source.read(Table::Events, &Request::default(), &mut |_| panic!("no rows"));
    assert!(matches!(ended, Err(Error::Ended)), "{ended:?}");
}
