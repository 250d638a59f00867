//! Tests the verb `trcrpt`: its errors for logs that it cannot read, its template files, and its
//! lines on narrow screens.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.args(arguments).stdin(Stdio::null()).env_remove("COLUMNS").output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn logs_of_aix_itself_are_explained_whatever_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("mytrace");
    std::fs::write(&log, [0xC3, 0x13, 0xFF, 0xD8, 1, 2, 3, 4]).unwrap();
    let log = log.to_str().unwrap();
    let hint = "if this is a log of AIX's trace daemon, Tracewell cannot read it";
    for arguments in
        [&["trcrpt", log][..], &["trcrpt", "-r", log], &["report", "--format-in", "aix", log]]
    {
        let reported = stderr(&run(arguments));
        assert_eq!(reported.matches(hint).count(), 1, "{arguments:?}: {reported}");
    }
    // `report` also reads other formats, and the name of the log does not suggest AIX.
    assert!(!stderr(&run(&["report", log])).contains(hint));
}

#[test]
fn several_template_files_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.fmt");
    std::fs::write(&own, "139 1.0 L=SVC \"my fork\"\n").unwrap();
    let log = example("hooks.twx-0");
    let (own, log) = (own.to_str().unwrap(), log.to_str().unwrap());
    let report = text(&run(&["trcrpt", "-t", "@aix", "-t", own, log]));
    assert!(report.contains("my fork") && report.contains("EXEC SYSTEM CALL"), "{report}");
    assert!(!report.contains("UNDEFINED TRACE ID 134") && !report.contains("FORK SYSTEM CALL"));
}

#[test]
fn a_loss_in_several_files_names_its_file() {
    let names = ["hooks.twx", "hooks.twx-0", "hooks.twx-1"];
    let files = names.map(|name| example(name).to_str().unwrap().to_owned());
    let [first, second, third] = files.each_ref().map(String::as_str);
    let report = text(&run(&["trcrpt", "-m", first, second, third]));
    let lost: Vec<_> = report.lines().filter(|line| line.contains("lost here")).collect();
    let alone = text(&run(&["trcrpt", third]));
    let of_third = alone.lines().find(|line| line.contains("lost here")).unwrap();
    let named = of_third.replace(" ---", " of hooks.twx-1 ---");
    // All lines about losses have the same dashes at both ends, so compare only the text.
    assert!(lost.iter().any(|line| line.trim_matches('-') == named.trim_matches('-')), "{lost:?}");
}

#[test]
fn a_text_in_few_columns_begins_on_a_line_of_its_own() {
    let log = example("hooks.twx-0");
    let log = log.to_str().unwrap();
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let wide = text(&run(&["trcrpt", "-x", log]));
    let narrow = |width: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
        command.args(["trcrpt", "-x", log]).env("COLUMNS", width).stdin(Stdio::null());
        text(&command.output().unwrap())
    };
    let at_100 = narrow("100");
    assert_eq!(words(at_100.clone()), words(wide.clone()));
    // After the margin at column 78, 22 columns remain.
    let text = at_100.lines().find(|line| line.contains("/usr/bin/ksh")).unwrap();
    let blanks = text.len() - text.trim_start().len();
    assert_eq!((blanks >= 8, blanks % 8), (true, 0), "{text}");
    assert!(text.trim_start().starts_with("EXEC SYSTEM CALL"), "{text}");
    assert!(at_100.lines().all(|line| line.chars().count() <= 100), "{at_100}");
    // At 140 columns, 62 columns remain, which is enough.
    let at_140 = narrow("140");
    let margin = " ".repeat(78);
    let begins = |line: &&str| line.starts_with("        ") && !line.starts_with(&margin);
    assert!(!at_140.lines().any(|line| begins(&line)), "{at_140}");
}
