//! Tests that the reader of the library finds the values that this crate writes, and statistics
//! that fit them.

use std::slice;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, DictionaryArray, Float64Array,
    Int32Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow_schema::{Field, Schema, SchemaRef};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::basic::Encoding;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use tracewell_parquet::Writer;

/// Returns numbers that seem random (xorshift, G. Marsaglia).
fn random() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(0x9E37_79B9_7F4A_7C15_u64), |last| {
        let last = last ^ (last << 13);
        let last = last ^ (last >> 7);
        Some(last ^ (last << 17))
    })
}

/// Returns fewer than `most` rows. Nulls are everywhere, common, rare or absent, and the numbers
/// are arbitrary, few, or all equal.
fn rows(random: &mut impl Iterator<Item = u64>, most: u64) -> Vec<Option<u64>> {
    let mut below = |limit: u64| random.next().map_or(0, |number| (number >> 11) % limit);
    let (count, per_mille) = (below(most), [0, 20, 500, 990, 1000][below(5) as usize]);
    let (kind, equal) = (below(3), below(u64::MAX));
    let mut number = || match kind {
        0 => below(1 << 52) << below(13),
        1 => [0, 1, 2, u64::MAX, 1 << 63, i64::MAX as u64][below(6) as usize],
        _ => equal,
    };
    let numbers: Vec<_> = (0..count).map(|_| number()).collect();
    numbers.into_iter().map(|number| (below(1000) < per_mille).then_some(number)).collect()
}

fn column<A: FromIterator<Option<T>> + Array + 'static, T>(
    rows: &[Option<u64>],
    value: impl Fn(u64) -> T,
) -> ArrayRef {
    Arc::new(rows.iter().map(|row| row.map(&value)).collect::<A>())
}

/// Returns a text: empty, short or long.
fn text(number: u64) -> String {
    match number % 5 {
        0 => String::new(),
        1 => format!("{}{number}", "ä".repeat(50)),
        2 => "\u{10FFFF}".repeat(40),
        _ => format!("{number:x}"),
    }
}

fn words(rows: &[Option<u64>]) -> ArrayRef {
    let texts: Vec<_> = rows.iter().map(|row| row.map(text)).collect();
    let texts = texts.iter().map(Option::as_deref);
    Arc::new(texts.collect::<DictionaryArray<Int32Type>>())
}

/// Returns a batch with a column of each type.
fn batch(rows: &[Option<u64>], first: u64) -> RecordBatch {
    let decimal = rows.iter().map(|row| row.map(i128::from)).collect::<Decimal128Array>();
    let time = column::<TimestampNanosecondArray, _>(rows, |number| number as i64);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("seq", Arc::new((first..).take(rows.len()).map(Some).collect::<UInt64Array>())),
        ("ticks", column::<Int64Array, _>(rows, |number| number as i64)),
        ("u16", column::<UInt16Array, _>(rows, |number| number as u16)),
        ("u32", column::<UInt32Array, _>(rows, |number| number as u32)),
        ("u64", column::<UInt64Array, _>(rows, |number| number)),
        ("i64", column::<Int64Array, _>(rows, |number| number as i64)),
        ("time", time),
        ("decimal", Arc::new(decimal.with_precision_and_scale(20, 0).unwrap())),
        ("f64", column::<Float64Array, _>(rows, f64::from_bits)),
        ("bool", column::<BooleanArray, _>(rows, |number| number % 2 == 0)),
        ("word", words(rows)),
        ("text", column::<StringArray, _>(rows, text)),
        ("bytes", column::<BinaryArray, _>(rows, |number| text(number).into_bytes())),
    ];
    let field =
        |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    let columns = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(schema.into(), columns).unwrap()
}

fn written(schema: &SchemaRef, batches: &[RecordBatch]) -> Bytes {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, Arc::clone(schema)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    file.into()
}

fn reader(file: Bytes) -> ParquetRecordBatchReaderBuilder<Bytes> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).unwrap()
}

fn read(file: Bytes) -> Vec<RecordBatch> {
    reader(file).with_batch_size(1000).build().unwrap().collect::<Result<_, _>>().unwrap()
}

/// Asserts that two lists of batches contain the same rows.
fn assert_same(found: &[RecordBatch], expected: &[RecordBatch]) {
    let values = |batches: &[RecordBatch], column: usize| -> Vec<String> {
        let columns = batches.iter().map(|batch| batch.column(column));
        let values =
            columns.flat_map(|column| (0..column.len()).map(move |row| shown(column, row)));
        values.collect()
    };
    for (column, field) in expected[0].schema().fields().iter().enumerate() {
        assert!(values(found, column) == values(expected, column), "{field}");
    }
}

