//! Uses the fields of an event to find the thread or interrupt that recorded the event.
//!
//! | fields | context |
//! |---|---|
//! | `vtid` or `tid` in a context, with `procname` | this thread (LTTng-UST, kernel contexts) |
//! | `perf_tid`, with the processor `perf_cpu` | this thread (perf) |
//! | `sched_switch` with `next_tid`, `next_comm` | this thread runs after the event |
//! | `thread_switched_in` with `thread_id`, `name` | this thread runs after the event (Zephyr) |
//!
//! Events between the beginning and the end of an interrupt belong to the interrupt. Other events
//! without such fields belong to the thread that is running on their processor, if this thread is
//! known.

use super::field::Field;
use super::row::Row;
use super::systems::System;
use crate::format::nested::Nested;
use crate::format::recent_contexts::RecentContexts;
use crate::model::schema::{ArgumentKind, EventType};
use crate::model::values::HEAD;
use crate::model::{Context, ContextId, ContextKind, Meaning, Trace};
use crate::text::shown;

/// The key of a processor's thread 0 is the processor's number plus this value. Each processor has
/// its own thread 0, the idle thread.
const IDLE: u64 = 1 << 48;

/// Key of the context of events whose thread is not known.
const UNKNOWN: u64 = u64::MAX;

/// The key of an interrupt's context is the interrupt number plus this value.
const INTERRUPT: u64 = 1 << 49;

/// The slot of a number, and the slot of a name.
type Slots = (u8, Option<u8>);

/// Returns the thread id that a slot contains. Slots extend the sign of signed 32-bit ids to 64
/// bits, and this function removes the extension. It does not change numbers of more than 32 bits,
/// such as addresses.
#[inline]
fn thread_number(slot: u64) -> u64 {
    match i32::try_from(slot.cast_signed()) {
        Ok(number) => u64::from(number.cast_unsigned()),
        Err(_) => slot,
    }
}

/// The arguments of an event that name a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Who {
    /// The thread that recorded the event.
    recorder: Option<Slots>,
    /// The thread that runs after the event.
    next: Option<Slots>,
    /// Threads to which the event refers.
    named: [Option<Slots>; 2],
    /// The slot of the processor, if the packet does not contain the processor.
    cpu: Option<u8>,
    /// The interrupt that begins or ends.
    interrupt: Option<Interrupt>,
    /// True if the numbers of threads are addresses.
    has_addresses: bool,
    /// True if an interrupt of Zephyr records the event.
    pub(super) is_interrupt: bool,
}

/// An event class: its id in the schema, and the arguments that identify its contexts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) id: u32,
    pub(super) who: Who,
}

/// The beginning or the end of an interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Interrupt {
    begins: bool,
    /// The slots of its number and its name.
    number: Option<Slots>,
    offset: u64,
}

/// The arguments that contain the number and the name of a thread, in events of known systems.
const NAMED: [(&str, &str); 8] = [
    ("prev_tid", "prev_comm"),
    ("next_tid", "next_comm"),
    ("prev_pid", "prev_comm"),
    ("next_pid", "next_comm"),
    ("child_tid", "child_comm"),
    ("tid", "comm"),
    ("tid", "name"),
    ("thread_id", "name"),
];

fn slot(args: &[Field], name: &str, is: fn(ArgumentKind) -> bool) -> Option<u8> {
    let found = args.iter().position(|known| known.name == name && is(known.kind));
    found.and_then(|slot| u8::try_from(slot).ok())
}

impl Who {
    /// Finds the arguments of an event that name threads.
    pub(super) fn new(event: &str, args: &[Field], system: &System) -> Self {
        let number = |name: &str| {
            slot(args, name, |kind| matches!(kind, ArgumentKind::Unsigned | ArgumentKind::Signed))
        };
        let text = |name: &str| slot(args, name, |kind| kind == ArgumentKind::Text);
        let thread = |number: Option<u8>, name: &str| number.map(|number| (number, text(name)));
        let next = match event {
            "sched_switch" => thread(number("next_tid"), "next_comm"),
            "sched:sched_switch" => thread(number("next_pid"), "next_comm"),
            "thread_switched_in" => thread(number("thread_id"), "name"),
            _ => None,
        };
        // The field `tid` in a kernel event's payload is the thread that the event concerns, not
        // the recorder.
        let recorder = thread(number("vtid"), "procname");
        let recorder = recorder.or_else(|| thread(number("context_tid"), "procname"));
        let recorder = recorder.or_else(|| thread(number("perf_tid"), "perf_comm"));
        // Events `lttng_statedump_*` describe the state of the kernel. In these events, `vtid` is
        // the described thread, not the recorder.
        let recorder = recorder.filter(|_| !event.starts_with("lttng_statedump_"));
        let cpu = number("perf_cpu").or_else(|| number("core_id"));
        let mut named = [None; 2];
        if system.is_known() {
            let both = |(key, name): (&str, &str)| Some((number(key)?, Some(text(name)?)));
            let found = NAMED.into_iter().filter_map(both);
            named.iter_mut().zip(found).for_each(|(place, slots)| *place = Some(slots));
        }
        let has_addresses = system.has_addresses;
        let is_interrupt = event.starts_with("isr_");
        Self { recorder, next, named, cpu, interrupt: None, has_addresses, is_interrupt }
    }

