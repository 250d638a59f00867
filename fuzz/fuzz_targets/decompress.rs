//! See `tracewell_fuzz::decompress`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::decompress(data));
