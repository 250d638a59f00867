//! See `tracewell_fuzz::rkh`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::rkh(data));
