//! Reads the symbols of a program from its ELF file. The symbols name addresses in a trace
//! ([`SymbolTable`]).
//!
//! Chapter 4 of the System V ABI, "Object Files", defines the layout. Section 5.5 of "ELF for the
//! Arm Architecture" defines the mapping symbols, such as `$t`, and bit 0 of function addresses.
//! The crate `object` reads the structures. This module selects the symbols that name addresses in
//! memory, and `lines` reads the line tables.

use std::fmt::{self, Write};

use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader, Sym, SymbolTable as Entries};

use super::{foreign, lines};
use crate::compressed::Compression;
use crate::format;
use crate::model::{Program, Symbol, SymbolTable};
use crate::text::shown;

/// Error for a file that has no symbols for a trace. The messages do not contain the path.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ElfError {
    /// The file is not an ELF file.
    #[error("at byte 0: expected an ELF file, found {0}")]
    NotElf(String),
    /// The file is the output of a compiler, without the addresses that a linker chooses.
    #[error("expected a linked program, found an object file, which has no addresses yet")]
    NotLinked,
    /// The file has no symbol that names an address.
    #[error("expected symbols, found none: give the file as the linker wrote it, not stripped")]
    NoSymbols,
    /// A structure extends past the end of the file, or its fields contradict each other.
    #[error("at byte {offset}: cannot read {part} of this ELF file")]
    Damaged {
        /// Offset of the structure in bytes.
        offset: u64,
        /// Name of the structure.
        part: &'static str,
    },
}

/// Maximum length in bytes of a readable name that replaces a mangled name. The encodings of
/// compilers can describe names of any length in a few bytes.
const MAX_READABLE: usize = 1024;

/// Maximum total length of the names in the file, as a multiple of the file's length. The same
/// maximum applies to the readable names. Names can share bytes of the file, so a small damaged
/// file could otherwise take hours, or fill the memory.
const MAX_NAMES: usize = 4;

/// Reads the symbols of a program from the bytes of its ELF file. `path` is for later messages.
///
/// # Errors
/// Returns an error if the bytes are not an ELF file, or have no symbols with addresses.
pub fn symbols(path: &str, bytes: &[u8]) -> Result<SymbolTable, ElfError> {
    let program = Program { path: path.to_owned(), ..Program::default() };
    match bytes {
        [0x7F, b'E', b'L', b'F', 1, ..] => {
            read::<FileHeader32<Endianness>>(Program { bits: 32, ..program }, bytes)
        }
        [0x7F, b'E', b'L', b'F', 2, ..] => {
            read::<FileHeader64<Endianness>>(Program { bits: 64, ..program }, bytes)
        }
        [0x7F, b'E', b'L', b'F', ..] => Err(ElfError::Damaged { offset: 4, part: "the class" }),
        _ => Err(ElfError::NotElf(found(bytes))),
    }
}

/// Returns the kind of a file that is not an ELF file.
fn found(bytes: &[u8]) -> String {
    let start = bytes.get(..64 * 1024).unwrap_or(bytes);
    let compression = || Some(format!("{} data", Compression::recognise(start)?.name()));
    let trace = || Some(format!("a {} trace", format::recognise(start)?.name));
    match start {
        [] => "an empty file".to_owned(),
        _ => foreign::name(start)
            .map(str::to_owned)
            .or_else(compression)
            .or_else(trace)
            .unwrap_or_else(|| "other data".to_owned()),
    }
}

fn read<Elf: FileHeader<Endian = Endianness>>(
    program: Program,
    bytes: &[u8],
) -> Result<SymbolTable, ElfError> {
    let damaged = |part, offset: u64| move |_| ElfError::Damaged { offset, part };
    let header = Elf::parse(bytes).map_err(damaged("the header", 0))?;
    let endian = header.endian().map_err(damaged("the byte order", 5))?;
    let kind = header.e_type(endian);
    if kind == elf::ET_REL {
        return Err(ElfError::NotLinked);
    }
    let offset = header.e_shoff(endian).into();
    let sections = header.sections(endian, bytes);
    let sections = sections.map_err(damaged("the section headers", offset))?;
    let symbols = sections.iter().find(|section| section.sh_type(endian) == elf::SHT_SYMTAB);
    let offset = symbols.map_or(0, |section| section.sh_offset(endian).into());
    let entries = sections.symbols(endian, bytes, elf::SHT_SYMTAB);
    let entries = entries.map_err(damaged("the symbol table", offset))?;
    let has_thumb = header.e_machine(endian) == elf::EM_ARM;
    let limit = MAX_NAMES.saturating_mul(bytes.len());
    let symbols = definitions(&entries, endian, has_thumb, limit)
        .ok_or(ElfError::Damaged { offset, part: "the names of symbols" })?;
    if symbols.is_empty() {
        return Err(ElfError::NoSymbols);
    }
    let program = Program { has_thumb, is_movable: kind == elf::ET_DYN, ..program };
    let lines = lines::read(header.is_big_endian(), |name| {
        let section = sections.section_by_name(endian, name.as_bytes()).map(|(_, section)| section);
        // Compressed sections are not read.
        let section = section.filter(|section| !is_compressed(*section, endian));
        section.and_then(|section| section.data(endian, bytes).ok()).unwrap_or_default()
    });
    Ok(SymbolTable::new(program, symbols).with_lines(lines))
}

