//! Runs `packets::packet_numbers`.
#![no_main]

#[path = "../src/packets.rs"]
mod packets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| packets::packet_numbers(data));
