//! See `tracewell_fuzz::trcrpt_layout`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::trcrpt_layout(data));
