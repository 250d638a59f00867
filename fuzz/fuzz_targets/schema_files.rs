//! See `tracewell_fuzz::schema_files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::schema_files(data));
