//! See `tracewell_fuzz::ctf_metadata`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_fuzz::ctf_metadata(data));
