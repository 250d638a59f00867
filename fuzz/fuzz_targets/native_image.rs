//! See `tracewell_fuzz::native_image`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::native_image(data));
