//! Development tasks: `cargo xtask check` checks the rules of ARCHITECTURE.md, `install-c`
//! installs the C library, `dist` makes the packages of the program, `page` makes the static page,
//! and `book` makes a book from the docs.
//!
//! | module | contents |
//! |---|---|
//! | `sources` | the rules about files, applied to the whole repository |
//! | `borders` | tiers of modules, circles of files |
//! | `words` | language and width of lines |
//! | `links` | links of pages |
//! | `rust` | splits Rust source into code, comments and strings |
//! | `dependencies` | numbers of crates, from `cargo tree` |
//! | `install` | builds and copies the C library |
//! | `build` | builds crates for a target, for `dist` and `page` |
//! | `dist` | builds the program and makes an archive and a Debian package |
//! | `page` | builds the reader as WebAssembly and makes the static page |
//! | `book` | calls mdbook |
//! | `steps` | commands, copies, links |
#![forbid(unsafe_code)]

mod book;
mod borders;
mod build;
mod dependencies;
mod dist;
mod install;
mod links;
mod page;
mod rust;
mod sources;
mod steps;
mod words;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- check
       cargo run -p xtask -- install-c --prefix FOLDER [--destdir FOLDER] [--profile NAME] [--target-dir FOLDER]
       cargo run -p xtask -- dist [--output FOLDER] [--profile NAME] [--target-dir FOLDER]
       cargo run -p xtask -- page [--output FOLDER] [--profile NAME] [--target-dir FOLDER]
       cargo run -p xtask -- book";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("check") if arguments.next().is_none() => check(&root),
        Some("book") if arguments.next().is_none() => report(book::make(&root)),
        Some("install-c") => match install::Options::parse(arguments) {
            Some(options) => report(install::install(&root, &options)),
            None => misused(),
        },
        Some("dist") => match build::Options::parse(root.join("target/dist"), arguments) {
            Some(options) => report(dist::make(&root, &options)),
            None => misused(),
        },
        Some("page") => match build::Options::parse(root.join("target/page/files"), arguments) {
            Some(options) => report(page::make(&root, &options)),
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
