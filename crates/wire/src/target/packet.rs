//! A packet: a header of 28 bytes, followed by its payload.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 2 | the bytes `F4 9B`, which begin every packet |
//! | 2 | 1 | version: 1 |
//! | 3 | 1 | core: 0 to 31, or 255 for definitions |
//! | 4 | 4 | number of the packet among all packets of its core, from 0; wraps |
//! | 8 | 4 | number of the first event among all events of its core, from 0; refused events count, too; wraps |
//! | 12 | 8 | time of the first event, in ticks |
//! | 20 | 2 | events that the recorder refused between the previous packet and this one; at most 65,535 |
//! | 22 | 1 | session: number of restarts that the memory of the recorder survived; wraps |
//! | 23 | 1 | cores that record: 1 to 32 |
//! | 24 | 2 | bytes of the payload: at most 4,068 |
//! | 26 | 2 | checksum of bytes 0 to 23 and of the payload |
//!
//! The checksum is CRC-16/IBM-3740: polynomial 0x1021, initial value 0xFFFF, not reflected. The
//! checksum does not cover the length itself, but a wrong length makes the checksum cover the wrong
//! bytes. A recorder can therefore continue the checksum with each event, and store the length and
//! the checksum together as one word of 32 bits. So the packet in RAM is valid after each event,
//! even if further events follow.

use super::{DEFINITIONS, MAX_CORES, VERSION, u16_at, u32_at};

/// The bytes that begin every packet.
pub const SYNC: [u8; 2] = [0xF4, 0x9B];

/// Length of the header in bytes.
pub const HEADER: usize = 28;

/// Maximum length of a packet in bytes, with its header.
pub const MAX_PACKET: usize = 4096;

/// Number of header bytes that the checksum covers.
pub const CHECKED: usize = 24;

/// The header of a packet.
///
/// ```
/// use tracewell_wire::target::packet::{CHECKED, HEADER, Header, Lookup, crc16};
///
/// let header = Header { core: 1, number: 7, first: 300, time: 1 << 40, refused: 2, session: 0, cores: 2 };
/// let payload = [0x01, 0x05];
/// let mut bytes = header.to_bytes();
/// let sum = crc16(crc16(u16::MAX, &bytes[..CHECKED]), &payload);
/// bytes[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
/// bytes[26..28].copy_from_slice(&sum.to_le_bytes());
/// let packet = [&bytes[..], &payload].concat();
/// let Lookup::Packet(found) = Lookup::at(&packet) else { panic!() };
/// assert_eq!((found.header, found.payload), (header, &payload[..]));
/// assert_eq!(Lookup::at(&packet[..HEADER]), Lookup::Incomplete(HEADER + 2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// The core, or 255 for definitions.
    pub core: u8,
    /// Number of the packet among all packets of its core.
    pub number: u32,
    /// Number of the packet's first event, counted over all events of its core.
    pub first: u32,
    /// Time of the first event in ticks.
    pub time: u64,
    /// Number of events that the recorder refused between the previous packet and this one; 65,535
    /// means 65,535 or more.
    pub refused: u16,
    /// Number of restarts that the memory of the recorder survived.
    pub session: u8,
    /// Number of cores that record.
    pub cores: u8,
}

impl Header {
    /// Returns the bytes of the header. The fields for the length and the checksum contain 0.
    pub fn to_bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let mut rest = bytes.as_mut_slice();
        let mut put = |part: &[u8]| {
            let (to, after) = core::mem::take(&mut rest).split_at_mut(part.len());
            to.copy_from_slice(part);
            rest = after;
        };
        put(&SYNC);
        put(&[VERSION, self.core]);
        put(&self.number.to_le_bytes());
        put(&self.first.to_le_bytes());
        put(&self.time.to_le_bytes());
        put(&self.refused.to_le_bytes());
        put(&[self.session, self.cores]);
        bytes
    }

    /// Returns the header at the start of `bytes` and the length of its payload, or `None` if the
    /// bytes are too few or are not a header.
    pub fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let &[sync0, sync1, version, core, ..] = bytes.first_chunk::<HEADER>()?;
        let [session, cores] = *bytes.get(22..)?.first_chunk()?;
        let is_core = core < cores && cores <= MAX_CORES || core == DEFINITIONS;
        let length = usize::from(u16_at(bytes, 24)?);
        if [sync0, sync1] != SYNC || version != VERSION || !is_core || length > MAX_PACKET - HEADER
        {
            return None;
        }
        let header = Self {
            core,
            number: u32_at(bytes, 4)?,
            first: u32_at(bytes, 8)?,
            time: u64::from(u32_at(bytes, 12)?) | u64::from(u32_at(bytes, 16)?) << 32,
            refused: u16_at(bytes, 20)?,
            session,
            cores,
        };
        Some((header, length))
    }
}

