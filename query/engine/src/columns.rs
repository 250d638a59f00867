//! The columns that a table over several traces always has: those of the table in a single trace,
//! and the hash and the path of each row's trace. Also joins column types that differ between
//! traces.

use arrow::datatypes::{DataType, Field};
use tracewell_tables::{Kind, Table};

/// Name of the column with the hash of a row's trace. All tables have this column.
pub(crate) const TRACE: &str = "trace";

/// Name of the column with the path of a row's trace. All tables have this column.
pub(crate) const PATH: &str = "path";

/// Returns those columns of a table that do not depend on the traces.
pub(crate) fn fixed_fields(table: Table) -> Vec<Field> {
    let columns = table.columns().iter();
    let mut fields: Vec<Field> =
        columns.map(|column| Field::new(column.name, column.kind.data_type(), true)).collect();
    for name in [TRACE, PATH] {
        if fields.iter().all(|field| field.name() != name) {
            fields.push(Field::new(name, DataType::Utf8, true));
        }
    }
    fields
}

/// Name of the column of `events` that repeats the arguments as text. A lake contains this column
/// only on request, because the column needs much space.
pub(crate) const TEXT: &str = "text";

/// Returns those columns of a lake's table that do not depend on the traces.
pub(crate) fn lake_fields(table: Table) -> Vec<Field> {
    let mut fields = fixed_fields(table);
    fields.retain(|field| table != Table::Events || field.name() != TEXT);
    fields
}

/// Returns a type that can hold the values of both types without loss. Two different types of whole
/// numbers become decimal numbers. All other different types become text.
pub(crate) fn joined(one: &DataType, other: &DataType) -> DataType {
    let decimal = Kind::Decimal.data_type();
    let is_whole = |data_type: &DataType| data_type.is_integer() || *data_type == decimal;
    match (one, other) {
        _ if one == other => one.clone(),
        _ if is_whole(one) && is_whole(other) => decimal,
        _ => DataType::Utf8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_types_are_joined() {
        use DataType::{Boolean, Int64, UInt64, Utf8};
        let decimal = Kind::Decimal.data_type();
        assert_eq!(joined(&UInt64, &UInt64), UInt64);
        assert_eq!(joined(&UInt64, &Int64), decimal);
        assert_eq!(joined(&decimal, &Int64), decimal);
        assert_eq!(joined(&Boolean, &Int64), Utf8);
    }
}
