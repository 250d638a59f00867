//! See `tracewell_fuzz::check_matcher`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::check_matcher(data));
