//! Tests `--elf` and the key `elf` of a configuration file. Every verb that reads traces accepts
//! the option. Errors name the option or the place in the configuration.

mod program;

use std::fs;

use program::{root, run, run_in, status, stderr, stdout};

const TRACE: &str = "examples/scheduling.trx";
const ELF: &str = "examples/scheduling.elf";

#[test]
fn every_verb_that_reads_traces_shows_the_symbols_of_addresses() {
    let stack = "stack start=0x20002400 <control_stack>";
    for arguments in [
        &["report", "--elf", ELF, TRACE][..],
        &["events", "--elf", ELF, TRACE],
        &["convert", "--format", "jsonl", "-o", "-", "--elf", ELF, TRACE],
        &["check", "--elf", ELF, "--write", "-", TRACE],
    ] {
        let output = run(arguments);
        assert_eq!((status(&output), stderr(&output).as_str()), (Some(0), ""), "{arguments:?}");
        let is_rule = arguments[0] == "check";
        assert!(is_rule || stdout(&output).contains(stack), "{arguments:?}");
    }
    for verb in ["info", "analyze", "view"] {
        let output = run(&[verb, "--elf", ELF, TRACE]);
        assert_eq!((status(&output), stderr(&output).as_str()), (Some(0), ""), "{verb}");
    }
}

#[test]
fn a_selection_compares_the_text_with_the_symbol() {
    let chosen = ["--where", "stack_start = \"0x20002400 <control_stack>\"", TRACE];
    let output = run(&[&["events", "--elf", ELF][..], &chosen].concat());
    assert_eq!(stdout(&output).lines().count(), 1, "{}", stderr(&output));
}

#[test]
fn errors_name_the_option_and_the_file() {
    for (file, message) in [
        (TRACE, "at byte 0: expected an ELF file, found a threadx trace"),
        ("README.md", "at byte 0: expected an ELF file, found text"),
        ("examples", "expected a regular file"),
    ] {
        let output = run(&["info", "--elf", file, TRACE]);
        assert_eq!(stderr(&output), format!("error: --elf: {file}: {message}\n"));
        assert_eq!(status(&output), Some(2));
    }
    let output = run(&["info", "--elf", "missing.elf", TRACE]);
    assert!(stderr(&output).starts_with("error: --elf: missing.elf: "), "{}", stderr(&output));
    assert_eq!(status(&output), Some(4));
}

#[test]
fn a_configuration_names_the_program_of_the_traces() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |from: &str, to: &str| fs::copy(root().join(from), folder.path().join(to)).unwrap();
    copy(TRACE, "a.trx");
    copy(ELF, "firmware.elf");
    let config = folder.path().join("tracewell.toml");
    fs::write(&config, "elf = \"firmware.elf\"\n").unwrap();
    let report = run_in(folder.path(), &["report", "-v", "a.trx"]);
    assert!(stdout(&report).contains("<control_stack>"));
    assert!(stderr(&report).contains("tracewell.toml sets elf="), "{}", stderr(&report));
    assert!(stderr(&report).contains("firmware.elf"), "{}", stderr(&report));

    // The command never overwrites the file that it reads.
    let output = run_in(folder.path(), &["report", "a.trx", "-o", "firmware.elf"]);
    assert_eq!(status(&output), Some(2));
    assert!(stderr(&output).contains("is also an input"), "{}", stderr(&output));

    fs::write(&config, "[[files]]\npattern = \"*.trx\"\nelf = \"a.trx\"\n").unwrap();
    let output = run_in(folder.path(), &["info", "a.trx"]);
    assert!(stderr(&output).contains("tracewell.toml:3:7: elf: "), "{}", stderr(&output));
    assert_eq!(status(&output), Some(2));
    // The option overrides the configuration.
    let output = run_in(folder.path(), &["info", "--elf", "firmware.elf", "a.trx"]);
    assert_eq!((status(&output), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn a_program_of_another_trace_is_reported() {
    let tiny = "crates/tracewell/tests/fixtures/threadx/tiny.trx";
    let output = run(&["info", "--elf", ELF, tiny]);
    let expected = format!(
        "warning: {tiny}: {ELF} has no effect: no address of this trace is in its symbols: did \
         another program record the trace?\n"
    );
    assert_eq!((status(&output), stderr(&output)), (Some(0), expected));
}
