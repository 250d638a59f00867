//! [`Recorder`], its options and its errors.

use tracewell_wire::number;
use tracewell_wire::target::definition::{ENTRY, IDLE, LARGER_IS_URGENT};
use tracewell_wire::target::packet::{CHECKED, HEADER};
use tracewell_wire::target::ring::CONTROL;
use tracewell_wire::target::{
    Control, DEFINITIONS, Definition, DefinitionKind, Form, Header, Lookup, Packet, crc16, ids,
};

use super::definitions;
use super::lane::{Lane, MAX_EVENT, packet};

/// Maximum number of cores of a recorder. The format of the stream allows 32 cores.
const CORES: usize = 4;

/// Number of packets after which [`Recorder::read`] repeats the definitions.
const REPEAT: u16 = 64;

/// The properties of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options<'a> {
    /// Number of cores: 1 to 4.
    pub cores: u8,
    /// Size of a slot in bytes, a multiple of 4 from 64 to 4096. A slot contains one packet. If
    /// packets are small, a damaged packet loses fewer events, but headers need more of the memory.
    pub slot: u16,
    /// Number of entries in the table of definitions. A name of at most 20 bytes needs one entry;
    /// longer names need more.
    pub entries: u16,
    /// Ticks per second of the clock; 0 if unknown.
    pub rate: u32,
    /// Name of the kernel. The recorder cuts it after 160 bytes.
    pub kernel: &'a str,
    /// True if a larger priority is more urgent.
    pub larger_is_urgent: bool,
    /// True if the recorder must keep the packets of an earlier run. Use this if the memory
    /// survives a reset. The recorder clears the memory unless it contains a ring with the same
    /// slot size and the same numbers of cores, slots and entries.
    pub keep: bool,
}

impl Default for Options<'_> {
    /// Returns options with one core, slots of 256 bytes, 16 entries, an unknown rate, and no
    /// kernel name.
    fn default() -> Self {
        Self {
            cores: 1,
            slot: 256,
            entries: 16,
            rate: 0,
            kernel: "",
            larger_is_urgent: false,
            keep: false,
        }
    }
}

/// Error for options that are out of range, or for memory that is too small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The number of cores or the size of a slot is out of range.
    Options,
    /// The memory has no room for two slots of each core.
    Memory,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Options => {
                "expected 1 to 4 cores and a slot of 64 to 4096 bytes, a multiple of 4"
            }
            Self::Memory => "the memory has no room for two slots of each core",
        })
    }
}

impl core::error::Error for Error {}

/// A recorder of the compact stream.
///
/// ```
/// use tracewell_record::target::{Options, Recorder};
/// use tracewell_wire::target::{DefinitionKind, Lookup, events, ids};
///
/// let mut memory = [0; 4096];
/// let mut cycles = 0;
/// let clock = || { cycles += 100; cycles };
/// let options = Options { rate: 25_000_000, kernel: "mine", ..Options::default() };
/// let mut recorder = Recorder::new(&mut memory, &options, clock)?;
/// recorder.define(DefinitionKind::Task, 1, 1024, 5, "motor");
/// recorder.event(0, ids::RUNS, [1, 0]);
/// recorder.value(0, 3, -7);
///
/// // To send the events over a line, close the open packet, then copy packets.
/// recorder.flush();
/// let mut out = [0; 512];
/// let length = recorder.read(&mut out);
/// let Lookup::Packet(names) = Lookup::at(&out[..length]) else { panic!() };
/// let Lookup::Packet(packet) = Lookup::at(&out[names.len()..length]) else { panic!() };
/// let recorded: Vec<_> = events(packet.payload).map(|event| event.unwrap().id).collect();
/// assert_eq!(recorded, [ids::START, ids::RUNS, ids::VALUE]);
/// # Ok::<(), tracewell_record::target::Error>(())
/// ```
#[derive(Debug)]
pub struct Recorder<'m, C> {
    memory: &'m mut [u8],
    control: Control,
    lanes: [Lane; CORES],
    clock: C,
    filter: u32,
    /// Index of the next definition to read.
    define_next: u16,
    /// Number of the next packet of definitions.
    define_number: u32,
    /// Number of packets that were read since the definitions were repeated.
    since_repeat: u16,
    /// [`Recorder::read`] copies the next packet from this core.
    read_core: u8,
}