    /// Adds the meaning of the event.
    pub(super) fn describe(&mut self, event: &EventType) {
        let Some(means) = event.means else { return };
        let begins = means.meaning == Meaning::InterruptEnter;
        if !begins && means.meaning != Meaning::InterruptExit {
            return;
        }
        let place = |index: usize| u8::try_from(index).ok();
        let name = event.args.iter().position(|argument| argument.name == "name");
        let number = means.value.and_then(place);
        let number = number.map(|number| (number, name.and_then(place)));
        self.interrupt = Some(Interrupt { begins, number, offset: means.offset });
    }

    /// Returns true if the event refers to no context except its recorder, and if its processor is
    /// the processor of its packet. Does not check names of threads, because the caller uses the
    /// result only for events without texts.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.next.is_none() && self.interrupt.is_none() && self.cpu.is_none()
    }

    /// Returns the processor of an event whose row was written: the processor of its packet, or the
    /// one that the event specifies.
    #[inline]
    pub(super) fn cpu(&self, row: &Row<'_>, packet: Option<u16>) -> u16 {
        packet.unwrap_or_else(|| processor(self.cpu.and_then(|slot| row.number_in(slot))))
    }
}

/// Returns the processor with this number, or processor 0 if the number is not known.
pub(super) fn processor(number: Option<u64>) -> u16 {
    number.map_or(0, |number| u16::try_from(number).unwrap_or(u16::MAX))
}

/// The contexts that are running on a processor.
#[derive(Debug, Default)]
struct Cpu {
    running: Option<ContextId>,
    /// The interrupts that the processor serves.
    interrupts: Nested<ContextId>,
}

/// The threads of a trace.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The processors, by number.
    cpus: Vec<Cpu>,
    /// Threads that recorded events recently, each at the position that belongs to its key.
    recent: RecentContexts,
    /// The context of events whose thread is unknown.
    unknown: Option<ContextId>,
}

impl Threads {
    /// Returns the context of an event whose row was written.
    #[inline]
    pub(super) fn context(
        &mut self,
        who: &Who,
        cpu: u16,
        row: &Row<'_>,
        trace: &mut Trace,
    ) -> ContextId {
        for named in who.named.iter().flatten() {
            self.name(*named, cpu, who.has_addresses, row, trace);
        }
        if let Some(interrupt) = &who.interrupt
            && let Some(context) = self.interrupt(interrupt, cpu, row, trace)
        {
            return context;
        }
        let recorder = who.recorder;
        let recorder =
            recorder.and_then(|thread| self.thread(thread, cpu, who.has_addresses, row, trace));
        let context = self.running(recorder, cpu, trace);
        let next = who.next;
        if let Some(next) =
            next.and_then(|next| self.thread(next, cpu, who.has_addresses, row, trace))
        {
            self.cpu(cpu).running = Some(next);
        }
        context
    }

    /// Returns the context of the event whose row begins at `start`. The caller has checked that
    /// [`Who::is_plain`] returns true for the event.
    #[inline]
    pub(super) fn of_recorder(
        &mut self,
        who: &Who,
        cpu: u16,
        (rows, start): (&[u8], usize),
        trace: &mut Trace,
    ) -> ContextId {
        let recorder = who.recorder.and_then(|(slot, _)| {
            let number = rows.get(start + HEAD + 8 * usize::from(slot)..)?.first_chunk()?;
            Some(self.numbered(
                u64::from_le_bytes(*number),
                cpu,
                |known, trace| add(trace, known, who.has_addresses, b""),
                trace,
            ))
        });
        self.running(recorder, cpu, trace)
    }

    /// Returns the context of an event: the interrupt that the processor serves, the thread that
    /// recorded the event, or the running thread.
    #[inline(always)]
    fn running(&mut self, recorder: Option<ContextId>, cpu: u16, trace: &mut Trace) -> ContextId {
        let known = self.cpus.get(usize::from(cpu));
        let interrupt = known.and_then(|cpu| cpu.interrupts.innermost());
        let running = known.and_then(|cpu| cpu.running);
        let context = interrupt.or(recorder).or(running);
        context.unwrap_or_else(|| *self.unknown.get_or_insert_with(|| unknown(trace)))
    }

