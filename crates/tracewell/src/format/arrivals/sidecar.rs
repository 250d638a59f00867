//! Adds the data of an arrival file to the trace that it describes. The collector wrote both files
//! and recorded the dropped bytes in the arrival file.

use std::path::Path;

use tracewell_wire::arrivals::{ArrivalKind, Arrivals, HEADER};

use crate::format::Sidecar;
use crate::model::{Diagnostics, Severity};
use crate::text::{counted, shown, shown_path};

/// Suffix of the name of an arrival file.
pub const SUFFIX: &str = ".arrivals";

/// The sidecar of a collected trace.
pub(super) const SIDECAR: Sidecar = Sidecar { suffix: SUFFIX, describe };

/// Adds diagnostics about the bytes that the collector dropped. The trace has `length` bytes. If
/// the file is not an arrival file or describes more bytes than the trace has, adds a warning
/// instead.
fn describe(file: &[u8], path: &Path, length: u64, diagnostics: &mut Diagnostics) {
    let path = shown_path(path);
    let Some(arrivals) = Arrivals::new(file) else {
        let message = format!(
            "{path} is ignored: expected an arrival file, which begins with '{}', found '{}'",
            shown(&HEADER[..8]),
            shown(file.get(..8).unwrap_or(file))
        );
        return diagnostics.add(Severity::Warning, None, message);
    };
    let (mut dropped, mut connections, mut end) = (Vec::new(), 0_u64, 0);
    for (position, arrival) in arrivals {
        end = position;
        match arrival.kind {
            ArrivalKind::Bytes => end += u64::from(arrival.bytes),
            // Further diagnostics would only be counted, so their positions need no memory.
            ArrivalKind::Dropped if dropped.len() < Diagnostics::KEPT => {
                dropped.push((position, arrival.bytes));
            }
            ArrivalKind::Opened => connections += 1,
            ArrivalKind::Dropped | ArrivalKind::Closed | ArrivalKind::Restarted => {}
        }
    }
    // The trace was replaced or shortened after the collection, so the positions mean nothing.
    if end > length {
        let message = format!(
            "{path} does not belong to this file: it describes {end} bytes, the file has {length}"
        );
        return diagnostics.add(Severity::Warning, None, message);
    }
    let message = format!(
        "collected over {}; arrival times are in {path}",
        counted(connections, "connection")
    );
    diagnostics.add(Severity::Note, None, message);
    for (position, bytes) in dropped {
        let bytes = counted(bytes.into(), "byte");
        let message = format!(
            "{bytes} received here were dropped: the file could not be written, or not fast enough"
        );
        diagnostics.add(Severity::Damage, position, message);
    }
}

#[cfg(test)]
mod tests {
    use tracewell_wire::arrivals::{Arrival, HEADER};

    use super::*;

    fn diagnostics(entries: &[(u32, ArrivalKind)], length: u64) -> Vec<String> {
        let entry =
            |(bytes, kind): &(u32, ArrivalKind)| Arrival { time_ns: 1, bytes: *bytes, kind: *kind };
        let entries = entries.iter().flat_map(|arrival| entry(arrival).to_bytes());
        let file: Vec<u8> = HEADER.into_iter().chain(entries).collect();
        let mut diagnostics = Diagnostics::default();
        describe(&file, Path::new("kept.arrivals"), length, &mut diagnostics);
        diagnostics.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn dropped_bytes_are_reported_where_they_are_missing() {
        let arrivals = [
            (0, ArrivalKind::Opened),
            (10, ArrivalKind::Bytes),
            (7, ArrivalKind::Dropped),
            (5, ArrivalKind::Bytes),
        ];
        let note = "note: collected over 1 connection; arrival times are in kept.arrivals";
        let damage = "damaged: at byte 10: 7 bytes received here were dropped: the file could not be written, or not fast enough";
        assert_eq!(diagnostics(&arrivals, 15), [note, damage]);
        let warning = "warning: kept.arrivals does not belong to this file: it describes 15 bytes, the file has 14";
        assert_eq!(diagnostics(&arrivals, 14), [warning]);
    }

    #[test]
    fn another_file_is_not_read_as_arrivals() {
        let mut diagnostics = Diagnostics::default();
        describe(b"no arrivals", Path::new("other"), 15, &mut diagnostics);
        let warning = "warning: other is ignored: expected an arrival file, which begins with 'TWARRIVE', found 'no arriv'";
        assert_eq!(diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(), [warning]);
    }
}
