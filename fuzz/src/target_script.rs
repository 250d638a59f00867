//! Scripts of calls for the recorders of small targets. This file makes a script from any bytes,
//! runs it on the Rust recorder, and encodes it for the harness of the C recorder,
//! `crates/record/tests/target_twin/harness.c`. It does not run the C recorder.

use std::cell::Cell;

use tracewell_record::target::{Options, Recorder};
use tracewell_wire::target::definition::ENTRY;
use tracewell_wire::target::packet::{CHECKED, HEADER};
use tracewell_wire::target::ring::CONTROL;
use tracewell_wire::target::{DefinitionKind, Form, Header, crc16, ids};

use super::target_geometry::{GEOMETRIES, Geometry};

/// Bytes of the memory of each recorder.
const MEMORY: usize = 16_384;

/// A call of the recorder. Its operation determines the meaning of the words and of the text.
struct Call {
    /// The operation, as in the harness.
    op: u8,
    core: u8,
    /// The counter of the clock during the call.
    now: u32,
    words: Vec<u32>,
    text: Vec<u8>,
}

impl Call {
    /// Returns a word, or 0 if the call has fewer.
    fn word(&self, index: usize) -> u32 {
        self.words.get(index).copied().unwrap_or(0)
    }

    fn name(&self) -> &str {
        str::from_utf8(&self.text).expect("names consist of characters")
    }

    fn kind(&self) -> DefinitionKind {
        let kind = DefinitionKind::of_code(u64::from(self.word(0) & 0xFF));
        kind.expect("the script contains only kinds that exist")
    }
}

/// A script, which determines the geometry of its ring.
pub(crate) struct Script {
    /// Index in [`GEOMETRIES`].
    pub(crate) geometry: usize,
    calls: Vec<Call>,
}

impl Script {
    /// Creates a script from any bytes. The first byte selects the geometry.
    pub(crate) fn new(data: &[u8]) -> Self {
        let mut source = Source(data);
        let geometry = usize::from(source.byte()) % GEOMETRIES.len();
        let mut maker = Maker {
            source,
            geometry: GEOMETRIES[geometry],
            memory: MEMORY,
            now: 0,
            core: 0,
            calls: Vec::new(),
        };
        maker.start();
        while !maker.source.0.is_empty() {
            maker.call();
        }
        Self { geometry, calls: maker.calls }
    }

    /// Returns the script in the form that the harness reads.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for Call { op, core, now, words, text } in &self.calls {
            let length = u16::try_from(text.len()).expect("no text is longer than a slot");
            bytes.extend([*op, *core]);
            bytes.extend(length.to_le_bytes());
            bytes.extend((words.len() as u32).to_le_bytes());
            bytes.extend(now.to_le_bytes());
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            bytes.extend(text);
        }
        bytes
    }

    /// Runs the script on the Rust recorder. Returns a byte for each start (1 if the recorder
    /// refused the memory), the length and the bytes of each read, and the memory at the end.
    pub(crate) fn record(&self) -> Vec<u8> {
        let Geometry { cores, slot, entries } = GEOMETRIES[self.geometry];
        let (mut memory, mut out) = (vec![0; MEMORY], Vec::new());
        let now = Cell::new(0);
        let mut rest = &self.calls[..];
        while let Some((call, mut after)) = rest.split_first() {
            if call.op == b'p' {
                let at = call.word(0) as usize;
                memory[at..at + call.text.len()].copy_from_slice(&call.text);
            } else {
                assert_eq!(call.op, b'i', "the recorder has started");
                let options = Options {
                    cores,
                    slot,
                    entries,
                    rate: call.word(1),
                    kernel: call.name(),
                    larger_is_urgent: call.word(3) == 1,
                    keep: call.word(2) == 1,
                };
                now.set(call.now);
                let begins = after.iter().position(|call| matches!(call.op, b'p' | b'i'));
                let part;
                (part, after) = after.split_at(begins.unwrap_or(after.len()));
                let memory = &mut memory[..call.word(0) as usize];
                let recorder = Recorder::new(memory, &options, || now.get());
                out.push(u8::from(recorder.is_err()));
                if let Ok(mut recorder) = recorder {
                    for call in part {
                        now.set(call.now);
                        perform(&mut recorder, call, &mut out);
                    }
                }
            }
            rest = after;
        }
        out.extend(memory);
        out
    }
}

