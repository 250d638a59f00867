//! See `tracewell_fuzz::ascii_hex`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::ascii_hex(data));
