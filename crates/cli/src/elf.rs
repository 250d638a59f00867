//! Reads the symbols of a program from its ELF file, for `--elf` and the key `elf` of a
//! configuration file.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use tracewell::input::{Bytes, elf};
use tracewell::model::SymbolTable;
use tracewell::text::shown_path;

use crate::outcome::Failure;

/// Reads the symbols of a program from a regular file. Maps the file, because debug information can
/// make the file large.
pub(crate) fn read(path: &Path) -> Result<Arc<SymbolTable>, Failure> {
    let shown = shown_path(path).to_string();
    let file = File::open(path).map_err(|error| Failure::io(path, &error))?;
    let metadata = file.metadata().map_err(|error| Failure::io(path, &error))?;
    if !metadata.is_file() {
        return Err(Failure::usage(format!("{shown}: expected a regular file")));
    }
    let bytes = Bytes::map(file).map_err(|error| Failure::io(path, &error))?;
    let symbols = elf::symbols(&shown, &bytes);
    if let Some(length) = bytes.is_cut() {
        let message = format!("{shown}: was truncated to {length} bytes while it was read");
        return Err(Failure::usage(message));
    }
    symbols.map(Arc::new).map_err(|error| Failure::usage(format!("{shown}: {error}")))
}
