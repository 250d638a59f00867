//! Reads line tables, which assign source lines to addresses, from the debug information of a
//! program's ELF file (DWARF 2 to 5). The crate `gimli` reads the structures. This module selects
//! the line programs and sets limits; it reads no types and no variables.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use gimli::{AbbreviationsCacheStrategy, Dwarf, EndianSlice, RunTimeEndian, SectionId, Unit};

use crate::model::Lines;
use crate::text::shown;

/// The bytes of a section.
type Section<'a> = EndianSlice<'a, RunTimeEndian>;

/// Maximum number of rows, 16 bytes each. Programs for microcontrollers have about 100,000 rows.
const MAX_ROWS: usize = 4 << 20;

/// Maximum total length of all line programs that are run, relative to the length of the section
/// that contains them. Damaged line programs can overlap.
const MAX_RUNS: usize = 2;

/// Reads the lines of all units. `section` returns the bytes of a section by its name; a section
/// that is missing is empty.
///
/// If the debug information is damaged, the result contains the lines before the damage, and the
/// reason why the other lines are missing.
pub(super) fn read<'a>(is_big_endian: bool, section: impl Fn(&str) -> &'a [u8]) -> Lines {
    let endian = if is_big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let load = |id: SectionId| Ok(EndianSlice::new(section(id.name()), endian));
    let mut lines = Lines::default();
    let Ok::<_, Infallible>(mut dwarf) = Dwarf::load(load);
    // Many units can share one table of abbreviations.
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::All);
    let budget = section(SectionId::DebugLine.name()).len().saturating_mul(MAX_RUNS);
    if let Err(fault) = add_units(&dwarf, &mut lines, budget) {
        lines.damage = Some(fault);
    }
    lines.finish();
    lines
}

/// Adds the lines of all units.
fn add_units(
    dwarf: &Dwarf<Section<'_>>,
    lines: &mut Lines,
    mut budget: usize,
) -> Result<(), String> {
    let damaged = |error: gimli::Error| error.to_string();
    let mut seen = HashSet::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next().map_err(damaged)? {
        let unit = dwarf.unit(header).map_err(damaged)?;
        let Some(program) = &unit.line_program else { continue };
        // Units of one compilation share their line program.
        if !seen.insert(program.header().offset().0) {
            continue;
        }
        let length = program.header().raw_program_buf().len();
        budget = budget.checked_sub(length).ok_or("line programs overlap")?;
        add_rows(dwarf, &unit, lines).map_err(damaged)?;
        if lines.len() > MAX_ROWS {
            *lines = Lines::default();
            return Err(format!("more than {MAX_ROWS} rows in the line tables"));
        }
    }
    Ok(())
}

/// Runs the line program of a unit, and adds its rows.
fn add_rows<'a>(
    dwarf: &Dwarf<Section<'a>>,
    unit: &Unit<Section<'a>>,
    lines: &mut Lines,
) -> Result<(), gimli::Error> {
    let Some(program) = unit.line_program.clone() else { return Ok(()) };
    let mut files = HashMap::new();
    let mut rows = program.rows();
    // If a linker leaves out code, it sets the addresses of this code to 0.
    let mut start = None;
    while let Some((header, row)) = rows.next_row()? {
        let is_left_out = *start.get_or_insert(row.address()) == 0;
        if row.end_sequence() {
            start = None;
        }
        if is_left_out {
            continue;
        }
        let line = row.line().filter(|_| !row.end_sequence());
        let place = line.map(|line| {
            let number = row.file_index();
            let file = *files.entry(number).or_insert_with(|| {
                let name = header.file(number).map(|file| file.path_name());
                let name = name.and_then(|name| dwarf.attr_string(unit, name).ok());
                lines.add_file(&base_name(name.map_or(b"?", |name| name.slice())))
            });
            (file, u32::try_from(line.get()).unwrap_or(u32::MAX))
        });
        lines.add(row.address(), place);
    }
    Ok(())
}

/// Returns the name of a file without its folders, for display.
fn base_name(path: &[u8]) -> Cow<'_, str> {
    let name = path.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(path);
    shown(name)
}
