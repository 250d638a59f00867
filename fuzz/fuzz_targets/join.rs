//! See `tracewell_fuzz::join`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::join(data));
