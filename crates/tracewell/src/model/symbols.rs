//! Symbols of the recorded program, which give names to the addresses in a trace. This module only
//! looks symbols up; `input::elf` reads them from a file.

use std::fmt;

use super::{Lines, Place};

/// A symbol of a program: a function or a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The address of its first byte.
    pub address: u64,
    /// Its size in bytes; 0 if it is unknown. If the size is unknown, the symbol gives a name only
    /// to its own address.
    pub size: u64,
    /// Its name, spelled as in the source of the program.
    pub name: String,
    /// True for a function.
    pub is_code: bool,
}

/// Properties of the program to which the symbols belong.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// Path of its file, for messages.
    pub path: String,
    /// Number of bits of an address: 32 or 64.
    pub bits: usize,
    /// True if bit 0 of a code address selects a mode of the processor (ARM's Thumb bit) and is not
    /// a part of the address.
    pub has_thumb: bool,
    /// True if the system chooses the addresses when it loads the program. In this case, the
    /// addresses in the trace may differ from those in the file.
    pub is_movable: bool,
}

/// The symbols of a program, by address.
///
/// ```
/// use tracewell::model::{Program, Symbol, SymbolTable};
///
/// let symbol = |address, size, name: &str, is_code| {
///     Symbol { address, size, name: name.to_owned(), is_code }
/// };
/// let program = Program { bits: 32, has_thumb: true, ..Program::default() };
/// let main = symbol(0x800_0100, 8, "main", true);
/// let queues = symbol(0x2000_0000, 64, "queues", false);
/// let table = SymbolTable::new(program, vec![main, queues]);
/// let name = |address| table.find(address).map(|found| found.to_string());
/// assert_eq!(name(0x800_0101).as_deref(), Some("main"));
/// assert_eq!(name(0x2000_0010).as_deref(), Some("queues+0x10"));
/// assert_eq!(name(0x2000_0040), None);
/// ```
#[derive(Debug, Default)]
pub struct SymbolTable {
    program: Program,
    symbols: Vec<Symbol>,
    /// The addresses of symbols, in increasing order. Ranges do not overlap.
    ranges: Vec<Range>,
    lines: Lines,
}

/// A range of addresses that belong to one symbol.
#[derive(Clone, Copy, Debug)]
struct Range {
    from: u64,
    /// The last address.
    to: u64,
    symbol: usize,
}

/// An address within a symbol. `Display` writes `name` or `name+0x10`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolAt<'a> {
    /// Name of the symbol.
    pub name: &'a str,
    /// Number of bytes from the beginning of the symbol.
    pub offset: u64,
    /// The line of the source, if the address belongs to code and the program has debug
    /// information. `Display` leaves it out.
    pub place: Option<Place<'a>>,
}

impl fmt::Display for SymbolAt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            0 => f.pad(self.name),
            offset => f.pad(&format!("{}+0x{offset:X}", self.name)),
        }
    }
}

impl SymbolTable {
    /// Creates a table. If several symbols contain an address, the address belongs to the symbol
    /// that begins last. If several symbols begin at the same address, the smallest one has
    /// priority. If their sizes are equal, too, the first one in `symbols` has priority. A symbol
    /// of unknown size gives a name to its address only if no other symbol contains this address.
    pub fn new(program: Program, mut symbols: Vec<Symbol>) -> Self {
        // At each address, the last symbol in the list has priority, so the smallest symbol must
        // come last. If several symbols have the same address and size, the first one in `symbols`
        // comes last, because the list was reversed and the sort is stable.
        symbols.reverse();
        symbols.sort_by_key(|symbol| (symbol.address, std::cmp::Reverse(symbol.size)));
        let mut ranges = sized_ranges(&symbols);
        let unsized_length = if program.has_thumb { 2 } else { 1 };
        let points: Vec<_> = symbols
            .iter()
            .enumerate()
            .filter(|(_, symbol)| symbol.size == 0 && range_of(&ranges, symbol.address).is_none())
            .map(|(index, symbol)| {
                let length = if symbol.is_code { unsized_length } else { 1 };
                let to = symbol.address.saturating_add(length - 1);
                Range { from: symbol.address, to, symbol: index }
            })
            .collect();
        ranges.extend(points);
        ranges.sort_by_key(|range| range.from);
        Self { program, symbols, ranges, lines: Lines::default() }
    }

    /// Adds the lines of the program's source.
    #[must_use]
    pub fn with_lines(self, lines: Lines) -> Self {
        Self { lines, ..self }
    }

    /// Returns the lines of the program's source. The list is empty if the program has no debug
    /// information.
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Returns the properties of the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the number of symbols.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Returns true if there are no symbols.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// Returns the symbol that contains an address. Returns `None` if the program's addresses are
    /// wider than the trace's addresses, which have `digits` hexadecimal digits.
    pub fn find_in(&self, address: u64, digits: usize) -> Option<SymbolAt<'_>> {
        (self.program.bits <= 4 * digits).then(|| self.find(address))?
    }

    /// Returns the symbol that contains an address. Address 0 belongs to no symbol, because traces
    /// contain 0 if there is no address.
    ///
    /// Takes logarithmic time in the number of symbols.
    pub fn find(&self, address: u64) -> Option<SymbolAt<'_>> {
        if address == 0 {
            return None;
        }
        let Range { symbol, .. } = range_of(&self.ranges, address)?;
        let Symbol { address: start, name, is_code, .. } = self.symbols.get(*symbol)?;
        let is_mode = self.program.has_thumb && *is_code;
        let address = if is_mode { address & !1 } else { address };
        let place = is_code.then(|| self.lines.find(address)).flatten();
        Some(SymbolAt { name, offset: address.saturating_sub(*start), place })
    }
}

