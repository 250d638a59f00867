//! Formats entries that are given in hexadecimal, with a template text.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of this")]

use tracewell::template::{Entry, Environment, EventContext, Machine, Program, Source};

/// Converts hexadecimal digits to bytes. Ignores spaces.
pub fn bytes(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Compiles a template text, which must be valid.
pub fn program(text: &str) -> Program {
    let source = Source::new("test.fmt", text);
    let compiled = Program::of(std::slice::from_ref(&source));
    let shown: Vec<_> = compiled.findings.iter().map(|(_, f)| f.show(&source)).collect();
    assert!(compiled.is_valid(), "{}", shown.join("\n"));
    compiled.program
}

/// Formats an entry with a file of templates.
pub fn formatted(bits: u8, file: &str, hex: &str, around: &EventContext<'_>) -> String {
    let bytes = bytes(hex);
    let environment = if bits == 64 { Environment::Bits64 } else { Environment::Bits32 };
    let entry = Entry::hook(environment, &bytes).unwrap();
    Machine::default().format(&program(file), &entry, around).text()
}

/// Formats an entry of hook 0AA, with its description.
pub fn described(bits: u8, description: &str, hex: &str) -> String {
    formatted(bits, &format!("0AA 1.0 \"@\" {description}"), hex, &EventContext::default())
}
