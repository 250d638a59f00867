//! Tests that names, paths, strings and templates from untrusted sources are printed safely.
//! Printed text must not control the terminal, must not be invisible, and must not become a
//! formula.

mod program;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use program::{root, run};
use tracewell::text::is_plain;

/// An escape sequence, a direction mark, a zero-width character, and a C1 control character.
const HOSTILE: &str = "\x1b[31m\u{202e}gpj\u{200b}\u{9b}0m";

/// Asserts that the output is plain text, and returns it.
fn plain(output: &Output, what: &str) -> String {
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    let all = String::from_utf8(all).unwrap_or_else(|_| panic!("{what}: no UTF-8"));
    let odd = all.chars().find(|c| !matches!(c, '\n' | '\t') && !is_plain(*c));
    assert_eq!(odd, None, "{what}: {all:?}");
    all
}

fn shark(name: &str) -> String {
    format!("crates/tracewell/tests/fixtures/shark/{name}")
}

fn written(folder: &Path, name: impl AsRef<OsStr>, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name.as_ref());
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn names_that_the_user_gives_change_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let names: String = (0..40).map(|pid| format!("{pid}={HOSTILE}{pid}\n")).collect();
    let names = written(folder.path(), "names", names);
    let rules = written(folder.path(), "my.rules", "never CLOCK_TICK\n");
    let (names, rules) = (names.to_str().unwrap(), rules.to_str().unwrap());
    let trace = shark("a_linear.dat");
    let verbs: [&[&str]; 9] = [
        &["report", "--head", "40"],
        &["report", "--head", "40", "--layout", "trcrpt", "--columns", "exec=on"],
        &["events", "--head", "40"],
        &["events", "--head", "40", "--format", "tsv"],
        &["events", "--head", "40", "--format", "csv"],
        &["info"],
        &["info", "--json"],
        &["analyze"],
        &["check", rules],
    ];
    for verb in verbs {
        let output = run(&[verb, &["--names", names, &trace]].concat());
        let all = plain(&output, verb[0]);
        let shown = all.replace("\\\\", "\\").contains("\\x1b[31m\\u{202e}");
        assert!(shown || verb[0] == "check", "{verb:?}: {all}");
    }
}

#[test]
fn names_of_files_change_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut name = format!("a\n{HOSTILE}").into_bytes();
    name.push(0xFF);
    let name = OsStr::from_bytes(&name);
    let trace = std::fs::read(root().join("examples/scheduling.trx")).unwrap();
    let trace = written(folder.path(), name, trace);
    let other = written(
        folder.path(),
        [OsStr::new("other"), name].join(OsStr::new("")),
        b"no trace at all",
    );
    let absent = folder.path().join([OsStr::new("absent"), name].join(OsStr::new("")));
    for verb in ["report", "info", "events", "analyze", "collect", "convert"] {
        let output =
            run(&[OsStr::new(verb), trace.as_os_str(), other.as_os_str(), absent.as_os_str()]);
        let all = plain(&output, verb);
        assert_ne!(output.status.code(), Some(0), "{verb}: {all}");
    }
    for verb in [&["template", "check"][..], &["template", "list"], &["report", "-t"], &["check"]] {
        for file in [&trace, &other, &absent] {
            let mut arguments: Vec<_> = verb.iter().map(OsStr::new).collect();
            arguments.extend([file.as_os_str(), file.as_os_str()]);
            plain(&run(&arguments), verb[0]);
        }
    }
    // This name looks like an option.
    let option = format!("--{HOSTILE}");
    plain(&run(&["report", &option]), "an option");
}

#[test]
fn names_in_a_trace_change_no_terminal() {
    let mut trace = std::fs::read(root().join("examples/scheduling.trx")).unwrap();
    let name = b"control\0";
    let at = trace.windows(name.len()).position(|window| window == name).unwrap();
    let hostile = "\u{202e}c\u{200b}";
    trace[at..at + hostile.len()].copy_from_slice(hostile.as_bytes());
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "t.trx", &trace);
    let verbs: [&[&str]; 5] = [
        &["report"],
        &["events"],
        &["events", "--format", "csv"],
        &["info"],
        &["analyze", "--waits"],
    ];
    for verb in verbs {
        let all = plain(&run(&[verb, &[path.to_str().unwrap()]].concat()), verb[0]);
        assert!(all.replace("\\\\", "\\").contains("\\u{202e}c\\u{200b}"), "{verb:?}: {all}");
    }
}

#[test]
fn templates_change_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "0AA 1.0 \"{HOSTILE}\" \"{HOSTILE}\" $HD, \\* \"{HOSTILE}\"\n0AB 1.0 \"{HOSTILE}\" {HOSTILE}\n"
    );
    let templates = written(folder.path(), "my.fmt", text);
    let templates = templates.to_str().unwrap();
    for verb in [
        &["template", "check", templates][..],
        &["template", "list", templates],
        &["template", "run", "-t", templates, "--entry", "0AA20007DEADBEEF"],
        &["report", "-t", templates, "examples/hooks.twx"],
    ] {
        plain(&run(verb), verb[1]);
    }
    let groups =
        written(folder.path(), "groups", format!("{HOSTILE}: {HOSTILE}: 134\n{HOSTILE}\n"));
    plain(&run(&["report", "-G", "--group-file", groups.to_str().unwrap()]), "groups");
}

#[test]
fn no_cell_of_a_csv_is_a_formula_and_numbers_stay_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let names: String = (0..40).map(|pid| format!("{pid}==cmd|' /C calc'!A{pid}\n")).collect();
    let names = written(folder.path(), "names", names);
    let trace = shark("a_linear.dat");
    let options = ["--format", "csv", "--head", "40", "--names", names.to_str().unwrap()];
    let all = plain(&run(&[&["events"], &options[..], &[&trace]].concat()), "csv");
    assert!(all.contains(",'=cmd|' /C calc'!A"), "{all}");
    for line in all.lines().skip(1) {
        let cells: Vec<_> = line.split(',').collect();
        assert!(cells[0].parse::<u64>().is_ok() && cells[1].parse::<u64>().is_ok(), "{line}");
        let formula =
            |cell: &&&str| cell.starts_with(['=', '+', '-', '@']) && cell.parse::<i64>().is_err();
        assert_eq!(cells.iter().find(formula), None, "{line}");
    }
}