    /// Returns the context of the thread whose number is in a slot. If the context is new, `add`
    /// creates it from its key and its number.
    #[inline]
    fn numbered(
        &mut self,
        slot: u64,
        cpu: u16,
        add: impl FnOnce((u64, u64), &mut Trace) -> ContextId,
        trace: &mut Trace,
    ) -> ContextId {
        let number = thread_number(slot);
        let key = if number == 0 { IDLE + u64::from(cpu) } else { number };
        if let Some(id) = self.recent.get(key) {
            return id;
        }
        let id = trace.contexts.find(key).unwrap_or_else(|| add((key, number), trace));
        self.recent.set(key, id);
        id
    }

    /// Handles missing events: forgets the contexts that are running on a processor, or on all
    /// processors if the number is `None`.
    pub(super) fn gap(&mut self, cpu: Option<u64>) {
        match cpu.and_then(|cpu| u16::try_from(cpu).ok()) {
            Some(cpu) => *self.cpu(cpu) = Cpu::default(),
            None => self.cpus.clear(),
        }
    }

    fn cpu(&mut self, cpu: u16) -> &mut Cpu {
        let cpu = usize::from(cpu);
        if self.cpus.len() <= cpu {
            self.cpus.resize_with(cpu + 1, Cpu::default);
        }
        &mut self.cpus[cpu]
    }

    /// Handles the beginning or the end of an interrupt and returns its context. Returns `None` at
    /// the end of an interrupt if its beginning is not known.
    fn interrupt(
        &mut self,
        interrupt: &Interrupt,
        cpu: u16,
        row: &Row<'_>,
        trace: &mut Trace,
    ) -> Option<ContextId> {
        let open = &mut self.cpu(cpu).interrupts;
        if !interrupt.begins {
            return open.exit();
        }
        let number = interrupt.number.and_then(|(slot, _)| row.number_in(slot));
        let number = number.map(|number| (number & 0xFFFF_FFFF).wrapping_add(interrupt.offset));
        let key = INTERRUPT.wrapping_add(number.map_or(0, |number| number.wrapping_add(1)));
        let id = trace.contexts.find(key).unwrap_or_else(|| {
            let name = interrupt.number.and_then(|(_, name)| row.text_in(name?));
            let name = name.map(|name| shown(name).into_owned());
            let name = match (number, name) {
                (None, _) => "interrupt".to_owned(),
                (Some(number), _) if interrupt.offset > 0 => {
                    format!("softirq {}", number.wrapping_sub(interrupt.offset))
                }
                (Some(number), Some(name)) => format!("irq {number} {name}"),
                (Some(number), None) => format!("irq {number}"),
            };
            let key_text = number.map_or("-".to_owned(), |number| number.to_string());
            let kind = ContextKind::Interrupt;
            trace.contexts.add(Context { key, key_text, kind, name, object: None })
        });
        open.enter(id);
        Some(id)
    }

    /// Adds the thread that these slots describe. If the thread exists, gives it the name in the
    /// slots.
    fn name(
        &mut self,
        slots: Slots,
        cpu: u16,
        has_addresses: bool,
        row: &Row<'_>,
        trace: &mut Trace,
    ) {
        let Some(id) = self.thread(slots, cpu, has_addresses, row, trace) else { return };
        let name = slots.1.and_then(|name| row.text_in(name)).unwrap_or_default();
        let context = trace.contexts.get(id);
        let is_known = context.is_some_and(|context| context.name.as_bytes() == name);
        if !is_known && is_name(name) {
            trace.contexts.rename(id, &shown(name), None);
        }
    }

    /// Returns the context of the thread that these slots describe, and adds the context if it is
    /// new.
    #[inline]
    fn thread(
        &mut self,
        (number, name): Slots,
        cpu: u16,
        has_addresses: bool,
        row: &Row<'_>,
        trace: &mut Trace,
    ) -> Option<ContextId> {
        let slot = row.number_in(number)?;
        let add = |known, trace: &mut Trace| {
            let name = name.and_then(|name| row.text_in(name)).unwrap_or_default();
            add(trace, known, has_addresses, name)
        };
        Some(self.numbered(slot, cpu, add, trace))
    }
}

/// Returns true if a text is the name of a thread. Zephyr records `unknown` for threads without a
/// name.
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name != b"unknown"
}

fn add(trace: &mut Trace, (key, number): (u64, u64), is_address: bool, name: &[u8]) -> ContextId {
    let key_text = if is_address { format!("0x{number:08X}") } else { number.to_string() };
    let name = if is_name(name) { shown(name).into_owned() } else { format!("thread {key_text}") };
    let kind = if number == 0 { ContextKind::System } else { ContextKind::Thread };
    trace.contexts.add(Context { key, key_text, kind, name, object: None })
}

fn unknown(trace: &mut Trace) -> ContextId {
    trace.contexts.add(Context {
        key: UNKNOWN,
        key_text: "?".to_owned(),
        kind: ContextKind::Unknown,
        name: "?".to_owned(),
        object: None,
    })
}