impl<'m, C: FnMut() -> u32> Recorder<'m, C> {
    /// Creates a ring in `memory`. `clock` returns a counter of 32 bits that counts up and wraps.
    /// Fewer than 2^32 ticks may pass between two recorded events of a core. Records the start on
    /// core 0; the caller records [`ids::START`] on other cores.
    ///
    /// # Errors
    /// Returns an error if an option is out of its range or the memory is too small.
    pub fn new(memory: &'m mut [u8], options: &Options<'_>, clock: C) -> Result<Self, Error> {
        let Options { cores, slot, entries, .. } = *options;
        // The number of slots is not known yet. Use 2, the minimum: it is valid, and the position
        // of the first slot does not depend on it.
        let mut control = Control { cores, slot, slots: 2, entries, session: 0, dropped: 0 };
        if !control.is_valid() || usize::from(cores) > CORES {
            return Err(Error::Options);
        }
        // The slots follow the control block and the table of definitions.
        let room = memory.len().saturating_sub(control.slots_at(0));
        let slots = room / (usize::from(slot) * usize::from(cores));
        control.slots = u16::try_from(slots).unwrap_or(u16::MAX);
        if slots < 2 {
            return Err(Error::Memory);
        }
        // The kept packets are usable only if all sizes, and therefore all positions, are the same
        // as in this run.
        let kept = Control::read(memory).filter(|kept| {
            let same = Control { session: kept.session, dropped: kept.dropped, ..control };
            options.keep && *kept == same
        });
        let mut lanes = [Lane::default(); CORES];
        if let Some(kept) = kept {
            // The new session separates the kept packets from those of this run.
            control.session = kept.session.wrapping_add(1);
            for (core, lane) in (0..cores).zip(&mut lanes) {
                // The numbers continue, so that the oldest kept packet is overwritten first.
                *lane = Lane::after(next_number(memory, &control, core));
            }
        } else {
            let end = control.len().min(memory.len());
            memory[..end].fill(0);
        }
        // The table of definitions starts empty in any case, because this run defines its names
        // again.
        memory[CONTROL..control.slots_at(0)].fill(0);
        memory[..CONTROL].copy_from_slice(&control.to_bytes());
        let mut recorder = Self {
            memory,
            control,
            lanes,
            clock,
            filter: u32::MAX,
            define_next: 0,
            define_number: 0,
            since_repeat: 0,
            read_core: 0,
        };
        // Without this, the first event would count the ticks from 0 to the current counter.
        let first = (recorder.clock)();
        recorder.lanes.iter_mut().for_each(|lane| lane.last = first);
        // The system is defined first, because readers need its rate and its order of priorities to
        // decode everything else.
        let mut system = Definition::new(DefinitionKind::System, 0, b"");
        system.value = options.rate;
        system.flags = if options.larger_is_urgent { LARGER_IS_URGENT } else { 0 };
        recorder.store(system, options.kernel.as_bytes());
        recorder.event(0, ids::START, [0; 2]);
        Ok(recorder)
    }

    /// Sets the groups of events to record: bit n stands for
    /// [group](tracewell_wire::target::ids::group) n.
    pub fn set_filter(&mut self, groups: u32) {
        self.filter = groups;
    }

    /// Stores the name of a task, object or event, with its value and priority
    /// ([`tracewell_wire::target::definition`]). Cuts the name after 160 bytes. If the table is
    /// full, drops the definition and counts it.
    pub fn define(
        &mut self,
        kind: DefinitionKind,
        number: u32,
        value: u32,
        priority: u8,
        name: &str,
    ) {
        let entry = Definition { value, priority, ..Definition::new(kind, number, b"") };
        self.store(entry, name.as_bytes());
    }

