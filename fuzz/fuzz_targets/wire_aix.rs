//! See `tracewell_fuzz::wire_aix`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::wire_aix(data));
