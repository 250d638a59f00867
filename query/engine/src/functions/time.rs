//! The function `ticks_to_ns`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

/// Returns the function `ticks_to_ns(ticks, rate)`, which converts ticks to nanoseconds, rounded
/// down, at a rate in ticks per second. The result is null if the rate is null or not positive, or
/// if the result exceeds 64 bits.
pub(super) fn ticks_to_ns() -> ScalarUDF {
    let types = vec![DataType::Int64, DataType::Float64];
    let function = |args: &[ColumnarValue]| -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(args)?;
        let (ticks, rates) =
            (arrays[0].as_primitive::<Int64Type>(), arrays[1].as_primitive::<Float64Type>());
        let each = ticks.iter().zip(rates.iter());
        let ns: Int64Array = each.map(|(ticks, rate)| nanoseconds(ticks?, rate?)).collect();
        Ok(ColumnarValue::Array(Arc::new(ns) as ArrayRef))
    };
    create_udf("ticks_to_ns", types, DataType::Int64, Volatility::Immutable, Arc::new(function))
}

/// Returns the time of ticks in nanoseconds, rounded down. The calculation is exact if the rate is
/// a whole number.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn nanoseconds(ticks: i64, rate: f64) -> Option<i64> {
    const SECOND: i128 = 1_000_000_000;
    if !(rate > 0.0 && rate.is_finite()) {
        return None;
    }
    if rate.fract() == 0.0 && rate < i64::MAX as f64 {
        return (i128::from(ticks) * SECOND).div_euclid(rate as i128).try_into().ok();
    }
    let ns = (ticks as f64 / rate * SECOND as f64).floor();
    (ns.abs() < i64::MAX as f64).then_some(ns as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_rates_are_exact() {
        assert_eq!(nanoseconds(1, 3.0), Some(333_333_333));
        assert_eq!(nanoseconds(-1, 3.0), Some(-333_333_334));
        assert_eq!(nanoseconds(i64::MAX, 1e9), Some(i64::MAX));
        assert_eq!(nanoseconds(i64::MAX, 1e8), None);
        assert_eq!(nanoseconds(3, 1.5), Some(2_000_000_000));
        assert_eq!(nanoseconds(1, 0.0), None);
        assert_eq!(nanoseconds(1, f64::NAN), None);
    }
}
