//! See `tracewell_fuzz::number_lists`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::number_lists(data));
