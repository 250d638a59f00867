//! Rules about dependencies: the size of each crate's dependency tree, and crates that must not be
//! in it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Maximum number of crates in a crate's dependency tree, including the crate itself and crates of
/// this workspace.
const LIMITS: [(&str, usize); 9] = [
    ("tracewell-capi", 6),
    ("tracewell-posix", 4),
    ("tracewell-wire", 1),
    ("tracewell-record", 2),
    ("tracewell-rtos-trace", 5),
    ("tracewell-tracing", 10),
    ("tracewell", 42),
    ("tracewell-web", 43),
    ("tracewell-cli", 80),
];

/// Query engines, which are too large for these crates.
const ENGINES: [&str; 3] = ["arrow", "parquet", "datafusion"];

/// Returns a fault for each tree that breaks a rule.
pub(crate) fn check(root: &Path) -> Vec<String> {
    LIMITS
        .iter()
        .flat_map(|(name, limit)| match tree(root, name) {
            Ok(crates) => faults(name, *limit, &crates),
            Err(message) => vec![message],
        })
        .collect()
}

/// Returns the crates in the tree of a crate, including those of build scripts.
fn tree(root: &Path, name: &str) -> Result<BTreeSet<String>, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let arguments = ["tree", "--prefix", "none", "--edges", "normal,build", "--package", name];
    let output = Command::new(cargo).args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("cargo tree: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let named = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?))
    };
    Ok(text.lines().filter_map(named).collect())
}

fn faults(name: &str, limit: usize, crates: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    if crates.len() > limit {
        faults.push(format!("{name}: at most {limit} crates, found {}", crates.len()));
    }
    let is_engine = |found: &&String| {
        let word = found.split(' ').next().unwrap_or(found);
        ENGINES.iter().any(|engine| word == *engine || word.starts_with(&format!("{engine}-")))
    };
    faults.extend(crates.iter().filter(is_engine).map(|found| format!("{name}: has {found}")));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_crates_and_engines_are_faults() {
        let crates = ["a v1", "arrow-array v59", "arrows v1"].map(str::to_owned).into();
        let found = faults("tracewell-cli", 2, &crates);
        let expected =
            ["tracewell-cli: at most 2 crates, found 3", "tracewell-cli: has arrow-array v59"];
        assert_eq!(found, expected);
    }
}
