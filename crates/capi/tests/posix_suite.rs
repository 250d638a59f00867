//! Compiles the conformance suite of the POSIX trace functions (`tests/posix`) in several ways and
//! runs it.
//!
//! The sanitizers check the suite and the pointers that it passes; the library is compiled without
//! them. Tests that do not work under sanitizers are run without sanitizers. `posix/assertions.tsv`
//! lists the assertions and the file of each test. The suite must report exactly these rows, and
//! all must pass. The last tests show that the suite can fail.

mod build;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use build::{Link, SANITIZERS, WARNINGS, compiler, here, optional, sanitizes, succeed};

fn suite() -> PathBuf {
    here().join("tests/posix")
}

/// A row of the table.
struct Assertion {
    id: String,
    functions: Vec<String>,
    test: String,
}

fn assertions() -> Vec<Assertion> {
    let table = std::fs::read_to_string(suite().join("assertions.tsv")).unwrap();
    let row = |line: &str| {
        let [id, functions, _option, _statement, test] =
            line.split('\t').collect::<Vec<_>>().try_into().expect("five columns");
        let functions = functions.split(' ').map(str::to_owned).collect();
        Assertion { id: id.to_owned(), functions, test: test.to_owned() }
    };
    table.lines().skip(1).map(row).collect()
}

/// Returns the ids that the suite must report, each with the file that contains the test.
fn expected() -> BTreeMap<String, String> {
    let in_c = assertions().into_iter().filter(|row| row.test.ends_with(".c"));
    in_c.map(|row| (row.id, row.test)).collect()
}

/// A compiler configuration for the suite.
#[derive(Clone, Copy)]
struct Build<'a> {
    compiler: &'a str,
    level: &'a str,
    sanitized: bool,
    link: Link,
}

/// Compiles the suite.
fn compile(build: Build, folder: &Path) -> PathBuf {
    let program = folder.join("suite");
    let mut command = Command::new(build.compiler);
    command.args(["-std=c11", build.level]).args(WARNINGS);
    if build.sanitized && sanitizes(build.compiler) {
        command.args(SANITIZERS);
    }
    command.arg("-I").arg(here().join("include")).arg("-o").arg(&program);
    let mut sources: Vec<_> =
        std::fs::read_dir(suite()).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    succeed(command.args(sources).args(build.link.arguments()));
    program
}

/// Returns the suite's report: id, and the rest of the line if the test failed.
fn run(program: &Path, arguments: &[&str]) -> BTreeMap<String, Option<String>> {
    let mut command = Command::new(program);
    // Memory that is still allocated at the end of a process is not a leak.
    command.env("ASAN_OPTIONS", "detect_leaks=0").args(arguments);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    if output.status.code() != Some(0) {
        println!("{}", String::from_utf8_lossy(&output.stderr));
    }
    let of_line = |line: &str| {
        if line.contains("# skip") {
            println!("{line}");
        }
        let failed = line.strip_prefix("not ok ");
        let rest = failed.or_else(|| line.strip_prefix("ok ")).expect("ok or not ok");
        let (id, what) = rest.split_once(' ').unwrap_or((rest, ""));
        (id.to_owned(), failed.map(|_| what.to_owned()))
    };
    let answers: Vec<_> = said.lines().map(of_line).collect();
    let count = answers.len();
    let answers: BTreeMap<_, _> = answers.into_iter().collect();
    assert_eq!(answers.len(), count, "an id was reported twice");
    answers
}

fn passes(build: Build) {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(build, folder.path());
    let answers = run(&program, &[]);
    let failed: Vec<_> =
        answers.iter().filter_map(|(id, failed)| failed.as_ref().map(|why| (id, why))).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let reported: BTreeSet<_> = answers.into_keys().collect();
    assert_eq!(
        reported,
        expected().into_keys().collect(),
        "the reported assertions (left) differ from those in assertions.tsv (right)"
    );
}

#[test]
fn gcc_without_optimisation() {
    let Some(gcc) = compiler("CC", "gcc") else { return };
    passes(Build { compiler: &gcc, level: "-O0", sanitized: true, link: Link::Static });
}

#[test]
fn gcc_with_optimisation() {
    let Some(gcc) = compiler("CC", "gcc") else { return };
    passes(Build { compiler: &gcc, level: "-O2", sanitized: true, link: Link::Shared });
}

#[test]
fn clang_without_optimisation() {
    let Some(clang) = optional("clang") else { return };
    passes(Build { compiler: &clang, level: "-O0", sanitized: true, link: Link::Shared });
}