    /// Stores the name of an idle task: a task that runs if no other task is ready. Its time is
    /// idle time. [`Recorder::define`] describes the limits of names.
    pub fn define_idle(&mut self, number: u32, name: &str) {
        let entry = Definition::new(DefinitionKind::Task, number, b"");
        self.store(Definition { flags: IDLE, ..entry }, name.as_bytes());
    }

    fn store(&mut self, entry: Definition, name: &[u8]) {
        let end = self.control.slots_at(0);
        let table = self.memory.get_mut(CONTROL..end).unwrap_or_default();
        match definitions::define(table, entry, name) {
            Some(index) => self.define_next = self.define_next.min(index as u16),
            None => {
                self.control.dropped = self.control.dropped.wrapping_add(1);
                self.memory[..CONTROL].copy_from_slice(&self.control.to_bytes());
            }
        }
    }

    /// Marks a definition as deleted. New definitions replace its entries when the table is full.
    pub fn remove(&mut self, kind: DefinitionKind, number: u32) {
        let end = self.control.slots_at(0);
        definitions::remove(self.memory.get_mut(CONTROL..end).unwrap_or_default(), kind, number);
    }

    /// Records an event without a block. The form of the id determines the number of arguments.
    /// Ignores the call if the recorder has no such core.
    pub fn event(&mut self, core: u8, id: u8, arguments: [u32; 2]) {
        let count = match Form::of(id) {
            Form::None => 0,
            Form::One => 1,
            Form::Two => 2,
            Form::Block => return,
        };
        if !self.passes(id) {
            return;
        }
        self.add(core, id, |bytes| {
            let mut length = 0;
            for argument in arguments.iter().take(count) {
                length += put(bytes, length, u64::from(*argument));
            }
            length
        });
    }

    /// Records a value of the application.
    pub fn value(&mut self, core: u8, channel: u32, value: i32) {
        let stored = number::unsigned(i64::from(value));
        // The stored form of a signed 32-bit number also has at most 32 bits.
        self.event(core, ids::VALUE, [channel, stored as u32]);
    }

    /// Records a text of the application. Truncates the text to 64 bytes, or to fewer bytes if it
    /// would otherwise not fit into a packet.
    pub fn text(&mut self, core: u8, channel: u32, text: &str) {
        self.block(core, ids::TEXT, channel, |bytes, length| {
            let most = bytes.len().min(length + MAX_BLOCK) - length;
            let text = text.as_bytes();
            let text = text.get(..most).unwrap_or(text);
            bytes[length..length + text.len()].copy_from_slice(text);
            text.len()
        });
    }

    /// Records an event that the application has defined. If there are more than 8 arguments,
    /// records only the first 8.
    pub fn user(&mut self, core: u8, event: u32, arguments: &[i32]) {
        self.block(core, ids::USER, event, |bytes, start| {
            let mut length = start;
            for argument in arguments.iter().take(MAX_ARGUMENTS) {
                length += put(bytes, length, number::unsigned(i64::from(*argument)));
            }
            length - start
        });
    }

    /// Records an event with a block: a number, then the bytes that `fill` writes after it.
    fn block(
        &mut self,
        core: u8,
        id: u8,
        first: u32,
        fill: impl FnOnce(&mut [u8], usize) -> usize,
    ) {
        if !self.passes(id) {
            return;
        }
        let mut block = [0; MAX_BLOCK + number::MAX_NUMBER];
        let head = put(&mut block, 0, u64::from(first));
        // The block must fit into an otherwise empty packet, after the id, the ticks and the
        // length.
        let room = usize::from(self.control.slot) - HEADER - 4;
        let most = block.len().min(room);
        let length = head + fill(&mut block[..most], head);
        self.add(core, id, |bytes| {
            let start = put(bytes, 0, length as u64);
            bytes[start..start + length].copy_from_slice(&block[..length]);
            start + length
        });
    }

