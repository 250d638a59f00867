//! Fuzz target for the collector's packet counter. `fuzz_targets/packet_numbers.rs` and
//! `crates/collect/tests/corpus.rs` include this file. `fuzz/src/lib.rs` does not include this
//! file, because the decoders do not depend on the collector.

use std::collections::BTreeSet;

use tracewell_collect::{Arrival, Numbers};

/// Counts packets in any order and compares the results with a set of all their numbers.
pub(crate) fn packet_numbers(data: &[u8]) {
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
