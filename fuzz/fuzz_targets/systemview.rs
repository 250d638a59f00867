//! See `tracewell_fuzz::systemview`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::systemview(data));
