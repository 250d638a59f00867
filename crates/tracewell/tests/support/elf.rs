//! Constructs small ELF files with a symbol table. The layout comes directly from the System V ABI.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of this")]

/// Type of a symbol: data.
pub const OBJECT: u8 = 1;
/// Type of a symbol: code.
pub const FUNCTION: u8 = 2;

/// An ELF file to be written. A test changes the fields that it checks.
#[derive(Clone, Debug)]
pub struct Elf {
    pub is_64_bit: bool,
    pub is_big_endian: bool,
    /// 1: an object file, 2: a program, 3: a program whose addresses the system chooses.
    pub kind: u16,
    /// The processor; 40 is ARM.
    pub machine: u16,
    /// Name, address, size, binding (0: local, 1: global, 2: weak) and type.
    pub symbols: Vec<(Vec<u8>, u64, u64, u8, u8)>,
}

impl Elf {
    /// A 32-bit program for ARM without symbols.
    pub fn arm() -> Self {
        Self { is_64_bit: false, is_big_endian: false, kind: 2, machine: 40, symbols: Vec::new() }
    }

    /// Adds a global symbol.
    pub fn global(mut self, name: &str, address: u64, size: u64, kind: u8) -> Self {
        self.symbols.push((name.as_bytes().to_vec(), address, size, 1, kind));
        self
    }

    /// Returns the bytes: the header, the symbols, their names, and three section headers.
    pub fn bytes(&self) -> Vec<u8> {
        let word = if self.is_64_bit { 8 } else { 4 };
        let header = if self.is_64_bit { 64 } else { 52 };
        let symbol = if self.is_64_bit { 24 } else { 16 };
        let mut names = vec![0];
        let mut table = vec![0; symbol];
        for (name, address, size, binding, kind) in &self.symbols {
            let at = names.len() as u64;
            names.extend_from_slice(name);
            names.push(0);
            let kind = u64::from(binding << 4 | kind);
            // Section 1 stands for the section that contains the symbol.
            let fields: &[(u64, usize)] = if self.is_64_bit {
                &[(at, 4), (kind, 1), (0, 1), (1, 2), (*address, 8), (*size, 8)]
            } else {
                &[(at, 4), (*address, 4), (*size, 4), (kind, 1), (0, 1), (1, 2)]
            };
            self.put(&mut table, fields);
        }
        let (symbols, strings) = (header as u64, (header + table.len()) as u64);
        let sections = strings + names.len() as u64;
        let class = if self.is_64_bit { 2 } else { 1 };
        let order = if self.is_big_endian { 2 } else { 1 };
        let mut file = vec![0x7F, b'E', b'L', b'F', class, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let section = if self.is_64_bit { 64 } else { 40 };
        let (kind, machine) = (u64::from(self.kind), u64::from(self.machine));
        self.put(&mut file, &[(kind, 2), (machine, 2), (1, 4), (0, word), (0, word)]);
        self.put(&mut file, &[(sections, word), (0, 4), (header as u64, 2), (0, 2), (0, 2)]);
        self.put(&mut file, &[(section, 2), (3, 2), (2, 2)]);
        file.extend_from_slice(&table);
        file.extend_from_slice(&names);
        file.extend(vec![0; usize::try_from(section).unwrap()]);
        // Each header: name, type, flags, address, offset, size, link, info, alignment, entry size.
        for (kind, at, length, link, entry) in [
            (2, symbols, table.len() as u64, 2, symbol as u64),
            (3, strings, names.len() as u64, 0, 0),
        ] {
            self.put(&mut file, &[(0, 4), (kind, 4), (0, word), (0, word), (at, word)]);
            self.put(&mut file, &[(length, word), (link, 4), (1, 4), (1, word), (entry, word)]);
        }
        file
    }

    /// Appends numbers of these lengths in bytes.
    fn put(&self, out: &mut Vec<u8>, numbers: &[(u64, usize)]) {
        for (number, length) in numbers {
            match self.is_big_endian {
                true => out.extend_from_slice(&number.to_be_bytes()[8 - length..]),
                false => out.extend_from_slice(&number.to_le_bytes()[..*length]),
            }
        }
    }
}