/// Returns true if the bytes of a section are compressed.
fn is_compressed<S: SectionHeader<Endian = Endianness>>(section: &S, endian: Endianness) -> bool {
    section.sh_flags(endian).contains(elf::SHF_COMPRESSED)
}

/// Returns the symbols that have addresses. Of symbols with equal addresses, the preferred one
/// comes first. Returns `None` if a name is outside the file, or if the total length of the names
/// is too large.
fn definitions<Elf: FileHeader<Endian = Endianness>>(
    entries: &Entries<'_, Elf>,
    endian: Endianness,
    has_thumb: bool,
    mut limit: usize,
) -> Option<Vec<Symbol>> {
    let mut symbols = Vec::new();
    for entry in entries.iter().filter(|entry| has_address(*entry, endian)) {
        let name = entry.name(endian, entries.strings()).ok()?;
        // The limit also covers names that do not become symbols, because searching for their ends
        // takes time, too.
        limit = limit.checked_sub(name.len())?;
        let is_local_label =
            entry.st_type() == elf::STT_NOTYPE && entry.st_bind() == elf::STB_LOCAL;
        // Assemblers use `.L` for labels within functions, and `$` for mapping symbols.
        let is_internal = name.starts_with(b".L") || is_local_label && name.starts_with(b"$");
        if name.is_empty() || is_internal {
            continue;
        }
        let name = readable(name);
        limit = limit.checked_sub(name.len())?;
        let is_code = entry.st_type() == elf::STT_FUNC;
        let value = entry.st_value(endian).into();
        let address = if has_thumb && is_code { value & !1 } else { value };
        let size = entry.st_size(endian).into();
        symbols.push((rank(entry), Symbol { address, size, name, is_code }));
    }
    symbols.sort_by_key(|(rank, _)| *rank);
    Some(symbols.into_iter().map(|(_, symbol)| symbol).collect())
}

/// Returns true if a symbol has an address and is code, data or a label. Does not read the symbol's
/// name.
fn has_address<S: Sym<Endian = Endianness>>(entry: &S, endian: Endianness) -> bool {
    let section = entry.st_shndx(endian);
    let is_in_section = !section.is_special() || section == elf::SHN_XINDEX;
    is_in_section && matches!(entry.st_type(), elf::STT_FUNC | elf::STT_OBJECT | elf::STT_NOTYPE)
}

/// Returns the rank of a symbol; the smallest rank at an address is preferred. Functions and
/// variables precede labels, and global names precede local ones.
fn rank(entry: &impl Sym) -> (bool, u8) {
    let binding = match entry.st_bind() {
        elf::STB_GLOBAL => 0,
        elf::STB_WEAK => 1,
        _ => 2,
    };
    (entry.st_type() == elf::STT_NOTYPE, binding)
}

/// Returns a name as the program's source spells it: names of the Rust and C++ compilers are
/// decoded, and unprintable bytes are escaped.
fn readable(name: &[u8]) -> String {
    let decoded = decode_rust(name).or_else(|| decode_cpp(name));
    let name = decoded.map_or_else(|| name.to_owned(), String::into_bytes);
    shown(&name).into_owned()
}

/// Demangles a name of the Rust compiler and omits the compiler's hash. The names of older Rust
/// compilers are also valid C++ names, so try Rust first.
fn decode_rust(name: &[u8]) -> Option<String> {
    let mut out = Limited(String::new());
    let name = rustc_demangle::try_demangle(std::str::from_utf8(name).ok()?).ok()?;
    write!(out, "{name:#}").ok()?;
    Some(out.0)
}

/// Decodes a name of a C++ compiler, as the Itanium ABI specifies it. Leaves out the types of a
/// function's parameters, which make names long. For example, a handler is shown as
/// `uart::Driver::receive`.
fn decode_cpp(name: &[u8]) -> Option<String> {
    // Require the prefix. Otherwise the demangler could treat the name of a C function as an
    // encoded type.
    if !name.starts_with(b"_Z") {
        return None;
    }
    let mut out = Limited(String::new());
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let symbol = cpp_demangle::BorrowedSymbol::new(name).ok()?;
    symbol.structured_demangle(&mut out, &options).ok()?;
    Some(out.0)
}

/// Text that refuses to become longer than [`MAX_READABLE`].
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_READABLE {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}
