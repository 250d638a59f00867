//! See `tracewell_fuzz::reports`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::reports(data));
