//! Checks that the shared library exports exactly the functions of its headers.

mod build;

use std::collections::BTreeSet;
use std::process::Command;

use build::{here, libraries, optional, succeed};

/// Returns a header without its comments.
fn code_of(header: &str) -> String {
    let text = std::fs::read_to_string(here().join("include").join(header)).unwrap();
    let parts = text.split("/*").enumerate();
    parts.map(|(at, part)| if at == 0 { part } else { part.split_once("*/").unwrap().1 }).collect()
}

/// Returns the names that begin with `prefix` and are followed by a parameter list.
fn functions_of(header: &str, prefix: &str) -> BTreeSet<String> {
    let code = code_of(header);
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let before =
        code.split('(').map(|part| part.rsplit(|character| !is_part(character)).next().unwrap());
    before.filter(|name| name.starts_with(prefix)).map(str::to_owned).collect()
}

#[test]
fn the_shared_library_exports_what_the_headers_declare() {
    let Some(nm) = optional("nm") else { return };
    let mut declared = functions_of("trace.h", "posix_trace_");
    assert_eq!(declared.len(), 50);
    declared.extend(functions_of("tracewell.h", "tw_"));
    let library = libraries().join("libtracewell_capi.so");
    let said = succeed(
        Command::new(nm).args(["-D", "--defined-only", "--format=just-symbols"]).arg(library),
    );
    let exported: BTreeSet<_> = said.lines().map(str::to_owned).collect();
    assert_eq!(exported, declared);
}
