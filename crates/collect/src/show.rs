//! The loop that passes buffered bytes to the live stream (`live`).
//!
//! Bytes are shown after they are stored. If bytes arrive faster than they can be shown, some are
//! skipped, and the gap is shown as a loss at its position. The decoder resynchronises as after any
//! other damage.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::Notice;
use crate::buffer::{Buffer, Taken};
use crate::control::Control;
use crate::gauge::Gauge;
use crate::live::Live;
use crate::pace::{Pace, TICK, WRITING};
use crate::view::{Shown, View};

/// Shows bytes until the source ends. Sets `enough` when the view needs no more bytes, so that the
/// source ends. `enough` is `None` if the source is stored. A write error ends the collection.
pub(crate) fn show(
    buffer: &Buffer,
    view: View<'_>,
    control: &Control<'_>,
    enough: Option<&AtomicBool>,
    gauge: &Gauge,
    tell: &(dyn Fn(&Notice<'_>) + Sync),
) -> Shown {
    let mut live = Live::new(view, tell);
    let (mut batch, mut pace) = (buffer.other(), Pace::new(WRITING));
    loop {
        let taken = buffer.take(&mut batch, TICK);
        let shown = match taken {
            Taken::End => live.end(),
            // After a pause, recognise the format from the bytes received so far.
            Taken::Nothing => live.idle(),
            Taken::Batch => live.batch(&batch),
        };
        // Print events when they arrive, not when a buffer is full.
        let failed = shown.and_then(|()| live.flush()).err();
        gauge.set_events(live.events());
        if live.wants_no_more() {
            enough.iter().for_each(|enough| enough.store(true, Ordering::Relaxed));
        }
        if let Some(error) = failed {
            control.end();
            live.fail(error);
        }
        // After a failure, keep emptying the buffer until the storing thread ends it.
        if taken == Taken::End {
            break;
        }
        pace.rest();
    }
    live.shown.left_out = buffer.dropped();
    live.shown
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tracewell::input::Settings;
    use tracewell::report::{Report, ReportOptions};
    use tracewell_wire::arrivals::{Arrival, ArrivalKind};
    use tracewell_wire::shark::{DatagramHeader, Frame};

    use super::*;
    use crate::control::Until;

    /// Shows the pieces of a stream, with the mark before each piece. Returns the notices, the
    /// result and the lines.
    fn shown(pieces: &[&[u8]], mark: ArrivalKind) -> (String, Shown, Vec<u8>) {
        let buffer = Buffer::new(8 << 20);
        for piece in pieces {
            buffer.mark(Arrival { time_ns: 0, bytes: 0, kind: mark });
            piece.chunks(1 << 16).for_each(|chunk| assert!(buffer.push(0, chunk)));
        }
        buffer.finish();
        let lines = crate::SharedOutput::new(Vec::new());
        let (stopped, notices) = (AtomicBool::new(false), Mutex::new(String::new()));
        let control = Control::new(Until::default(), &stopped, 0);
        let sink = || Box::new(Report::new(lines.writer(None), ReportOptions::default())) as _;
        let settings = Settings::default();
        let view = View { settings, only_growing: false, sink: Box::new(sink) };
        let tell = |notice: &Notice<'_>| *notices.lock().unwrap() += &format!("{notice}\n");
        let shown = show(&buffer, view, &control, None, &Gauge::default(), &tell);
        (notices.into_inner().unwrap(), shown, lines.into_inner())
    }

    fn packet(number: u32) -> Vec<u8> {
        let mut packet = vec![0; 4 + 984];
        packet[..4].copy_from_slice(&Frame::prefix(984));
        DatagramHeader::new(number, 60).write(&mut packet[4..]).unwrap();
        for (index, record) in packet[28..].as_chunks_mut::<16>().0.iter_mut().enumerate() {
            record[0] = 0x09;
            record[4..8].copy_from_slice(&(number * 60 + index as u32).to_le_bytes());
        }
        packet
    }

    #[test]
    fn a_format_that_is_decoded_as_a_whole_is_shown_at_the_end_up_to_a_limit() {
        let capture: Vec<_> = (1..=20).flat_map(packet).collect();
        let (notices, shown_whole, lines) = shown(&[&capture], ArrivalKind::Opened);
        assert_eq!((notices.as_str(), shown_whole.refused), ("", false));
        assert_eq!(shown_whole.trace.unwrap().events, 1200);
        assert!(lines.starts_with(b"shark trace"));
        let long: Vec<_> = (1..=1100).flat_map(packet).collect();
        let (notices, shown_none, _) = shown(&[&long], ArrivalKind::Opened);
        assert!(notices.starts_with("nothing more is shown: ") && shown_none.refused, "{notices}");
    }

    #[test]
    fn an_unrecognised_stream_is_reported_once_per_beginning() {
        let zeros = vec![0; 100_000];
        let (notices, found, lines) = shown(&[&zeros, &zeros[..10]], ArrivalKind::Restarted);
        assert_eq!(notices.matches("format not recognised").count(), 2, "{notices}");
        assert!(found.refused && found.trace.is_none() && lines.is_empty());
        let (notices, nothing, _) = shown(&[b"", b""], ArrivalKind::Restarted);
        assert!(notices.is_empty() && !nothing.refused);
    }
}
