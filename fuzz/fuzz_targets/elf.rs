//! See `tracewell_fuzz::elf`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::elf(data));
