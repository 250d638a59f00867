//! Runs `target_twin::target_twin`.
#![no_main]

#[path = "../src/target_geometry.rs"]
#[expect(dead_code, reason = "the build script uses the other functions")]
mod target_geometry;
#[path = "../src/target_script.rs"]
mod target_script;
#[path = "../src/target_twin.rs"]
mod target_twin;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target_twin::target_twin(data));
