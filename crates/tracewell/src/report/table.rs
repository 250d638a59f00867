//! Draws tables of figures. `figures` makes their cells.
//!
//! All times of a column have one unit, which depends on the longest time. Columns that are
//! compared share a unit. A column is as wide as its widest cell. Columns without figures are left
//! out. On a screen, a table that is too wide is split: each part has the first column again.

use anstyle::Style;

use super::Layout;
use crate::text::style::{HEADING, of_context, styled};
use crate::text::{display_width, fold, padded, shortened};

/// A cell of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    /// An unknown value, shown as `-`.
    Unknown,
    Text(String),
    /// A text that continues on further lines instead of being cut. Only the last column can have
    /// such cells.
    Long(String),
    /// The name of a context.
    Context(String),
    Count(u64),
    /// A duration in ticks.
    Ticks(u64),
    /// A duration in nanoseconds.
    Time(u64),
    /// A share in hundredths of a percent.
    Share(u64),
    /// A figure that is 0 in most traces. A column of zeros is left out.
    Rare(Box<Cell>),
}

impl Cell {
    /// Returns the cell of a figure that is 0 in most traces.
    pub(super) fn rare(figure: impl Into<Self>) -> Self {
        Self::Rare(Box::new(figure.into()))
    }

    /// Returns true if the cell has no figure.
    fn is_empty(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Rare(figure) => matches!(
                **figure,
                Self::Unknown | Self::Count(0) | Self::Ticks(0) | Self::Time(0) | Self::Share(0)
            ),
            _ => false,
        }
    }

    /// Returns the figure of a cell, if the figure is marked as rare. Returns any other cell
    /// unchanged.
    fn plain(&self) -> &Self {
        match self {
            Self::Rare(figure) => figure,
            cell => cell,
        }
    }

    /// Returns the text of the cell in a column with the unit `unit`.
    fn shown(&self, unit: &Unit, layout: Layout) -> String {
        match self.plain() {
            Self::Text(text) | Self::Long(text) | Self::Context(text) => text.clone(),
            Self::Count(count) | Self::Ticks(count) => layout.count(*count),
            Self::Time(nanoseconds) => unit.shown(*nanoseconds),
            Self::Share(hundredths) => format!("{}.{:02}", hundredths / 100, hundredths % 100),
            Self::Unknown | Self::Rare(_) => "-".to_owned(),
        }
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Unknown, Into::into)
    }
}

/// A unit of time.
#[derive(Clone, Copy, Debug)]
struct Unit {
    name: &'static str,
    nanoseconds: u64,
    /// A column has this unit if its largest time is at least this number of nanoseconds.
    least: u64,
}

/// The units of time, largest first. Times have three decimals, so a column in seconds still shows
/// milliseconds.
const UNITS: [Unit; 3] = [
    Unit { name: "s", nanoseconds: 1_000_000_000, least: 10_000_000_000 },
    Unit { name: "ms", nanoseconds: 1_000_000, least: 10_000_000 },
    Unit { name: "us", nanoseconds: 1000, least: 1000 },
];
/// The unit of columns whose times are all below a microsecond.
const SMALLEST: Unit = Unit { name: "ns", nanoseconds: 1, least: 0 };

impl Unit {
    fn of(longest: u64) -> Self {
        UNITS.into_iter().find(|unit| longest >= unit.least).unwrap_or(SMALLEST)
    }

    /// Returns the unit that several columns share. In this unit, the shortest time that is not 0
    /// has at least two digits, unless the longest time would then have more than six digits before
    /// the point.
    fn of_group(shortest: u64, longest: u64) -> Self {
        let largest = Self::of(longest);
        let smaller = UNITS.into_iter().filter(|unit| unit.nanoseconds <= largest.nanoseconds);
        let mut smaller = smaller.chain([SMALLEST]).peekable();
        while let Some(unit) = smaller.next() {
            let has_digits = shortest >= unit.nanoseconds / 100;
            let has_room = |next: &Self| longest / next.nanoseconds < 1_000_000;
            if has_digits || !smaller.peek().is_some_and(has_room) {
                return unit;
            }
        }
        SMALLEST
    }

    /// Returns a time in this unit, rounded down.
    fn shown(&self, nanoseconds: u64) -> String {
        match self.nanoseconds / 1000 {
            0 => nanoseconds.to_string(),
            thousandth => {
                let thousandths = nanoseconds / thousandth;
                format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
            }
        }
    }
}

/// Maximum width of a column. A longer cell moves the rest of its line to the right.
const MAX_WIDTH: usize = 100;
/// Number of blanks between columns.
const GAP: usize = 2;

