//! See `tracewell_fuzz::machines`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::machines(data));
