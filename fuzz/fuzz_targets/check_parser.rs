//! See `tracewell_fuzz::check_parser`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::check_parser(data));
