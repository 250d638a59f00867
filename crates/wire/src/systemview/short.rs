//! Short packets: an id of one byte, at most two numbers, and no length. Most packets of a stream
//! are short. [`ShortPacket::read`] reads them without a slice for each parameter.
//!
//! [`Packet::read`](super::Packet::read) reads all packets and reports their faults.

use super::ids::SHAPES;
use super::number;

/// A packet whose parameters are numbers.
///
/// ```
/// use tracewell_wire::systemview::{ShortPacket, ids};
///
/// let mut bytes = [0; ShortPacket::WINDOW];
/// bytes[..4].copy_from_slice(&[2, 15, 0xAC, 0x02]);
/// let packet = ShortPacket::read(&bytes, 1 << ids::ISR_ENTER).unwrap();
/// assert_eq!((packet.id, packet.first(), packet.delta), (ids::ISR_ENTER, Some(15), 300));
/// assert_eq!(packet.length, 4);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortPacket {
    /// The id of the event.
    pub id: u32,
    numbers: [u32; 2],
    count: u8,
    /// Ticks since the previous packet.
    pub delta: u32,
    /// Length of the packet in bytes.
    pub length: usize,
}

impl ShortPacket {
    /// Number of bytes that [`ShortPacket::read`] needs. These bytes can extend beyond the end of
    /// the packet.
    pub const WINDOW: usize = 1 + 2 * number::MAX_BYTES + 8;

    /// Reads the packet at the start of `bytes`, from a stream whose ids contain no cores. Returns
    /// `None` if `ids` has no bit for the event, if packets of the event contain a length, a text
    /// or more than two numbers, or if the bytes are not a packet.
    #[inline]
    pub fn read(bytes: &[u8; Self::WINDOW], ids: u32) -> Option<Self> {
        let id = u32::from(bytes[0]);
        let shape = SHAPES.get(id as usize).filter(|shape| !shape.text && shape.numbers <= 2)?;
        if ids >> id & 1 == 0 {
            return None;
        }
        let mut at = 1;
        let mut number = || {
            // A number has at most 5 bytes, so these 8 bytes contain it completely.
            let word = bytes.get(at..at + 8)?.first_chunk()?;
            let (number, length) = number::of_word(u64::from_le_bytes(*word)).ok()?;
            at += length;
            Some(number)
        };
        let first = if shape.numbers > 0 { number()? } else { 0 };
        let second = if shape.numbers > 1 { number()? } else { 0 };
        let delta = number()?;
        Some(Self { id, numbers: [first, second], count: shape.numbers, delta, length: at })
    }

    /// Returns the first parameter, or `None` if there is none.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.count > 0).then_some(self.numbers[0])
    }

    /// Returns the second parameter, or `None` if there is none.
    #[inline]
    pub fn second(&self) -> Option<u32> {
        (self.count > 1).then_some(self.numbers[1])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Form, Packet};
    use super::*;

    #[test]
    fn short_packets_are_those_that_the_general_way_reads() {
        // Pseudo-random packets with many numbers of every length, including numbers that are too
        // long.
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as u8
        };
        let mut read = 0;
        for _ in 0..100_000 {
            let mut bytes = [0; ShortPacket::WINDOW];
            bytes[0] = next() % 34;
            let mut at = 1;
            while at < bytes.len() {
                let length = usize::from(next() % 7);
                for _ in 0..length {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = next() | 0x80;
                    }
                    at += 1;
                }
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = next() & if next() % 2 == 0 { 0x0F } else { 0x7F };
                }
                at += 1;
            }
            let id = u32::from(bytes[0]);
            let shape = SHAPES.get(id as usize);
            let is_short = shape.is_some_and(|shape| !shape.text && shape.numbers <= 2);
            let expected = Packet::read(&bytes, Form::default()).ok().filter(|_| is_short);
            let found = ShortPacket::read(&bytes, u32::MAX);
            assert_eq!(found.is_some(), expected.is_some(), "{bytes:X?}");
            let (Some(found), Some(expected)) = (found, expected) else { continue };
            let mut parameters = expected.parameters(Default::default());
            let numbers = (parameters.number(), parameters.number());
            assert_eq!((found.first(), found.second()), numbers, "{bytes:X?}");
            let parts = (found.id, found.delta, found.length);
            assert_eq!(parts, (expected.id, expected.delta, expected.length), "{bytes:X?}");
            assert_eq!(ShortPacket::read(&bytes, !(1 << id)), None);
            read += 1;
        }
        assert!(read > 10_000, "{read}");
    }
}
