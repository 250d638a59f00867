//! See `tracewell_fuzz::posix_reader`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::posix_reader(data));
