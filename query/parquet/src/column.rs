//! Encodes one column of a row group: its pages, its dictionary, and the statistics of both.

use std::io;
use std::sync::Arc;

use arrow_array::Array;
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::basic::{BoundaryOrder, Compression, Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

use crate::bits::width_of;
use crate::bounds::{Bounds, only_nulls};
use crate::number::{self, Numbers, Shape};
use crate::words::{Words, is_word};
use crate::{delta, hybrid};

/// The rows of a column that a row group contains so far.
pub(crate) struct Column {
    descriptor: ColumnDescPtr,
    values: Values,
    /// One bit for each row of the current page: true if the row has a value.
    valid: BooleanBufferBuilder,
    /// Number of values of the current page.
    count: usize,
    pages: Vec<DataPage>,
}

/// A page that is complete.
struct DataPage {
    page: CompressedPage,
    rows: usize,
    nulls: usize,
    bounds: Option<Bounds>,
}

enum Values {
    Numbers(NumberColumn),
    Words { words: Words, indices: Vec<u32> },
}

struct NumberColumn {
    shape: Shape,
    /// The values of the current page.
    page: Vec<u64>,
    dictionary: Numbers,
    /// True if the pages from the current one on contain differences.
    is_delta: bool,
}

impl Column {
    /// Returns an encoder of a column with this type. Returns `None` if only the library can encode
    /// it. The values of a growing column are encoded as differences.
    pub(crate) fn new(
        descriptor: ColumnDescPtr,
        data_type: &DataType,
        is_growing: bool,
    ) -> Option<Self> {
        // Each row of our columns has a level, which is 0 or 1.
        if descriptor.max_def_level() != 1 || descriptor.max_rep_level() != 0 {
            return None;
        }
        let values = match data_type {
            _ if is_word(data_type) => {
                Values::Words { words: Words::default(), indices: Vec::new() }
            }
            _ => Values::Numbers(NumberColumn {
                shape: Shape::of(data_type)?,
                page: Vec::new(),
                dictionary: Numbers::new(),
                is_delta: is_growing,
            }),
        };
        let (valid, pages) = (BooleanBufferBuilder::new(0), Vec::new());
        Some(Self { descriptor, values, valid, count: 0, pages })
    }

    /// Appends the values of a batch.
    ///
    /// # Errors
    /// Returns an error if the column has another type.
    pub(crate) fn append(&mut self, array: &dyn Array) -> Result<()> {
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        match &nulls {
            Some(nulls) => self.valid.append_buffer(nulls.inner()),
            None => self.valid.append_n(array.len(), true),
        }
        let count = array.len() - nulls.as_ref().map_or(0, NullBuffer::null_count);
        self.count += count;
        if count == 0 {
            return Ok(());
        }
        match &mut self.values {
            Values::Numbers(numbers) => number::append(array, nulls.as_ref(), &mut numbers.page),
            Values::Words { words, indices } => words
                .append(array, nulls.as_ref(), indices)
                .ok_or_else(|| ParquetError::General("expected a dictionary of texts".into()))?,
        }
        Ok(())
    }

    /// Ends the current page, which has at least one row. Uses `out` for the page before its
    /// compression.
    ///
    /// # Errors
    /// Returns an error if the page cannot be compressed.
    pub(crate) fn end_page(
        &mut self,
        out: &mut Vec<u8>,
        compressor: &mut Compressor<'_>,
    ) -> Result<()> {
        let (rows, count) = (self.valid.len(), std::mem::take(&mut self.count));
        // The length of the levels precedes them.
        out.clear();
        out.extend([0; 4]);
        match count {
            _ if count == rows => hybrid::put_run(1, rows, 1, out),
            0 => hybrid::put_run(0, rows, 1, out),
            _ => hybrid::put_levels(self.valid.as_slice(), rows, out),
        }
        let levels = out.len() as u32 - 4;
        out[..4].copy_from_slice(&levels.to_le_bytes());
        self.valid.truncate(0);
        let (encoding, bounds) = match &mut self.values {
            Values::Numbers(numbers) => numbers.end_page(out),
            Values::Words { words, indices } => {
                put_indices(indices, words.len(), out);
                indices.clear();
                (Encoding::RLE_DICTIONARY, words.end_page())
            }
        };
        let page = Page::DataPage {
            buf: compressed(out, compressor)?,
            num_values: rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let page = CompressedPage::new(page, out.len());
        self.pages.push(DataPage { page, rows, nulls: rows - count, bounds });
        Ok(())
    }

    /// Returns the number of bytes of the dictionary.
    pub(crate) fn dictionary_bytes(&self) -> usize {
        match &self.values {
            Values::Numbers(numbers) => 8 * numbers.dictionary.list.len(),
            Values::Words { words, .. } => words.bytes,
        }
    }

    /// Returns the bytes of the column, and their description.
    ///
    /// # Errors
    /// Returns an error if the dictionary cannot be compressed.
    pub(crate) fn finish(
        self,
        compressor: &mut Compressor<'_>,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let mut plain = Vec::new();
        let (shape, words) = match &self.values {
            Values::Numbers(NumberColumn { shape, dictionary, .. }) => {
                dictionary.list.iter().for_each(|number| shape.put(*number, &mut plain));
                (*shape, dictionary.list.len())
            }
            Values::Words { words, .. } => {
                words.put(&mut plain);
                (Shape::default(), words.len())
            }
        };
        let mut out = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut out);
        let (mut written, mut stats) = (Written::default(), Vec::new());
        // A page without values can refer to a dictionary without words.
        let is_index = |page: &DataPage| page.page.encoding() == Encoding::RLE_DICTIONARY;
        let has_dictionary = self.pages.iter().any(is_index);
        if has_dictionary {
            let page = Page::DictionaryPage {
                buf: compressed(&plain, compressor)?,
                num_values: words as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            written.add(&mut writer, CompressedPage::new(page, plain.len()))?;
            stats.push((PageType::DICTIONARY_PAGE, Encoding::PLAIN));
        }
        let start = written.compressed;
        let mut index = ColumnIndexBuilder::new(self.descriptor.physical_type());
        index.set_boundary_order(order(&self.pages));
        let mut offsets = OffsetIndexBuilder::new();
        let (mut rows, mut nulls, mut bounds) = (0, 0, None);
        for DataPage { page, rows: of_page, nulls: of_nulls, bounds: of_bounds } in self.pages {
            stats.push((PageType::DATA_PAGE, page.encoding()));
            let (offset, size) = written.add(&mut writer, page)?;
            offsets.append_row_count(of_page as i64);
            offsets.append_offset_and_size(offset, size);
            rows += of_page;
            nulls += of_nulls;
            match of_bounds.as_ref().map(|bounds| bounds.bytes(shape)) {
                None => index.append(true, Vec::new(), Vec::new(), of_nulls as i64),
                Some(Some((min, max))) => index.append(false, min, max, of_nulls as i64),
                Some(None) => index.to_invalid(),
            }
            bounds = match (bounds, of_bounds) {
                (Some(all), Some(of_page)) => Some(Bounds::join(all, &of_page)),
                (all, of_page) => all.or(of_page),
            };
        }
        let nulls = nulls as u64;
        let only_nulls = || only_nulls(self.descriptor.physical_type(), nulls);
        let statistics = bounds.map_or_else(only_nulls, |bounds| bounds.statistics(shape, nulls));
        let encodings = stats.iter().map(|(_, encoding)| *encoding).chain([Encoding::RLE]);
        let metadata = ColumnChunkMetaData::builder(Arc::clone(&self.descriptor))
            .set_compression(Compression::ZSTD(Default::default()))
            .set_encodings(encodings.collect())
            .set_page_encoding_stats(counted(stats))
            .set_total_compressed_size(written.compressed)
            .set_total_uncompressed_size(written.uncompressed)
            .set_num_values(rows as i64)
            .set_data_page_offset(start)
            .set_dictionary_page_offset(has_dictionary.then_some(0))
            .set_statistics(statistics)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: written.compressed as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: index.valid().then(|| index.build()).transpose()?,
            offset_index: Some(offsets.build()),
        };
        Ok((out.into_inner()?.into(), close))
    }
}

/// The sizes of the pages that were written.
#[derive(Default)]
struct Written {
    compressed: i64,
    uncompressed: i64,
}

impl Written {
    /// Writes a page. Returns its offset and its size.
    fn add(&mut self, writer: &mut dyn PageWriter, page: CompressedPage) -> Result<(i64, i32)> {
        let written = writer.write_page(page)?;
        self.compressed += written.compressed_size as i64;
        self.uncompressed += written.uncompressed_size as i64;
        Ok((written.offset as i64, written.compressed_size as i32))
    }
}

impl NumberColumn {
    /// Ends a page: appends its values, and returns their encoding and their bounds.
    fn end_page(&mut self, out: &mut Vec<u8>) -> (Encoding, Option<Bounds>) {
        let Self { shape, page, dictionary, .. } = self;
        let keys = page.iter().map(|number| shape.ordered(*number));
        let (min, max) = keys.fold((u64::MAX, 0), |(min, max), key| (min.min(key), max.max(key)));
        let bounds = (!page.is_empty()).then_some(Bounds::Numbers(min, max));
        if !self.is_delta {
            let before = dictionary.list.len();
            let mut indices = Vec::new();
            match min == max {
                true => indices.resize(page.len(), dictionary.index(page[0])),
                false => indices.extend(page.iter().map(|number| dictionary.index(*number))),
            }
            let new = dictionary.list.len() - before;
            // A dictionary is of use only if numbers occur again.
            if new < MIN_NEW || new < page.len() / 4 {
                put_indices(&indices, dictionary.list.len(), out);
                page.clear();
                return (Encoding::RLE_DICTIONARY, bounds);
            }
            dictionary.truncate(before);
            self.is_delta = true;
        }
        delta::put_numbers(page, *shape, out);
        page.clear();
        (Encoding::DELTA_BINARY_PACKED, bounds)
    }
}

/// Minimum number of new numbers in a page that can end the use of the dictionary.
const MIN_NEW: usize = 256;

/// Appends the indices of a page in a dictionary with `count` values.
fn put_indices(indices: &[u32], count: usize, out: &mut Vec<u8>) {
    let width = width_of(count.saturating_sub(1) as u64);
    out.push(width as u8);
    hybrid::put_indices(indices, width, out);
}

fn compressed(bytes: &[u8], compressor: &mut Compressor<'_>) -> Result<Bytes> {
    let failed = |error: io::Error| ParquetError::External(error.into());
    // Without the unused space at the end of the buffer.
    Ok(compressor.compress(bytes).map_err(failed)?.into_boxed_slice().into())
}

/// Returns the order of the bounds of all pages that have bounds.
fn order(pages: &[DataPage]) -> BoundaryOrder {
    let bounds: Vec<_> = pages.iter().filter_map(|page| page.bounds.as_ref()).collect();
    if bounds.is_sorted_by(|one, next| one.is_before(next)) {
        BoundaryOrder::ASCENDING
    } else if bounds.is_sorted_by(|one, next| next.is_before(one)) {
        BoundaryOrder::DESCENDING
    } else {
        BoundaryOrder::UNORDERED
    }
}

/// Returns the number of pages of each type and encoding.
fn counted(mut pages: Vec<(PageType, Encoding)>) -> Vec<PageEncodingStats> {
    pages.sort_unstable();
    let same = pages.chunk_by(|one, other| one == other);
    same.map(|pages| PageEncodingStats {
        page_type: pages[0].0,
        encoding: pages[0].1,
        count: pages.len() as i32,
    })
    .collect()
}
