//! The undamaged inputs of each dialect, and the options with which they are read. Samples are
//! short, because each is decoded some hundred times.

use std::path::Path;

use tracewell_record::stream::{Identity, Log, Take};
use tracewell_wire::native::image::{Committed, lane};
use tracewell_wire::native::{WORD, block, crc32c};
use tracewell_wire::posix::log::MAGIC as POSIX_LOG;
use tracewell_wire::posix::object::at;
use tracewell_wire::shark::{self, DatagramHeader, Frame, Record};
use tracewell_wire::target::definition::{IDLE, LARGER_IS_URGENT, NAME};
use tracewell_wire::target::packet::CHECKED;
use tracewell_wire::target::{
    DEFINITIONS, Definition, DefinitionKind, Described, Header, crc16, ids,
};
use tracewell_wire::threadx::{Layout, Width};
use tracewell_wire::{ByteOrder, arrivals as wire_arrivals, frame, rkh as wire_rkh};

use crate::dump::{self, Dump, USUAL, event};
use crate::edits::Random;
use crate::native::{self, GEOMETRY, STEP, definition_type, event_type, image, memory, writer};
use crate::posix::{self, Event};
use crate::random_traces;
use crate::rkh::{Stream as RkhStream, configuration};
use crate::{ctf_packets, systemview_packets};

/// Returns a damaged input with corrected checksums. The first argument is the undamaged input.
pub(crate) type Seal = fn(&[u8], Vec<u8>) -> Vec<u8>;