    fn passes(&self, id: u8) -> bool {
        ids::group_of(id).is_none_or(|group| self.filter >> group & 1 == 1)
    }

    /// Records an event whose arguments `fill` writes.
    fn add(&mut self, core: u8, id: u8, fill: impl FnOnce(&mut [u8]) -> usize) {
        let mut arguments = [0; MAX_BLOCK + 2 * number::MAX_NUMBER];
        let length = fill(&mut arguments);
        let arguments = &arguments[..length];
        let now = (self.clock)();
        let Control { cores, session, slot, .. } = self.control;
        // The array of lanes can have more entries than the ring has cores, so an index within the
        // array can still be too large.
        if core >= cores {
            return;
        }
        let slot = usize::from(slot);
        let Some(lane) = self.lanes.get_mut(usize::from(core)) else { return };
        // The counter wraps at 2^32. The difference is correct if fewer than 2^32 ticks have
        // passed.
        let ticks = now.wrapping_sub(lane.last);
        lane.last = now;
        lane.time = lane.time.wrapping_add(u64::from(ticks));
        let range = self.control.slots_at(core)..self.control.slots_at(core + 1);
        let Some(slots) = self.memory.get_mut(range) else { return };
        let mut event = [0; MAX_EVENT + MAX_BLOCK + 2 * number::MAX_NUMBER];
        event[0] = id;
        // The ticks have a variable length, so encode them before the check for room.
        let mut head = 1 + put(&mut event, 1, u64::from(ticks));
        if !lane.has_room(slot, head + length) {
            lane.open(core, cores, session, slots, slot);
            // The header of the new packet contains the time of this event, so the ticks are 0.
            head = 1 + put(&mut event, 1, 0);
        }
        event[head..head + length].copy_from_slice(arguments);
        lane.append(&event[..head + length], slots, slot);
    }

    /// Counts an event that the caller could not record on a core, for example because another core
    /// held the lock.
    pub fn refuse(&mut self, core: u8) {
        if let Some(lane) = self.lanes.get_mut(usize::from(core)) {
            lane.refuse();
        }
    }

    /// Closes the open packets, so that [`Recorder::read`] returns all events. Call it when the
    /// line is idle, not after each event: every packet has a header of 28 bytes.
    pub fn flush(&mut self) {
        self.lanes.iter_mut().for_each(Lane::close);
    }

