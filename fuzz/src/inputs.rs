//! The targets of what stands before the readers: recognising a format, joining the parts of a run, numbering packets.

use std::collections::BTreeSet;

use tracewell::collect::{Arrival, Numbers};
use tracewell::format;
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};

use super::any_trace::opened;

/// Opens any bytes without a word about their format. What is recognised does not depend on how it is opened.
pub fn recognition(data: &[u8]) {
    let found = format::recognise(data);
    let opened = Input::from_bytes("fuzz", data.to_vec(), Settings::default());
    if let (Some(found), Ok(input)) = (found, &opened) {
        assert!(std::ptr::eq(found, input.format()) || input.size() != Some(data.len() as u64));
    }
    let Ok(mut input) = opened else { return };
    let mut events = Count::default();
    if let Ok(trace) = input.read(&mut events) {
        assert_eq!(trace.events, events.0);
    }
}

/// Reads any bytes as the parts of a run; the first two bytes say where the second and the third part begin.
pub fn join(data: &[u8]) {
    let [one, two, data @ ..] = data else { return };
    let mut places = [usize::from(*one), usize::from(*two)].map(|place| place * data.len() / 256);
    places.sort_unstable();
    for format in ["threadx", "shark", "aix"] {
        let parts = format!("parts={},{}", places[0], places[1]);
        let Some(mut input) = opened(format, std::iter::once(parts), data) else { continue };
        let mut events = Count::default();
        let Ok(trace) = input.read(&mut events) else { continue };
        assert_eq!(trace.events, events.0);
        assert!(events.0 * 4 <= data.len().max(16 << 20) as u64, "an event needs bytes");
    }
}

/// Counts events, which are numbered in their order.
#[derive(Default)]
struct Count(u64);

impl Sink for Count {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            assert_eq!(event.seq, self.0);
            self.0 += 1;
        }
        Flow::Continue(())
    }
}

/// Packets in any order: the same answers as from a set of all numbers.
pub fn packet_numbers(data: &[u8]) {
    let (mut numbers, mut came) = (Numbers::default(), BTreeSet::new());
    for packet in data.as_chunks::<2>().0 {
        let number = u32::from(u16::from_le_bytes(*packet));
        let expected = match came.last() {
            _ if came.contains(&number) => Arrival::Again,
            Some(highest) if *highest > number => Arrival::Late,
            _ => Arrival::Next,
        };
        assert_eq!(numbers.arrive(number), expected);
        came.insert(number);
    }
    let bounds = came.first().copied().zip(came.last().copied());
    assert_eq!(numbers.bounds(), bounds);
    let missing = bounds.map_or(0, |(first, last)| u64::from(last - first) + 1 - came.len() as u64);
    assert_eq!(numbers.missing_packets(), missing);
}
