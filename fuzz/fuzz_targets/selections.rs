//! See `tracewell_fuzz::selections`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::selections(data));