    /// Copies whole packets that were not read yet into `out`, and returns their length in bytes.
    /// Copies nothing if `out` is shorter than a slot. New definitions precede the packets.
    ///
    /// The recorder copies one packet of each core in turn, so that a busy core does not delay the
    /// packets of the others. After 64 packets, the next call copies all definitions again. Packets
    /// that were overwritten before a call are lost. The decoder counts their events.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let mut length = 0;
        // Repeat the names even if the caller never copies all packets.
        if self.since_repeat >= REPEAT {
            (self.since_repeat, self.define_next) = (0, 0);
        }
        loop {
            // Names precede the events that refer to them, so copy all definitions first.
            let rest = out.get_mut(length..).unwrap_or_default();
            if rest.len() < usize::from(self.control.slot) {
                return length;
            }
            match self.read_definitions(rest) {
                0 => break,
                more => length += more,
            }
        }
        let mut empty = 0;
        while empty < self.control.cores {
            let core = self.read_core;
            match self.read_packet(core, out.get_mut(length..).unwrap_or_default()) {
                Next::None => empty += 1,
                Next::Longer => return length,
                Next::Copied(bytes) => (empty, length) = (0, length + bytes),
            }
            self.read_core = (core + 1) % self.control.cores;
        }
        length
    }

    /// Copies the next packet of a core to the start of `out`.
    fn read_packet(&mut self, core: u8, out: &mut [u8]) -> Next {
        let range = self.control.slots_at(core)..self.control.slots_at(core + 1);
        let lane = &mut self.lanes[usize::from(core)];
        let slots = self.memory.get_mut(range).unwrap_or_default();
        if lane.read == lane.number || slots.is_empty() {
            return Next::None;
        }
        let mut copied = 0;
        // A packet that an earlier run left can be damaged. It is skipped.
        if let Some(bytes) = packet(slots, usize::from(self.control.slot), lane.read)
            && let Lookup::Packet(packet) = Lookup::at(bytes)
        {
            copied = packet.len();
            let Some(to) = out.get_mut(..copied) else { return Next::Longer };
            to.copy_from_slice(&bytes[..copied]);
        }
        lane.read = lane.read.wrapping_add(1);
        self.since_repeat = self.since_repeat.saturating_add(1);
        Next::Copied(copied)
    }

    /// Copies one packet of definitions if there are new definitions, and returns its length in
    /// bytes.
    fn read_definitions(&mut self, out: &mut [u8]) -> usize {
        let table = self.memory.get(CONTROL..self.control.slots_at(0)).unwrap_or_default();
        let used = definitions::used(table);
        let next = usize::from(self.define_next);
        // A packet contains whole entries only.
        let room = (usize::from(self.control.slot) - HEADER) / ENTRY;
        let count = used.saturating_sub(next).min(room);
        if count == 0 {
            return 0;
        }
        let header = Header {
            core: DEFINITIONS,
            number: self.define_number,
            // In a packet of definitions, this is the table index of the packet's first entry.
            first: next as u32,
            time: self.lanes[0].time,
            refused: 0,
            session: self.control.session,
            cores: self.control.cores,
        };
        let (start, end) = out.split_at_mut(HEADER);
        start.copy_from_slice(&header.to_bytes());
        let payload = &mut end[..count * ENTRY];
        payload.copy_from_slice(&table[next * ENTRY..(next + count) * ENTRY]);
        // The length and the checksum follow the checked bytes of the header.
        let sum = crc16(crc16(u16::MAX, &start[..CHECKED]), payload);
        start[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
        start[26..28].copy_from_slice(&sum.to_le_bytes());
        self.define_number = self.define_number.wrapping_add(1);
        self.define_next = (next + count) as u16;
        HEADER + count * ENTRY
    }
}

/// The result of copying the next packet of a core.
enum Next {
    /// The core has no unread packet.
    None,
    /// The packet is longer than the rest of the buffer.
    Longer,
    /// The packet was copied and has this length in bytes; 0 for a damaged packet, which is
    /// skipped.
    Copied(usize),
}

/// Maximum number of bytes of a text.
const MAX_BLOCK: usize = 64;

/// Maximum number of arguments of an application's event. Each needs at most 5 bytes.
const MAX_ARGUMENTS: usize = 8;

/// Writes a number at an offset and returns its length in bytes, or 0 if there is no room.
fn put(bytes: &mut [u8], at: usize, value: u64) -> usize {
    let number = number::encode(value);
    match bytes.get_mut(at..at + number.len()) {
        Some(to) => {
            to.copy_from_slice(&number);
            number.len()
        }
        None => 0,
    }
}

/// Returns the number of the packet that comes after the newest valid packet of a core.
fn next_number(memory: &mut [u8], control: &Control, core: u8) -> u32 {
    let range = control.slots_at(core)..control.slots_at(core + 1);
    let slots = memory.get(range).unwrap_or_default().chunks(usize::from(control.slot));
    let numbers = slots.filter_map(|slot| match Lookup::at(slot) {
        // In damaged memory, a slot can contain a packet of another core.
        Lookup::Packet(Packet { header, .. }) if header.core == core => {
            Some(header.number.wrapping_add(1))
        }
        _ => None,
    });
    let newer = |a: u32, b: u32| if b.wrapping_sub(a) < 1 << 31 { b } else { a };
    numbers.reduce(newer).unwrap_or(0)
}
