//! On a Cortex-M3 in QEMU, runs a program that sends its trace by RTT and by semihosting. A reader
//! that shares no code with Tracewell finds the RTT buffer in the memory.
//!
//! If the cross compiler or QEMU is missing, the test is skipped; in CI it fails.

mod support;

use support::{board, read};

/// The address of the memory on the board.
const BASE: usize = 0x2000_0000;

/// Returns the bytes that a debugger would read from channel 0 of the control block in a memory,
/// and the name of the channel.
fn rtt(memory: &[u8]) -> (String, Vec<u8>) {
    let word = |at: usize| u32::from_le_bytes(memory[at..at + 4].try_into().unwrap()) as usize;
    let ids = memory.windows(16).enumerate().filter(|(_, id)| *id == b"SEGGER RTT\0\0\0\0\0\0");
    let blocks: Vec<_> = ids.map(|(at, _)| at).collect();
    let [block] = blocks[..] else { panic!("{blocks:?}") };
    assert_eq!((word(block + 16), word(block + 20)), (1, 1));
    for descriptor in [block + 24, block + 48] {
        let (size, written, read) =
            (word(descriptor + 8), word(descriptor + 12), word(descriptor + 16));
        assert!(written < size && read < size && word(descriptor + 20) == 0);
    }
    let [name, buffer, size, written, read] =
        [0, 4, 8, 12, 16].map(|field| word(block + 24 + field));
    let unread = (written + size - read) % size;
    let bytes = (0..unread).map(|n| memory[buffer - BASE + (read + n) % size]).collect();
    // The text of the name is in the flash memory.
    (format!("{name:#x} of {size}"), bytes)
}

#[test]
fn rtt_and_semihosting_carry_the_same_bytes() {
    if !board::has_tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    board::build("firmware/measure/build", &[&"carriers", &folder.path().join("app.elf")]);
    board::run(folder.path());
    let memory = std::fs::read(folder.path().join("ram.bin")).unwrap();
    let file = std::fs::read(folder.path().join("host.bin")).unwrap();
    let (name, bytes) = rtt(&memory);
    assert!(name.ends_with(" of 1024"), "{name}");
    // The program empties the buffer several times, so the buffer has wrapped and contains the last
    // bytes.
    assert!((100..1024).contains(&bytes.len()) && file.len() > 3 * 1024, "{}", bytes.len());
    assert!(file.ends_with(&bytes));
    let (trace, events) = read(&folder.path().join("host.bin"), &[]);
    let values = events.rows.iter().filter(|row| trace.schema.label(row.id) == "value");
    let values: Vec<_> =
        values.map(|row| trace.payload.argument(&row.payload, 1).unwrap()).collect();
    assert_eq!(values, (0..600).collect::<Vec<_>>());
    assert!(trace.losses.is_empty() && trace.diagnostics.iter().len() == 0);
}
