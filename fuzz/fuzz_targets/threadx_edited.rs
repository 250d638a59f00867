//! See `tracewell_fuzz::threadx_edited`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::threadx_edited(data));