/// The form of a column.
#[derive(Debug)]
struct Column<'a> {
    name: &'a str,
    width: usize,
    unit: Unit,
    /// The longest time in nanoseconds, and the shortest that is not 0.
    longest: Option<u64>,
    shortest: Option<u64>,
    has_ticks: bool,
    /// True if no cell is a number.
    is_text: bool,
    /// True if a cell may continue on further lines.
    is_long: bool,
    is_empty: bool,
}

impl<'a> Column<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            width: display_width(name),
            unit: SMALLEST,
            longest: None,
            shortest: None,
            has_ticks: false,
            is_text: true,
            is_long: false,
            is_empty: true,
        }
    }

    fn measure(&mut self, cell: &Cell, layout: Layout) {
        self.is_empty &= cell.is_empty();
        let figure = cell.plain();
        self.is_text &=
            matches!(figure, Cell::Unknown | Cell::Text(_) | Cell::Long(_) | Cell::Context(_));
        match figure {
            // The unit is not known yet. The longest time has the widest text.
            Cell::Time(time) => {
                self.longest = self.longest.max(Some(*time));
                let shortest = [self.shortest, (*time > 0).then_some(*time)];
                self.shortest = shortest.into_iter().flatten().min();
            }
            Cell::Long(text) => {
                self.is_long = true;
                self.width = self.width.max(display_width(text));
            }
            _ => {
                self.has_ticks |= matches!(figure, Cell::Ticks(_));
                self.widen(&cell.shown(&SMALLEST, layout), layout);
            }
        }
    }

    fn widen(&mut self, cell: &str, layout: Layout) {
        // One long name must not widen every line of the table.
        self.width = display_width(cell).min(max_width(layout)).max(self.width);
    }

    /// Sets the unit of the column's times.
    fn set_unit(&mut self, unit: Unit, layout: Layout) {
        if let Some(longest) = self.longest {
            self.unit = unit;
            self.widen(&self.unit.shown(longest), layout);
        }
        self.widen(self.unit(), layout);
    }

    /// Returns the name of the unit, or an empty text if the cells have no unit.
    fn unit(&self) -> &'static str {
        match self.longest {
            Some(_) => self.unit.name,
            None if self.has_ticks => "ticks",
            None => "",
        }
    }
}

/// Returns the maximum width of a column. Two columns of this width fit on a screen.
fn max_width(layout: Layout) -> usize {
    layout.width.map_or(MAX_WIDTH, |width| (width.saturating_sub(GAP) / 2).clamp(1, MAX_WIDTH))
}

/// Appends a table after a blank line, unless it has no rows.
///
/// Calls `rows` once to compute the widths, and again to write the lines of each part. So memory
/// holds only the text of a table, even if the table has a million rows.
pub(super) fn table<const N: usize>(
    text: &mut String,
    layout: Layout,
    names: &[&str; N],
    rows: impl Iterator<Item = [Cell; N]> + Clone,
) {
    table_with_groups(text, layout, names, &[], rows);
}

/// Appends a table like [`table`]. The columns of a group have the same unit, because people
/// compare them. Each element of `groups` contains the indices of the columns of one group.
pub(super) fn table_with_groups<const N: usize>(
    text: &mut String,
    layout: Layout,
    names: &[&str; N],
    groups: &[&[usize]],
    rows: impl Iterator<Item = [Cell; N]> + Clone,
) {
    let mut columns = names.map(Column::new);
    // All cells determine the unit and the width of their column, so read the rows twice.
    for row in rows.clone() {
        for (column, cell) in columns.iter_mut().zip(&row) {
            column.measure(cell, layout);
        }
    }
    if columns.iter().all(|column| column.is_empty) {
        return;
    }
    select_units(&mut columns, groups, layout);
    limit_long(&mut columns, layout);
    // A table that is too wide for the screen has several parts.
    for part in parts(&columns, layout) {
        let of_part = || part.iter().map(|index| &columns[*index]);
        text.push('\n');
        let head = of_part().map(|column| (column, column.name.to_owned()));
        put_line(text, head, Some(HEADING), layout);
        if of_part().any(|column| !column.unit().is_empty()) {
            let units = of_part().map(|column| (column, column.unit().to_owned()));
            put_line(text, units, Some(HEADING), layout);
        }
        for row in rows.clone() {
            let cells = part.iter().map(|index| {
                let column = &columns[*index];
                (column, shown(&row[*index], column, layout))
            });
            put_row(text, cells.collect(), layout);
        }
    }
}

