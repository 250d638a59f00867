//! See `tracewell_fuzz::target`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::target(data));
