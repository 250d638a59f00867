//! A stream of SystemView with random packets, as a sample.

use tracewell_wire::systemview::ids::*;
use tracewell_wire::systemview::{Form, Packet, SYNC, TextOrder, text};

use crate::edits::Random;
use crate::support::systemview::with_numbers;

/// Returns a stream with random packets of each kind that a target sends for this system. Numbers
/// refer to a few tasks and objects, in part by address.
pub(crate) fn of(system: &str) -> Vec<u8> {
    let mut random = Random::of(system);
    let texts = if system == "Zephyr" { TextOrder::LowFirst } else { TextOrder::HighFirst };
    let mut stream = Stream { bytes: vec![0; SYNC], texts };
    let sysdesc = format!("N=Random,O={system},D=Board,I#15=Tick");
    stream.packet(TRACE_START, &[], "", 0);
    stream.packet(INIT, &[1_000_000, 25_000_000, 0x2000_0000, 2], "", 3);
    stream.packet(SYSDESC, &[], &sysdesc, 5);
    for (task, name) in [(1, "alpha"), (2, "beta"), (3, "gamma")] {
        stream.packet(TASK_INFO, &[task, 10 * task], name, 4);
        stream.packet(STACK_INFO, &[task, 0x2000_1000, 0x100 * task, 0x20], "", 4);
    }
    stream.packet(NAME_RESOURCE, &[5], "mutex", 7);
    stream.packet(NAME_RESOURCE, &[0x2000_0018], "queue", 7);
    // The order of the two bytes of this length shows the order of all texts.
    stream.packet(NAME_RESOURCE, &[6], &"long ".repeat(53), 7);
    stream.packet(NUMMODULES, &[1], "", 2);
    stream.packet(MODULEDESC, &[0, FIRST_MODULE], "M=module,0 step count=%u,1 rest", 2);
    let scheduling = [
        ISR_ENTER,
        ISR_EXIT,
        ISR_TO_SCHEDULER,
        TASK_START_EXEC,
        TASK_STOP_EXEC,
        TASK_START_READY,
        TASK_STOP_READY,
        IDLE,
        TIMER_ENTER,
        TIMER_ENTER + 1,
    ];
    for format in ["%d and %5d", "%-4u|%04d|%+d", "%x %#X %.3u", "%c%p %ld", "%d %s", "%i%%"] {
        let values = [0; 3].map(|_| random.one_of(&[0, 1, 42, 65, 0x8000_0000, u32::MAX]));
        stream.print(format, &values[..2 + random.below(2)], 9);
    }
    for _ in 0..110 {
        let delta = random.one_of(&[0, 9, 90, 700, 20_000]) + random.below(9) as u32;
        let mut numbers = [0; 5].map(|_| match random.below(4) {
            0 => random.below(300) as u32,
            _ => random.one_of(&[1, 2, 3, 5, 6, 7, 0x2000_0004, 0x2000_0018, 0x2000_001C]),
        });
        let (id, length, text) = match random.below(8) {
            0..3 => {
                let id = random.one_of(&scheduling);
                (id, SHAPES[id as usize].numbers.into(), "")
            }
            3 => {
                let (id, text) = random.one_of(&[
                    (OVERFLOW, ""),
                    (SYSTIME_CYCLES, ""),
                    (SYSTIME_US, ""),
                    (TASK_CREATE, ""),
                    (TASK_INFO, "delta"),
                    (STACK_INFO, ""),
                    (DATA_SAMPLE, ""),
                    (TRACE_STOP, ""),
                    (TRACE_START, ""),
                ]);
                (id, SHAPES[id as usize].numbers.into(), text)
            }
            4 => random.one_of(&[
                (NAME_RESOURCE, 1, "resource"),
                (END_CALL, 1, ""),
                (END_CALL, 2, ""),
                (TASK_TERMINATE, 1, ""),
                (FIRST_MODULE, 1, ""),
                (FIRST_MODULE + 1, 2, ""),
                (FIRST_UNDEFINED, 2, ""),
            ]),
            5 => {
                let kinds = [
                    (extended::MARK, 2, ""),
                    (extended::NAME_MARKER, 2, "marker"),
                    (extended::HEAP_DEFINE, 5, ""),
                    (extended::HEAP_ALLOC, 4, ""),
                    (extended::HEAP_ALLOC_EX, 5, ""),
                    (extended::HEAP_FREE, 3, ""),
                    (extended::REGISTER_DATA, 2, "series"),
                ];
                let (kind, length, text) = random.one_of(&kinds);
                numbers[0] = kind;
                (EXTENDED, length, text)
            }
            _ => (FIRST_SYSTEM + 1 + random.below(130) as u32, random.below(6), ""),
        };
        stream.packet(id, &numbers[..length], text, delta);
    }
    stream.bytes
}

/// Returns a stream that describes its system only after the first events of a module.
pub(crate) fn described_late() -> Vec<u8> {
    let mut random = Random::of("late");
    let mut stream = Stream { bytes: vec![0; SYNC], texts: TextOrder::HighFirst };
    stream.packet(TRACE_START, &[], "", 0);
    stream.packet(INIT, &[1_000_000, 25_000_000, 0, 0], "", 3);
    let modules = [FIRST_MODULE, FIRST_MODULE + 1, FIRST_UNDEFINED];
    for ids in [&modules[..], &[33, 34, 40, 46, 61, 70, 100, 120], &modules] {
        for id in ids {
            let numbers = [0; 4].map(|_| random.below(300) as u32);
            stream.packet(*id, &numbers, "", 7);
        }
        stream.packet(SYSDESC, &[], "N=Random,O=FreeRTOS", 5);
        // Only the first description of an event counts.
        let text = format!("M=module,0 step{} count=%u,1 rest", ids.len());
        stream.packet(MODULEDESC, &[0, FIRST_MODULE], &text, 2);
    }
    stream.bytes
}

/// A stream under construction.
struct Stream {
    bytes: Vec<u8>,
    texts: TextOrder,
}

impl Stream {
    /// Adds a packet with these numbers, and with a name if it is not empty.
    fn packet(&mut self, id: u32, numbers: &[u32], name: &str, delta: u32) {
        let mut payload = with_numbers(Vec::new(), numbers);
        if !name.is_empty() {
            payload.extend(self.text(name));
        }
        self.push(id, &payload, delta);
    }

    /// Adds a message with these values.
    fn print(&mut self, format: &str, values: &[u32], delta: u32) {
        let level = values.len() as u32 % 3;
        let payload = with_numbers(self.text(format), &[level, values.len() as u32]);
        self.push(PRINT_FORMATTED, &with_numbers(payload, values), delta);
    }

    /// Returns a text with its length.
    fn text(&self, text: &str) -> Vec<u8> {
        let mut bytes = vec![0; text.len() + 16];
        let length = text::write(text.as_bytes(), self.texts, &mut bytes).expect("there is room");
        bytes.truncate(length);
        bytes
    }

    fn push(&mut self, id: u32, payload: &[u8], delta: u32) {
        let mut room = vec![0; payload.len() + 16];
        let packet = Packet { core: 0, id, payload, delta, length: 0 };
        let length = packet.write(Form::default(), &mut room).expect("there is room");
        self.bytes.extend(&room[..length]);
    }
}
