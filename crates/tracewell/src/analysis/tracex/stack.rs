//! How much of its stack each thread has ever left free, from stack addresses in its events.
//!
//! Known mistakes that are kept: THREAD_CREATE carries the stack start of the created thread,
//! ENTRY_EXIT_NOTIFY and WAIT_ABORT carry 0, and an address above the stack is believed. On host
//! ports the addresses belong to threads of the host.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::trace::{Event, Trace};

/// Stack of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackUsage {
    /// Bytes in all.
    pub size: u32,
    /// Fewest bytes seen free; the size where no event tells.
    pub minimum_available: u32,
    /// Event that saw it; 0 where none did.
    pub event: usize,
}

impl Trace {
    /// Stack of each thread.
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
                    None => (usage.minimum_available, usage.event) = (0, *k),
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

/// The information word that holds a stack address, by event id.
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
