//! Checks the manual pages of the POSIX trace functions (`man/man3`): each function has a page with
//! the prototype of `trace.h`, and formatters report no error.

mod build;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use build::{here, optional};

fn folder() -> PathBuf {
    here().join("man/man3")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the arguments of each function that `trace.h` declares.
fn declared() -> BTreeMap<String, Vec<String>> {
    let header = read(&here().join("include/trace.h")).replace("_TRACE_RESTRICT", "restrict");
    let starts = header.split("\nint posix_").chain(header.split("\nvoid posix_").skip(1));
    let prototypes = starts.filter_map(|text| text.split_once(");")?.0.split_once('('));
    let named = prototypes.filter(|(name, _)| name.starts_with("trace_"));
    named
        .map(|(name, arguments)| {
            let words = |argument: &str| argument.split_whitespace().collect::<Vec<_>>().join(" ");
            (format!("posix_{name}"), arguments.split(',').map(words).collect())
        })
        .collect()
}

/// Returns the page of a function, following a link.
fn page_of(function: &str) -> String {
    let text = read(&folder().join(format!("{function}.3")));
    match text.strip_prefix(".so man3/") {
        Some(target) => read(&folder().join(target.trim_end())),
        None => text,
    }
}

/// Returns the strings between quotation marks.
fn quoted(line: &str) -> Vec<String> {
    line.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the arguments of a function in the synopsis of a page.
fn synopsis(page: &str, function: &str) -> Option<Vec<String>> {
    let mut lines = page.lines();
    let short = format!(".Fn {function} ");
    let long = format!(".Fo {function}");
    let found = lines.find(|line| line.starts_with(&short) || *line == long)?;
    if found != long {
        return Some(quoted(found));
    }
    Some(lines.take_while(|line| *line != ".Fc").flat_map(quoted).collect())
}

#[test]
fn each_function_has_a_page_with_its_prototype() {
    let declared = declared();
    assert_eq!(declared.len(), 50);
    for (function, arguments) in &declared {
        let page = page_of(function);
        let named = [format!(".Nm {function}"), format!(".Nm {function} ,")];
        assert!(page.lines().any(|line| named.iter().any(|name| name == line)), "{function}: NAME");
        assert_eq!(synopsis(&page, function).as_ref(), Some(arguments), "{function}: SYNOPSIS");
    }
    let pages = std::fs::read_dir(folder()).unwrap().count();
    assert_eq!(pages, declared.len(), "a page for each function and no other");
}

/// Returns a formatter that this machine has, with its arguments.
fn formatter() -> Option<(&'static str, &'static [&'static str])> {
    // mandoc has no option to print its version; formatting an empty page shows that it exists.
    let there = |name: &str| Command::new(name).arg("/dev/null").output().is_ok();
    if there("mandoc") {
        return Some(("mandoc", &["-T", "lint", "-W", "warning"]));
    }
    optional("groff").map(|_| ("groff", ["-mdoc", "-Tutf8", "-ww", "-z"].as_slice()))
}

#[test]
fn formatters_have_nothing_to_complain_of() {
    let Some((name, arguments)) = formatter() else { return };
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if read(&path).starts_with(".so ") {
            continue;
        }
        let output = Command::new(name).args(arguments).arg(&path).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(said.is_empty(), "{}: {}", path.display(), String::from_utf8_lossy(&said));
    }
}
