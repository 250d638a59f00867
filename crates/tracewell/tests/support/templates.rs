//! Running a template text over an entry given in hexadecimal.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of this")]

use tracewell::template::{Around, Entry, Environment, Machine, Program, Source};

/// Bytes from hexadecimal digits; blanks do not count.
pub fn bytes(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// A text that must compile.
pub fn program(text: &str) -> Program {
    let source = Source::new("test.fmt", text);
    let compiled = Program::of(std::slice::from_ref(&source));
    let shown: Vec<_> = compiled.findings.iter().map(|(_, f)| f.show(&source)).collect();
    assert!(compiled.is_valid(), "{}", shown.join("\n"));
    compiled.program
}

/// What a file of templates makes of an entry.
pub fn formatted(bits: u8, file: &str, hex: &str, around: &Around<'_>) -> String {
    let bytes = bytes(hex);
    let environment = if bits == 64 { Environment::Bits64 } else { Environment::Bits32 };
    let entry = Entry::hook(environment, &bytes).unwrap();
    Machine::default().format(&program(file), &entry, around).text()
}

/// What a description, that of hook 0AA, makes of an entry.
pub fn described(bits: u8, description: &str, hex: &str) -> String {
    formatted(bits, &format!("0AA 1.0 \"@\" {description}"), hex, &Around::default())
}
