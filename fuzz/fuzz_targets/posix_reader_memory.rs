//! See `tracewell_fuzz::posix_reader_memory`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::posix_reader_memory(data));
