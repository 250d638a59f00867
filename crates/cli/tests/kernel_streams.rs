//! Copies the events of a FreeRTOS trace, with their times, into the memory of a native stream.
//! Each command must print the same output for both traces.

mod program;

use std::path::Path;

use program::{root, run_in, status, stderr, stdout};
use tracewell_record::stream::{AtomicU64, FullPolicy, Identity, Image, Writer};
use tracewell_wire::native::image::{Geometry, ImageHeader};
use tracewell_wire::native::kernel::{self, write_definition, write_event_type};
use tracewell_wire::native::{ClockFacts, ClockKind};
use tracewell_wire::number;
use tracewell_wire::target::definition::ENTRY;
use tracewell_wire::target::{
    DEFINITIONS, Definition, DefinitionKind, Described, Lookup, Packet, events, ids,
};

/// The memory of a stream with one lane.
struct Memory {
    words: Vec<AtomicU64>,
    header: ImageHeader,
}

impl Memory {
    fn new(ticks_per_second: u64, packets: u32) -> Self {
        let geometry = Geometry { lanes: 1, packets, packet_words: 128 };
        let clock = ClockFacts {
            kind: ClockKind::Custom,
            ticks_per_second,
            origin: 0,
            origin_realtime: 0,
            origin_monotonic: 0,
        };
        let header = ImageHeader { geometry, policy: FullPolicy::Loop, clock, process: 1 };
        let words = (0..geometry.total()).map(|_| AtomicU64::new(0)).collect();
        Self { words, header }
    }

    fn bytes(&self) -> Vec<u8> {
        let words = self.words.iter();
        words
            .flat_map(|word| word.load(std::sync::atomic::Ordering::SeqCst).to_le_bytes())
            .collect()
    }
}

/// Splits the bytes of a line into packets. Returns the packets with definitions, and the packets
/// with events.
fn packets(line: &[u8]) -> (Vec<Packet<'_>>, Vec<Packet<'_>>) {
    let mut rest = line;
    let packets = std::iter::from_fn(|| {
        let Lookup::Packet(packet) = Lookup::at(rest) else {
            assert!(rest.is_empty());
            return None;
        };
        rest = &rest[packet.len()..];
        Some(packet)
    });
    packets.partition(|packet| packet.header.core == DEFINITIONS)
}

/// Returns the definitions that these packets contain, each with its name.
fn definitions(packets: &[Packet<'_>]) -> Vec<(Definition, String)> {
    let mut names: Vec<(Definition, String)> = Vec::new();
    let entries = packets.iter().flat_map(|packet| packet.payload.chunks_exact(ENTRY));
    for entry in entries.filter_map(Definition::read) {
        let text = String::from_utf8(entry.text().to_vec()).unwrap();
        let same = |(first, _): &&mut (Definition, String)| {
            (first.kind, first.number) == (entry.kind, entry.number)
        };
        match names.iter_mut().find(same) {
            None => names.push((entry, text)),
            // The recorder repeats its definitions. In the example, each name fits into one entry.
            Some((_, name)) => assert_eq!((entry.part, &*text), (0, &**name)),
        }
    }
    names
}

/// Records the events of the trace in `examples/freertos.bin` into a native stream.
fn recorded_again(line: &[u8], packets_of_stream: u32) -> Vec<u8> {
    let (with_definitions, of_core) = packets(line);
    let definitions = definitions(&with_definitions);
    let system = definitions.iter().find(|(first, _)| first.kind == DefinitionKind::System);
    let memory = Memory::new(u64::from(system.unwrap().0.value), packets_of_stream);
    let image = Image::create(&memory.words, &memory.header).unwrap();
    let writer = Writer::new();
    writer.take(&image, 0, Identity { process: 1, thread: 1, name: [0; 16] });
    let define = |family, text: String| image.define(family, text.as_bytes()).unwrap();
    for (first, name) in &definitions {
        let mut text = String::new();
        write_definition(first, name, &mut text).unwrap();
        define(kernel::family_of(ids::START), text);
    }
    for packet in of_core {
        let mut time = packet.header.time;
        for event in events(packet.payload) {
            let event = event.unwrap();
            time += event.ticks;
            let mut text = String::new();
            write_event_type(Described::of(event.id).unwrap(), &mut text).unwrap();
            let id = define(kernel::family_of(event.id), text);
            let [first, second] = event.arguments;
            let second = match event.id {
                ids::VALUE => number::signed(second).cast_unsigned(),
                _ => second,
            };
            let fields = [u64::from(packet.header.core), first, second];
            if event.id == ids::TEXT {
                let (channel, text) = number::read(event.block).unwrap();
                writer.push(&image, id, time, &[0, channel, text.len() as u64], text).unwrap();
            } else {
                let count = 1 + usize::from(event.id >> 6);
                writer.push(&image, id, time, &fields[..count], &[]).unwrap();
            }
        }
    }
    memory.bytes()
}

/// Returns the output of a command for a trace, without the line that names the format. Tables are
/// wider for a native stream, because its numbers have 64 bits.
fn output(folder: &Path, command: &[&str], trace: &str) -> Vec<String> {
    let output = run_in(folder, &[command, &[trace]].concat());
    let text = format!("{:?}\n{}{}", status(&output), stdout(&output), stderr(&output));
    let lines = text.lines().filter(|line| !line.contains(" trace, counter "));
    let same = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    lines.map(|line| same(line).replace(trace, "TRACE").replace("0x00000000", "0x")).collect()
}

/// Writes two files: `target.bin` contains the trace of the example, and `native.bin` contains a
/// native stream with the same events.
fn write_both(folder: &Path, packets_of_stream: u32) {
    let line = std::fs::read(root().join("examples/freertos.bin")).unwrap();
    std::fs::write(folder.join("target.bin"), &line).unwrap();
    let native = recorded_again(&line, packets_of_stream);
    std::fs::write(folder.join("native.bin"), native).unwrap();
}

#[test]
fn each_command_shows_the_same_for_a_kernel_in_a_native_stream() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_both(folder, 64);
    let rules = root().join("examples/freertos/bus.rules").display().to_string();
    let commands: &[&[&str]] = &[
        &["report"],
        &["events", "--format", "tsv", "--columns", "seq,ticks,cpu,context,priority,event,text"],
        &["analyze", "--show", "all", "--waits"],
        &["analyze", "--why", "worst:controller"],
        &["view", "--width", "120"],
        &["check", &rules],
    ];
    for command in commands {
        let expected = output(folder, command, "target.bin");
        let found = output(folder, command, "native.bin");
        assert!(expected.len() > 1, "{command:?}: {expected:?}");
        if let Some(line) = (0..expected.len()).find(|line| found.get(*line) != expected.get(*line))
        {
            panic!("{command:?}, line {line}: {:?}, {:?}", found.get(line), expected.get(line));
        }
        assert_eq!(found.len(), expected.len(), "{command:?}");
    }
}

#[test]
fn names_survive_in_a_stream_that_overwrites_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_both(folder, 8);
    let shown = stdout(&run_in(folder, &["report", "native.bin"]));
    assert!(shown.contains("overwritten"), "{shown}");
    for name in ["task=controller", "mutex=bus", "SysTick", "queue=samples"] {
        assert!(shown.contains(name), "{name}: {shown}");
    }
    let info = stdout(&run_in(folder, &["info", "native.bin"]));
    assert!(info.contains("ready_again"), "{info}");
}
