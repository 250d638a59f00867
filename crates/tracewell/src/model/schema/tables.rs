//! Tables of names for numbers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::Schema;
use super::file::Names;

/// The position of a table of names in the list of tables of its schema.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TableId(pub(super) u16);

impl TableId {
    /// Returns the position of this table among the tables of its schema.
    pub(crate) const fn number(self) -> u16 {
        self.0
    }
}

/// A table of names for numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) is_flags: bool,
    /// True if the numbers have a sign.
    is_signed: bool,
    /// Numbers and names in the order of their definitions.
    names: Vec<(u64, String)>,
    /// Positions in `names`, by number.
    positions: BTreeMap<u64, usize>,
    pub(super) unit: String,
}

impl Table {
    pub(super) fn new(name: String, is_flags: bool, table: Names) -> Self {
        // If a number has several names, the first one is valid.
        let numbers = table.names.iter().enumerate().rev();
        let positions = numbers.map(|(position, (number, _))| (*number, position)).collect();
        let Names { names, unit } = table;
        Self { name, is_flags, is_signed: false, names, positions, unit }
    }

    pub(super) fn add_names(&mut self, names: impl Iterator<Item = (u64, String)>) {
        for (number, name) in names {
            match self.positions.entry(number) {
                Entry::Occupied(known) => self.names[*known.get()].1 = name,
                Entry::Vacant(new) => {
                    new.insert(self.names.len());
                    self.names.push((number, name));
                }
            }
        }
    }
}

impl Schema {
    /// Returns the name of a number in a table.
    pub fn enum_name(&self, table: TableId, value: u64) -> Option<&str> {
        let Table { names, positions, .. } = self.tables.get(usize::from(table.0))?;
        names.get(*positions.get(&value)?).map(|(_, name)| name.as_str())
    }

    /// Returns the names of numbered objects. Each element contains the code of the object's type,
    /// the object's number and its name. The names come from tables that are named after a type.
    pub(crate) fn object_names(&self) -> impl Iterator<Item = (u32, u64, &str)> {
        let tables = self.tables.iter().filter(|table| !table.is_flags);
        tables.flat_map(|table| {
            let kinds = self.kinds.iter().filter(|kind| kind.numbered && kind.label == table.name);
            kinds.flat_map(|kind| {
                table.names.iter().map(|(number, name)| (kind.code, *number, name.as_str()))
            })
        })
    }

    /// Sets the names of numbers in a table, and replaces existing names.
    pub fn name_values(&mut self, table: TableId, names: impl Iterator<Item = (u64, String)>) {
        if let Some(table) = self.tables.get_mut(usize::from(table.0)) {
            table.add_names(names);
        }
    }

    /// Adds a table of names for numbers. If a number has several names, the first one applies.
    ///
    /// Returns `None` if the schema already has 65 536 tables.
    ///
    /// ```
    /// use tracewell::model::schema::Schema;
    ///
    /// let mut schema = Schema::parse("", "mine.toml").unwrap();
    /// let names = [(0, "off".to_owned()), (1, "on".to_owned())];
    /// let table = schema.add_table("state", names).unwrap();
    /// assert_eq!(schema.enum_name(table, 1), Some("on"));
    /// ```
    pub fn add_table(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = (u64, String)>,
    ) -> Option<TableId> {
        let id = TableId(u16::try_from(self.tables.len()).ok()?);
        let names = Names { names: names.into_iter().collect(), unit: String::new() };
        self.tables.push(Table::new(name.to_owned(), false, names));
        Some(id)
    }

    /// Adds a table like [`Schema::add_table`], but for signed numbers: 64 bits in two's
    /// complement.
    ///
    /// ```
    /// use tracewell::model::schema::{ArgumentKind, Schema};
    ///
    /// let mut schema = Schema::parse("", "mine.toml").unwrap();
    /// let names = [(-1_i64 as u64, "none".to_owned())];
    /// let table = schema.add_signed_table("index", names).unwrap();
    /// assert_eq!(schema.number_kind(ArgumentKind::Enum(table)), ArgumentKind::Signed);
    /// ```
    pub fn add_signed_table(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = (u64, String)>,
    ) -> Option<TableId> {
        let id = self.add_table(name, names)?;
        if let Some(table) = self.tables.last_mut() {
            table.is_signed = true;
        }
        Some(id)
    }

    /// Returns true if the numbers of a table have a sign.
    pub(super) fn is_signed(&self, table: TableId) -> bool {
        self.tables.get(usize::from(table.0)).is_some_and(|table| table.is_signed)
    }

    /// Returns the text to print after a number that has no name in the table, such as ` ticks`.
    pub fn unit(&self, table: TableId) -> &str {
        self.tables.get(usize::from(table.0)).map_or("", |table| &table.unit)
    }

    /// Returns the bits of a table with their names.
    pub fn flags(&self, table: TableId) -> impl Iterator<Item = (u64, &str)> {
        let names = self.tables.get(usize::from(table.0)).map(|table| &table.names);
        names.into_iter().flatten().map(|(bits, name)| (*bits, name.as_str()))
    }
}
