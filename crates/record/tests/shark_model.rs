//! Applies random operations to the chunk recorder and to a simple model of it. Both must return
//! the same results, store the same records in every chunk, and send the same records.
//!
//! A chunk of the model is a list of all records ever stored in it. The areas are computed from
//! this list when they are compared.

use proptest::prelude::*;
use tracewell_record::clock::Masked;
use tracewell_record::shark::{Areas, ControlError, Dump, Outcome, SendError, Sender, Trace};
use tracewell_wire::shark::ids::{self, flag};
use tracewell_wire::shark::{AreaRecords, ChunkHeader, Record};

const CHUNKS: usize = 4;
const NORMAL: usize = 4;
const KEPT: usize = 2;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Log { code: u8, fast: bool },
    Filter { family: u8, status: u16 },
    Enable(bool),
    Create { flags: u8, emergency: bool },
    Delete(u8),
    Flags(u8, u8),
    Select(u8),
    Link(u8, u8),
    Send { chunk: u8, flags: u8, fails: bool },
    Compress(u8, u8),
}

fn operation() -> impl Strategy<Value = Operation> {
    let chunk = 0..=CHUNKS as u8;
    let mode = prop_oneof![Just(flag::CYCLIC), Just(flag::JUMP_TO_NEXT), Just(flag::STOP)];
    let likely = mode.prop_map(|mode| mode | flag::FREE);
    let flags = prop_oneof![6 => likely, 2 => any::<u8>(), 1 => Just(flag::FREE | flag::NO_DELETE)];
    let codes = [0, 0x09, 0x19, 0x82, ids::TRACE_START, ids::ID, ids::TASK_CREATE, ids::NEXT_CHUNK];
    let code = prop_oneof![prop::sample::select(codes.to_vec()), any::<u8>()];
    prop_oneof![
        40 => (code, any::<bool>()).prop_map(|(code, fast)| Operation::Log { code, fast }),
        2 => (any::<u8>(), 0..2_u16)
            .prop_map(|(family, status)| Operation::Filter { family, status }),
        4 => prop::bool::weighted(0.8).prop_map(Operation::Enable),
        6 => (flags.clone(), any::<bool>())
            .prop_map(|(flags, emergency)| Operation::Create { flags, emergency }),
        1 => chunk.clone().prop_map(Operation::Delete),
        2 => (chunk.clone(), flags.clone())
            .prop_map(|(chunk, flags)| Operation::Flags(chunk, flags)),
        5 => chunk.clone().prop_map(Operation::Select),
        6 => (chunk.clone(), chunk.clone()).prop_map(|(from, to)| Operation::Link(from, to)),
        3 => (chunk.clone(), flags.clone(), prop::bool::weighted(0.2))
            .prop_map(|(chunk, flags, fails)| Operation::Send { chunk, flags, fails }),
        2 => (chunk, flags).prop_map(|(chunk, flags)| Operation::Compress(chunk, flags)),
    ]
}

/// A chunk of the model.
#[derive(Clone, Debug)]
struct Chunk {
    flags: u8,
    next: Option<u8>,
    /// Everything stored in the normal area, oldest first.
    stored: Vec<Record>,
    kept_when_full: Vec<(usize, Record)>,
    room_to_keep: usize,
}

impl Chunk {
    /// The records of both areas in memory order.
    fn records(&self) -> Vec<Record> {
        let mut normal = Vec::new();
        for (index, record) in self.stored.iter().enumerate() {
            match normal.get_mut(index % NORMAL) {
                Some(slot) => *slot = *record,
                None => normal.push(*record),
            }
        }
        normal.extend(self.kept());
        normal
    }

    /// Returns the records of the emergency area: essential records that were overwritten, or that
    /// were logged while the chunk was full. A record that no longer fits into the area is dropped.
    fn kept(&self) -> Vec<Record> {
        let gone = self.stored.len().saturating_sub(NORMAL);
        let saved = self.stored[..gone].iter().enumerate();
        // Record i is overwritten when record i + NORMAL is stored.
        let saved = saved.map(|(i, record)| (i + NORMAL + 1, *record));
        let saved = saved.filter(|(_, record)| ids::is_essential(record.code()));
        let mut all: Vec<_> = saved.chain(self.kept_when_full.iter().copied()).collect();
        all.sort_by_key(|(moment, _)| *moment);
        all.into_iter().map(|(_, record)| record).take(self.room_to_keep).collect()
    }

    fn empty(&mut self) {
        self.flags &= !(flag::FULL | flag::COMPRESSED);
        self.stored.clear();
        self.kept_when_full.clear();
    }
}

