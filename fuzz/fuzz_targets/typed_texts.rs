//! See `tracewell_fuzz::typed_texts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::typed_texts(data));
