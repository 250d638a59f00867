//! See `tracewell_fuzz::aix`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::aix(data));
