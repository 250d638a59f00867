//! Packs records into bytes and unpacks them, with or without the feature `lz4`.

#[cfg(feature = "lz4")]
pub(super) use lz4::{Unpacked, pack, unpack};
#[cfg(not(feature = "lz4"))]
pub(super) use plain::{Unpacked, pack, unpack};

#[cfg(not(feature = "lz4"))]
mod plain {
    use tracewell_wire::shark::{Packer, Record, Unpacker};

    /// Passes the packed bytes of each record to `put`.
    pub(crate) fn pack(records: impl Iterator<Item = Record>, mut put: impl FnMut(&[u8])) {
        let mut packer = Packer::default();
        records.for_each(|record| put(packer.pack(&record).bytes()));
    }

    /// Iterator over the records in packed bytes.
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

    /// Passes blocks of compressed records to `put`: for each block the header, followed by the
    /// content.
    pub(crate) fn pack(records: impl Iterator<Item = Record>, mut put: impl FnMut(&[u8])) {
        let mut block = Block::new();
        for record in records {
            if !block.add(&record) {
                block.finish(&mut put);
                // An empty block has room for any record.
                block.add(&record);
            }
        }
        block.finish(&mut put);
    }

    /// A block that is being filled.
    struct Block {
        packer: Packer,
        bytes: [u8; PackedBlock::MAX_LEN],
        used: usize,
    }

    impl Block {
        fn new() -> Self {
            Self { packer: Packer::default(), bytes: [0; PackedBlock::MAX_LEN], used: 0 }
        }

        /// Adds a record. Returns false if the block is full.
        fn add(&mut self, record: &Record) -> bool {
            // The packer stores differences, so it must not advance if the record does not fit.
            let mut packer = self.packer;
            let packed = packer.pack(record);
            let end = self.used + packed.bytes().len();
            let Some(target) = self.bytes.get_mut(self.used..end) else { return false };
            target.copy_from_slice(packed.bytes());
            (self.packer, self.used) = (packer, end);
            true
        }

        /// Compresses the block, passes it to `put`, and empties it.
        fn finish(&mut self, put: &mut impl FnMut(&[u8])) {
            let mut output = [0; get_maximum_output_size(PackedBlock::MAX_LEN)];
            let packed = self.bytes.get(..self.used).unwrap_or_default();
            let compressed = compress_into(packed, &mut output).ok();
            let compressed = compressed.and_then(|length| output.get(..length));
            // If LZ4 saves nothing, store the packed records uncompressed.
            let shorter = compressed.filter(|bytes| bytes.len() < packed.len());
            // `new` returns `None` for a block without records.
            if let Some(block) = PackedBlock::new(packed.len(), shorter.unwrap_or(packed)) {
                put(&block.head());
                put(block.stored());
            }
            (self.packer, self.used) = (Packer::default(), 0);
        }
    }

    /// Iterator over the records in packed bytes. This recorder wrote the bytes, so they are
    /// undamaged.
    pub(crate) type Unpacked<'a> = Flatten<AreaRecords<'a>>;

    pub(crate) fn unpack(area: &[u8]) -> Unpacked<'_> {
        let expand = |stored: &[u8], output: &mut [u8]| decompress_into(stored, output).ok();
        AreaRecords::new(area, Some(expand)).flatten()
    }
}
