//! `cargo run -p xtask -- check`: keeps the borders that ARCHITECTURE.md promises.
//!
//! `sources` looks at lines of files, `dependencies` at what cargo says of the crates.
#![forbid(unsafe_code)]

mod dependencies;
mod sources;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() != Some("check") {
        eprintln!("usage: cargo run -p xtask -- check");
        return ExitCode::from(2);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut faults = sources::check(&root);
    faults.extend(dependencies::check(&root));
    for fault in &faults {
        eprintln!("{fault}");
    }
    println!("{} faults", faults.len());
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
