//! The conditions of a query that the reader of a trace can use: ranges of `ticks` and `time_ns`,
//! and values of `id`. The engine tests each row again, so this module may ignore a condition, but
//! must not make it stricter.

use std::ops::RangeInclusive;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use tracewell::model::Clock;
use tracewell_tables::Request;

/// The rows that a query needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    ticks: RangeInclusive<i64>,
    time_ns: RangeInclusive<i64>,
    ids: Option<Vec<u32>>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { ticks: ALL, time_ns: ALL, ids: None }
    }
}

const ALL: RangeInclusive<i64> = i64::MIN..=i64::MAX;

/// A range that contains the ticks of no event, because no event has negative ticks.
const NONE: RangeInclusive<i64> = i64::MIN..=-1;

impl Wanted {
    /// Returns true if the reader can use at least a part of a condition.
    pub(crate) fn is_used(filter: &Expr) -> bool {
        let mut wanted = Self::default();
        wanted.restrict(filter);
        wanted != Self::default()
    }

    /// Adds a condition that all rows must meet.
    pub(crate) fn restrict(&mut self, filter: &Expr) {
        match filter {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                self.restrict(left);
                self.restrict(right);
            }
            // The optimiser converts a list of two values to alternatives.
            Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => {
                if let Some(ids) = alternatives(filter) {
                    self.restrict_ids(ids);
                }
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                if let (Some(column), Some(value)) = (column(left), number(right)) {
                    self.compare(column, *op, value);
                } else if let (Some(value), Some(column), Some(op)) =
                    (number(left), column(right), op.swap())
                {
                    self.compare(column, op, value);
                }
            }
            Expr::Between(Between { expr, negated: false, low, high }) => {
                if let (Some(column), Some(low), Some(high)) =
                    (column(expr), number(low), number(high))
                {
                    self.compare(column, Operator::GtEq, low);
                    self.compare(column, Operator::LtEq, high);
                }
            }
            Expr::InList(InList { expr, list, negated: false }) if column(expr) == Some(ID) => {
                let ids: Option<Vec<i64>> = list.iter().map(number).collect();
                if let Some(ids) = ids {
                    self.restrict_ids(ids);
                }
            }
            _ => {}
        }
    }

    fn compare(&mut self, column: &str, op: Operator, value: i64) {
        if column == ID {
            if op == Operator::Eq {
                self.restrict_ids(vec![value]);
            }
            return;
        }
        let range = match op {
            Operator::Eq => value..=value,
            Operator::Lt => i64::MIN..=value.saturating_sub(1),
            Operator::LtEq => i64::MIN..=value,
            Operator::Gt => value.saturating_add(1)..=i64::MAX,
            Operator::GtEq => value..=i64::MAX,
            _ => return,
        };
        let known = if column == TICKS { &mut self.ticks } else { &mut self.time_ns };
        *known = *known.start().max(range.start())..=*known.end().min(range.end());
    }

    fn restrict_ids(&mut self, ids: Vec<i64>) {
        // Numbers outside the range of ids are not ids of any event.
        let mut ids: Vec<u32> = ids.into_iter().filter_map(|id| id.try_into().ok()).collect();
        if let Some(known) = &self.ids {
            ids.retain(|id| known.contains(id));
        }
        self.ids = Some(ids);
    }

    /// Returns true if the rows depend on the clock of the trace.
    pub(crate) fn needs_clock(&self) -> bool {
        self.time_ns != ALL
    }

    /// Returns the request for a trace with this clock.
    pub(crate) fn request(
        &self,
        clock: &Clock,
        columns: Vec<usize>,
        (limit, threads): (Option<usize>, usize),
    ) -> Request {
        let ticks = within(self.time_ns.clone(), clock);
        let ticks = *self.ticks.start().max(ticks.start())..=*self.ticks.end().min(ticks.end());
        let limit = limit.and_then(|limit| limit.try_into().ok());
        Request { columns: Some(columns), ticks, ids: self.ids.clone(), limit, threads }
    }
}

/// Returns the ticks whose times are in a range of nanoseconds.
fn within(time_ns: RangeInclusive<i64>, clock: &Clock) -> RangeInclusive<i64> {
    if time_ns == ALL || clock.rate.is_none() {
        return ALL;
    }
    let first = |from: i64| match u64::try_from(from) {
        Ok(from) => first_ticks(clock, from),
        Err(_) => 0,
    };
    let end = time_ns.end().checked_add(1).map_or(i64::MAX, |end| first(end).saturating_sub(1));
    match *time_ns.end() < 0 {
        true => NONE,
        false => first(*time_ns.start())..=end,
    }
}

