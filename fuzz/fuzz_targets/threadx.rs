//! See `tracewell_fuzz::threadx`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::threadx(data));