#[derive(Default)]
struct Model {
    chunks: [Option<Chunk>; CHUNKS],
    current: Option<u8>,
    enabled: bool,
    hidden: Vec<u8>,
    clock: u64,
}

fn valid(flags: u8) -> bool {
    flags & 0x0C != 0x0C && flags < 0x80
}

impl Model {
    fn get(&mut self, number: u8) -> Result<&mut Chunk, ControlError> {
        let chunk = self.chunks.get_mut(usize::from(number)).and_then(Option::as_mut);
        chunk.ok_or(ControlError::NoSuchChunk)
    }

    fn is_linked(&self, number: u8) -> bool {
        self.chunks.iter().flatten().any(|chunk| chunk.next == Some(number))
    }

    fn unused(&mut self, number: u8) -> Result<(), ControlError> {
        if self.current == Some(number) {
            return Err(ControlError::Current);
        }
        self.get(number)?;
        if self.is_linked(number) { Err(ControlError::Linked) } else { Ok(()) }
    }

    fn free(&mut self, number: u8) -> Result<(), ControlError> {
        let flags = self.get(number)?.flags;
        match flags {
            flags if flags & flag::COMPRESSED != 0 => Err(ControlError::Compressed),
            flags if flags & flag::FREE == 0 => Err(ControlError::NotFree),
            _ => Ok(()),
        }
    }

    fn log(&mut self, code: u8, par2: u32, fast: bool) -> Outcome {
        if !self.enabled {
            return Outcome::Disabled;
        }
        if !fast && code < 0xF0 && self.hidden.contains(&(code & 15)) {
            return Outcome::Filtered;
        }
        if code == 0 || (fast && code == ids::NEXT_CHUNK) {
            return Outcome::Refused;
        }
        let Some(current) = self.current else { return Outcome::NoChunk };
        if code == ids::NEXT_CHUNK {
            let jumps = self.jump(current);
            return if jumps { Outcome::Jumped } else { Outcome::NoSuccessor };
        }
        self.clock += 1;
        let code_word = u16::from(code) | if fast { 0x8000 } else { 0 };
        let record = Record { code_word, par1: u16::from(code), tsc: self.clock, par2 };
        self.store(current, record)
    }

    fn jump(&mut self, from: u8) -> bool {
        let chunk = self.get(from).unwrap();
        let Some(next) = chunk.next.take() else { return false };
        chunk.flags |= flag::FULL;
        self.current = Some(next);
        true
    }

    fn store(&mut self, number: u8, record: Record) -> Outcome {
        let chunk = self.get(number).unwrap();
        let is_full = chunk.flags & flag::FULL != 0;
        let at_end = !chunk.stored.is_empty() && chunk.stored.len().is_multiple_of(NORMAL);
        let mode = chunk.flags & flag::MODE;
        if !is_full && (!at_end || mode == flag::CYCLIC) {
            chunk.stored.push(record);
            return Outcome::Recorded;
        }
        if !is_full && mode == flag::JUMP_TO_NEXT && self.jump(number) {
            let next = self.current.unwrap();
            return self.store(next, record);
        }
        let chunk = self.get(number).unwrap();
        chunk.flags |= flag::FULL;
        let essential = ids::is_essential(record.code());
        if essential && chunk.kept().len() < chunk.room_to_keep {
            let moment = chunk.stored.len();
            chunk.kept_when_full.push((moment, record));
            return Outcome::InEmergencyArea;
        }
        Outcome::Full
    }

    fn filter(&mut self, family: u8, status: u16) -> Result<Outcome, ControlError> {
        let family = family & 15;
        if family == 15 {
            return Err(ControlError::NoFilter);
        }
        self.hidden.retain(|hidden| *hidden != family);
        if status != 0 {
            self.hidden.push(family);
        }
        if !self.enabled {
            return Ok(Outcome::Disabled);
        }
        let Some(current) = self.current else { return Ok(Outcome::NoChunk) };
        self.clock += 1;
        let code_word = 0xF0 | u16::from(family);
        Ok(self.store(current, Record { code_word, par1: status, tsc: self.clock, par2: 0 }))
    }

    fn create(&mut self, flags: u8, room_to_keep: usize) -> Result<u8, ControlError> {
        if !valid(flags) || flags & (flag::BUSY | flag::COMPRESSED) != 0 {
            return Err(ControlError::Flags);
        }
        let place = self.chunks.iter().position(Option::is_none).ok_or(ControlError::TableFull)?;
        // A new chunk has no records, so it cannot be full.
        let flags = flags & !flag::FULL;
        let (stored, kept_when_full) = Default::default();
        self.chunks[place] =
            Some(Chunk { flags, next: None, stored, kept_when_full, room_to_keep });
        Ok(place as u8)
    }

