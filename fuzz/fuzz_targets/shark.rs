//! See `tracewell_fuzz::shark`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::shark(data));
