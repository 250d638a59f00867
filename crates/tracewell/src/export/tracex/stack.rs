//! Computes the minimum free stack of each thread from stack addresses in its events.
//!
//! Known mistakes of TraceX are reproduced. TraceX also uses words that are not stack addresses of
//! the thread: the stack start of the created thread in THREAD_CREATE, and 0 in ENTRY_EXIT_NOTIFY
//! and WAIT_ABORT. TraceX accepts an address above the stack. On host ports, the addresses belong
//! to threads of the host.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::trace::{Event, Trace};

/// Stack usage of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackUsage {
    /// Size of the stack in bytes.
    pub size: u32,
    /// Minimum free bytes; the size if no event has a stack address.
    pub minimum_available: u32,
    /// Index of the event with this minimum; 0 if there is none.
    pub event: usize,
}

impl Trace {
    /// Returns the stack usage of each thread.
    pub fn stack_usage(&self) -> Vec<StackUsage> {
        let mut seen: HashMap<u32, Vec<(usize, u32)>, RandomState> = HashMap::default();
        for (k, event) in self.events.iter().enumerate() {
            if let Some(pointer) = stack_pointer(event) {
                seen.entry(event.context).or_default().push((k, pointer));
            }
        }
        let usage = |object: &super::Object| {
            let (start, size) = (object.parameter1, object.parameter2);
            let mut usage = StackUsage { size, minimum_available: size, event: 0 };
            for (k, pointer) in seen.get(&object.address).into_iter().flatten() {
                match pointer.checked_sub(start) {
                    // An address below the stack is an overflow, so nothing is free.
                    None => (usage.minimum_available, usage.event) = (0, *k),
                    // The first event with the minimum is shown, so equal values do not replace it.
                    Some(free) if free < usage.minimum_available => {
                        (usage.minimum_available, usage.event) = (free, *k);
                    }
                    Some(_) => {}
                }
            }
            usage
        };
        self.thread_objects().map(usage).collect()
    }
}

/// Returns the information word with a stack address. Its position depends on the event id.
fn stack_pointer(event: &Event) -> Option<u32> {
    let [first, second, third, fourth] = event.info;
    match event.id() {
        3 | 4 | 109 => Some(first),
        12 | 22 | 30 | 31 | 40 | 51 | 61 | 62 | 82 | 101 | 120 | 125 | 127 => Some(second),
        1 | 2 | 16 | 26 | 50 | 56 | 67 | 81 | 87 | 100 | 102 | 111 | 112 | 114 | 115 | 117 => {
            Some(third)
        }
        17 | 21 | 57 | 83 | 88 => Some(fourth),
        _ => None,
    }
}