    fn delete(&mut self, number: u8) -> Result<bool, ControlError> {
        if self.get(number)?.flags & flag::NO_DELETE != 0 {
            return Ok(false);
        }
        self.unused(number)?;
        self.chunks[usize::from(number)] = None;
        Ok(true)
    }

    fn set_flags(&mut self, number: u8, flags: u8) -> Result<(), ControlError> {
        let frees = flags & flag::FREE != 0 && self.get(number)?.flags & flag::FREE == 0;
        self.get(number)?;
        if !valid(flags) {
            return Err(ControlError::Flags);
        }
        if frees {
            self.unused(number)?;
        }
        self.replace(number, flags, frees);
        Ok(())
    }

    fn replace(&mut self, number: u8, flags: u8, empties: bool) {
        let chunk = self.get(number).unwrap();
        chunk.flags = flags & !(flag::BUSY | flag::COMPRESSED) | chunk.flags & flag::COMPRESSED;
        if empties {
            chunk.empty();
        }
    }

    fn link(&mut self, from: u8, to: u8) -> Result<Option<u8>, ControlError> {
        self.get(from)?;
        self.free(to)?;
        let mut at = Some(to);
        while let Some(number) = at {
            if number == from {
                return Err(ControlError::Circle);
            }
            at = self.get(number)?.next;
        }
        self.get(to)?.flags &= !flag::FREE;
        Ok(self.get(from)?.next.replace(to))
    }

    fn send(&mut self, number: u8, flags: u8, fails: bool) -> Result<Vec<Record>, SendError<()>> {
        self.get(number).map_err(SendError::Control)?;
        if !valid(flags) {
            return Err(SendError::Control(ControlError::Flags));
        }
        if self.is_linked(number) {
            return Err(SendError::Control(ControlError::Linked));
        }
        if fails {
            return Err(SendError::Sender(()));
        }
        let records = self.get(number).map_err(SendError::Control)?.records();
        let empties = flags & flag::FREE != 0;
        if empties && self.current == Some(number) {
            self.current = None;
        }
        self.replace(number, flags, empties);
        Ok(records)
    }

    fn compress(&mut self, number: u8, flags: u8) -> Result<(), ControlError> {
        self.unused(number)?;
        let chunk = self.get(number)?;
        if chunk.flags & flag::COMPRESSED != 0 {
            return Err(ControlError::Compressed);
        }
        if !valid(flags) {
            return Err(ControlError::Flags);
        }
        chunk.flags = flags & !(flag::FREE | flag::BUSY) | flag::COMPRESSED;
        Ok(())
    }
}

/// A sender that stores the records, or fails.
#[derive(Default)]
struct Basket {
    fails: bool,
    records: Vec<Record>,
}

impl Sender for Basket {
    type Error = ();

    fn send(&mut self, dump: &Dump<'_>) -> Result<(), ()> {
        self.records = dump.records().collect();
        if self.fails { Err(()) } else { Ok(()) }
    }
}

#[cfg(feature = "lz4")]
fn expand(stored: &[u8], place: &mut [u8]) -> Option<usize> {
    lz4_flex::block::decompress_into(stored, place).ok()
}

#[cfg(not(feature = "lz4"))]
fn expand(_: &[u8], _: &mut [u8]) -> Option<usize> {
    None
}

/// Reads header and records from a chunk's memory.
fn records_in(image: &[u8]) -> (ChunkHeader, Vec<Record>) {
    let header = ChunkHeader::read(image).unwrap();
    let areas = &image[ChunkHeader::SIZE..][..header.area() as usize];
    let records = if header.flags & flag::COMPRESSED != 0 {
        AreaRecords::new(areas, Some(expand)).map(Result::unwrap).collect()
    } else {
        let slots = areas.chunks(Record::SIZE).map(|slot| Record::read(slot).unwrap());
        slots.filter(|record| !record.is_empty()).collect()
    };
    (header, records)
}

