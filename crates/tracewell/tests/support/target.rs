//! Packets of small targets, built from the tables in `docs/target.md`.
#![allow(unreachable_pub, reason = "several test crates use this")]

use tracewell_wire::target::packet::CHECKED;
use tracewell_wire::target::{Header, crc16};

/// Returns a packet with this header and payload.
pub fn packet(header: Header, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header.to_bytes();
    let sum = crc16(crc16(u16::MAX, &bytes[..CHECKED]), payload);
    bytes[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
    bytes[26..].copy_from_slice(&sum.to_le_bytes());
    [&bytes[..], payload].concat()
}
