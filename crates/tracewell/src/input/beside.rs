//! What the file of arrivals beside an input says about it: a collector wrote it, and knows what it had no room for.

use std::fs::File;
use std::path::Path;

use tracewell_wire::arrivals::{Arrivals, What};

use super::Bytes;
use crate::model::{Diagnostics, Severity};
use crate::text::{counted, shown_path};

/// What the end of the name of a file of arrivals is.
pub const ARRIVALS: &str = ".arrivals";

/// Adds what is beside a file of so many bytes; nothing where there is no such file.
pub(super) fn remark(path: &Path, length: u64, remarks: &mut Diagnostics) {
    let mut beside = path.as_os_str().to_owned();
    beside.push(ARRIVALS);
    // One that cannot be read says nothing, as one that is not there.
    let Ok(file) = File::open(&beside).and_then(Bytes::map) else { return };
    let Some(arrivals) = Arrivals::new(&file) else { return };
    let (mut dropped, mut connections, mut end) = (Vec::new(), 0_u64, 0);
    for (position, arrival) in arrivals {
        end = position;
        match arrival.what {
            What::Bytes => end += u64::from(arrival.bytes),
            What::Dropped if dropped.len() < Diagnostics::KEPT => {
                dropped.push((position, arrival.bytes));
            }
            What::Opened => connections += 1,
            What::Dropped | What::Closed | What::Restarted => {}
        }
    }
    let beside = shown_path(&beside);
    if end > length {
        let message = format!("{beside} is of another file: it tells of {end} bytes, not {length}");
        return remarks.add(Severity::Warning, None, message);
    }
    let message =
        format!("collected, {}; when it came is in {beside}", counted(connections, "connection"));
    remarks.add(Severity::Note, None, message);
    for (position, bytes) in dropped {
        let bytes = counted(bytes.into(), "byte");
        let message = format!("{bytes} came here, not kept: writing failed or was too slow");
        remarks.add(Severity::Damage, position, message);
    }
}

#[cfg(test)]
mod tests {
    use tracewell_wire::arrivals::{Arrival, HEADER};

    use super::*;

    fn remarks(entries: &[(u32, What)], length: u64) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let entry =
            |(bytes, what): &(u32, What)| Arrival { time_ns: 1, bytes: *bytes, what: *what };
        let entries = entries.iter().flat_map(|told| entry(told).to_bytes());
        let file: Vec<u8> = HEADER.into_iter().chain(entries).collect();
        std::fs::write(folder.path().join("kept.arrivals"), file).unwrap();
        let mut remarks = Diagnostics::default();
        remark(&path, length, &mut remarks);
        remark(&folder.path().join("other"), length, &mut remarks);
        let place = format!("{}/", folder.path().display());
        remarks.iter().map(|remark| remark.to_string().replace(&place, "")).collect()
    }

    #[test]
    fn what_was_dropped_is_told_where_it_is_missing() {
        let told = [(0, What::Opened), (10, What::Bytes), (7, What::Dropped), (5, What::Bytes)];
        let note = "note: collected, 1 connection; when it came is in kept.arrivals";
        let damage =
            "damaged: at byte 10: 7 bytes came here, not kept: writing failed or was too slow";
        assert_eq!(remarks(&told, 15), [note, damage]);
        let warning = "warning: kept.arrivals is of another file: it tells of 15 bytes, not 14";
        assert_eq!(remarks(&told, 14), [warning]);
    }
}