/// Returns the range that contains an address.
fn range_of(ranges: &[Range], address: u64) -> Option<&Range> {
    let next = ranges.partition_point(|range| range.from <= address);
    ranges.get(next.checked_sub(1)?).filter(|range| address <= range.to)
}

/// Divides the addresses of symbols into ranges that do not overlap. The symbols must be sorted and
/// have known sizes.
fn sized_ranges(symbols: &[Symbol]) -> Vec<Range> {
    let mut ranges = Vec::new();
    // The symbols that contain the address `from`, with their last addresses. The last symbol in
    // this list has priority.
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut from = 0;
    // Adds the ranges of open symbols up to `limit`, exclusive.
    let mut close = |open: &mut Vec<(usize, u64)>, from: &mut u64, limit: Option<u64>| {
        while let Some((symbol, to)) = open.last().copied() {
            let end = limit.map_or(to, |limit| to.min(limit - 1));
            if *from <= end {
                ranges.push(Range { from: *from, to: end, symbol });
                // There is no address after the last one.
                let Some(next) = end.checked_add(1) else { return };
                *from = next;
            }
            if limit.is_some_and(|limit| to >= limit) {
                break;
            }
            open.pop();
        }
    };
    for (index, symbol) in symbols.iter().enumerate().filter(|(_, symbol)| symbol.size > 0) {
        // There is no address below 0.
        if symbol.address > 0 {
            close(&mut open, &mut from, Some(symbol.address));
        }
        from = symbol.address;
        open.push((index, symbol.address.saturating_add(symbol.size - 1)));
    }
    close(&mut open, &mut from, None);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn symbol(address: u64, size: u64, name: &str) -> Symbol {
        Symbol { address, size, name: name.to_owned(), is_code: false }
    }

    fn table(symbols: Vec<Symbol>) -> SymbolTable {
        SymbolTable::new(Program { bits: 32, ..Program::default() }, symbols)
    }

    fn name(table: &SymbolTable, address: u64) -> Option<String> {
        table.find(address).map(|found| found.to_string())
    }

    #[test]
    fn an_address_belongs_to_the_innermost_symbol() {
        let table = table(vec![
            symbol(100, 50, "outer"),
            symbol(110, 10, "inner"),
            symbol(140, 30, "overlapping"),
            symbol(100, 50, "alias"),
            symbol(115, 0, "label"),
            symbol(200, 0, "handler"),
        ]);
        for (address, expected) in [
            (99, None),
            (100, Some("outer")),
            (109, Some("outer+0x9")),
            (110, Some("inner")),
            (115, Some("inner+0x5")),
            (120, Some("outer+0x14")),
            (139, Some("outer+0x27")),
            (140, Some("overlapping")),
            (169, Some("overlapping+0x1D")),
            (170, None),
            (200, Some("handler")),
            (201, None),
        ] {
            assert_eq!(name(&table, address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn bit_0_of_code_is_a_mode_only_in_programs_with_thumb() {
        let code = |has_thumb| {
            let program = Program { bits: 32, has_thumb, ..Program::default() };
            let function = Symbol { is_code: true, ..symbol(0x100, 4, "f") };
            let label = Symbol { is_code: true, ..symbol(0x200, 0, "asm") };
            SymbolTable::new(program, vec![function, label, symbol(0x300, 4, "data")])
        };
        let names = |table: &SymbolTable| [0x101, 0x201, 0x301].map(|at| name(table, at));
        let owned = |text: &str| Some(text.to_owned());
        assert_eq!(names(&code(true)), [owned("f"), owned("asm"), owned("data+0x1")]);
        assert_eq!(names(&code(false)), [owned("f+0x1"), None, owned("data+0x1")]);
    }

    #[test]
    fn the_whole_range_of_addresses_is_possible() {
        let last = symbol(u64::MAX - 1, 9, "last");
        let table = table(vec![symbol(0, u64::MAX, "all"), symbol(9, u64::MAX, "most"), last]);
        assert_eq!(name(&table, 0), None);
        assert_eq!(name(&table, 1).as_deref(), Some("all+0x1"));
        assert_eq!(name(&table, 10).as_deref(), Some("most+0x1"));
        assert_eq!(name(&table, u64::MAX).as_deref(), Some("last+0x1"));
    }

    proptest! {
        #[test]
        fn lookups_agree_with_a_search_of_all_symbols(
            places in prop::collection::vec((1_u64..60, 1_u64..20), 0..12)
        ) {
            let named = |(at, (address, size)): (usize, &(u64, u64))| {
                symbol(*address, *size, &at.to_string())
            };
            let symbols: Vec<_> = places.iter().enumerate().map(named).collect();
            let table = table(symbols.clone());
            for address in 1..90 {
                let holds = |s: &&Symbol| (s.address..s.address + s.size).contains(&address);
                let start = symbols.iter().filter(holds).map(|s| s.address).max();
                let same = symbols.iter().filter(holds).filter(|s| Some(s.address) == start);
                // If symbols are equal, `min_by_key` returns the first one.
                let expected = same.min_by_key(|s| s.size);
                let expected = expected.map(|s| (s.name.as_str(), address - s.address));
                prop_assert_eq!(table.find(address).map(|f| (f.name, f.offset)), expected);
            }
        }
    }
}
