//! Showing what comes while it comes: what a caller asks for, and the loop that gives it to the stream (`live`).
//!
//! What is shown follows what was kept. Where it falls behind, bytes are left out and the gap is a loss in its
//! place; the decoder finds its way back as after any other damage.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Notice;
use super::buffer::{Buffer, Taken};
use super::control::Control;
use super::live::Live;
use super::pace::{Pace, TICK, WRITING};
use crate::export::events::EventWriter;
use crate::input::Settings;
use crate::model::{Severity, Sink, Trace};
use crate::report::Report;

/// A sink whose lines are to be seen at once.
pub trait Follow: Sink + Send {
    /// Gives out the lines that are there.
    ///
    /// # Errors
    /// Of the writer.
    fn show(&mut self) -> io::Result<()>;

    /// Ends what is shown.
    ///
    /// # Errors
    /// The first error of the writer, whenever it came.
    fn finish(self: Box<Self>, trace: &Trace) -> io::Result<()>;
}

impl<W: io::Write + Send> Follow for Report<W> {
    fn show(&mut self) -> io::Result<()> {
        Self::show(self)
    }

    fn finish(self: Box<Self>, trace: &Trace) -> io::Result<()> {
        Self::finish(*self, trace).map(drop)
    }
}

impl<W: io::Write + Send> Follow for EventWriter<W> {
    fn show(&mut self) -> io::Result<()> {
        Self::show(self)
    }

    fn finish(self: Box<Self>, _: &Trace) -> io::Result<()> {
        Self::finish(*self).map(drop)
    }
}

/// How a source is shown.
pub struct View<'a> {
    /// What is known of what comes.
    pub settings: Settings,
    /// Refuses memory that is read as a whole: it does not grow, and would be shown at the end only. A source of which
    /// nothing can be shown ends.
    pub only_growing: bool,
    /// Makes a sink; once for each beginning of the stream.
    pub sink: Box<dyn FnMut() -> Box<dyn Follow + 'a> + Send + 'a>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// What was shown.
#[derive(Debug, Default)]
pub struct Shown {
    /// What describes the events; of the last beginning of the stream.
    pub trace: Option<Trace>,
    /// The worst that was said of the ones before.
    pub worst: Option<Severity>,
    /// Bytes that were left out because showing fell behind.
    pub left_out: u64,
    /// Whether something came that no format recognised, or that its decoder refused.
    pub refused: bool,
    /// The format of memory that was refused because only what grows was asked for.
    pub whole: Option<&'static str>,
    /// Why showing ended.
    pub error: Option<io::Error>,
}

/// Shows what comes until nothing more does. Where only what is shown is wanted of the source, `enough` is
/// set when that is complete. An output that cannot be written ends the collection.
pub(super) fn show(
    buffer: &Buffer,
    view: View<'_>,
    control: &Control<'_>,
    enough: Option<&AtomicBool>,
    tell: &(dyn Fn(&Notice<'_>) + Sync),
) -> Shown {
    let mut live = Live::new(view, tell);
    let (mut batch, mut pace) = (buffer.other(), Pace::new(WRITING));
    loop {
        let taken = buffer.take(&mut batch, TICK);
        let shown = match taken {
            Taken::End => live.end(),
            Taken::Nothing => live.idle(),
            Taken::Batch => live.batch(&batch),
        };
        let failed = shown.and_then(|()| live.show()).err();
        if live.wants_no_more() {
            enough.iter().for_each(|enough| enough.store(true, Ordering::Relaxed));
        }
        if let Some(error) = failed {
            control.end();
            live.fail(error);
        }
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

    use tracewell_wire::arrivals::{Arrival, What};
    use tracewell_wire::shark::{DatagramHeader, Frame};

    use super::*;
    use crate::collect::control::Until;
    use crate::report::ReportOptions;

    /// Shows pieces that come with these marks between them; what was told, and what became of it.
    fn shown(pieces: &[&[u8]], mark: What) -> (String, Shown, Vec<u8>) {
        let buffer = Buffer::new(8 << 20);
        for piece in pieces {
            buffer.mark(Arrival { time_ns: 0, bytes: 0, what: mark });
            piece.chunks(1 << 16).for_each(|chunk| assert!(buffer.push(0, chunk)));
        }
        buffer.finish();
        let lines = crate::collect::SharedOutput::new(Vec::new());
        let (stopped, told) = (AtomicBool::new(false), Mutex::new(String::new()));
        let control = Control::new(Until::default(), &stopped, 0);
        let sink = || Box::new(Report::new(lines.writer(None), ReportOptions::default())) as _;
        let settings = Settings::default();
        let view = View { settings, only_growing: false, sink: Box::new(sink) };
        let tell = |notice: &Notice<'_>| *told.lock().unwrap() += &format!("{notice}\n");
        let shown = show(&buffer, view, &control, None, &tell);
        (told.into_inner().unwrap(), shown, lines.into_inner())
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
    fn what_has_to_be_seen_whole_is_shown_at_the_end_unless_it_is_too_long() {
        let capture: Vec<_> = (1..=20).flat_map(packet).collect();
        let (told, shown_whole, lines) = shown(&[&capture], What::Opened);
        assert_eq!((told.as_str(), shown_whole.refused), ("", false));
        assert_eq!(shown_whole.trace.unwrap().events, 1200);
        assert!(lines.starts_with(b"shark trace"));
        let long: Vec<_> = (1..=1100).flat_map(packet).collect();
        let (told, shown_none, _) = shown(&[&long], What::Opened);
        assert!(told.starts_with("nothing more is shown: ") && shown_none.refused, "{told}");
    }

    #[test]
    fn what_nobody_recognises_is_told_once_for_each_beginning() {
        let zeros = vec![0; 100_000];
        let (told, found, lines) = shown(&[&zeros, &zeros[..10]], What::Restarted);
        assert_eq!(told.matches("no known format").count(), 2, "{told}");
        assert!(found.refused && found.trace.is_none() && lines.is_empty());
        let (told, nothing, _) = shown(&[b"", b""], What::Restarted);
        assert!(told.is_empty() && !nothing.refused);
    }
}
