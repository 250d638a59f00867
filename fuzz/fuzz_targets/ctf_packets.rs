//! See `tracewell_fuzz::ctf_packets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::ctf_packets(data));
