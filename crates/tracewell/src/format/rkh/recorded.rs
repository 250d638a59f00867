//! Extracts the recorded bytes of a record's arguments on request, because rows contain only
//! decoded values.

use tracewell_wire::rkh::{Configuration, Form, Settings, Unstuffed, unstuff_in_place};

use crate::model::RecordedArguments;

/// Extracts the arguments from frames of a stream with these settings.
#[derive(Debug)]
pub(super) struct Recorded(pub(super) Settings);

impl RecordedArguments for Recorded {
    fn are_packed(&self) -> bool {
        true
    }

    fn append(&self, record: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(record);
        let frame = out.get_mut(start..).unwrap_or_default();
        // An aborted frame contains no event.
        let Unstuffed::Frame(length) = unstuff_in_place(frame) else { return out.truncate(start) };
        let header = self.header(frame.get(..length).unwrap_or_default());
        let end = length.saturating_sub(usize::from(self.0.checksum));
        out.truncate(start + end);
        out.drain(start..start + header.min(end));
    }
}

impl Recorded {
    /// Returns the number of bytes before the arguments of a frame.
    fn header(&self, frame: &[u8]) -> usize {
        match Configuration::recognise(frame) {
            Some(Configuration { form: Form::Thirteen, .. }) => usize::from(self.0.id),
            _ => self.0.header(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(settings: Settings, record: &[u8]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        Recorded(settings).append(record, &mut out);
        out.split_off(6)
    }

    #[test]
    fn escapes_header_and_checksum_are_removed() {
        let settings = Settings::default();
        // The frame consists of id, number, four bytes of timestamp, arguments 7E and 01, and
        // checksum.
        let record = [0x25, 9, 1, 2, 3, 4, 0x7D, 0x5E, 1, 0];
        assert_eq!(arguments(settings, &record), [0x7E, 1]);
        let bare = Settings { id: 2, sequence: false, stamp: 0, checksum: false, ..settings };
        assert_eq!(arguments(bare, &record)[..4], [1, 2, 3, 4]);
    }

    #[test]
    fn records_that_are_too_short_have_no_arguments() {
        for length in 0..=7 {
            let record = [0x25, 9, 1, 2, 3, 4, 0x7D];
            assert!(arguments(Settings::default(), &record[..length]).is_empty(), "{length}");
        }
    }
}
