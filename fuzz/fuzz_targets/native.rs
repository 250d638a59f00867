//! See `tracewell_fuzz::native`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::native(data));
