//! The ring in RAM: a control block, the table of definitions, and the slots of all cores.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | `TWTARGET`; the C recorder stores it last, when the rest is valid |
//! | 8 | 1 | version: 1 |
//! | 9 | 1 | number of cores: 1 to 32 |
//! | 10 | 2 | size of a slot in bytes: a multiple of 4, 64 to 4,096 |
//! | 12 | 2 | number of slots of each core: at least 2 |
//! | 14 | 2 | number of entries in the table of definitions |
//! | 16 | 1 | session |
//! | 17 | 1 | 0 |
//! | 18 | 2 | CRC-16/IBM-3740 of bytes 0 to 17 |
//! | 20 | 4 | definitions that were dropped because the table was full |
//! | 24 | 8 | 0 |
//! | 32 | 32 each | the table of definitions |
//! | | | the slots of core 0, then those of core 1, … |
//!
//! A slot contains one packet, which begins at the first byte of the slot. The bytes after the
//! packet have no meaning. Packet n of a core is in slot n modulo the number of slots. The recorder
//! may still append events to the last packet of a core. A slot without a packet contains zeros.

use super::definition::ENTRY;
use super::packet::MAX_PACKET;
use super::{MAX_CORES, VERSION, crc16, u16_at, u32_at};

/// The first bytes of a control block.
pub const MAGIC: [u8; 8] = *b"TWTARGET";

/// Length of the control block in bytes.
pub const CONTROL: usize = 32;

/// Smallest slot in bytes.
pub const MIN_SLOT: usize = 64;

/// Number of bytes that the checksum covers.
const CHECKED: usize = 18;

/// The control block of a ring.
///
/// ```
/// use tracewell_wire::target::Control;
///
/// let control = Control { cores: 1, slot: 256, slots: 16, entries: 8, session: 0, dropped: 0 };
/// assert_eq!(Control::read(&control.to_bytes()), Some(control));
/// assert_eq!(control.len(), 32 + 8 * 32 + 16 * 256);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    /// Number of cores, 1 to 32.
    pub cores: u8,
    /// Size of a slot in bytes: a multiple of 4 from 64 to 4096.
    pub slot: u16,
    /// Number of slots of each core, at least 2.
    pub slots: u16,
    /// Number of entries in the table of definitions.
    pub entries: u16,
    /// Number of restarts that the memory survived.
    pub session: u8,
    /// Number of definitions for which the table had no room.
    pub dropped: u32,
}

impl Control {
    /// Returns true if the numbers are within their limits.
    pub fn is_valid(&self) -> bool {
        let slot = usize::from(self.slot);
        (1..=MAX_CORES).contains(&self.cores)
            && (MIN_SLOT..=MAX_PACKET).contains(&slot)
            && slot.is_multiple_of(4)
            && self.slots >= 2
    }

    /// Returns the bytes of the control block.
    pub fn to_bytes(&self) -> [u8; CONTROL] {
        let mut bytes = [0; CONTROL];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&[VERSION, self.cores]);
        bytes[10..12].copy_from_slice(&self.slot.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.slots.to_le_bytes());
        bytes[14..16].copy_from_slice(&self.entries.to_le_bytes());
        bytes[16] = self.session;
        // The recorder changes `dropped` while it runs, so the checksum does not cover it.
        let sum = crc16(u16::MAX, &bytes[..CHECKED]);
        bytes[18..20].copy_from_slice(&sum.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.dropped.to_le_bytes());
        bytes
    }

    /// Returns the control block at the start of `bytes`, or `None` if there is none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let checked = bytes.get(..CHECKED)?;
        let [version, cores] = *bytes.get(8..)?.first_chunk()?;
        let is_one = checked.starts_with(&MAGIC)
            && version == VERSION
            && u16_at(bytes, 18)? == crc16(u16::MAX, checked);
        let control = Self {
            cores,
            slot: u16_at(bytes, 10)?,
            slots: u16_at(bytes, 12)?,
            entries: u16_at(bytes, 14)?,
            session: *bytes.get(16)?,
            dropped: u32_at(bytes, 20)?,
        };
        (is_one && control.is_valid()).then_some(control)
    }

    /// Returns the offset of the slots of a core.
    pub fn slots_at(&self, core: u8) -> usize {
        let each = usize::from(self.slot) * usize::from(self.slots);
        // Saturate, because the memory of a 32-bit host can be smaller than such a ring.
        (CONTROL + usize::from(self.entries) * ENTRY)
            .saturating_add(usize::from(core).saturating_mul(each))
    }

    /// Returns the length of the ring in bytes, with the control block.
    pub fn len(&self) -> usize {
        self.slots_at(self.cores)
    }

    /// Returns false: a ring contains at least its control block.
    pub const fn is_empty(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_block_is_read_only_if_all_its_fields_are_valid() {
        let control = Control { cores: 2, slot: 64, slots: 2, entries: 3, session: 4, dropped: 5 };
        let bytes = control.to_bytes();
        assert_eq!(Control::read(&bytes), Some(control));
        for damaged in 0..20 {
            let mut bytes = bytes;
            bytes[damaged] ^= 1;
            assert_eq!(Control::read(&bytes), None, "byte {damaged}");
        }
        // The checksum is right, but the first bytes, the version or the number of cores is not.
        for (at, value) in [(0, b'X'), (8, VERSION + 1), (9, 0)] {
            let mut bytes = bytes;
            bytes[at] = value;
            let sum = crc16(u16::MAX, &bytes[..CHECKED]);
            bytes[18..20].copy_from_slice(&sum.to_le_bytes());
            assert_eq!(Control::read(&bytes), None, "byte {at}");
        }
    }
}
