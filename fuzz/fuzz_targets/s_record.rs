//! See `tracewell_fuzz::s_record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::s_record(data));
