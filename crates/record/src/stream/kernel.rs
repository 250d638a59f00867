//! Records the work of a kernel or an executor, with the event types of
//! [`tracewell_wire::native::kernel`].

use core::fmt;
use core::ops::Deref;
use core::sync::atomic::{AtomicU16, Ordering};

use tracewell_wire::native::image::TYPE_TEXT;
use tracewell_wire::native::kernel;
use tracewell_wire::target::definition::{IDLE, LARGER_IS_URGENT};
use tracewell_wire::target::{Definition, DefinitionKind, Described, ids};

use super::{DefineError, Family, Stream};

/// A stream into which a kernel or an executor records what it does: which tasks run, why they
/// wait, who holds a mutex. `tracewell analyze` and the timelines then show what the scheduler did.
///
/// The events are the same as in the recorder for small targets. [`tracewell_wire::target::ids`]
/// lists them, with their arguments. The kernel gives its tasks and objects numbers below 2^32.
/// Mutex 3 and queue 3 are different objects.
///
/// An event belongs to one of the kernel's cores, which have the numbers 0 to 31. The context of
/// the event is the task that is running on this core, or the interrupt in progress. A thread that
/// does not act as a core, such as a thread that wakes a task from outside, records its events with
/// the core [`Kernel::OUTSIDE`]. The context of these events is the thread.
///
/// ```
/// use tracewell_record::stream::{Kernel, Log, Stream, StreamOptions, Take};
/// use tracewell_wire::target::{DefinitionKind, ids};
///
/// let stream = Stream::anonymous(&StreamOptions::default())?;
/// stream.start();
/// let kernel = Kernel::new(&stream);
/// kernel.define_system("my kernel", true)?;
/// kernel.define(DefinitionKind::Task, 1, 0, 5, "motor")?;
/// kernel.event(0, ids::START, [0; 2]);
/// kernel.event(0, ids::TASK_CREATE, [1, 5]);
/// kernel.event(0, ids::RUNS, [1, 0]);
/// kernel.event(0, ids::MUTEX_WAIT, [3, 0]);
/// assert_eq!(Log::new(Vec::new(), Take::Out).drain(&stream)?, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Kernel<S> {
    stream: S,
    /// The stream's id for each event, by the event's number in [`Described::ALL`]; 0 if the event
    /// has no event type in the stream yet.
    types: [AtomicU16; Described::ALL.len()],
}

impl<S: Deref<Target = Stream>> Kernel<S> {
    /// The core number of events from a thread that does not act as a core of the kernel.
    pub const OUTSIDE: u8 = kernel::OUTSIDE;

    /// Creates a recorder for a stream. The caller passes the stream as a reference or as a pointer
    /// such as `Arc`.
    pub fn new(stream: S) -> Self {
        Self { stream, types: [const { AtomicU16::new(0) }; Described::ALL.len()] }
    }

    /// Returns the stream into which this recorder writes.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Records an event with at most two arguments; the event's id determines how many. Ignores an
    /// unknown id, and the ids of events with text.
    ///
    /// Like [`Stream::record`], does not wait or allocate, and is safe to call from a signal
    /// handler.
    #[inline]
    pub fn event(&self, core: u8, id: u8, arguments: [u64; 2]) {
        let [first, second] = arguments;
        let fields = [u64::from(core), first, second];
        if let count @ 0..=2 = id >> 6 {
            self.record(id, fields.get(..=usize::from(count)).unwrap_or_default(), &[]);
        }
    }

    /// Records a value of the application.
    pub fn value(&self, core: u8, channel: u32, value: i64) {
        self.event(core, ids::VALUE, [u64::from(channel), value.cast_unsigned()]);
    }

    /// Records a text of the application.
    pub fn text(&self, core: u8, channel: u32, text: &str) {
        let fields = [u64::from(core), u64::from(channel), text.len() as u64];
        self.record(ids::TEXT, &fields, text.as_bytes());
    }

    /// Stores the name of a task or object, with its value and priority
    /// ([`tracewell_wire::target::definition`]). Cuts the name after 140 bytes. Names are kept,
    /// even if the stream overwrites events that use them. A stream has room for about 1900
    /// different names.
    ///
    /// # Errors
    /// Returns an error if the stream has no room for another event type.
    pub fn define(
        &self,
        kind: DefinitionKind,
        number: u32,
        value: u32,
        priority: u8,
        name: &str,
    ) -> Result<(), DefineError> {
        self.store(Definition { value, priority, ..Definition::new(kind, number, b"") }, name)
    }

    /// Stores the name of an idle task: a task that runs if no other task is ready. The time of
    /// this task counts as idle time.
    ///
    /// # Errors
    /// Returns an error if the stream has no room for another event type.
    pub fn define_idle(&self, number: u32, name: &str) -> Result<(), DefineError> {
        let entry = Definition::new(DefinitionKind::Task, number, b"");
        self.store(Definition { flags: IDLE, ..entry }, name)
    }

    /// Stores the name of the kernel. `larger_is_urgent` is true if a larger priority is more
    /// urgent.
    ///
    /// # Errors
    /// Returns an error if the stream has no room for another event type.
    pub fn define_system(&self, name: &str, larger_is_urgent: bool) -> Result<(), DefineError> {
        let flags = if larger_is_urgent { LARGER_IS_URGENT } else { 0 };
        let entry = Definition::new(DefinitionKind::System, 0, b"");
        self.store(Definition { flags, ..entry }, name)
    }

    fn store(&self, definition: Definition, name: &str) -> Result<(), DefineError> {
        let family = family(ids::START);
        let id = self.type_of(family, |text| kernel::write_definition(&definition, name, text))?;
        self.stream.record_as(id, family, &[], &[]);
        Ok(())
    }

    #[inline]
    fn record(&self, id: u8, fields: &[u64], bytes: &[u8]) {
        let Ok(index) = Described::ALL.binary_search_by_key(&id, |event| event.id) else { return };
        let family = family(id);
        let known = match self.types[index].load(Ordering::Relaxed) {
            0 => self.define_event(index, family),
            known => known,
        };
        self.stream.record_as(known, family, fields, bytes);
    }

    /// Defines the type of an event. Returns 0 if the stream has no room for the type. The stream
    /// then counts the event as lost.
    #[cold]
    fn define_event(&self, index: usize, family: Family) -> u16 {
        let Some(event) = Described::ALL.get(index) else { return 0 };
        let id = self.type_of(family, |text| kernel::write_event_type(event, text)).unwrap_or(0);
        self.types[index].store(id, Ordering::Relaxed);
        id
    }

    fn type_of(
        &self,
        family: Family,
        write: impl FnOnce(&mut Text) -> fmt::Result,
    ) -> Result<u16, DefineError> {
        let mut text = Text { bytes: [0; TYPE_TEXT], length: 0 };
        write(&mut text).map_err(|_| DefineError::TooLong)?;
        let text = text.bytes.get(..text.length).unwrap_or_default();
        let text = core::str::from_utf8(text).map_err(|_| DefineError::NoEventType)?;
        self.stream.define_text(None, family, text)
    }
}

fn family(id: u8) -> Family {
    Family::new(kernel::family_of(id), kernel::FAMILY)
}

/// Text of limited length, without allocation.
struct Text {
    bytes: [u8; TYPE_TEXT],
    length: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}
