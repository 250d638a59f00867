//! See `tracewell_fuzz::arrivals`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::arrivals(data));