/// An undamaged input.
pub(crate) struct Sample {
    pub(crate) format: &'static str,
    pub(crate) name: &'static str,
    /// The bytes that the edits change.
    pub(crate) bytes: Vec<u8>,
    /// Sets of options. The first set is also that of the sweeps.
    pub(crate) options: &'static [&'static [&'static str]],
    /// Corrects checksums, if the format has them.
    pub(crate) seal: Option<Seal>,
    /// True if `seal` finds the records of any input. Otherwise edits must not move records.
    pub(crate) seals_anything: bool,
    /// The files of a trace in a folder: names and contents. The first one is the metadata.
    pub(crate) files: Vec<(&'static str, Vec<u8>)>,
    /// The index of the file that the edits change.
    pub(crate) edited: usize,
    /// True if sweeps change the sample. Decoding some samples takes too long.
    pub(crate) swept: bool,
}

impl Sample {
    fn new(
        format: &'static str,
        name: &'static str,
        bytes: Vec<u8>,
        options: &'static [&'static [&'static str]],
    ) -> Self {
        let (seal, seals_anything, files, edited) = (None, false, Vec::new(), 0);
        Self { format, name, bytes, options, seal, seals_anything, files, edited, swept: true }
    }

    fn sealed(self, seal: Seal) -> Self {
        Self { seal: Some(seal), ..self }
    }

    fn without_sweeps(self) -> Self {
        Self { swept: false, ..self }
    }

    /// Returns the number and the digest of the bytes.
    pub(crate) fn row(&self) -> String {
        format!("{}\t{:08x}", self.bytes.len(), crc32c(&self.bytes))
    }
}

/// Reads a file of the repository.
fn file(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a file of the test data.
fn fixture(path: &str) -> Vec<u8> {
    file(&format!("crates/tracewell/tests/fixtures/{path}"))
}

/// Reads an input of a fuzz target.
fn corpus(path: &str) -> Vec<u8> {
    file(&format!("fuzz/corpus/{path}"))
}

fn head(mut bytes: Vec<u8>, length: usize) -> Vec<u8> {
    bytes.truncate(length);
    bytes
}

/// No options.
const PLAIN: &[&[&str]] = &[&[]];

pub(crate) fn threadx() -> Vec<Sample> {
    const OPTIONS: &[&[&str]] = &[
        &[],
        &["rate=1MHz"],
        &["direction=down"],
        &["modulus=150"],
        &["oldest=3", "direction=up"],
        &["offset=0"],
        &["search=64"],
    ];
    // The dump has four slots.
    const ODD: &[&[&str]] = &[&[], &["oldest=3"], &["oldest=4"], &["oldest=5"]];
    const JOINED: &[&[&str]] = &[&["parts=400"], &["parts=400", "rate=32.768kHz"], &[]];
    let wide = |order| Layout { order, width: Width::Bits64, name_size: 24 };
    let sample = |name, bytes, options| Sample::new("threadx", name, bytes, options);
    let mut unused = event(0, 0, 0);
    (unused.priority_word, unused.info) = (0, [0; 4]);
    let small = Dump::small(USUAL).bytes();
    let mut later = Dump::wrapped(USUAL);
    later.events.iter_mut().for_each(|event| event.stamp += 2000);
    let joined = [small.clone(), later.bytes()].concat();
    assert_eq!(small.len(), 400, "the option `parts` names this place");
    vec![
        sample("small", small, OPTIONS),
        sample("wrapped", Dump::wrapped(wide(ByteOrder::Big)).bytes(), OPTIONS),
        sample("kernel", every_threadx_event().bytes(), OPTIONS),
        sample("joined", joined, JOINED),
        sample(
            "empty",
            Dump::new(USUAL, vec![dump::thread(0x100, "alpha")], vec![unused; 4], 0).bytes(),
            ODD,
        )
        .without_sweeps(),
        sample("wrapped-exactly.trx", fixture("threadx/wrapped-exactly.trx"), OPTIONS),
        sample("embedded.bin", corpus("threadx/embedded.bin"), OPTIONS),
        sample("wide stamps", corpus("threadx/wide_stamps_beyond_64_bits"), PLAIN),
        sample("late width", corpus("threadx/width_shows_late"), PLAIN),
    ]
}

/// Returns a dump of random events, most of them events of the kernel. It registers objects of
/// several types.
fn every_threadx_event() -> Dump {
    let mut random = Random::of("ThreadX");
    let mut objects = vec![dump::thread(0x2100_0000, "alpha"), dump::thread(0x2100_0100, "beta")];
    objects.extend([(6, "mutex"), (5, "queue"), (4, "semaphore"), (1, "late")].map(
        |(object_type, name)| {
            let mut slot = dump::thread(0x2100_1000 + 0x100 * u64::from(object_type), name);
            slot.object_type = object_type;
            slot
        },
    ));
    let keys: Vec<u64> = objects.iter().map(|object| object.pointer).collect();
    let mut stamp = 1000;
    let events = (0..60).map(|_| {
        stamp += random.below(40) as u64;
        let id = random.one_of(&[1, 2, 3, 4, 5, 6, 7, 10, 83, 88, 100, 103, 104, 120, 121, 5000]);
        let context = random.one_of(&[0xFFFF_FFFF, 0xF0F0_F0F0, keys[0], keys[0], keys[1]]);
        let mut event = event(context, id, stamp);
        event.info = [0; 4].map(|_| match random.below(2) {
            0 => keys[random.below(keys.len())],
            _ => random.below(12) as u64,
        });
        event
    });
    let events = events.collect();
    Dump::new(USUAL, objects, events, 20)
}

pub(crate) fn aix() -> Vec<Sample> {
    const OPTIONS: &[&[&str]] = &[&[], &["names=1=read,2=write,0x3=wait"]];
    const JOINED: &[&[&str]] = &[&["parts=499,1950"], &["parts=499,1950", "names=1=read"]];
    let sample = |name, bytes, options| Sample::new("aix", name, bytes, options);
    let parts = ["examples/hooks.twx", "examples/hooks.twx-0", "examples/hooks.twx-1"].map(file);
    assert_eq!((parts[0].len(), parts[1].len()), (499, 1451), "the option `parts` names these");
    vec![
        sample("little", corpus("aix/little"), OPTIONS),
        sample("big", corpus("aix/big"), OPTIONS),
        sample("two_cpus_far_apart", corpus("aix/two_cpus_far_apart"), OPTIONS),
        sample("hooks.twx-0", file("examples/hooks.twx-0"), OPTIONS),
        sample("hooks.twx, joined", head(parts.concat(), 3400), JOINED),
    ]
}

pub(crate) fn native() -> Vec<Sample> {
    let sample = |name, bytes| Sample::new("native", name, bytes, PLAIN);
    vec![
        sample("small_log", corpus("native/small_log")).sealed(seal_native),
        sample("spans", native::log_of_spans()).sealed(seal_native),
        sample("kernel", kernel_stream(0).0).sealed(seal_native),
        sample("equal times", equal_times()).sealed(seal_native).without_sweeps(),
        sample("memory", kernel_stream(12).1),
        sample("memory with a damaged packet", damaged_memory()).without_sweeps(),
        sample("memory with a damaged position", damaged_position()).without_sweeps(),
        sample("memory, partly read", kernel_stream(50).1),
    ]
}

fn seal_native(original: &[u8], mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while let block::Lookup::Block(found) = block::find(&original[at..]) {
        let end = at + block::HEAD + found.body.len();
        if let (Some(kind), Some(block)) = (found.kind, bytes.get_mut(at..end)) {
            block::seal(block, kind, found.number).expect("its length did not change");
        }
        at = end;
    }
    bytes
}

/// Records random events of a kernel and of a thread. Returns the log of the stream, and the memory
/// of the stream after event number `read_after`. A reader takes the events after number 12 out of
/// the stream, one by one.
fn kernel_stream(read_after: u64) -> (Vec<u8>, Vec<u8>) {
    let mut random = Random::of("kernel");
    let words = memory();
    let image = image(&words, 1, 0, "program/step(number:u64)");
    let identity = |lane: u32| Identity { process: 1, thread: 15 + lane, name: [0; 16] };
    let (kernel, thread) = (writer(&image, 0, identity(0)), writer(&image, 1, identity(1)));
    let mut log = Log::new(Vec::new(), Take::Out);
    for (number, name) in [(1, "low"), (2, "high")] {
        let id = definition_type(&image, DefinitionKind::Task, number, name);
        kernel.push(&image, id, 90, &[], &[]).unwrap();
    }
    let ids: Vec<u8> = (1..=255).filter(|id| Described::of(*id).is_some()).collect();
    let often = [ids::RUNS, ids::READY, ids::MUTEX_LOCK, ids::MUTEX_UNLOCK, ids::MUTEX_WAIT];
    let (mut now, mut bytes) = (100, Vec::new());
    for number in 0..60 {
        now += 1 + random.below(30) as u64;
        let id = if number % 3 == 0 { ids[random.below(ids.len())] } else { random.one_of(&often) };
        let fields = [random.below(2), random.below(4), random.below(4)].map(|field| field as u64);
        // The fields after the core depend on the form of the event, which is part of its id.
        let count = 1 + usize::from(id >> 6).min(2);
        if id >> 6 < 3 {
            let id = event_type(&image, id);
            kernel.push(&image, id, now, &fields[..count], &[]).unwrap();
        }
        if number % 10 == 0 {
            thread.push(&image, STEP, now + 1, &[number], &[]).unwrap();
        }
        if number == read_after {
            bytes = native::bytes(&words);
        }
        if number > 12 {
            log.drain_image(&image, now + 2).unwrap();
        }
    }
    (log.close_image(&image, 1 << 40).unwrap(), bytes)
}

/// Returns the memory of a stream in which a thread recorded 100 events.
fn memory_of_steps() -> Vec<u8> {
    let words = memory();
    let image = image(&words, 1, 0, "program/step(number:u64)");
    let thread = writer(&image, 0, Identity { process: 1, thread: 15, name: [0; 16] });
    for number in 0..100 {
        thread.push(&image, STEP, 5 * number, &[number], &[]).unwrap();
    }
    native::bytes(&words)
}

/// Returns the memory of a stream whose last position is the first word of a packet.
fn damaged_position() -> Vec<u8> {
    let mut bytes = memory_of_steps();
    let position = 5 * u64::from(GEOMETRY.packet_words) + 1;
    let place = (GEOMETRY.head(0) + lane::COMMITTED) * WORD;
    bytes[place..][..WORD].copy_from_slice(&Committed::new(position, 100).0.to_le_bytes());
    bytes
}

/// Returns the memory of a stream whose second packet of four has a damaged header.
fn damaged_memory() -> Vec<u8> {
    let mut bytes = memory_of_steps();
    let second = GEOMETRY.lane(0) + GEOMETRY.packet_words as usize;
    bytes[second * WORD..][..WORD].fill(0xFF);
    bytes
}

/// Returns a log in which two threads record events of the same times. In the log, the events of
/// the second thread come before those of the first one.
fn equal_times() -> Vec<u8> {
    let words = memory();
    let image = image(&words, 1, 0, "program/step(number:u64)");
    let identity = |lane: u32| Identity { process: 1, thread: 15 + lane, name: [0; 16] };
    let writers = [0, 1].map(|lane| writer(&image, lane, identity(lane)));
    let mut log = Log::new(Vec::new(), Take::Out);
    let mut number = 0;
    for (thread, stamps, until) in [
        // The last time before the second limit occurs in both threads.
        (1, &[5_u64, 6, 9, 11][..], 6),
        (0, &[9, 12], 10),
        (1, &[15, 20, 20, 25], 20),
        (0, &[20, 20, 25, 30], 25),
        (1, &[30, 30], 30),
        (0, &[30, 40], 40),
        (1, &[40, 41], 41),
    ] {
        for stamp in stamps {
            writers[thread].push(&image, STEP, *stamp, &[number], &[]).unwrap();
            number += 1;
        }
        log.drain_image(&image, until).unwrap();
    }
    log.close_image(&image, 1 << 40).unwrap()
}

pub(crate) fn posix() -> Vec<Sample> {
    let sample = |name, bytes| Sample::new("posix", name, bytes, PLAIN);
    let event = |stamp: u64| Event::user(65 + stamp as u32 % 2, stamp, &[stamp as u8; 5]);
    let packets = [vec![event(1), event(6), event(7)], vec![event(2), event(9)], vec![event(8)]];
    let mut memory = posix::memory_of(64, &packets);
    memory[at::NAME * WORD..][..5].copy_from_slice(b"motor");
    vec![
        sample("log", corpus("posix_reader/log")).sealed(seal_posix),
        sample("ring", posix::ring(4, 6)).sealed(seal_posix),
        sample("ring of one slot", posix::ring(1, 3)).sealed(seal_posix).without_sweeps(),
        sample("memory", memory),
    ]
}

fn seal_posix(original: &[u8], mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while let frame::Lookup::Block { kind, number, body } = frame::find(&original[at..], POSIX_LOG)
    {
        let end = at + frame::HEAD + body.len();
        if let Some(block) = bytes.get_mut(at..end) {
            frame::seal(block, POSIX_LOG, kind, number).expect("its length did not change");
        }
        at = end;
    }
    bytes
}

pub(crate) fn rkh() -> Vec<Sample> {
    const OPTIONS: &[&[&str]] =
        &[&[], &["rate=1kHz"], &["dialect=2.4.3"], &["id=2"], &["ts=2", "checksum=on"]];
    const OLD: &[&[&str]] = &[&["dialect=2.0-pre"], &["dialect=2.0", "seq=off"], &[]];
    const TWO: &[&[&str]] = &[&["dialect=3.4", "id=2"], &["id=2", "sig=2", "ptr=2"]];
    const NONE: &[&[&str]] = &[&["dialect=3.4", "checksum=off", "id=1"], &[]];
    const GUESSED: &[&[&str]] = &[&[], &["rate=1kHz"], &["dialect=3.4"]];
    // Each size that an option accepts.
    const SIZES: &[&[&str]] = &[
        &["dialect=3.4"],
        &["dialect=3.4", "ts=0", "ptr=2", "fptr=2", "sig=1", "ntimer=1", "nblock=1", "bsize=1"],
        &["dialect=3.4", "ts=1", "ptr=4", "fptr=4", "sig=2", "ntimer=2", "nblock=2", "bsize=2"],
        &["dialect=3.4", "ts=2", "sig=4", "ntimer=4", "nblock=4", "bsize=4", "nelem=1", "esize=1"],
        &["dialect=3.4", "ts=4", "nelem=2", "esize=2", "sender=on", "que-lwm=off", "mp-lwm=off"],
        &["dialect=3.4", "nelem=4", "esize=4", "id=1", "seq=on", "checksum=on", "que-lwm=on"],
    ];
    let usual = wire_rkh::Settings::default();
    let wide = wire_rkh::Settings { id: 2, signal: 2, ..usual };
    let short = wire_rkh::Settings { stamp: 2, checksum: false, queue_count: 2, ..usual };
    let plain = wire_rkh::Settings { sequence: false, pointer: 2, sender: true, ..usual };
    let sample = |name, bytes, options| {
        let sample = Sample::new("rkh", name, bytes, options).sealed(seal_rkh);
        Sample { seals_anything: true, ..sample }
    };
    // The first byte of these inputs selects the settings for the fuzz target.
    let corpus = |name: &str| corpus(&format!("rkh/{name}"))[1..].to_vec();
    vec![
        sample("ahsm-a.bin", head(fixture("rkh/ahsm-a.bin"), 900), OPTIONS),
        sample("ahsm-a-garbage.bin", head(fixture("rkh/ahsm-a-garbage.bin"), 700), OPTIONS)
            .without_sweeps(),
        sample("shared-c.bin", head(fixture("rkh/shared-c.bin"), 900), OPTIONS),
        sample("restart", corpus("restart"), OPTIONS),
        sample("user_events", corpus("user_events"), OPTIONS).without_sweeps(),
        sample("flat_ids", corpus("flat_ids"), OLD),
        sample("two_byte_ids", head(corpus("two_byte_ids"), 600), TWO),
        sample("late_without_record", corpus("late_without_record"), NONE).without_sweeps(),
        sample("dialect_changes", corpus("dialect_changes"), OPTIONS),
        sample("settings_not_told", head(corpus("settings_not_told"), 700), GUESSED)
            .without_sweeps(),
        sample("wide ids", without_settings(wide), GUESSED).without_sweeps(),
        sample("short stamps", without_settings(short), GUESSED).without_sweeps(),
        sample("no numbers", without_settings(plain), GUESSED).without_sweeps(),
        sample("sizes", without_settings(usual), SIZES).without_sweeps(),
        sample("configurations", configurations(), OPTIONS).without_sweeps(),
        sample("half of the checksums", with_wrong_checksums(usual), GUESSED).without_sweeps(),
    ]
}

/// Returns a stream from which the decoder must infer the settings.
fn without_settings(settings: wire_rkh::Settings) -> Vec<u8> {
    random_traces::rkh_stream(&mut Random::of("settings"), settings, 70)
}

/// Returns a stream with configuration records of all dialects and forms.
fn configurations() -> Vec<u8> {
    let mut random = Random::of("configurations");
    let mut stream = RkhStream::new(wire_rkh::Settings::default());
    for id in [0xAC, 0xAD, 0xAE, 0x0C, 0x0E] {
        for version in [0, 0x2403, 0x3400] {
            let settings = configuration(stream.settings, version);
            stream.frame(&[vec![id], settings].concat());
            for stamp in 0..3 {
                let arguments = [0; 8].map(|_| random.below(4) as u8);
                let length = random.below(8);
                stream.record(random.below(256) as u32, stamp, &arguments[..length]);
            }
        }
    }
    stream.bytes
}

/// Returns such a stream in which every second checksum is wrong.
fn with_wrong_checksums(settings: wire_rkh::Settings) -> Vec<u8> {
    let stream = without_settings(settings);
    let mut frames: Vec<Vec<u8>> = stream.split(|byte| *byte == 0x7E).map(<[u8]>::to_vec).collect();
    for frame in frames.iter_mut().skip(1).step_by(2) {
        if let Some(checksum) = frame.last_mut() {
            *checksum ^= 1;
        }
    }
    frames.join(&0x7E)
}

/// Corrects the checksum of each frame, after removing the escapes.
fn seal_rkh(_: &[u8], bytes: Vec<u8>) -> Vec<u8> {
    const FLAG: u8 = 0x7E;
    let mut frames: Vec<&[u8]> = bytes.split(|byte| *byte == FLAG).collect();
    // The bytes before the first flag and after the last one are not whole frames.
    let last = frames.pop().unwrap_or_default();
    let mut sealed = Vec::new();
    for (index, stuffed) in frames.into_iter().enumerate() {
        let mut frame = stuffed.to_vec();
        match wire_rkh::unstuff_in_place(&mut frame) {
            wire_rkh::Unstuffed::Frame(length) if index > 0 && length > 1 => {
                let mut room = vec![0; 2 * length + 4];
                let written = wire_rkh::encode(&frame[..length - 1], true, &mut room);
                sealed.extend(&room[..written.expect("there is room") - 1]);
            }
            _ => sealed.extend(stuffed),
        }
        sealed.push(FLAG);
    }
    sealed.extend(last);
    sealed
}

pub(crate) fn shark() -> Vec<Sample> {
    const OPTIONS: &[&[&str]] = &[
        &["kind=records"],
        &["kind=records", "rate=1MHz"],
        &["kind=records", "names=256=main,264=other"],
        &["kind=records", "parts=320"],
        &[],
    ];
    const CHUNKS: &[&[&str]] = &[&["kind=chunk"], &["kind=chunk", "rate=1MHz"], &[]];
    const CAPTURE: &[&[&str]] = &[&["kind=capture"], &[]];
    let sample = |name, bytes, options| Sample::new("shark", name, bytes, options);
    // The first byte of these inputs selects the start of the second part for the fuzz target.
    let corpus = |name: &str| corpus(&format!("shark/{name}"))[1..].to_vec();
    vec![
        sample("kernel", every_shark_event(), OPTIONS),
        sample("ring", head(corpus("ring"), 640), OPTIONS),
        sample("nested_interrupts", corpus("nested_interrupts"), OPTIONS),
        sample("context_used_again", corpus("context_used_again"), OPTIONS),
        sample("a_linear.raw", head(fixture("shark/a_linear.raw"), 700), CHUNKS),
        sample("chunk_images", corpus("chunk_images"), CHUNKS),
        sample("compressed_blocks", corpus("compressed_blocks"), CHUNKS),
        sample("compressed_chunk", corpus("compressed_chunk"), CHUNKS),
        sample("capture", corpus("capture"), CAPTURE),
        sample("datagrams", datagrams(), CAPTURE),
    ]
}

/// Returns a capture with an empty datagram, a missing packet, a repeated packet and a restart.
fn datagrams() -> Vec<u8> {
    let mut capture = Vec::new();
    for (number, count) in [(0, 0), (1, 60), (2, 60), (2, 60), (4, 60), (5, 3), (1, 60), (2, 2)] {
        let mut datagram = Vec::new();
        if count > 0 {
            datagram.resize(DatagramHeader::SIZE, 0);
            DatagramHeader::new(number, count).write(&mut datagram).unwrap();
            for record in 0..count {
                let tsc = u64::from(1000 * number + record);
                let code_word = shark::ids::IPOINT.into();
                let mut bytes = [0; Record::SIZE];
                let record = Record { code_word, par1: record as u16, tsc, par2: 0 };
                record.write(&mut bytes).unwrap();
                datagram.extend(bytes);
            }
        }
        capture.extend(Frame::prefix(datagram.len() as u32));
        capture.extend(datagram);
    }
    capture
}

/// Returns random records of a kernel. The first one starts the trace.
fn every_shark_event() -> Vec<u8> {
    let mut random = Random::of("S.Ha.R.K.");
    let code_word = shark::ids::TRACE_START.into();
    let mut records = vec![Record { code_word, par1: 0x100, tsc: 1000, par2: 1000 }];
    let mut tsc = 1000;
    for _ in 0..40 {
        tsc += random.below(50) as u64;
        let code_word = 1 + random.below(70) as u16;
        let fast = if random.below(8) == 0 { Record::FAST } else { 0 };
        let task = random.one_of(&[0x100, 0x108, 0x110, 7]);
        let par2 = random.one_of(&[0x100, 0x108, 0x110, 1, 2]);
        records.push(Record { code_word: code_word | fast, par1: task, tsc, par2 });
    }
    let mut bytes = vec![0; Record::SIZE * records.len()];
    for (record, slot) in records.iter().zip(bytes.chunks_mut(Record::SIZE)) {
        record.write(slot).unwrap();
    }
    bytes
}

pub(crate) fn systemview() -> Vec<Sample> {
    const OPTIONS: &[&[&str]] = &[
        &[],
        &["kernel=freertos", "rate=25MHz"],
        &["cores=in-ids"],
        &["base=0x20000000", "shift=2"],
        &["kernel=freertos", "base=0x20000000", "shift=2"],
    ];
    const PARTS: &[&[&str]] = &[&["parts=600"], &["parts=600", "rate=1MHz"]];
    let sample = |name, bytes, options| Sample::new("systemview", name, bytes, options);
    vec![
        sample("quiet.bin", fixture("systemview/quiet.bin"), OPTIONS),
        sample("zero.bin", head(fixture("systemview/zero.bin"), 800), OPTIONS),
        sample("wrap.bin", head(fixture("systemview/wrap.bin"), 800), OPTIONS),
        sample("long.bin", head(fixture("systemview/long.bin"), 1500), OPTIONS).without_sweeps(),
        sample("restart.bin", head(fixture("systemview/restart.bin"), 1300), OPTIONS),
        sample("recorder.bin", head(fixture("systemview/recorder.bin"), 1200), OPTIONS),
        sample("mill.bin", head(file("examples/mill.bin"), 1100), OPTIONS).without_sweeps(),
        sample("two_streams", head(corpus("systemview/two_streams"), 1200), OPTIONS),
        sample("core_overflow", corpus("systemview/core_overflow"), OPTIONS),
        sample("offset_overflow", corpus("systemview/offset_overflow"), OPTIONS),
        sample("joined", head(corpus("systemview/joined_without_sync"), 1200), PARTS),
        sample("packets of FreeRTOS", systemview_packets::of("FreeRTOS"), OPTIONS),
        sample("greeting", [b"SV\x03\x08", &fixture("systemview/quiet.bin")[..]].concat(), OPTIONS)
            .without_sweeps(),
        sample("greeting alone", b"SEGGER SystemView V3.60.0\0\0\0\0\0\0\0\0\0".into(), OPTIONS),
        sample("described late", systemview_packets::described_late(), OPTIONS),
        sample("packets of Zephyr", systemview_packets::of("Zephyr"), OPTIONS).without_sweeps(),
    ]
}

pub(crate) fn target() -> Vec<Sample> {
    const OPTIONS: &[&[&str]] = &[&[], &["rate=1MHz"]];
    let sample = |name, bytes| Sample::new("target", name, bytes, OPTIONS).sealed(seal_target);
    vec![
        sample("freertos.bin", head(file("examples/freertos.bin"), 1500)),
        sample("two cores", two_cores()),
        sample("late and repeated", late_and_repeated()).without_sweeps(),
        sample("definitions", definitions()).without_sweeps(),
        sample("after messages", [b"boot\r\nready\r\n", &two_cores()[..]].concat())
            .without_sweeps(),
    ]
}

/// Returns a line with definitions. Names have several parts, and some tasks get other properties.
fn definitions() -> Vec<u8> {
    let entry = |kind, number, part: u8, flags, priority, name: &[u8]| {
        let at = NAME * usize::from(part).min(1);
        let name = name.get(at..).unwrap_or(name);
        let first = Definition::new(kind, number, name);
        Definition { part, flags, priority, value: 1000 + u32::from(part), ..first }
    };
    let long = b"a task whose name has two parts";
    let entries = [
        entry(DefinitionKind::System, 0, 0, LARGER_IS_URGENT, 0, b"a kernel with a long name"),
        entry(DefinitionKind::System, 0, 1, 0, 0, b"a kernel with a long name"),
        entry(DefinitionKind::Task, 1, 0, 0, 7, long),
        entry(DefinitionKind::Task, 1, 1, IDLE, 9, long),
        entry(DefinitionKind::Task, 2, 0, IDLE, 1, b"idle"),
        entry(DefinitionKind::Task, 3, 1, 0, 2, long),
        entry(DefinitionKind::Task, 3, 0, 0, 3, long),
        entry(DefinitionKind::Task, 2, 0, IDLE, 4, b"idle"),
        entry(DefinitionKind::Task, 1, 200, 0, 9, long),
    ];
    let line = two_cores();
    let packets = packets(&line);
    let mut bytes = Vec::new();
    for (entry, packet) in entries.iter().zip(packets) {
        let header = Header { core: DEFINITIONS, cores: 2, ..Header::default() };
        let start = bytes.len();
        bytes.extend(header.to_bytes());
        bytes.extend(entry.to_bytes());
        seal_packet(&mut bytes[start..]);
        bytes.extend(&line[packet]);
    }
    // Events of a program have numbers below 0xF000.
    for number in [0xEFFF, 0xF000, 0xF001] {
        let start = bytes.len();
        bytes.extend(Header { cores: 2, ..Header::default() }.to_bytes());
        let number = tracewell_wire::number::encode(number);
        bytes.extend([ids::USER, 5, number.len() as u8 + 1]);
        bytes.extend(&*number);
        bytes.push(7);
        seal_packet(&mut bytes[start..]);
    }
    bytes
}

/// Returns the positions of the packets in a line.
fn packets(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        match tracewell_wire::target::packet::Lookup::at(&bytes[at..]) {
            tracewell_wire::target::packet::Lookup::Packet(packet) => {
                let end = at + Header::default().to_bytes().len() + packet.payload.len();
                found.push(at..end);
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// Returns the line of two cores with packets that are late or repeated.
fn late_and_repeated() -> Vec<u8> {
    let line = two_cores();
    let packets = packets(&line);
    let order = [0, 1, 2, 1, 5, 3, 4, 4, 8, 6, 7, 9, 10, 7, 11];
    order.map(|number| &line[packets[number].clone()]).concat()
}

fn seal_target(original: &[u8], mut bytes: Vec<u8>) -> Vec<u8> {
    for packet in packets(original) {
        bytes.get_mut(packet).into_iter().for_each(seal_packet);
    }
    bytes
}

/// Corrects the length and the checksum in the header of a packet.
fn seal_packet(packet: &mut [u8]) {
    let (header, payload) = packet.split_at_mut(Header::default().to_bytes().len());
    let sum = crc16(crc16(u16::MAX, &header[..CHECKED]), payload);
    header[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
    header[26..28].copy_from_slice(&sum.to_le_bytes());
}

/// Returns a line with random events of two cores.
fn two_cores() -> Vec<u8> {
    let mut random = Random::of("cores");
    let often = [ids::RUNS, ids::READY, ids::INTERRUPT_ENTER, ids::INTERRUPT_EXIT, ids::MUTEX_LOCK];
    let (mut line, mut first, mut time) = (Vec::new(), [0_u32; 2], 1000_u64);
    for number in 0..12_u32 {
        let core = number as usize % 2;
        // A core refuses three events, and a packet with two events is missing.
        let refused = u16::from(number == 5) * 3;
        first[core] += u32::from(refused) + 2 * u32::from(number == 8);
        let header = Header {
            core: core as u8,
            number: number / 2 + u32::from(core == 0 && number > 7),
            first: first[core],
            time,
            refused,
            session: 0,
            cores: 2,
        };
        let mut payload = Vec::new();
        for event in 0..1 + random.below(8) {
            let id =
                if event % 2 == 0 { random.one_of(&often) } else { 1 + random.below(255) as u8 };
            let ticks = if event == 0 { 0 } else { random.below(120) as u8 };
            payload.extend([id, ticks]);
            let form = usize::from(id >> 6);
            let length = if form == 3 { random.below(5) } else { 0 };
            payload.extend((form == 3).then_some(length as u8));
            let arguments = if form == 3 { length } else { form };
            payload.extend((0..arguments).map(|_| random.below(5) as u8));
            first[core] += 1;
            time += u64::from(ticks);
        }
        let start = line.len();
        line.extend(header.to_bytes());
        line.extend(&payload);
        seal_packet(&mut line[start..]);
        time += random.below(200) as u64;
    }
    line
}

pub(crate) fn ctf() -> Vec<Sample> {
    const OPTIONS: &[&[&str]] = &[&[], &["wait=1s"]];
    let folder = |name, files: Vec<(&'static str, Vec<u8>)>, edited: usize| {
        let bytes = files[edited].1.clone();
        Sample { files, edited, ..Sample::new("ctf", name, bytes, OPTIONS) }
    };
    let fixture = |trace: &str, stream| {
        ["metadata", stream].map(|name| (name, fixture(&format!("ctf/{trace}/{name}")))).to_vec()
    };
    // Traces without streams.
    let metadata = |name, bytes| folder(name, vec![("metadata", bytes)], 0);
    let lttng = ["metadata", "ch_0", "ch_1", "ch_2"];
    let lttng = lttng.map(|name| (name, file(&format!("examples/lttng/{name}")))).to_vec();
    vec![
        folder("classes", fixture("classes", "stream"), 1),
        folder("classes, metadata", fixture("classes", "stream"), 0),
        folder("packets, circular", ctf_packets::circular(false), 1).without_sweeps(),
        folder("packets, circular with index", ctf_packets::circular(true), 1).without_sweeps(),
        folder("bits", ctf_packets::bits(false), 1).without_sweeps(),
        folder("bits, aligned", ctf_packets::bits(true), 1).without_sweeps(),
        folder("odd", fixture("odd", "stream"), 1),
        folder("zephyr", fixture("zephyr", "channel0_0"), 1),
        folder("zephyr, other release", other_release(), 1).without_sweeps(),
        folder("packets", ctf_packets::files(), 1),
        folder("packets, metadata", ctf_packets::files(), 0).without_sweeps(),
        folder("packets without times", ctf_packets::files(), 3),
        folder("packets, index", ctf_packets::files(), 4).without_sweeps(),
        folder("lttng", lttng, 2).without_sweeps(),
        metadata("metadata, classes", corpus("ctf_metadata/classes")),
        metadata("metadata, nested", corpus("ctf_metadata/nested")),
        metadata("metadata, references", corpus("ctf_metadata/references")),
        metadata("metadata, CTF 2", corpus("ctf_metadata/ctf2")),
        metadata("metadata, odd", self::fixture("ctf/odd/metadata")).without_sweeps(),
        metadata("metadata, packets", corpus("ctf_metadata/packet")).without_sweeps(),
        metadata("metadata, LTTng 2", self::fixture("ctf/lttng-ctf2.metadata")).without_sweeps(),
    ]
}

/// Returns a stream of Zephyr, with the metadata of a release that has longer ids.
fn other_release() -> Vec<(&'static str, Vec<u8>)> {
    let text = fixture("ctf/zephyr/metadata");
    let text =
        String::from_utf8(text).expect("it is text").replacen("uint8_t id", "uint16_t id", 1);
    vec![
        ("metadata", text.into_bytes()),
        ("channel0_0", head(fixture("ctf/zephyr/channel0_0"), 600)),
    ]
}

pub(crate) fn arrivals() -> Vec<Sample> {
    let entries = ["all_kinds", "time_goes_back_at_the_end"].map(|name| {
        (name, [&wire_arrivals::HEADER, &corpus(&format!("arrivals/{name}"))[..]].concat())
    });
    entries.map(|(name, bytes)| Sample::new("arrivals", name, bytes, PLAIN)).into()
}
