//! Finds rings in a dump of a target's memory, and reads their definitions and packets.

use memchr::memchr_iter;
use tracewell_wire::target::definition::ENTRY;
use tracewell_wire::target::ring::{CONTROL, MAGIC};
use tracewell_wire::target::{Control, Definition, Lookup, Packet};

/// A ring in a dump.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring<'a> {
    pub(super) control: Control,
    /// Offset of the control block in the dump.
    pub(super) at: usize,
    /// The bytes of the ring. If the dump ends within the ring, there are fewer bytes than the
    /// control block says.
    pub(super) bytes: &'a [u8],
}

impl<'a> Ring<'a> {
    /// Returns the first ring of a dump.
    pub(super) fn find(dump: &'a [u8]) -> Option<Self> {
        memchr_iter(MAGIC[0], dump).find_map(|at| Self::at(dump, at))
    }

    /// Returns the ring that begins at an offset.
    fn at(dump: &'a [u8], at: usize) -> Option<Self> {
        let rest = dump.get(at..)?;
        let control = Control::read(rest)?;
        Some(Self { control, at, bytes: rest.get(..control.len()).unwrap_or(rest) })
    }

    /// Returns the definitions, without unused entries.
    pub(super) fn definitions(&self) -> impl Iterator<Item = Definition> {
        let end = self.control.slots_at(0).min(self.bytes.len());
        let table = self.bytes.get(CONTROL..end).unwrap_or_default();
        table.chunks_exact(ENTRY).filter_map(Definition::read)
    }

    /// Returns the valid packets with their offsets in the ring, sorted by session, then by core,
    /// then by age. Also returns the number of used slots without a valid packet. A slot that
    /// contains only zeros counts as unused.
    pub(super) fn packets(&self) -> (Vec<(usize, Packet<'a>)>, u64) {
        let slots = self.bytes.get(self.control.slots_at(0)..).unwrap_or_default();
        let (mut packets, mut others) = (Vec::new(), 0);
        for (index, slot) in slots.chunks(usize::from(self.control.slot)).enumerate() {
            let core = index / usize::from(self.control.slots);
            let at = self.control.slots_at(0) + index * usize::from(self.control.slot);
            match Lookup::at(slot) {
                Lookup::Packet(packet) if usize::from(packet.header.core) == core => {
                    packets.push((at, packet));
                }
                _ => others += u64::from(slot.iter().any(|byte| *byte != 0)),
            }
        }
        // In memory, the oldest packet of a core follows the newest one. Numbers wrap.
        for core in 0..self.control.cores {
            let numbers = packets.iter().filter(|(_, packet)| packet.header.core == core);
            let numbers: Vec<_> = numbers.map(|(_, packet)| packet.header.number).collect();
            let Some(some) = numbers.first().copied() else { continue };
            let newest = numbers.iter().map(|number| number.wrapping_sub(some).cast_signed()).max();
            let newest = some.wrapping_add_signed(newest.unwrap_or(0));
            packets.sort_by_key(|(_, packet)| {
                let Packet { header, .. } = packet;
                let age = if header.core == core { newest.wrapping_sub(header.number) } else { 0 };
                (header.core, std::cmp::Reverse(age))
            });
        }
        // The earlier runs of all cores precede the later ones.
        let session = self.control.session;
        packets.sort_by_key(|(_, packet)| {
            std::cmp::Reverse(session.wrapping_sub(packet.header.session))
        });
        (packets, others)
    }
}