fn perform(recorder: &mut Recorder<'_, impl FnMut() -> u32>, call: &Call, out: &mut Vec<u8>) {
    let core = call.core;
    match call.op {
        b'e' => recorder.event(core, call.word(0) as u8, [call.word(1), call.word(2)]),
        b'v' => recorder.value(core, call.word(0), call.word(1).cast_signed()),
        b'x' => recorder.text(core, call.word(0), call.name()),
        b'u' => {
            let arguments: Vec<_> = call.words[1..].iter().map(|word| word.cast_signed()).collect();
            recorder.user(core, call.word(0), &arguments);
        }
        b'd' if call.word(0) == IDLE => recorder.define_idle(call.word(1), call.name()),
        b'd' => {
            let (number, value, priority) = (call.word(1), call.word(2), call.word(3) as u8);
            recorder.define(call.kind(), number, value, priority, call.name());
        }
        b'm' => recorder.remove(call.kind(), call.word(1)),
        b'g' => recorder.set_filter(call.word(0)),
        b'q' => (0..call.word(0)).for_each(|_| recorder.refuse(core)),
        b'f' => recorder.flush(),
        b'r' => {
            let mut bytes = vec![0; call.word(0) as usize];
            let length = recorder.read(&mut bytes);
            out.extend((length as u32).to_le_bytes());
            out.extend(&bytes[..length]);
        }
        op => unreachable!("no operation is {op}"),
    }
}

/// Checks that the C recorder's output equals the Rust recorder's output.
pub(crate) fn assert_same(found: &[u8], expected: &[u8]) {
    let differs = expected.iter().zip(found).position(|(a, b)| a != b);
    assert_eq!((differs, found.len()), (None, expected.len()), "(first difference, length)");
}

/// The kind of an idle task. The C recorder has one function for all definitions: bit 10 of the
/// kind marks an idle task.
const IDLE: u32 = DefinitionKind::Task as u32 | 0x400;

/// Bytes from which numbers and texts are made. After the last byte, all further bytes are 0.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Returns a number that consists of this many bytes.
    fn bytes(&mut self, count: u8) -> u32 {
        (0..count).fold(0, |number, _| number << 8 | u32::from(self.byte()))
    }

    /// Returns a number of any length up to 32 bits.
    fn number(&mut self) -> u32 {
        match self.byte() {
            first if first % 5 == 0 => u32::from(first / 5),
            first => self.bytes(first % 5),
        }
    }

    /// Returns at most 254 bytes of UTF-8 without NUL, which ends a string in C.
    fn text(&mut self) -> Vec<u8> {
        let length = usize::from(self.byte() % 128).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        let characters = text.iter().filter(|byte| **byte != 0).map(|byte| char::from(*byte));
        characters.collect::<String>().into_bytes()
    }
}

/// A generator of the calls in a script.
struct Maker<'a> {
    source: Source<'a>,
    geometry: Geometry,
    /// Bytes of the memory at the last start.
    memory: usize,
    now: u32,
    core: u8,
    calls: Vec<Call>,
}

