//! See `tracewell_fuzz::packet_numbers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::packet_numbers(data));
