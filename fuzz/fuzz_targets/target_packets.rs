//! See `tracewell_fuzz::target_packets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::target_packets(data));
