//! The packets of one core: the open packet, which receives events, and the closed packets before
//! it.

use tracewell_wire::target::packet::{CHECKED, HEADER};
use tracewell_wire::target::{Header, crc16};

/// Maximum length in bytes of an event without a block: id, ticks, two arguments of 64 bits.
pub(super) const MAX_EVENT: usize = 1 + 3 * tracewell_wire::number::MAX_NUMBER;

/// The state of a core's packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lane {
    /// Number of the open packet, or of the next packet if none is open.
    pub(super) number: u32,
    /// Number of the next event.
    events: u32,
    /// Time of the last event in ticks.
    pub(super) time: u64,
    /// Value of the counter at the last event.
    pub(super) last: u32,
    /// Number of the next packet to read.
    pub(super) read: u32,
    /// Length of the open packet's payload in bytes; `None` if no packet is open.
    length: Option<u16>,
    sum: u16,
    refused: u16,
}

impl Lane {
    /// Returns a lane whose next packet has this number.
    pub(super) fn after(number: u32) -> Self {
        Self { number, read: number, ..Self::default() }
    }

    /// Returns true if a packet is open and an event of this length fits into it.
    pub(super) fn has_room(&self, slot: usize, length: usize) -> bool {
        self.length.is_some_and(|used| HEADER + usize::from(used) + length <= slot)
    }

    /// Closes the open packet.
    pub(super) fn close(&mut self) {
        if self.length.take().is_some() {
            self.number = self.number.wrapping_add(1);
        }
    }

    /// Counts a refused event.
    pub(super) fn refuse(&mut self) {
        self.close();
        self.events = self.events.wrapping_add(1);
        self.refused = self.refused.saturating_add(1);
    }

    /// Begins a packet in the slot that belongs to its number.
    pub(super) fn open(&mut self, core: u8, cores: u8, session: u8, slots: &mut [u8], slot: usize) {
        self.close();
        let header = Header {
            core,
            number: self.number,
            first: self.events,
            time: self.time,
            refused: self.refused,
            session,
            cores,
        };
        let bytes = header.to_bytes();
        self.sum = crc16(u16::MAX, &bytes[..CHECKED]);
        self.length = Some(0);
        self.refused = 0;
        let count = (slots.len() / slot) as u32;
        // The reader loses the old packet in this slot, because the new packet overwrites it.
        if self.number.wrapping_sub(self.read) >= count {
            self.read = self.number.wrapping_sub(count - 1);
        }
        if let Some(to) = packet(slots, slot, self.number) {
            to[..HEADER].copy_from_slice(&bytes);
            self.seal(to);
        }
    }

    /// Appends an event to the open packet. The caller has checked that it fits.
    pub(super) fn append(&mut self, event: &[u8], slots: &mut [u8], slot: usize) {
        let Some(length) = self.length else { return };
        let at = HEADER + usize::from(length);
        let Some(to) = packet(slots, slot, self.number) else { return };
        let Some(place) = to.get_mut(at..at + event.len()) else { return };
        place.copy_from_slice(event);
        self.sum = crc16(self.sum, event);
        self.length = Some(length + event.len() as u16);
        self.events = self.events.wrapping_add(1);
        self.seal(to);
    }

    /// Stores the length and the checksum, which make the packet valid.
    fn seal(&self, packet: &mut [u8]) {
        packet[24..26].copy_from_slice(&self.length.unwrap_or(0).to_le_bytes());
        packet[26..28].copy_from_slice(&self.sum.to_le_bytes());
    }
}

/// Returns the slot of a packet.
pub(super) fn packet(slots: &mut [u8], slot: usize, number: u32) -> Option<&mut [u8]> {
    let index = number as usize % (slots.len() / slot);
    slots.get_mut(index * slot..(index + 1) * slot)
}
