//! See `tracewell_fuzz::compress`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::compress(data));
