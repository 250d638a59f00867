//! The columns of tables: name, type, unit and meaning. `columns` contains the list of each table.

use arrow_schema::{DataType, Field, TimeUnit};

/// Type of the values of a column. Each column can contain nulls.
///
/// ```
/// use tracewell_tables::Kind;
///
/// assert_eq!(Kind::Word.name(), "dictionary of text");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A number of 16 bits without a sign.
    U16,
    /// A number of 32 bits without a sign.
    U32,
    /// A number of 64 bits without a sign.
    U64,
    /// A number of 64 bits with a sign.
    I64,
    /// A signed number of up to 20 decimal digits, for arguments that are signed only in some
    /// events.
    Decimal,
    /// A floating-point number of 64 bits.
    F64,
    /// True or false.
    Bool,
    /// Text. Bytes that are not UTF-8 are shown as `\xff`.
    Text,
    /// Text with many equal values: indices of 32 bits, and a dictionary.
    Word,
    /// Bytes.
    Bytes,
    /// A date: nanoseconds since 1970 UTC.
    Date,
}

impl Kind {
    /// All types of columns.
    pub const ALL: [Self; 11] = [
        Self::U16,
        Self::U32,
        Self::U64,
        Self::I64,
        Self::Decimal,
        Self::F64,
        Self::Bool,
        Self::Text,
        Self::Word,
        Self::Bytes,
        Self::Date,
    ];

    /// Returns the type that is stored as this Arrow type.
    pub fn of_data_type(data_type: &DataType) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.data_type() == *data_type)
    }

    /// Returns the name of the type in the documentation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::Decimal => "decimal(20)",
            Self::F64 => "f64",
            Self::Bool => "bool",
            Self::Text => "text",
            Self::Word => "dictionary of text",
            Self::Bytes => "bytes",
            Self::Date => "timestamp",
        }
    }

    /// Returns the type in Arrow.
    pub fn data_type(self) -> DataType {
        match self {
            Self::U16 => DataType::UInt16,
            Self::U32 => DataType::UInt32,
            Self::U64 => DataType::UInt64,
            Self::I64 => DataType::Int64,
            Self::Decimal => DataType::Decimal128(DECIMAL_DIGITS, 0),
            Self::F64 => DataType::Float64,
            Self::Bool => DataType::Boolean,
            Self::Text => DataType::Utf8,
            Self::Word => DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into()),
            Self::Bytes => DataType::Binary,
            Self::Date => DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into())),
        }
    }

    /// Returns a column of this type in Arrow.
    pub(crate) fn field(self, name: &str) -> Field {
        Field::new(name, self.data_type(), true)
    }
}

/// Time zone of dates.
pub(crate) const UTC: &str = "UTC";

/// Number of decimal digits of the largest number of 64 bits.
pub(crate) const DECIMAL_DIGITS: u8 = 20;

/// A column of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Name of the column, in `snake_case`.
    pub name: &'static str,
    /// Type of its values.
    pub kind: Kind,
    /// Unit of its values; empty if they have none.
    pub unit: &'static str,
    /// The meaning, for the documentation.
    pub meaning: &'static str,
}

impl Column {
    pub(crate) const fn new(
        name: &'static str,
        kind: Kind,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, kind, unit, meaning }
    }
}