#[test]
fn clang_with_optimisation() {
    let Some(clang) = optional("clang") else { return };
    passes(Build { compiler: &clang, level: "-O2", sanitized: true, link: Link::Static });
}

#[test]
fn gcc_without_sanitizers() {
    let Some(gcc) = compiler("CC", "gcc") else { return };
    passes(Build { compiler: &gcc, level: "-O2", sanitized: false, link: Link::Static });
}

/// For the tests that inject faults, compiles the suite in the way that builds and starts fastest.
fn plain(folder: &Path) -> Option<PathBuf> {
    let gcc = compiler("CC", "gcc")?;
    Some(compile(
        Build { compiler: &gcc, level: "-O2", sanitized: false, link: Link::Shared },
        folder,
    ))
}

#[test]
fn tests_are_where_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = plain(folder.path()) else { return };
    let said = succeed(Command::new(program).arg("--list"));
    let place =
        |line: &str| line.split_once(' ').map(|(id, file)| (id.to_owned(), file.to_owned()));
    let mut listed: BTreeMap<_, _> = said.lines().filter_map(place).collect();
    listed.retain(|id, _| !id.starts_with("SELF-"));
    assert_eq!(listed, expected());
}

#[test]
fn tests_in_rust_are_where_the_table_says() {
    for Assertion { id, test, .. } in assertions() {
        let Some((file, name)) = test.split_once(' ') else { continue };
        let source = std::fs::read_to_string(here().join("tests").join(file)).unwrap();
        assert!(source.contains(&format!("#[test]\nfn {name}()")), "{id}: {test}");
    }
}

#[test]
fn the_harness_reports_every_kind_of_failure() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = plain(folder.path()) else { return };
    let expected = [
        ("SELF-CHECKS-NOTHING", Some("self.c checked nothing")),
        ("SELF-CHILD-FAILS", Some("\"child\" is \"child\", not \"parent\"")),
        ("SELF-CRASHES", Some("ended with status 0xb")),
        ("SELF-FAILS", Some("1 + 1 is 2, not 3")),
        ("SELF-HANGS", Some("self.c hung")),
        ("SELF-PASSES", None),
        ("SELF-ROLE-FAILS", Some("arguments[0] is \"given\", not \"other\"")),
        ("SELF-SKIPS", None),
        ("SELF-THREAD-FAILS", Some("nothing")),
    ];
    let answers = run(&program, &expected.map(|(id, _)| id));
    assert_eq!(answers.len(), expected.len());
    for (id, failure) in expected {
        match (&answers[id], failure) {
            (None, None) => {}
            (Some(said), Some(why)) => assert!(said.ends_with(why), "{id}: {said}"),
            (said, _) => panic!("{id}: {said:?}"),
        }
    }
}

/// Returns, for each function, the ids of its assertions.
fn ids_by_function() -> BTreeMap<String, Vec<String>> {
    let mut ids = BTreeMap::<_, Vec<_>>::new();
    for row in assertions().into_iter().filter(|row| row.test.ends_with(".c")) {
        for function in row.functions.into_iter().filter(|name| name.starts_with("posix_")) {
            ids.entry(function).or_default().push(row.id.clone());
        }
    }
    ids
}

/// Compiles a library with one function, which only returns a number.
fn mutant(compiler: &str, function: &str, result: u32, folder: &Path) -> PathBuf {
    let source = folder.join("mutant.c");
    let library = folder.join(format!("{function}-{result}.so"));
    let text = format!("int {function}(void);\nint {function}(void) {{ return {result}; }}\n");
    std::fs::write(&source, text).unwrap();
    succeed(Command::new(compiler).args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source));
    library
}

/// Returns true if one of the tests fails when a function is replaced.
fn notices(program: &Path, mutant: &Path, ids: &[String]) -> bool {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", mutant).args(["--until-failure", "--seconds", "3"]).args(ids);
    command.output().unwrap().status.code() == Some(1)
}

#[test]
fn each_function_that_does_nothing_is_noticed() {
    const EINVAL: u32 = 22;
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = plain(folder.path()) else { return };
    let gcc = compiler("CC", "gcc").unwrap();
    let functions = ids_by_function();
    assert_eq!(functions.len(), 50, "all functions have assertions");
    let mut unnoticed = Vec::new();
    for (function, ids) in functions {
        for result in [0, EINVAL] {
            let mutant = mutant(&gcc, &function, result, folder.path());
            if !notices(&program, &mutant, &ids) {
                unnoticed.push((function.clone(), result));
            }
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}
