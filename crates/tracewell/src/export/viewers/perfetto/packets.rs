//! Packets of a Perfetto trace. Each contains a time, interned names, and one message.
//!
//! A file is a sequence of packets. The first packet that uses a name defines a number for it.
//! After a loss, a reader forgets all numbers, so the writer defines them again.
//!
//! Source of the field numbers: Perfetto's published definitions, `protos/perfetto/trace`.

use std::collections::HashMap;
use std::io::{self, Write};

use foldhash::fast::RandomState;

use super::proto::Message;
use crate::model::Clock;

/// The field of `Trace` that contains the packets.
const TRACE_PACKET: u32 = 1;

/// Fields of `TracePacket`.
mod packet {
    pub(super) const CLOCK_SNAPSHOT: u32 = 6;
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const INTERNED: u32 = 12;
    pub(super) const FLAGS: u32 = 13;
    pub(super) const DROPPED: u32 = 42;
}

/// The id of the only sequence of packets.
const SEQUENCE: u64 = 1;

/// Flag: the reader must forget all interned names.
const CLEARED: u64 = 1;

/// Flag: the packet uses interned names.
const NEEDS_NAMES: u64 = 2;

/// The ids of Perfetto's clocks: the clock of all timestamps, and nanoseconds since 1970.
const BOOT_TIME: u64 = 6;
const REAL_TIME: u64 = 1;

/// Maximum number of interned names of each kind. If there are more names, packets contain the
/// further names as text.
const MAX_NAMES: usize = 1 << 16;

/// A kind of names. Each kind has its own numbers.
#[derive(Clone, Copy)]
pub(super) enum NameKind {
    Category,
    Event,
    Annotation,
}

impl NameKind {
    /// Returns the field of `InternedData`.
    const fn field(self) -> u32 {
        self as u32 + 1
    }
}

/// The interned names, and the names that the current packet defines.
#[derive(Default)]
pub(super) struct Names {
    known: [HashMap<String, u64, RandomState>; 3],
    new: Vec<(NameKind, u64, String)>,
}

impl Names {
    /// Adds a name to a message, either as a number in one field or as text in another field.
    pub(super) fn put(
        &mut self,
        message: &mut Message,
        kind: NameKind,
        (number, text): (u32, u32),
        name: &str,
    ) {
        let known = &mut self.known[kind as usize];
        if let Some(id) = known.get(name) {
            return message.number(number, *id);
        }
        // Further names are written in full, so that memory stays bounded.
        if known.len() >= MAX_NAMES {
            return message.text(text, name);
        }
        let id = known.len() as u64 + 1;
        known.insert(name.to_owned(), id);
        self.new.push((kind, id, name.to_owned()));
        message.number(number, id);
    }
}

/// Writes packets.
pub(super) struct Packets<'a> {
    out: &'a mut dyn Write,
    clock: Clock,
    names: Names,
    body: Message,
    /// The tag and the length of the packet within the file.
    frame: Message,
    is_first: bool,
}

impl<'a> Packets<'a> {
    pub(super) fn new(out: &'a mut dyn Write, clock: Clock) -> Self {
        let (body, frame) = Default::default();
        Self { out, clock, names: Names::default(), body, frame, is_first: true }
    }

    /// Writes a time of the trace, together with the date at that time.
    pub(super) fn clocks(&mut self, date_ns: u64) -> io::Result<()> {
        self.write(None, |message, _| {
            message.message(packet::CLOCK_SNAPSHOT, |snapshot| {
                for (id, ns) in [(BOOT_TIME, 0), (REAL_TIME, date_ns)] {
                    snapshot.message(1, |clock| {
                        clock.number(1, id);
                        clock.number(2, ns);
                    });
                }
            });
        })
    }

    /// Writes a packet, with its time in ticks if it has a time.
    pub(super) fn write(
        &mut self,
        ticks: Option<u64>,
        build: impl FnOnce(&mut Message, &mut Names),
    ) -> io::Result<()> {
        self.body.clear();
        if let Some(ticks) = ticks {
            // Perfetto's times are nanoseconds. If the clock's rate is unknown, a tick counts as 1
            // ns.
            let time = self.clock.nanoseconds(ticks).unwrap_or(ticks);
            self.body.number(packet::TIMESTAMP, time);
        }
        self.body.number(packet::SEQUENCE, SEQUENCE);
        let cleared = if std::mem::take(&mut self.is_first) { CLEARED } else { 0 };
        self.body.number(packet::FLAGS, cleared | NEEDS_NAMES);
        build(&mut self.body, &mut self.names);
        self.finish()
    }

    /// Writes a packet that reports missing packets before it.
    pub(super) fn lost(&mut self, ticks: u64) -> io::Result<()> {
        self.names = Names::default();
        self.is_first = true;
        self.write(Some(ticks), |message, _| message.number(packet::DROPPED, 1_u64))
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.names.new.is_empty() {
            let new = std::mem::take(&mut self.names.new);
            self.body.message(packet::INTERNED, |interned| {
                for (kind, id, name) in new {
                    interned.message(kind.field(), |entry| {
                        entry.number(1, id);
                        entry.text(2, &name);
                    });
                }
            });
        }
        // The length of the body precedes it, so the header is made last.
        self.frame.clear();
        self.frame.header(TRACE_PACKET, self.body.bytes().len());
        self.out.write_all(self.frame.bytes())?;
        self.out.write_all(self.body.bytes())
    }
}
