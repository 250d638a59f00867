//! See `tracewell_fuzz::exports`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::exports(data));