/// Appends the lines of a row. A long cell may have several lines.
fn put_row(text: &mut String, mut cells: Vec<(&Column<'_>, String)>, layout: Layout) {
    let rest = match cells.last_mut() {
        Some((column, cell)) if column.is_long => match cell.split_once('\n') {
            Some((first, rest)) => {
                let rest = rest.to_owned();
                cell.truncate(first.len());
                rest
            }
            None => String::new(),
        },
        _ => String::new(),
    };
    let columns: Vec<_> = cells.iter().map(|(column, _)| *column).collect();
    put_line(text, cells.into_iter(), None, layout);
    for line in rest.lines() {
        let last = columns.len() - 1;
        let cell =
            |(index, column)| (column, if index == last { line.to_owned() } else { String::new() });
        put_line(text, columns.iter().copied().enumerate().map(cell), None, layout);
    }
}

/// Selects a unit for each column; the columns of a group get the same unit.
fn select_units(columns: &mut [Column<'_>], groups: &[&[usize]], layout: Layout) {
    let of_group = |index: usize| groups.iter().find(|group| group.contains(&index));
    let units: Vec<_> = (0..columns.len())
        .map(|index| match of_group(index) {
            Some(group) => {
                let of_group = || group.iter().filter_map(|index| columns.get(*index));
                let longest = of_group().filter_map(|column| column.longest).max();
                let shortest = of_group().filter_map(|column| column.shortest).min();
                let longest = longest.unwrap_or_default();
                Unit::of_group(shortest.unwrap_or(longest), longest)
            }
            None => Unit::of(columns[index].longest.unwrap_or_default()),
        })
        .collect();
    columns.iter_mut().zip(units).for_each(|(column, unit)| column.set_unit(unit, layout));
}

/// Minimum width of a long column beside the others. If less room is left on a screen, the column
/// begins a new part of the table, next to the first column.
const MIN_LONG: usize = 30;

/// Limits the width of the last column to the room on a screen if its cells may have several lines.
fn limit_long(columns: &mut [Column<'_>], layout: Layout) {
    let Some(width) = layout.width else { return };
    let Some((last, others)) = columns.split_last_mut().filter(|(last, _)| last.is_long) else {
        return;
    };
    let filled = |columns: &[Column<'_>]| {
        let shown = columns.iter().filter(|column| !column.is_empty);
        shown.map(|column| column.width + GAP).sum::<usize>()
    };
    // The long column is next to all others, or in a part of its own next to the first column.
    let beside = width.saturating_sub(filled(others));
    let below = width.saturating_sub(filled(others.get(..1).unwrap_or_default()));
    let room = if beside >= MIN_LONG.min(last.width) { beside } else { below };
    last.width = last.width.min(room.max(1));
}

/// Returns the columns of each part of a table: the first column, and the columns that fit beside
/// it.
fn parts(columns: &[Column<'_>], layout: Layout) -> Vec<Vec<usize>> {
    let width = |index: usize| columns[index].width + GAP;
    let mut parts = vec![vec![0]];
    let mut filled = width(0);
    for (index, _) in columns.iter().enumerate().skip(1).filter(|(_, column)| !column.is_empty) {
        // The last column needs no gap after it.
        let is_full = layout.width.is_some_and(|most| filled + width(index) > most + GAP);
        match parts.last_mut() {
            Some(part) if !is_full || part.len() == 1 => part.push(index),
            _ => {
                parts.push(vec![0, index]);
                filled = width(0);
            }
        }
        filled += width(index);
    }
    parts
}

/// Returns the text of a cell. On a screen, it is cut to the width of its column.
fn shown(cell: &Cell, column: &Column<'_>, layout: Layout) -> String {
    let text = cell.shown(&column.unit, layout);
    if column.is_long && layout.width.is_some() {
        return fold(&text, column.width, 2).into_owned();
    }
    let cut = match layout.width {
        Some(_) => shortened(&text, column.width).into_owned(),
        None => text,
    };
    match cell {
        Cell::Context(name) => styled(&cut, of_context(name), layout.color),
        _ => cut,
    }
}

/// Appends a line of cells. Text is left-aligned, and figures are right-aligned.
fn put_line<'a>(
    text: &mut String,
    cells: impl Iterator<Item = (&'a Column<'a>, String)>,
    style: Option<Style>,
    layout: Layout,
) {
    let mut line = String::new();
    for (index, (column, cell)) in cells.enumerate() {
        if index > 0 {
            line.push_str("  ");
        }
        if index == 0 || column.is_text {
            line.push_str(&padded(&cell, column.width));
        } else {
            let blanks = column.width.saturating_sub(display_width(&cell));
            line.extend(std::iter::repeat_n(' ', blanks));
            line.push_str(&cell);
        }
    }
    // Remove spaces at the end of a line, as editors do.
    let line = line.trim_end();
    match style {
        Some(style) => text.push_str(&styled(line, style, layout.color)),
        None => text.push_str(line),
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn<const N: usize>(
        width: Option<usize>,
        names: &[&str; N],
        rows: &[[Cell; N]],
    ) -> String {
        let mut text = String::new();
        table(&mut text, Layout { width, color: false }, names, rows.iter().cloned());
        text
    }

    #[test]
    fn a_name_of_any_length_makes_no_column_wide() {
        let long = "x".repeat(usize::from(u16::MAX) + 1);
        let row = |name: &str, count: u64| [Cell::from(name), count.into()];
        let rows = [row(&long, 1), row("short", 22)];
        let text = drawn(None, &["NAME", "N"], &rows);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[1], format!("{:<100}   N", "NAME"));
        assert_eq!(lines[2], format!("{long}   1"));
        assert_eq!(lines[3], format!("{:<100}  22", "short"));
        let lines = drawn(Some(40), &["NAME", "N"], &rows);
        assert_eq!(lines.lines().nth(2), Some(&*format!("{}…   1", "x".repeat(18))));
    }

    #[test]
    fn the_largest_time_of_a_column_selects_its_unit() {
        let unit = |longest: u64| {
            let rows = [["a".into(), Cell::Time(longest)], ["b".into(), Cell::Time(0)]];
            let text = drawn(None, &["T", "TIME"], &rows);
            text.split_whitespace().skip(2).map(str::to_owned).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(unit(999), "ns a 999 b 0");
        assert_eq!(unit(1000), "us a 1.000 b 0.000");
        assert_eq!(unit(9_999_999), "us a 9999.999 b 0.000");
        assert_eq!(unit(10_000_000), "ms a 10.000 b 0.000");
        assert_eq!(unit(10_000_000_000), "s a 10.000 b 0.000");
        assert_eq!(
            drawn(None, &["T", "N"], &[["a".into(), Cell::Ticks(1)]]),
            "\nT      N\n   ticks\na      1\n"
        );
    }

    #[test]
    fn the_columns_of_a_group_have_one_unit() {
        let units = |shortest: u64, longest: u64| {
            let row = ["a".into(), Cell::Time(shortest), Cell::Time(longest), Cell::Time(0)];
            let (mut text, rows) = (String::new(), [row]);
            let (layout, names) = (Layout { width: None, color: false }, ["T", "MIN", "MAX", "AT"]);
            table_with_groups(&mut text, layout, &names, &[&[1, 2]], rows.iter().cloned());
            text.split_whitespace().skip(4).map(str::to_owned).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(units(930_445, 15_775_000), "ms ms ns a 0.930 15.775 0");
        assert_eq!(units(9_000, 15_775_000), "us us ns a 9.000 15775.000 0");
        assert_eq!(units(0, 15_775_000), "ms ms ns a 0.000 15.775 0");
        assert_eq!(units(5, 20_000_000_000), "ms ms ns a 0.000 20000.000 0");
    }

    #[test]
    fn a_long_cell_continues_on_further_lines() {
        let row = |why: &str| ["a".into(), 7.into(), Cell::Long(why.to_owned())];
        let why = "one two three four five six seven eight nine";
        let text = drawn(Some(40), &["T", "N", "WHY"], &[row(why), row("ten")]);
        let expected =
            "\nT  N  WHY\na  7  one two three four five six seven\n        eight nine\na  7  ten\n";
        assert_eq!(text, expected);
        // There is no room beside the other columns.
        let text = drawn(Some(20), &["T", "NUMBER", "WHY"], &[row(why)]);
        assert!(
            text.ends_with(
                "\nT  WHY\na  one two three\n     four five six\n     seven eight\n     nine\n"
            ),
            "{text}"
        );
        assert!(drawn(None, &["T", "N", "WHY"], &[row(why)]).ends_with(&format!("a  7  {why}\n")));
    }

    #[test]
    fn columns_without_figures_are_left_out() {
        let row = |name: &str, missed| [name.into(), Cell::Unknown, Cell::rare(missed), 7.into()];
        let names = ["T", "UNKNOWN", "MISSED", "N"];
        let text = drawn(None, &names, &[row("a", 0), row("b", 0)]);
        assert_eq!(text, "\nT  N\na  7\nb  7\n");
        let text = drawn(None, &names, &[row("a", 0), row("b", 5)]);
        assert_eq!(text, "\nT  MISSED  N\na       0  7\nb       5  7\n");
        assert_eq!(drawn(None, &names, &[]), "");
    }

    #[test]
    fn a_wide_table_is_split_and_each_part_has_the_names() {
        let row = |name: &str| [name.into(), 1.into(), 2.into(), 3.into()];
        let text = drawn(Some(22), &["TASK", "FIRST", "SECOND", "THIRD"], &[row("one")]);
        assert_eq!(
            text,
            "\nTASK  FIRST  SECOND\none       1       2\n\nTASK  THIRD\none       3\n"
        );
    }
}
