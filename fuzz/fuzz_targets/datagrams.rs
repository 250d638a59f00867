//! Runs `collected::datagrams`.
#![no_main]

#[path = "../src/collected.rs"]
#[expect(dead_code, reason = "the file has the functions of two targets")]
mod collected;

libfuzzer_sys::fuzz_target!(|data: &[u8]| collected::datagrams(data));