/// Returns a value as text; the bits of a floating-point number.
fn shown(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "null".to_owned();
    }
    let array = array.as_any();
    if let Some(words) = array.downcast_ref::<DictionaryArray<Int32Type>>() {
        return shown(words.values(), words.keys().value(row) as usize);
    }
    if let Some(numbers) = array.downcast_ref::<Float64Array>() {
        return format!("{:x}", numbers.value(row).to_bits());
    }
    macro_rules! shown_as {
        ($($type:ty),*) => { $(
            if let Some(values) = array.downcast_ref::<$type>() {
                return format!("{:?}", values.value(row));
            }
        )* };
    }
    shown_as!(
        UInt16Array,
        UInt32Array,
        UInt64Array,
        Int64Array,
        TimestampNanosecondArray,
        Decimal128Array,
        BooleanArray,
        StringArray,
        BinaryArray
    );
    panic!("no such type")
}

/// Asserts that the numbers of nulls and the bounds of a column of numbers are those of the values.
fn assert_statistics(metadata: &ParquetMetaData, batches: &[RecordBatch], group: usize) {
    let columns = metadata.row_group(group).columns();
    for (column, field) in batches[0].schema().fields().iter().enumerate() {
        let statistics = columns[column].statistics().unwrap();
        let arrays = || batches.iter().map(|batch| batch.column(column));
        let nulls: usize = arrays().map(|array| array.null_count()).sum();
        assert_eq!(statistics.null_count_opt(), Some(nulls as u64), "{field}");
        if field.name() == "u32" {
            let numbers =
                arrays().map(|array| array.as_any().downcast_ref::<UInt32Array>().unwrap());
            let numbers: Vec<u32> = numbers.flat_map(|array| array.iter().flatten()).collect();
            let bytes = |number: Option<&u32>| number.map(|number| number.to_le_bytes().to_vec());
            assert_eq!(statistics.min_bytes_opt().map(<[u8]>::to_vec), bytes(numbers.iter().min()));
            assert_eq!(statistics.max_bytes_opt().map(<[u8]>::to_vec), bytes(numbers.iter().max()));
        }
        if ["word", "text"].contains(&field.name().as_str()) {
            let bound =
                |bytes: Option<&[u8]>| bytes.map(|text| String::from_utf8(text.into()).unwrap());
            let min = bound(statistics.min_bytes_opt());
            let max = bound(statistics.max_bytes_opt());
            for found in arrays().flat_map(texts) {
                assert!(min.as_ref().is_some_and(|min| *min <= found), "{min:?} {found}");
                // Some long texts have no bound.
                assert!(max.as_ref().is_none_or(|max| *max >= found), "{max:?} {found}");
            }
        }
    }
}

/// Returns the texts of a column.
fn texts(array: &ArrayRef) -> Vec<String> {
    let any = array.as_any();
    let texts = match any.downcast_ref::<DictionaryArray<Int32Type>>() {
        Some(words) => words.downcast_dict::<StringArray>().unwrap().into_iter().collect(),
        None => any.downcast_ref::<StringArray>().unwrap().iter().collect::<Vec<_>>(),
    };
    texts.into_iter().flatten().map(str::to_owned).collect()
}

#[test]
fn values_and_statistics_are_those_of_the_rows() {
    let mut random = random();
    for case in 0..200 {
        let mut first = 0;
        let batches = (0..1 + case % 3).map(|_| {
            let rows = rows(&mut random, 700);
            first += rows.len() as u64;
            batch(&rows, first - rows.len() as u64)
        });
        let batches: Vec<_> = batches.collect();
        let file = written(&batches[0].schema(), &batches);
        let metadata = reader(file.clone()).metadata().clone();
        assert_eq!(metadata.file_metadata().num_rows(), first as i64);
        if first > 0 {
            assert_statistics(&metadata, &batches, 0);
        }
        assert_same(&read(file), &batches);
    }
}

