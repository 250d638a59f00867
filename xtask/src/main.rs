//! What is done around the build: `cargo run -p xtask -- check` keeps the borders that ARCHITECTURE.md
//! promises, `cargo run -p xtask -- install-c` puts the C library where compilers and readers look.
//!
//! `sources` looks at lines of files, `dependencies` at what cargo says of the crates, `install` copies.
#![forbid(unsafe_code)]

mod dependencies;
mod install;
mod sources;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- check
       cargo run -p xtask -- install-c --prefix FOLDER [--destdir FOLDER] [--profile NAME] [--target-dir FOLDER]";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("check") if arguments.next().is_none() => check(&root),
        Some("install-c") => match install::Options::parse(arguments) {
            Some(options) => report(install::install(&root, &options)),
            None => misused(),
        },
        _ => misused(),
    }
}

fn misused() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn report(done: Result<(), String>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn check(root: &Path) -> ExitCode {
    let mut faults = sources::check(root);
    faults.extend(dependencies::check(root));
    for fault in &faults {
        eprintln!("{fault}");
    }
    println!("{} faults", faults.len());
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