fn memory() -> &'static mut [u8] {
    // Chunks are deleted in any order, so their memory is leaked instead of owned.
    vec![0xA5; 1024].leak()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn chunks_behave_as_in_the_model(operations in prop::collection::vec(operation(), 1..120)) {
        let mut ticks = 0;
        let clock = Masked { clock: || { ticks += 1; ticks }, mask: u64::MAX };
        let mut trace: Trace<'_, _, CHUNKS> = Trace::new(clock);
        let mut model = Model::default();
        let mut dropped = 0;
        for (step, operation) in operations.into_iter().enumerate() {
            match operation {
                Operation::Log { code, fast } => {
                    let (par1, par2) = (u16::from(code), step as u32);
                    let got = if fast {
                        trace.log_fast(code, par1, par2)
                    } else {
                        trace.log(code, par1, par2)
                    };
                    prop_assert_eq!(got, model.log(code, par2, fast));
                    use Outcome::{InEmergencyArea, Jumped, Recorded};
                    let stored = matches!(got, Recorded | InEmergencyArea | Jumped);
                    dropped += u64::from(!stored);
                }
                Operation::Filter { family, status } => {
                    let hides = trace.set_filter(family, status);
                    prop_assert_eq!(hides, model.filter(family, status));
                    dropped += u64::from(matches!(hides, Ok(Outcome::NoChunk | Outcome::Full)));
                }
                Operation::Enable(true) => {
                    let expected = model.current.map(|_| ()).ok_or(ControlError::NoneSelected);
                    model.enabled |= expected.is_ok();
                    prop_assert_eq!(trace.enable(), expected);
                }
                Operation::Enable(false) => {
                    trace.disable();
                    model.enabled = false;
                }
                Operation::Create { flags, emergency } => {
                    let kept = if emergency { KEPT } else { 0 };
                    // Bytes after the last whole slot are not used.
                    let areas = Areas {
                        normal: NORMAL as u32 * 16 + 7,
                        emergency: kept as u32 * 16,
                        base_address: None,
                    };
                    let got = trace
                        .chunk_create(memory(), areas, flags)
                        .map_err(|refused| refused.reason);
                    prop_assert_eq!(got, model.create(flags, kept));
                }
                Operation::Delete(chunk) => {
                    let got = trace.chunk_delete(chunk).map(|memory| memory.is_some());
                    prop_assert_eq!(got, model.delete(chunk));
                }
                Operation::Flags(chunk, flags) => {
                    // The size of a compressed chunk changes when the chunk is freed.
                    let flags_before = trace.get_chunk_flags(chunk);
                    if flags_before.is_ok_and(|flags| flags & flag::COMPRESSED != 0) {
                        continue;
                    }
                    let expected = model.set_flags(chunk, flags);
                    prop_assert_eq!(trace.set_chunk_flags(chunk, flags), expected);
                }
                Operation::Select(chunk) => {
                    let expected = model.free(chunk);
                    if expected.is_ok() {
                        model.get(chunk).unwrap().flags &= !flag::FREE;
                        model.current = Some(chunk);
                    }
                    prop_assert_eq!(trace.chunk_select(chunk), expected);
                }
                Operation::Link(from, to) => {
                    prop_assert_eq!(trace.chunk_link(from, to), model.link(from, to));
                }
                Operation::Send { chunk, flags, fails } => {
                    let flags_before = trace.get_chunk_flags(chunk).unwrap_or(0);
                    let compressed = flags_before & flag::COMPRESSED != 0;
                    let flags = if compressed { flags & !flag::FREE } else { flags };
                    let mut basket = Basket { fails, ..Basket::default() };
                    let got = trace.send_chunk(chunk, flags, &mut basket).map(|()| basket.records);
                    prop_assert_eq!(got, model.send(chunk, flags, fails));
                }
                Operation::Compress(chunk, flags) => {
                    let got = trace.compress_chunk(chunk, flags, memory());
                    let got = got.map(|_| ()).map_err(|refused| refused.reason);
                    prop_assert_eq!(got, model.compress(chunk, flags));
                }
            }
            prop_assert_eq!(trace.current(), model.current);
            for number in 0..CHUNKS as u8 {
                let Ok(chunk) = model.get(number) else {
                    prop_assert!(trace.image(number).is_err());
                    continue;
                };
                let (header, records) = records_in(trace.image(number).unwrap());
                prop_assert_eq!(header.flags, chunk.flags);
                prop_assert_eq!(header.recording_flags, u32::from(chunk.flags));
                prop_assert_eq!(trace.get_chunk_flags(number), Ok(chunk.flags));
                prop_assert_eq!(records, chunk.records());
                let next = chunk.next;
                let head = next.map_or(0, |next| records_in(trace.image(next).unwrap()).0.head);
                prop_assert_eq!(header.next, head);
            }
        }
        let drops = trace.drops();
        let counted = drops.disabled + drops.filtered + drops.no_chunk + drops.full + drops.refused
            + drops.no_successor + drops.busy;
        prop_assert_eq!(counted, dropped);
    }
}
