//! Records into packed bytes and back, with or without the feature `lz4`.

#[cfg(feature = "lz4")]
pub(super) use lz4::{Unpacked, pack, unpack};
#[cfg(not(feature = "lz4"))]
pub(super) use plain::{Unpacked, pack, unpack};

#[cfg(not(feature = "lz4"))]
mod plain {
    use tracewell_wire::shark::{Packer, Record, Unpacker};

    /// Gives the packed bytes of records to `put`, piece by piece.
    pub(crate) fn pack(records: impl Iterator<Item = Record>, mut put: impl FnMut(&[u8])) {
        let mut packer = Packer::default();
        records.for_each(|record| put(packer.pack(&record).bytes()));
    }

    /// The records of packed bytes.
    pub(crate) type Unpacked<'a> = Unpacker<'a>;

    pub(crate) fn unpack(area: &[u8]) -> Unpacked<'_> {
        Unpacker::new(area)
    }
}

#[cfg(feature = "lz4")]
mod lz4 {
    use core::iter::Flatten;

    use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
    use tracewell_wire::shark::{AreaRecords, PackedBlock, Packer, Record};

    /// Gives the blocks of records to `put`, piece by piece.
    pub(crate) fn pack(records: impl Iterator<Item = Record>, mut put: impl FnMut(&[u8])) {
        let mut block = Block::new();
        for record in records {
            if !block.take(&record) {
                block.finish(&mut put);
                block.take(&record);
            }
        }
        block.finish(&mut put);
    }

    /// A block that is being filled.
    struct Block {
        packer: Packer,
        bytes: [u8; PackedBlock::MOST],
        used: usize,
    }

    impl Block {
        fn new() -> Self {
            Self { packer: Packer::default(), bytes: [0; PackedBlock::MOST], used: 0 }
        }

        /// Takes a record, if it has room.
        fn take(&mut self, record: &Record) -> bool {
            let mut packer = self.packer;
            let packed = packer.pack(record);
            let end = self.used + packed.bytes().len();
            let Some(place) = self.bytes.get_mut(self.used..end) else { return false };
            place.copy_from_slice(packed.bytes());
            (self.packer, self.used) = (packer, end);
            true
        }

        /// Gives the block away and is empty again.
        fn finish(&mut self, put: &mut impl FnMut(&[u8])) {
            let mut place = [0; get_maximum_output_size(PackedBlock::MOST)];
            let packed = self.bytes.get(..self.used).unwrap_or_default();
            let compressed = compress_into(packed, &mut place).ok();
            let compressed = compressed.and_then(|length| place.get(..length));
            let shorter = compressed.filter(|bytes| bytes.len() < packed.len());
            // None for a block without records.
            if let Some(block) = PackedBlock::new(packed.len(), shorter.unwrap_or(packed)) {
                put(&block.head());
                put(block.stored());
            }
            (self.packer, self.used) = (Packer::default(), 0);
        }
    }

    /// The records of packed bytes; those of a recorder are never damaged.
    pub(crate) type Unpacked<'a> = Flatten<AreaRecords<'a>>;

    pub(crate) fn unpack(area: &[u8]) -> Unpacked<'_> {
        let expand = |stored: &[u8], place: &mut [u8]| decompress_into(stored, place).ok();
        AreaRecords::new(area, Some(expand)).flatten()
    }
}