/// Batches that fill two row groups, with many different numbers and with sparse columns.
fn large() -> Vec<RecordBatch> {
    let mut random = random();
    let mut next = |below: u64| (random.next().unwrap_or(0) >> 20) % below;
    let batches = (0..140).map(|number| {
        let count = 8192;
        let first = number * count;
        let sparse = (0..count).map(|_| (next(50) == 0).then(|| next(1 << 40)));
        let sparse: UInt64Array = sparse.collect();
        // A page of equal values, then different ones.
        let turning = (0..count).map(|_| if number < 10 { 7 } else { next(1 << 60) });
        let turning: UInt64Array = turning.map(Some).collect();
        let few: UInt32Array = (0..count).map(|_| Some(next(300 + number) as u32)).collect();
        let word = |_| Some(format!("{}", next(20 + number)));
        let words: Vec<_> = (0..count).map(word).collect();
        let words: DictionaryArray<Int32Type> = words.iter().map(Option::as_deref).collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("seq", Arc::new((first..first + count).map(Some).collect::<UInt64Array>())),
            ("sparse", Arc::new(sparse)),
            ("turning", Arc::new(turning)),
            ("u32", Arc::new(few)),
            ("word", Arc::new(words)),
            ("null", Arc::new(UInt64Array::new_null(count as usize))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)))
    });
    batches.collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_reader_of_several_row_groups_skips_pages() {
    let batches = large();
    let file = written(&batches[0].schema(), &batches);
    let metadata = reader(file.clone()).metadata().clone();
    assert_eq!(metadata.num_row_groups(), 2);
    assert_statistics(&metadata, &batches[..128], 0);
    assert_same(&read(file.clone()), &batches);
    // The page index has the same first rows for all columns, and growing bounds for `seq`.
    let offsets = metadata.offset_index().unwrap();
    assert!(offsets[0][0].page_locations().len() > 20);
    let firsts = |column: usize| {
        let pages = offsets[0][column].page_locations().iter();
        pages.map(|page| page.first_row_index).collect::<Vec<_>>()
    };
    assert!((1..6).all(|column| firsts(column) == firsts(0)));
    let index = &metadata.column_index().unwrap()[0][0];
    assert!(index.is_sorted());
    // Rows in the middle of a page of the second row group.
    let selection = vec![RowSelector::skip((1 << 20) + 40_001), RowSelector::select(5)];
    let rows = reader(file).with_row_selection(RowSelection::from(selection));
    let rows: Vec<_> = rows.build().unwrap().collect::<Result<_, _>>().unwrap();
    let seq = rows[0].column(0).as_any().downcast_ref::<UInt64Array>().unwrap();
    let expected: Vec<u64> = ((1 << 20) + 40_001..).take(5).collect();
    assert_eq!(seq.values(), &expected[..]);
}

#[test]
fn numbers_that_rarely_repeat_need_no_dictionary() {
    let batches = large();
    let file = written(&batches[0].schema(), &batches);
    let metadata = reader(file).metadata().clone();
    let encodings = |column: usize| -> Vec<Encoding> {
        metadata.row_group(0).column(column).encodings().collect()
    };
    let (delta, dictionary) = (Encoding::DELTA_BINARY_PACKED, Encoding::RLE_DICTIONARY);
    let has = |column: usize| [delta, dictionary].map(|of| encodings(column).contains(&of));
    assert_eq!(has(0), [true, false]);
    assert_eq!(has(1), [true, false]);
    assert_eq!(has(2), [true, true]);
    assert_eq!(has(3), [false, true]);
    // The dictionary has only the number of the first pages.
    let turning = metadata.row_group(0).column(2);
    assert!(turning.data_page_offset() - turning.dictionary_page_offset().unwrap() < 100);
}

#[test]
fn texts_can_be_dictionaries_in_a_column_of_texts() {
    let keys = Int32Array::from(vec![Some(1), None, Some(0), Some(1)]);
    let texts = Arc::new(StringArray::from(vec!["a", "b"]));
    let words: ArrayRef = Arc::new(DictionaryArray::new(keys, texts));
    let rows = RecordBatch::try_from_iter_with_nullable([("label", words, true)]).unwrap();
    let field = Field::new("label", arrow_schema::DataType::Utf8, true);
    let found = read(written(&Arc::new(Schema::new(vec![field.clone()])), &[rows]));
    let expected: StringArray = [Some("b"), None, Some("a"), Some("b")].into_iter().collect();
    assert_eq!(found[0].schema().field(0), &field);
    assert_eq!(found[0].column(0).to_data(), expected.to_data());
}

#[test]
fn columns_that_cannot_be_null_have_no_levels() {
    let numbers: ArrayRef = Arc::new(UInt32Array::from(vec![3, 1, 2]));
    let rows = RecordBatch::try_from_iter([("seq", numbers)]).unwrap();
    assert!(!rows.schema().field(0).is_nullable());
    assert_eq!(read(written(&rows.schema(), slice::from_ref(&rows))), [rows]);
}

#[test]
fn a_file_without_rows_has_no_row_groups() {
    let empty = batch(&[], 0);
    let file = written(&empty.schema(), slice::from_ref(&empty));
    assert_eq!(reader(file).metadata().num_row_groups(), 0);
    let other: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
    let other = RecordBatch::try_from_iter([("seq", other)]).unwrap();
    let mut writer = Writer::new(Vec::new(), empty.schema()).unwrap();
    assert!(writer.write(&other).is_err());
}
