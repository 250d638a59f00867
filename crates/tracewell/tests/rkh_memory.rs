//! Tests that a stream without a flag needs no memory, regardless of its length. This is a separate
//! test program because it measures the memory of the whole process.
#![cfg(target_os = "linux")]

mod support;

use support::{EventLog, settings};
use tracewell::format::{self, Input, Progress};

/// The peak memory of the process so far, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn the_peak_does_not_grow_with_the_stream() {
    const CHUNK_LEN: usize = 1 << 16;
    let format = format::by_name("rkh").unwrap();
    let mut decoder = format.decoder(&settings(&["dialect=3.4"])).unwrap();
    let (mut trace, mut kept) = (decoder.trace(), EventLog::default());
    // Bytes with escapes and without flags.
    let bytes: Vec<u8> = (0..CHUNK_LEN).map(|at| [0x7D, 0x55, 0xAC, 0][at % 4]).collect();
    let mut after_first = 0;
    for index in 0..1100_u64 {
        let mut piece = bytes.clone();
        if index == 0 {
            piece[0] = 0x7E;
        }
        let input = Input { offset: index * CHUNK_LEN as u64, bytes: &piece, last: false };
        let progress = decoder.decode(input, &mut trace, &mut kept).unwrap();
        assert!(matches!(progress, Progress::More { consumed: CHUNK_LEN, .. }), "{progress:?}");
        if index == 16 {
            after_first = peak();
        }
    }
    let grown = peak() - after_first;
    assert!(grown < 1024, "68 MiB without a flag made the process {grown} KiB larger");
    assert_eq!(trace.fact("dropped_bytes"), Some(1099 * CHUNK_LEN as u64));
    assert_eq!(trace.fact("oversize"), Some(1));
}
