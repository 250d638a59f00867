//! Runs `tracewell_collect::simulation`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracewell_collect::simulation::collect(data));