impl Maker<'_> {
    fn add(&mut self, op: u8, words: Vec<u32>, text: Vec<u8>) {
        self.calls.push(Call { op, core: self.core, now: self.now, words, text });
    }

    /// Starts the recorder on core 0, as after a reset. The memory may change before the start.
    fn start(&mut self) {
        self.core = 0;
        let flags = self.source.byte();
        let keep = flags & 1;
        // A start can keep a ring only if the memory has the same length as before.
        if keep == 0 || flags & 0x10 != 0 {
            let quarters = self.source.byte();
            self.memory = self.memory(quarters);
        }
        for _ in 0..flags >> 2 & 3 {
            self.damage();
        }
        let rate = self.source.number();
        let words = vec![self.memory as u32, rate, u32::from(keep), u32::from(flags >> 1 & 1)];
        let kernel = self.source.text();
        self.add(b'i', words, kernel);
    }

    /// Returns the length of a memory block with room for this number of quarter slots per core.
    /// The length can be too short for a ring, and a ring need not fill the memory.
    fn memory(&self, quarters: u8) -> usize {
        let Geometry { cores, slot, .. } = self.geometry;
        let unit = usize::from(cores) * usize::from(slot) / 4;
        match quarters {
            u8::MAX => CONTROL / 2,
            _ => MEMORY.min(self.slots_at() + usize::from(quarters) * unit),
        }
    }

    fn slots_at(&self) -> usize {
        CONTROL + usize::from(self.geometry.entries) * ENTRY
    }

    /// Changes a byte of the memory, or overwrites a slot with a valid packet, whose core and
    /// number are arbitrary.
    fn damage(&mut self) {
        let Geometry { cores, slot, .. } = self.geometry;
        let slot = usize::from(slot);
        let kind = self.source.byte();
        if kind & 1 == 0 {
            let at = self.source.bytes(2) % MEMORY as u32;
            let byte = self.source.byte();
            return self.add(b'p', vec![at], vec![byte]);
        }
        let slots = self.memory.saturating_sub(self.slots_at()) / slot;
        if slots == 0 {
            return;
        }
        let at = self.slots_at() + usize::from(self.source.byte()) % slots * slot;
        let header = Header {
            core: self.source.byte() % (cores + 1),
            number: self.source.number(),
            first: self.source.number(),
            time: u64::from(self.source.number()) << (kind >> 3),
            refused: u16::from(self.source.byte()),
            session: self.source.byte(),
            cores: cores + (kind >> 2 & 1),
        };
        let mut bytes = header.to_bytes().to_vec();
        let mut payload = self.source.text();
        payload.truncate(slot - HEADER);
        let sum = crc16(crc16(u16::MAX, &bytes[..CHECKED]), &payload);
        bytes[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
        bytes[26..].copy_from_slice(&sum.to_le_bytes());
        bytes.extend(payload);
        self.add(b'p', vec![at as u32], bytes);
    }

    /// Adds a call on some core, after some time.
    fn call(&mut self) {
        let op = self.source.byte();
        if op == u8::MAX {
            return self.start();
        }
        let step = self.source.byte();
        self.core = (step & 3) % self.geometry.cores;
        // Long steps can make the counter wrap.
        let ticks = match step >> 2 {
            few @ ..60 => u32::from(few),
            long => self.source.bytes(long - 59),
        };
        self.now = self.now.wrapping_add(ticks);
        match op % 40 {
            0 => self.add(b'f', Vec::new(), Vec::new()),
            1 => {
                // With a few such calls, the number of refused events reaches its limit.
                let count = match self.source.byte() {
                    u8::MAX => 4400,
                    count => 1 + u32::from(count & 3),
                };
                self.add(b'q', vec![count], Vec::new());
            }
            2..=4 => {
                // Both recorders copy nothing to a buffer that is shorter than a slot.
                let size = self.source.number() % 4096;
                self.add(b'r', vec![size], Vec::new());
            }
            5 | 6 => self.define(),
            7 => {
                let (kind, number) = (self.kind(), u32::from(self.source.byte() % 6));
                self.add(b'm', vec![kind, number], Vec::new());
            }
            8 => {
                let groups = self.source.number();
                self.add(b'g', vec![groups], Vec::new());
            }
            9 => self.add(b'g', vec![u32::MAX], Vec::new()),
            10 | 11 => {
                let (channel, text) = (self.source.number(), self.source.text());
                self.add(b'x', vec![channel], text);
            }
            12 | 13 => {
                let count = self.source.byte() % 11;
                let words = (0..=count).map(|_| self.source.number()).collect();
                self.add(b'u', words, Vec::new());
            }
            14 | 15 => {
                let words = vec![self.source.number(), self.source.number()];
                self.add(b'v', words, Vec::new());
            }
            _ => self.event(),
        }
    }

    /// Adds a call that records an event with at most two numbers. The id need not have a meaning.
    fn event(&mut self) {
        let id = self.source.byte() % ids::TEXT;
        assert_ne!(Form::of(id), Form::Block);
        let words = vec![u32::from(id), self.source.number(), self.source.number()];
        self.add(b'e', words, Vec::new());
    }

    fn define(&mut self) {
        let (kind, number) = (self.kind(), u32::from(self.source.byte() % 6));
        let (value, priority) = (self.source.number(), u32::from(self.source.byte()));
        let name = self.source.text();
        let words = if kind == DefinitionKind::Task as u32 && priority.is_multiple_of(2) {
            vec![IDLE, number, 0, 0]
        } else {
            vec![kind, number, value, priority]
        };
        self.add(b'd', words, name);
    }

    /// Returns the code of a kind of definitions.
    fn kind(&mut self) -> u32 {
        1 + u32::from(self.source.byte()) % DefinitionKind::ALL.len() as u32
    }
}
