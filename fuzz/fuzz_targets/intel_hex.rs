//! See `tracewell_fuzz::intel_hex`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::intel_hex(data));
