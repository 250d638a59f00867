//! Simulates a collection from connections, for tests and fuzzing. A script determines when bytes
//! arrive, when connections end, and when bytes are stored and shown. Only the connections and the
//! pauses are simulated; all other code is that of a real collection.
//!
//! For each source, the simulation checks that every received byte was stored or counted as
//! dropped, and that it was shown or reported as a gap, in each case at its position.

mod check;
mod target;

use std::cell::RefCell;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tracewell::input::Settings;
use tracewell::model::{Batch as Events, Flow, Loss, Sink, Trace};
use tracewell_wire::arrivals::ArrivalKind;

use crate::buffer::{Batch, Buffer, Taken};
use crate::control::{Control, Until};
use crate::gauge::Gauge;
use crate::intake::Intake;
use crate::live::Live;
use crate::notice::Notice;
use crate::store::{Raw, Storing};
use crate::{View, connection};
use check::{Model, Stored};
use target::Target;

/// Size of a buffer in bytes. The buffer is small, so that short scripts fill it.
const CAPACITY: usize = 512;
/// Number of reads that fit into a buffer.
const MAX_READS: usize = 16;

/// Collects from one to four sources at once, each on its own thread.
///
/// The first byte of the script determines the setup of all sources. Each following pair of bytes
/// is a step and its amount. The steps are distributed to the sources in turn.
///
/// # Panics
/// Panics if a byte was lost without being counted.
pub fn collect(script: &[u8]) {
    let Some((&first, steps)) = script.split_first() else { return };
    let setup = Setup::of(first);
    let stopped = AtomicBool::new(false);
    let control = &Control::new(Until::default(), &stopped, setup.sources);
    std::thread::scope(|scope| {
        for source in 0..setup.sources {
            let steps = steps.as_chunks::<2>().0.iter().skip(source).step_by(setup.sources);
            let steps: Vec<_> = steps.map(|[step, amount]| (Step::of(*step), *amount)).collect();
            scope.spawn(move || run(source, setup, &steps, control));
        }
    });
}

/// The properties that all sources of a script have in common.
#[derive(Clone, Copy, Debug)]
struct Setup {
    sources: usize,
    content: target::Content,
    /// True if the format is specified; otherwise the view recognises it.
    has_format: bool,
    /// Number of bytes that fit on the disk, or `None` if nothing is stored.
    disk: Option<usize>,
    is_shown: bool,
}

impl Setup {
    /// The bits, from the lowest: sources (2 bits), content (2 bits), format, disk (2 bits), shown.
    fn of(byte: u8) -> Self {
        let disks = [None, Some(1000), Some(usize::MAX), Some(usize::MAX)];
        let disk = disks[usize::from(byte >> 5 & 3)];
        Self {
            sources: 1 + usize::from(byte & 3),
            content: target::Content::of(byte >> 2 & 3),
            has_format: byte >> 4 & 1 == 1,
            disk,
            is_shown: disk.is_none() || byte >> 7 == 1,
        }
    }
}

/// A step of a source.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The number of bytes that arrive is the amount plus 1.
    Few,
    /// 64 times as many bytes arrive as for `Few`.
    Many,
    /// Nothing arrives.
    Silence,
    /// The target closes the connection.
    End,
    /// The connection fails.
    Failure,
    /// The next attempt to connect fails.
    Refusal,
    /// The target restarts.
    Restart,
    /// A batch is stored.
    Store,
    /// A batch is shown.
    Show,
}

impl Step {
    fn of(byte: u8) -> Self {
        match byte % 16 {
            0..=4 => Self::Few,
            5 => Self::Many,
            6 => Self::Silence,
            7 => Self::End,
            8 => Self::Failure,
            9 => Self::Refusal,
            10 => Self::Restart,
            11..=13 => Self::Store,
            _ => Self::Show,
        }
    }
}

/// A file in memory with only this much free space.
struct Disk {
    file: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl io::Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A disk can write fewer bytes than requested.
        let written = bytes.len().min(self.room).min(300);
        if written == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.room -= written;
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        file.extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts events and losses.
#[derive(Clone, Default)]
struct Counts(Arc<Mutex<(u64, u64)>>);

impl Counts {
    fn add(&self, events: u64, losses: u64) {
        let mut counts = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *counts = (counts.0 + events, counts.1 + losses);
    }

