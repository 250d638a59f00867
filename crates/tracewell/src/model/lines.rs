//! Lines of source code of the recorded program, by address. This module only looks lines up;
//! `input::lines` reads them from the program's debug information.

/// A line of the program's source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place<'a> {
    /// Name of the file, without its folders.
    pub file: &'a str,
    /// Number of the line; the first one has number 1.
    pub line: u32,
}

/// The lines of a program, by address.
///
/// ```
/// use tracewell::model::{Lines, Place};
///
/// let mut lines = Lines::default();
/// let file = lines.add_file("main.c");
/// lines.add(0x100, Some((file, 12)));
/// lines.add(0x108, None);
/// lines.finish();
/// assert_eq!(lines.find(0x104), Some(Place { file: "main.c", line: 12 }));
/// assert_eq!(lines.find(0x108), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lines {
    files: Vec<String>,
    /// Sorted by address after [`finish`](Self::finish).
    rows: Vec<Row>,
    /// The reason why lines are missing, if the debug information could not be read completely.
    pub damage: Option<String>,
}

/// The line of all addresses from `from` up to the address of the next row.
#[derive(Clone, Copy, Debug)]
struct Row {
    from: u64,
    file: u32,
    /// The number of the line; 0 if the addresses have no line.
    line: u32,
}

impl Lines {
    /// Adds a file, and returns its number for [`add`](Self::add).
    pub fn add_file(&mut self, name: &str) -> u32 {
        self.files.push(name.to_owned());
        (self.files.len() - 1) as u32
    }

    /// Adds the file and the line of all addresses from `address` up to the next added address.
    /// `None` says that these addresses have no line.
    pub fn add(&mut self, address: u64, place: Option<(u32, u32)>) {
        let (file, line) = place.unwrap_or_default();
        let is_known = |last: &Row| last.from < address && (last.file, last.line) == (file, line);
        if !self.rows.last().is_some_and(is_known) {
            self.rows.push(Row { from: address, file, line });
        }
    }

    /// Sorts the added rows. Call this once before [`find`](Self::find).
    pub fn finish(&mut self) {
        // If one function ends at the address at which another begins, the beginning has priority.
        self.rows.sort_by_key(|row| (row.from, row.line != 0));
        self.rows.shrink_to_fit();
    }

    /// Returns the number of changes from one line to another.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if no address has a line.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the line of an address. Takes logarithmic time in the number of lines.
    pub fn find(&self, address: u64) -> Option<Place<'_>> {
        let next = self.rows.partition_point(|row| row.from <= address);
        let Row { file, line, .. } = *self.rows.get(next.checked_sub(1)?)?;
        let file = self.files.get(file as usize)?;
        (line != 0).then_some(Place { file, line })
    }
}
