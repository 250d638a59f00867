//! See `tracewell_fuzz::systemview_descriptions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::systemview_descriptions(data));
