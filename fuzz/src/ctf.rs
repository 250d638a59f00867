//! Fuzz target for the packets of CTF traces.

use std::sync::Arc;

use tracewell::format::ctf::babeltrace::print;
use tracewell::format::{self, Input, Progress, Settings, TraceFile};

use super::Tally;

/// The metadata of the fixtures and of the example.
const METADATA: [&[u8]; 4] = [
    include_bytes!("../../crates/tracewell/tests/fixtures/ctf/classes/metadata"),
    include_bytes!("../../crates/tracewell/tests/fixtures/ctf/odd/metadata"),
    include_bytes!("../../crates/tracewell/tests/fixtures/ctf/zephyr/metadata"),
    include_bytes!("../../examples/lttng/metadata"),
];

/// Decodes any bytes as streams of a CTF trace, and prints them as Babeltrace does. The first byte
/// selects the metadata, the second byte the maximum number of streams, 1 to 4.
pub fn ctf_packets(data: &[u8]) {
    let [kind, count, streams @ ..] = data else { return };
    let metadata = METADATA[usize::from(*kind) % METADATA.len()];
    let file = |name: String, bytes: &[u8]| TraceFile::new(name.into(), Arc::new(bytes.to_vec()));
    let length = streams.len().div_ceil(1 + usize::from(*count % 4)).max(1);
    let streams = streams.chunks(length).enumerate();
    let streams = streams.map(|(index, bytes)| file(format!("trace/stream_{index}"), bytes));
    let files: Vec<_> =
        std::iter::once(file("trace/metadata".into(), metadata)).chain(streams).collect();

    let settings = Settings { files: files.clone().into(), ..Settings::default() };
    let format = format::by_name("ctf").expect("it is in the list");
    let mut decoder = format.decoder(&settings).expect("it needs no options");
    let (mut trace, mut tally) = (decoder.trace(), Tally::default());
    let input = Input { offset: 0, bytes: metadata, last: true };
    let progress = decoder.decode(input, &mut trace, &mut tally);
    assert_eq!(progress, Ok(Progress::Done), "any bytes may be a stream");
    assert_eq!(trace.events, tally.events);
    assert!(tally.events <= 8 * data.len() as u64, "an event needs a bit");

    let (mut text, mut messages) = (Vec::new(), 0);
    let printed = print(&files, "trace".as_ref(), &mut text, |_| messages += 1);
    assert!(printed.is_ok(), "a vector accepts any text");
    let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!(lines, tally.events, "both readings find the same events");
}
