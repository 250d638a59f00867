//! See `tracewell_fuzz::recognition`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::recognition(data));
