//! The contexts that record events: threads, as far as the fields of an event name them.
//!
//! | fields | context |
//! |---|---|
//! | `vtid` or `tid` in a context, with `procname` | this thread (LTTng-UST, kernel contexts) |
//! | `perf_tid`, with the processor `perf_cpu` | this thread (perf) |
//! | `sched_switch` with `next_tid`, `next_comm` | this thread runs on the processor from then on |
//! | `thread_switched_in` with `thread_id`, `name` | this thread runs from then on (Zephyr) |
//!
//! An event without such fields belongs to the thread that runs on its processor, if it is known.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::row::Row;
use crate::model::schema::ArgumentKind;
use crate::model::{Context, ContextId, ContextKind, Trace};
use crate::text::shown;

/// Added to the number of a processor for the key of the thread 0 of a kernel: each processor has
/// its own.
const IDLE: u64 = 1 << 48;

/// Key of the context of events whose thread is not known.
const UNKNOWN: u64 = u64::MAX;

/// The arguments of an event that name a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Who {
    /// The slots of the number and the name of the thread that recorded the event.
    recorder: Option<(u8, Option<u8>)>,
    /// The slots of the number and the name of the thread that runs after the event.
    next: Option<(u8, Option<u8>)>,
    /// The slot of the processor, if the packet does not have it.
    cpu: Option<u8>,
    /// True if the event is one of an interrupt.
    pub(super) is_interrupt: bool,
}

impl Who {
    /// Finds the arguments of an event that name threads.
    pub(super) fn new(event: &str, args: &[(String, ArgumentKind)]) -> Self {
        let slot = |name: &str, is: fn(ArgumentKind) -> bool| {
            let found = args.iter().position(|(known, kind)| known == name && is(*kind));
            found.and_then(|slot| u8::try_from(slot).ok())
        };
        let number = |name: &str| {
            slot(name, |kind| matches!(kind, ArgumentKind::Unsigned | ArgumentKind::Signed))
        };
        let text = |name: &str| slot(name, |kind| kind == ArgumentKind::Text);
        let thread = |number: Option<u8>, name: &str| number.map(|number| (number, text(name)));
        let next = match event {
            "sched_switch" => thread(number("next_tid"), "next_comm"),
            "thread_switched_in" => thread(number("thread_id"), "name"),
            _ => None,
        };
        // `tid` of a kernel's payload is the thread that an event is about, not the recorder.
        let recorder = thread(number("vtid"), "procname");
        let recorder = recorder.or_else(|| thread(number("context_tid"), "procname"));
        let recorder = recorder.or_else(|| thread(number("perf_tid"), "perf_comm"));
        let cpu = number("perf_cpu").or_else(|| number("core_id"));
        Self { recorder, next, cpu, is_interrupt: event.starts_with("isr_") }
    }

    /// Returns the processor of an event whose row was written. `packet` is that of its packet.
    #[inline]
    pub(super) fn cpu(&self, row: &Row<'_>, packet: Option<u64>) -> u16 {
        let own = self.cpu.and_then(|slot| row.number_in(slot));
        packet.or(own).map_or(0, |cpu| u16::try_from(cpu).unwrap_or(u16::MAX))
    }
}

/// The threads of a trace.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The thread that runs on each processor.
    running: HashMap<u16, ContextId, RandomState>,
    last: Option<(u64, ContextId)>,
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
        let context = match who.recorder {
            Some(thread) => self.thread(thread, cpu, row, trace),
            None => self.running.get(&cpu).copied(),
        };
        let context = context.unwrap_or_else(|| unknown(trace));
        if let Some(next) = who.next.and_then(|next| self.thread(next, cpu, row, trace)) {
            self.running.insert(cpu, next);
        }
        context
    }

    /// Returns the context of the thread in these slots.
    #[inline]
    fn thread(
        &mut self,
        (number, name): (u8, Option<u8>),
        cpu: u16,
        row: &Row<'_>,
        trace: &mut Trace,
    ) -> Option<ContextId> {
        let number = row.number_in(number)? & 0xFFFF_FFFF;
        let key = if number == 0 { IDLE + u64::from(cpu) } else { number };
        if let Some((last, id)) = self.last
            && last == key
        {
            return Some(id);
        }
        let id = match trace.contexts.find(key) {
            Some(id) => id,
            None => {
                let name = name.and_then(|name| row.text_in(name)).unwrap_or_default();
                add(trace, key, number, name)
            }
        };
        self.last = Some((key, id));
        Some(id)
    }
}

fn add(trace: &mut Trace, key: u64, number: u64, name: &[u8]) -> ContextId {
    let name = shown(name).into_owned();
    let name = if name.is_empty() { format!("thread {number}") } else { name };
    let kind = if number == 0 { ContextKind::System } else { ContextKind::Thread };
    trace.contexts.add(Context { key, key_text: number.to_string(), kind, name, object: None })
}

fn unknown(trace: &mut Trace) -> ContextId {
    if let Some(id) = trace.contexts.find(UNKNOWN) {
        return id;
    }
    trace.contexts.add(Context {
        key: UNKNOWN,
        key_text: "?".to_owned(),
        kind: ContextKind::Unknown,
        name: "?".to_owned(),
        object: None,
    })
}