/// A packet with a valid checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// The header, from which the payload can be decoded without other packets.
    pub header: Header,
    /// The events or definitions.
    pub payload: &'a [u8],
}

impl Packet<'_> {
    /// Returns the length of the packet in bytes, with its header.
    pub const fn len(&self) -> usize {
        HEADER + self.payload.len()
    }

    /// Returns true if the payload is empty.
    pub const fn is_empty(&self) -> bool {
        self.payload.is_empty()
    }
}

/// The result of a search for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookup<'a> {
    /// A packet with a valid checksum.
    Packet(Packet<'a>),
    /// The bytes can be the start of a packet. The reader needs at least this many bytes to decide.
    Incomplete(usize),
    /// Not a packet, or a damaged packet.
    No,
}

impl<'a> Lookup<'a> {
    /// Looks for a packet at the start of `bytes`.
    pub fn at(bytes: &'a [u8]) -> Self {
        Self::with_sum(bytes, crc16)
    }

    /// Looks for a packet at the start of `bytes`, with another implementation of the checksum.
    /// `payload_sum(sum, payload)` continues a checksum over the payload, as [`crc16`] does. The
    /// search calls `payload_sum` only if a header and a whole payload are present.
    pub fn with_sum(bytes: &'a [u8], payload_sum: impl FnOnce(u16, &'a [u8]) -> u16) -> Self {
        // If fewer bytes than a sync have arrived, they can still be the start of one.
        let start = bytes.get(..SYNC.len()).unwrap_or(bytes);
        if !SYNC.starts_with(start) {
            return Self::No;
        }
        if bytes.len() < HEADER {
            return Self::Incomplete(HEADER);
        }
        let Some((header, length)) = Header::read(bytes) else { return Self::No };
        let Some(payload) = bytes.get(HEADER..HEADER + length) else {
            return Self::Incomplete(HEADER + length);
        };
        let checked = bytes.get(..CHECKED).unwrap_or_default();
        if u16_at(bytes, 26) != Some(payload_sum(crc16(u16::MAX, checked), payload)) {
            return Self::No;
        }
        Self::Packet(Packet { header, payload })
    }
}

/// Continues a CRC-16/IBM-3740 over `bytes`. `sum` is 0xFFFF at the start.
///
/// ```
/// // The check value of the catalogue of checksums.
/// assert_eq!(tracewell_wire::target::crc16(u16::MAX, b"123456789"), 0x29B1);
/// ```
pub fn crc16(sum: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(sum, |sum, byte| {
        // The polynomial has few terms, so shifts compute the effect of a byte without a table.
        let mut x = sum >> 8 ^ u16::from(*byte);
        x ^= x >> 4;
        sum << 8 ^ x << 12 ^ x << 5 ^ x
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(header: Header, payload: &[u8], out: &mut [u8; 64]) -> usize {
        let mut bytes = header.to_bytes();
        let sum = crc16(crc16(u16::MAX, &bytes[..CHECKED]), payload);
        bytes[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
        bytes[26..28].copy_from_slice(&sum.to_le_bytes());
        out[..HEADER].copy_from_slice(&bytes);
        out[HEADER..HEADER + payload.len()].copy_from_slice(payload);
        HEADER + payload.len()
    }

    #[test]
    fn no_changed_byte_and_no_truncation_is_a_packet() {
        let header = Header {
            core: 3,
            number: 9,
            first: 77,
            time: 5 << 33,
            refused: 1,
            session: 2,
            cores: 4,
        };
        let mut bytes = [0; 64];
        let length = packet(header, b"payload of a packet", &mut bytes);
        assert!(matches!(Lookup::at(&bytes[..length]), Lookup::Packet(p) if p.header == header));
        for at in 0..length {
            for bit in 0..8 {
                bytes[at] ^= 1 << bit;
                assert!(!matches!(Lookup::at(&bytes[..length]), Lookup::Packet(_)), "byte {at}");
                bytes[at] ^= 1 << bit;
            }
        }
        for cut in 0..length {
            assert!(matches!(Lookup::at(&bytes[..cut]), Lookup::Incomplete(more) if more > cut));
        }
    }
}
