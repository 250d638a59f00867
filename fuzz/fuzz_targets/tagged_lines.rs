//! Runs `collected::tagged_lines`.
#![no_main]

#[path = "../src/collected.rs"]
#[expect(dead_code, reason = "the file has the functions of two targets")]
mod collected;

libfuzzer_sys::fuzz_target!(|data: &[u8]| collected::tagged_lines(data));
