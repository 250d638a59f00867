//! See `tracewell_fuzz::custom_event_files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::custom_event_files(data));
