//! See `tracewell_fuzz::template_update`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::template_update(data));
