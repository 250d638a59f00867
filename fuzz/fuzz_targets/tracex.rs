//! See `tracewell_fuzz::tracex`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::tracex(data));
