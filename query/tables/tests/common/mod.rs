//! Functions that the tests of tables share.

use std::ops::ControlFlow::Continue;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampNanosecondType, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use serde_json::{Map, Value};
use tracewell_tables::{Request, Settings, Source, Table};

/// Returns the path of a trace among the fixtures of the library.
pub(crate) fn fixture(name: &str) -> String {
    format!("{}/../../crates/tracewell/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns settings with these options of the format.
pub(crate) fn settings(options: &[&str]) -> Settings {
    let mut settings = Settings::default();
    options.iter().for_each(|option| settings.options.add(option).unwrap());
    settings
}

/// Opens a fixture without labels.
pub(crate) fn open(name: &str, options: &[&str]) -> Source {
    Source::open(fixture(name), settings(options), Vec::new()).unwrap()
}

/// Returns the rows of a table as JSON objects without nulls.
pub(crate) fn rows(source: &Source, table: Table, request: &Request) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    let summary = source.read(table, request, &mut |batch| {
        rows.extend(objects(&batch));
        Continue(())
    });
    assert_eq!(summary.unwrap().rows, rows.len() as u64);
    rows
}

/// Returns the rows of a batch.
pub(crate) fn objects(batch: &RecordBatch) -> Vec<Map<String, Value>> {
    (0..batch.num_rows()).map(|row| object(batch, row)).collect()
}

fn object(batch: &RecordBatch, row: usize) -> Map<String, Value> {
    let schema = batch.schema();
    let cells = schema.fields().iter().zip(batch.columns());
    let cells = cells.filter(|(_, column)| !column.is_null(row));
    cells.map(|(field, column)| (field.name().clone(), value(column, row))).collect()
}

fn value(column: &dyn Array, row: usize) -> Value {
    match column.data_type() {
        DataType::UInt16 => column.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Decimal128(..) => {
            let number = column.as_primitive::<Decimal128Type>().value(row);
            i64::try_from(number).map_or_else(|_| Value::from(number as u64), Value::from)
        }
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Binary => {
            let bytes = column.as_binary::<i32>().value(row);
            bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>().into()
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            column.as_primitive::<TimestampNanosecondType>().value(row).into()
        }
        DataType::Dictionary(..) => {
            let words = column.as_dictionary::<Int32Type>();
            let index = words.keys().value(row) as usize;
            words.values().as_string::<i32>().value(index).into()
        }
        other => panic!("no table has the type {other}"),
    }
}