/// Returns the first tick whose time is at least this time. Searches by bisection, because times
/// never decrease with ticks.
fn first_ticks(clock: &Clock, ns: u64) -> i64 {
    let (mut low, mut high) = (0_i64, i64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        let time = clock.nanoseconds(middle.unsigned_abs());
        if time.is_some_and(|time| time >= ns) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

const ID: &str = "id";
const TICKS: &str = "ticks";
const TIME_NS: &str = "time_ns";

/// Returns the name of a column if the reader itself can select events by this column.
fn column(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Column(column) => {
            [ID, TICKS, TIME_NS].contains(&column.name()).then_some(column.name())
        }
        _ => None,
    }
}

/// Returns the values of `id = A OR id = B …`.
fn alternatives(filter: &Expr) -> Option<Vec<i64>> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            let mut ids = alternatives(left)?;
            ids.extend(alternatives(right)?);
            Some(ids)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            (column(left) == Some(ID)).then(|| number(right).map(|id| vec![id])).flatten()
        }
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<i64> {
    let Expr::Literal(value, _) = expr else { return None };
    match value {
        ScalarValue::Int8(value) => value.map(i64::from),
        ScalarValue::Int16(value) => value.map(i64::from),
        ScalarValue::Int32(value) => value.map(i64::from),
        ScalarValue::Int64(value) => *value,
        ScalarValue::UInt8(value) => value.map(i64::from),
        ScalarValue::UInt16(value) => value.map(i64::from),
        ScalarValue::UInt32(value) => value.map(i64::from),
        ScalarValue::UInt64(value) => value.and_then(|value| value.try_into().ok()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{col, lit};
    use tracewell::model::Rate;

    use super::*;

    fn wanted(filter: Expr) -> Wanted {
        let mut wanted = Wanted::default();
        wanted.restrict(&filter);
        wanted
    }

    #[test]
    fn comparisons_are_ranges() {
        let ticks = |filter| wanted(filter).ticks;
        assert_eq!(ticks(col("ticks").gt(lit(5_i64))), 6..=i64::MAX);
        assert_eq!(ticks(lit(5_i64).gt(col("ticks"))), i64::MIN..=4);
        assert_eq!(ticks(col("ticks").between(lit(2_i64), lit(3_i64))), 2..=3);
        assert_eq!(ticks(col("ticks").gt(lit(5_i64)).and(col("ticks").lt_eq(lit(9_i64)))), 6..=9);
        assert_eq!(ticks(col("ticks").not_between(lit(2_i64), lit(3_i64))), ALL);
        assert_eq!(ticks(col("ticks").gt(lit(5_i64)).or(col("ticks").lt(lit(2_i64)))), ALL);
    }

    #[test]
    fn ids_are_lists() {
        let ids = |filter| wanted(filter).ids;
        assert_eq!(ids(col("id").eq(lit(3_u32))), Some(vec![3]));
        assert_eq!(ids(col("id").eq(lit(3_u32)).or(col("id").eq(lit(4_u32)))), Some(vec![3, 4]));
        assert_eq!(ids(col("id").in_list(vec![lit(1_i64), lit(-1_i64)], false)), Some(vec![1]));
        assert_eq!(ids(col("id").in_list(vec![lit(1_i64)], true)), None);
        assert_eq!(ids(col("id").eq(lit(3_u32)).or(col("cpu").eq(lit(4_u32)))), None);
        let both = col("id").in_list(vec![lit(1_i64), lit(2_i64)], false);
        assert_eq!(ids(both.and(col("id").eq(lit(2_u32)))), Some(vec![2]));
    }

    #[test]
    fn times_become_ticks() {
        // Ticks of 10 ns.
        let clock = Clock::of_64_bits(Rate::new(100_000_000, 1));
        assert_eq!(within(100..=199, &clock), 10..=19);
        assert_eq!(within(101..=200, &clock), 11..=20);
        assert_eq!(within(-5..=i64::MAX, &clock), 0..=i64::MAX);
        assert_eq!(within(i64::MIN..=-1, &clock), NONE);
        assert_eq!(within(5..=6, &Clock::of_64_bits(None)), ALL);
    }
}