    /// Returns the number of events and the number of losses.
    fn get(&self) -> (u64, u64) {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Sink for Counts {
    fn events(&mut self, _: &Trace, batch: &Events<'_>) -> Flow {
        self.add(batch.len() as u64, 0);
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, _: &Loss) -> Flow {
        self.add(0, 1);
        Flow::Continue(())
    }
}

/// A source and the work of its threads. One thread does all this work, step by step.
struct Source<'a, 't> {
    steps: std::slice::Iter<'t, (Step, u8)>,
    target: Target,
    model: Model,
    buffer: &'t Buffer,
    storing: Storing<'a, 't>,
    view: Option<(&'t Buffer, Live<'a, 't>)>,
    batch: Batch,
    control: &'t Control<'t>,
    /// True after the last step.
    is_over: &'t AtomicBool,
}

fn run(source: usize, setup: Setup, steps: &[(Step, u8)], control: &Control<'_>) {
    // Every notice must have a text. The simulation does not compare the texts.
    let tell = &|notice: &Notice<'_>| assert!(!notice.to_string().is_empty());
    let buffer = &Buffer::limited(CAPACITY, MAX_READS);
    // Half the capacity: the view can overrun while all bytes are stored.
    let showing = &Buffer::limited(CAPACITY / 2, MAX_READS);
    let (is_over, gauge) = (&AtomicBool::new(false), &Gauge::default());
    let (file, arrivals) = (Arc::default(), Arc::default());
    let raw = setup.disk.map(|room| Raw {
        bytes: Box::new(Disk { file: Arc::clone(&file), room }),
        // The file of arrivals never becomes full. The script limits only the file of bytes.
        arrivals: Some(Box::new(Disk { file: Arc::clone(&arrivals), room: usize::MAX })),
    });
    let keeps = raw.is_some();
    let counts = Counts::default();
    let settings = Settings {
        format: setup.has_format.then(|| setup.content.format().to_owned()),
        ..Settings::default()
    };
    let sink = || Box::new(counts.clone()) as Box<dyn Sink + Send>;
    let view = View { settings: settings.clone(), only_growing: false, sink: Box::new(sink) };
    let view = setup.is_shown.then(|| (showing, Live::new(view, tell)));
    let mut storing = Storing::new(raw, view.as_ref().map(|(showing, _)| *showing), tell);
    storing.begin().expect("there is room for the header");
    let (target, model) = (Target::new(setup.content, source), Model::default());
    let (steps, batch) = (steps.iter(), buffer.other());
    let source_state =
        Source { steps, target, model, buffer, storing, view, batch, control, is_over };
    let state = RefCell::new(source_state);
    let mut intake = Intake::new(control, source, buffer, is_over, gauge, tell);
    // The script decides when time passes, so the intake must not wait between attempts.
    intake.pauses = false;
    connection::keep_reading(&mut intake, || {
        state.borrow_mut().open().map(|()| (Connection(&state), "a target".to_owned()))
    })
    .expect("every error is temporary");
    let counted = intake.counts;
    let mut source = state.into_inner();
    source.finish();
    let Source { model, storing, view, .. } = source;
    let bytes =
        |file: Arc<Mutex<Vec<u8>>>| std::mem::take(&mut *file.lock().expect("not poisoned"));
    let stored = Stored { file: bytes(file), arrivals: bytes(arrivals), result: storing.stored };
    model.check_received(counted, gauge.progress(), buffer.dropped());
    if keeps {
        model.check_stored(&stored, buffer.dropped());
    }
    if let Some((showing, live)) = view {
        assert_eq!(live.events(), counts.get().0, "events");
        if stored.result.error.is_none() {
            model.check_shown(buffer.dropped() + showing.dropped());
            model.check_decoded(&settings, &live.shown, counts.get());
        }
    }
}

impl Source<'_, '_> {
    /// Executes the steps up to the next attempt to connect.
    fn open(&mut self) -> io::Result<()> {
        if let Some((Step::Refusal, _)) = self.steps.as_slice().first() {
            self.steps.next();
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        self.model.opened += 1;
        Ok(())
    }

    /// Executes the steps up to the next result of a read. If no steps are left, the source has
    /// ended.
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        while let Some((step, amount)) = self.steps.next() {
            let amount = usize::from(*amount);
            match step {
                Step::Few => return Ok(self.arrive(piece, 1 + amount)),
                Step::Many => return Ok(self.arrive(piece, 64 * (1 + amount))),
                Step::Silence => return Err(io::ErrorKind::WouldBlock.into()),
                Step::End => return Ok(0),
                Step::Failure | Step::Refusal => {
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                Step::Restart => self.target.restart(),
                Step::Store => _ = self.store(),
                Step::Show => _ = self.show(),
            }
        }
        self.is_over.store(true, Ordering::Relaxed);
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn arrive(&mut self, piece: &mut [u8], length: usize) -> usize {
        let piece = &mut piece[..length];
        self.target.send(piece);
        self.model.received.extend_from_slice(piece);
        length
    }

    /// Stores a batch. Returns false if there is none.
    fn store(&mut self) -> bool {
        if self.storing.stored.error.is_some()
            || self.buffer.take(&mut self.batch, Duration::ZERO) != Taken::Batch
        {
            return false;
        }
        check::batch(&self.batch, CAPACITY);
        if let Err(error) = self.storing.batch(&self.batch) {
            self.storing.stored.error = Some(error);
            self.buffer.abandon();
            self.control.end();
        }
        true
    }

    /// Shows a batch. Returns false if there is none.
    fn show(&mut self) -> bool {
        let Some((showing, live)) = &mut self.view else { return false };
        if showing.take(&mut self.batch, Duration::ZERO) != Taken::Batch {
            return false;
        }
        check::batch(&self.batch, CAPACITY);
        for (mark, bytes) in self.batch.pieces() {
            if mark.kind == ArrivalKind::Dropped {
                self.model.shown.skip(mark.bytes);
            } else {
                self.model.shown.take(bytes, &self.model.received);
            }
        }
        live.batch(&self.batch).expect("counting never fails");
        true
    }

    /// Stores and shows all remaining bytes.
    fn finish(&mut self) {
        self.buffer.finish();
        while self.store() {}
        while self.show() {}
        if let Some((_, live)) = &mut self.view {
            live.end().expect("counting never fails");
        }
    }
}

/// A connection to the target.
struct Connection<'s, 'a, 't>(&'s RefCell<Source<'a, 't>>);

impl Read for Connection<'_, '_, '_> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(piece)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn intake() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/intake");
        let files: Vec<_> = fs::read_dir(&corpus).expect("the target has a corpus").collect();
        assert!(!files.is_empty(), "{} is empty", corpus.display());
        for file in files {
            let path = file.expect("the folder can be listed").path();
            println!("{}", path.display()); // Shown only for the file that fails.
            collect(&fs::read(path).expect("a corpus file can be read"));
        }
    }

    proptest! {
        #[test]
        fn every_byte_is_stored_or_counted(script in prop::collection::vec(any::<u8>(), 0..400)) {
            collect(&script);
        }
    }
}
