//! The function `format(template, value, …)`: prints values with the codes of the template
//! language.
//!
//! The values are encoded like the data of an event in Tracewell's streams: a number as a word of 8
//! bytes, and a text as its bytes followed by a NUL.

use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type, UInt64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use tracewell::template::{Entry, Environment, EventContext, Machine, Program, Source};
use tracewell_wire::ByteOrder;

use crate::failure::Failure;

/// The function.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) struct Format {
    signature: Signature,
}

impl Default for Format {
    fn default() -> Self {
        Self { signature: Signature::variadic_any(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Format {
    fn name(&self) -> &str {
        "format"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some((ColumnarValue::Scalar(ScalarValue::Utf8(Some(template))), values)) =
            args.args.split_first()
        else {
            return Err(Failure::usage("SQL: format expects a template as text first").into());
        };
        let program = compile(template)?;
        let is_constant = values.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let values = values.iter().map(|value| Words::of(&value.to_array(rows)?));
        let values: Vec<Words> = values.collect::<Result<_>>()?;
        let texts = print(&program, &values, rows);
        match is_constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&texts, 0)?)),
            false => Ok(ColumnarValue::Array(texts)),
        }
    }
}

/// The hook id of the template.
const ID: u16 = 0x0AA;

fn compile(template: &str) -> Result<Program, Failure> {
    let head = format!("{ID:03X} 1.0 ");
    let compiled = Program::of(&[Source::new("template", format!("{head}{template}"))]);
    match compiled.findings.first() {
        Some((_, finding)) => {
            let message = format!("SQL: format {template}: {}", finding.message);
            Err(Failure::usage(message))
        }
        None => Ok(compiled.program),
    }
}

/// Prints the values of each row. The result is null for a row that contains a null.
fn print(program: &Program, values: &[Words], rows: usize) -> ArrayRef {
    let mut texts = StringBuilder::new();
    let mut machine = Machine::default();
    let mut bytes = Vec::new();
    for row in 0..rows {
        bytes.clear();
        // The placeholder for a hook word.
        bytes.extend_from_slice(&[0; 8]);
        if values.iter().any(|value| !value.put(row, &mut bytes)) {
            texts.append_null();
            continue;
        }
        let entry = Entry::of_event(ID << 4, Environment::Bits64, ByteOrder::Little, &bytes);
        let lines = machine.format(program, &entry, &EventContext::default());
        texts.append_value(lines.text());
    }
    std::sync::Arc::new(texts.finish())
}

/// The values of an argument of the function.
enum Words {
    Unsigned(ArrayRef),
    Signed(ArrayRef),
    Decimal(ArrayRef),
    Float(ArrayRef),
    Flag(ArrayRef),
    Text(ArrayRef),
    Bytes(ArrayRef),
}

impl Words {
    fn of(array: &ArrayRef) -> Result<Self> {
        let data_type = array.data_type();
        let values = match data_type {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        let to = |data_type| cast(array, &data_type);
        Ok(match values {
            DataType::Boolean => Self::Flag(to(DataType::Boolean)?),
            DataType::Decimal128(digits, 0) => Self::Decimal(to(DataType::Decimal128(*digits, 0))?),
            values if values.is_unsigned_integer() => Self::Unsigned(to(DataType::UInt64)?),
            values if values.is_signed_integer() || values.is_temporal() => {
                Self::Signed(to(DataType::Int64)?)
            }
            values if values.is_floating() => Self::Float(to(DataType::Float64)?),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
                Self::Text(to(DataType::Utf8)?)
            }
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
                Self::Bytes(to(DataType::Binary)?)
            }
            _ => {
                let message = format!("SQL: format expects numbers and text, found {data_type}");
                return Err(Failure::usage(message).into());
            }
        })
    }

    /// Appends the value of a row. Returns false if it is null.
    fn put(&self, row: usize, bytes: &mut Vec<u8>) -> bool {
        let (Self::Unsigned(array)
        | Self::Signed(array)
        | Self::Decimal(array)
        | Self::Float(array)
        | Self::Flag(array)
        | Self::Text(array)
        | Self::Bytes(array)) = self;
        if array.is_null(row) {
            return false;
        }
        let word = match self {
            Self::Unsigned(array) => array.as_primitive::<UInt64Type>().value(row),
            Self::Signed(array) => array.as_primitive::<Int64Type>().value(row).cast_unsigned(),
            // Columns of this type contain numbers of 64 bits, with or without a sign.
            Self::Decimal(array) => array.as_primitive::<Decimal128Type>().value(row) as u64,
            Self::Float(array) => array.as_primitive::<Float64Type>().value(row).to_bits(),
            Self::Flag(array) => u64::from(array.as_boolean().value(row)),
            Self::Text(array) => {
                bytes.extend_from_slice(array.as_string::<i32>().value(row).as_bytes());
                bytes.push(0);
                return true;
            }
            Self::Bytes(array) => {
                bytes.extend_from_slice(array.as_binary::<i32>().value(row));
                return true;
            }
        };
        bytes.extend_from_slice(&word.to_le_bytes());
        true
    }
}
