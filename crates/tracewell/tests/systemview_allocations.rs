//! Decodes SystemView streams with many names. Tests that the number of allocations grows in
//! proportion to the number of packets.

#[path = "../../record/tests/allocations/mod.rs"]
mod allocations;

use allocations::counted;
use tracewell::format::{self, Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};
use tracewell_wire::systemview::{Form, Packet, SYNC, ids};

/// Maximum number of allocations per packet.
const MANY: u64 = 40;

struct Ignored;

impl Sink for Ignored {
    fn events(&mut self, _: &Trace, _: &Batch<'_>) -> Flow {
        Flow::Continue(())
    }
}

/// Returns the number of allocations for decoding these packets after a sync.
fn allocations(packets: impl Iterator<Item = (u32, Vec<u8>)>) -> u64 {
    let mut stream = vec![0; SYNC];
    for (id, payload) in [(ids::TRACE_START, Vec::new())].into_iter().chain(packets) {
        let packet = Packet { core: 0, id, payload: &payload, delta: 1, length: 0 };
        let mut bytes = vec![0; payload.len() + 16];
        let length = packet.write(Form::default(), &mut bytes).unwrap();
        stream.extend_from_slice(&bytes[..length]);
    }
    let format = format::by_name("systemview").unwrap();
    let mut decoder = format.decoder(&Settings::default()).unwrap();
    let mut trace = decoder.trace();
    let before = counted();
    let input = Input { offset: 0, bytes: &stream, last: true };
    decoder.decode(input, &mut trace, &mut Ignored).unwrap();
    assert_eq!(trace.diagnostics.iter().next(), None);
    counted() - before
}

#[test]
fn each_name_has_few_allocations() {
    let marker = |number: u32| {
        let number = [number as u8 | 0x80, (number >> 7) as u8];
        (ids::EXTENDED, [&[1][..], &number, b"\x01a"].concat())
    };
    let count = allocations((0..4000).rev().map(marker));
    assert!(count < 4000 * MANY, "{count} allocations");
}

#[test]
fn each_description_of_a_module_has_few_allocations() {
    let module = |number: u32| {
        let text = format!("{number} e");
        let head = [0, 0x80, 0x04, text.len() as u8];
        (ids::MODULEDESC, [&head, text.as_bytes()].concat())
    };
    // The second half describes known events.
    let count = allocations((0..8000).map(|packet| module(packet % 4000)));
    assert!(count < 8000 * MANY, "{count} allocations");
}
