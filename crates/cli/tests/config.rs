//! Tests the configuration file `tracewell.toml`: the search for it, precedence, patterns, errors.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A project folder. It contains `.git`, `tracewell.toml`, and traces in the subfolder `runs`.
struct Folder(TempDir);

impl Folder {
    fn new(config: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(folder.0.path().join("runs/.cache")).unwrap();
        fs::create_dir(folder.0.path().join(".git")).unwrap();
        folder.copy("examples/scheduling.trx", "runs/a.trx");
        folder.write("tracewell.toml", config);
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn copy(&self, from: &str, to: &str) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        fs::copy(root.join(from), self.0.path().join(to)).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command.args(arguments).output().unwrap()
    }

    /// Runs `info`, and returns its line about the clock.
    fn clock(&self, arguments: &[&str]) -> String {
        let output = self.run(&[&["info"], arguments].concat());
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().find(|line| line.starts_with("clock")).unwrap().to_owned()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn an_option_for_one_file_wins_over_those_for_all_files() {
    let folder = Folder::new("[threadx]\nrate = \"100MHz\"\n");
    folder.copy("examples/scheduling.trx", "b:1.trx");
    let clocks = |arguments: &[&str]| {
        let output = folder.run(&[&["info"], arguments, &["runs/a.trx", "b:1.trx"]].concat());
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
        let text = String::from_utf8(output.stdout).unwrap();
        let rate = |line: &str| Some(line.strip_prefix("clock ")?.split(", ").nth(1)?.to_owned());
        text.lines().filter_map(rate).collect::<Vec<_>>()
    };
    let [hundred, one, two] =
        [100_000_000, 1_000_000, 2_000_000].map(|ticks: u32| format!("{ticks} ticks per second"));
    assert_eq!(clocks(&["-O", "b:1.trx:rate=1MHz"]), [&hundred[..], &one]);
    assert_eq!(clocks(&["-O", "a.trx:rate=1MHz"]), [&one[..], &hundred]);
    assert_eq!(clocks(&["-O", "runs/a.trx:rate=1MHz", "-O", "rate=2MHz"]), [&one[..], &two]);
    let output = folder.run(&["info", "-O", "c.trx:rate=1MHz", "runs/a.trx", "b:1.trx"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "error: -O c.trx:rate=1MHz: 'c.trx' is not one of the input files; did you mean 'a.trx'?\n"
    );
}

#[test]
fn options_of_the_command_line_win_over_the_configuration() {
    let folder = Folder::new("[threadx]\nrate = \"100MHz\"\n[rkh]\nseq = 2\n");
    assert!(folder.clock(&["runs/a.trx"]).contains(" 100000000 ticks per second"));
    assert!(folder.clock(&["-O", "rate=1kHz", "runs/a.trx"]).contains(" 1000 ticks per second"));
    assert!(folder.clock(&["--no-config", "runs/a.trx"]).contains("rate unknown"));
    // A configuration file in the folder of the trace hides the configuration files in the parent
    // folders.
    folder.write("runs/tracewell.toml", "");
    assert!(folder.clock(&["runs/a.trx"]).contains("rate unknown"));
}

#[test]
fn the_search_ends_at_the_root_of_a_project() {
    let folder = Folder::new("[threadx]\nrate = 1_000_000\n");
    let rate = || folder.clock(&["runs/a.trx"]).contains(" 1000000 ticks per second");
    assert!(rate());
    fs::create_dir(folder.0.path().join("runs/.git")).unwrap();
    assert!(!rate());
}

#[cfg(unix)]
#[test]
fn a_folder_where_every_user_can_write_has_no_configuration() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("[threadx]\nrate = \"1MHz\"\n");
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(folder.0.path().join("runs"), open).unwrap();
    assert!(folder.clock(&["runs/a.trx"]).contains("rate unknown"));
}

#[test]
fn standard_input_has_the_configuration_of_the_current_folder() {
    let folder = Folder::new("[threadx]\nrate = \"1MHz\"\n");
    let trace = fs::File::open(folder.0.path().join("runs/a.trx")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.current_dir(folder.0.path()).stdin(trace).args(["info", "-"]);
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(text.contains(" 1000000 ticks per second"), "{text}");
}

#[test]
fn patterns_choose_traces_and_later_ones_win() {
    let folder = Folder::new(
        "[threadx]\nrate = 1000\n\
         [[files]]\npattern = \"*.trx\"\nthreadx.rate = 2000\n\
         [[files]]\npattern = \"runs/b*\"\n[files.threadx]\nrate = 3000\n",
    );
    folder.copy("examples/scheduling.trx", "runs/b.trx");
    folder.copy("examples/scheduling.trx", "runs/c.bin");
    let rate = |trace: &str| folder.clock(&[trace]).split_whitespace().nth(5).unwrap().to_owned();
    assert_eq!(["runs/a.trx", "runs/b.trx", "runs/c.bin"].map(rate), ["2000", "3000", "1000"]);
    folder.write("tracewell.toml", "[[files]]\npattern = \"*.bin\"\nformat = \"aix\"\n");
    let output = folder.run(&["info", "runs/c.bin"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_eq!(
        folder.run(&["info", "--format-in", "threadx", "runs/c.bin"]).status.code(),
        Some(0)
    );
}

#[test]
fn verbose_commands_name_the_configuration_and_its_settings() {
    let folder = Folder::new("[threadx]\nrate = \"80MHz\"\n[rkh]\nseq = 0x2\n");
    let path = fs::canonicalize(folder.0.path()).unwrap().join("tracewell.toml");
    for (option, expected) in
        [("rate=1", "rkh.seq=2"), ("direction=up", "rkh.seq=2, threadx.rate=80MHz")]
    {
        let output = folder.run(&["info", "-v", "-O", option, "runs/a.trx"]);
        let expected = format!("note: runs/a.trx: {} sets {expected}\n", path.display());
        assert!(stderr(&output).starts_with(&expected), "{}", stderr(&output));
    }
    assert_eq!(stderr(&folder.run(&["info", "runs/a.trx"])), "");
}

#[test]
fn the_configuration_can_name_a_shipped_template() {
    let folder = Folder::new("templates = [\"@threadx\"]\n");
    let report = folder.run(&["report", "runs/a.trx"]);
    let given = folder.run(&["report", "--no-config", "-t", "@threadx", "runs/a.trx"]);
    assert_eq!((report.status.code(), stderr(&report).as_str()), (Some(0), ""));
    assert_eq!(report.stdout, given.stdout);
    let unknown = Folder::new("templates = [\"@thraedx\"]\n").run(&["report", "runs/a.trx"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("did you mean '@threadx'?"), "{}", stderr(&unknown));
}

#[test]
fn rules_and_templates_of_the_configuration_replace_arguments() {
    let folder = Folder::new("rules = \"my.rules\"\ntemplates = [\"my.fmt\"]\n");
    folder.write("my.rules", "never tx_mutex_get\n");
    folder.write("my.fmt", "TX_TRACE_MUTEX_GET 1.0 \"TAKES A LOCK\"\n");
    let output = folder.run(&["check", "runs/a.trx"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    folder.copy("examples/scheduling.trx", "b.trx");
    assert_eq!(folder.run(&["check", "runs/a.trx", "b.trx"]).status.code(), Some(1));
    // Results name the rules file by the same path as if it were an argument.
    assert!(output.stdout.starts_with(b"my.rules:1:1: error: forbidden event\n"), "{output:?}");
    folder.run(&["check", "--quiet", "--junit", "results.xml", "runs/a.trx"]);
    let xml = fs::read_to_string(folder.0.path().join("results.xml")).unwrap();
    assert!(xml.contains("classname=\"my.rules\" file=\"my.rules\""), "{xml}");
    folder.write("other.rules", "never tx_timer_create\n");
    let given = folder.run(&["check", "other.rules", "runs/a.trx"]);
    assert_ne!(given.stdout, output.stdout);
    let without = folder.run(&["check", "--no-config", "runs/a.trx"]);
    assert_eq!(without.status.code(), Some(2));
    assert!(stderr(&without).contains("check needs rules and a trace"));
    let report = String::from_utf8(folder.run(&["report", "runs/a.trx"]).stdout).unwrap();
    assert!(report.contains("TAKES A LOCK"), "{report}");
    let lines = folder.run(&["report", "--layout", "lines", "runs/a.trx"]);
    assert_eq!(stderr(&lines), "");
    assert!(String::from_utf8(lines.stdout).unwrap().contains("tx_mutex_get"));
    // If the configurations of two traces differ in their rules, `check` requires RULES as an
    // argument.
    folder.write("runs/tracewell.toml", "");
    let mixed = folder.run(&["check", "runs/a.trx", "b.trx"]);
    assert_eq!(mixed.status.code(), Some(2));
    assert!(stderr(&mixed).contains("different settings in tracewell.toml: give RULES"));
}

#[test]
fn names_are_files_relative_to_the_configuration() {
    let folder = Folder::new("[aix]\nnames = \"calls.names\"\n");
    folder.copy("examples/hooks.twx", "runs/h.twx");
    folder.copy("examples/hooks.names", "calls.names");
    let arguments = ["report", "--columns", "svc=on", "runs/h.twx"];
    let named = folder.run(&arguments);
    assert_eq!((named.status.code(), stderr(&named).as_str()), (Some(0), ""));
    let typed = [&arguments[..1], &["--no-config", "--names", "calls.names"], &arguments[1..]];
    let typed = folder.run(&typed.concat());
    assert_eq!(named.stdout, typed.stdout);
    // A configuration applies to many traces, so a trace need not contain the names that the
    // configuration defines. The program warns only if the unused names are from the command line.
    let warning = "warning: runs/h.twx: names are given for 4 numbers, but none of them is a system \
                   call of this trace\n";
    assert_eq!(stderr(&typed), warning);
    let fails = |status| {
        let output = folder.run(&arguments);
        assert_eq!(output.status.code(), Some(status));
        assert!(stderr(&output).contains("tracewell.toml:2:1: names: "), "{}", stderr(&output));
    };
    folder.write("calls.names", "12\n");
    fails(2);
    fs::remove_file(folder.0.path().join("calls.names")).unwrap();
    fails(4);
}

#[test]
fn schema_files_name_events_of_their_format() {
    let folder = Folder::new("schemas = [\"rkh.toml\", \"app.toml\"]\n");
    let event = "[[event]]\nid = 4100\nlabel = \"received\"\n";
    folder.write("app.toml", &format!("format = \"threadx\"\n{event}"));
    folder.write("rkh.toml", "format = \"rkh\"\n[[event]]\nid = 1\nlabel = \"other\"\n");
    let arguments = ["report", "--event", "received", "--head", "1", "runs/a.trx"];
    let named = folder.run(&arguments);
    assert_eq!((named.status.code(), stderr(&named).as_str()), (Some(0), ""));
    assert!(String::from_utf8_lossy(&named.stdout).contains("  received  "));
    // A file on the command line overrides the configuration.
    folder.write("typed.toml", &format!("format = \"threadx\"\n{event}").replace("rec", "c"));
    let arguments = ["report", "--event", "4100", "--head", "1", "runs/a.trx"];
    let typed =
        folder.run(&[&arguments[..1], &["--schema", "typed.toml"], &arguments[1..]].concat());
    assert!(String::from_utf8_lossy(&typed.stdout).contains("  ceived  "), "{typed:?}");
    for (text, expected) in [
        ("format = \"threadx\"\nevnt = 1\n", "tracewell.toml:1:24: schemas: "),
        ("format = \"thredx\"\n", "did you mean 'threadx'?"),
    ] {
        folder.write("app.toml", text);
        let output = folder.run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(stderr(&output).contains(expected), "{text}: {}", stderr(&output));
    }
}

#[test]
fn errors_have_a_place_and_the_nearest_name() {
    for (config, expected) in [
        ("[threadx]\nrat = 5\n", "tracewell.toml:2:1: unknown key 'rat': expected "),
        ("[threadx]\nrat = 5\n", "did you mean 'rate'?"),
        (
            "[threadx]\nrat = 5\n",
            "expected names, rate, direction, modulus, offset, search, oldest; did",
        ),
        ("[thredx]\n", "tracewell.toml:1:2: unknown key 'thredx'"),
        ("[thredx]\n", "did you mean 'threadx'?"),
        ("rate = 5\n", "tracewell.toml:1:1: unknown key 'rate'"),
        ("\n[threadx]\n  rate = true\n", "tracewell.toml:3:10: expected a text or a number, found"),
        ("rules = 5\n", "tracewell.toml:1:9: expected the path of a file, found integer"),
        ("templates = \"a\"\n", "tracewell.toml:1:13: expected a list of paths, found string"),
        ("format = \"thredx\"\n", "found 'thredx'; did you mean 'threadx'?"),
        ("[[files]]\n", "tracewell.toml:1:1: [[files]] needs a key 'pattern'"),
        ("[files]\n", "expected tables [[files]], found table"),
        ("[threadx\n", "tracewell.toml:1:9: "),
        ("[threadx]\nrate = \"fast\"\n", "tracewell.toml:2:1: rate: expected ticks per second"),
    ] {
        let output = Folder::new(config).run(&["info", "runs/a.trx"]);
        assert_eq!(output.status.code(), Some(2), "{config}");
        assert!(stderr(&output).starts_with("error: "), "{config}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{config}: {}", stderr(&output));
    }
}

#[test]
fn a_hostile_configuration_is_refused_quickly() {
    let folder = Folder::new(&"#".repeat((1 << 20) + 1));
    let output = folder.run(&["info", "runs/a.trx"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("expected at most 1 MiB of text"), "{}", stderr(&output));
    folder.write("tracewell.toml", &"[".repeat(100_000));
    assert_eq!(folder.run(&["info", "runs/a.trx"]).status.code(), Some(2));
    fs::remove_file(folder.0.path().join("tracewell.toml")).unwrap();
    fs::create_dir(folder.0.path().join("tracewell.toml")).unwrap();
    let output = folder.run(&["info", "runs/a.trx"]);
    assert!(stderr(&output).contains("tracewell.toml: expected a regular file"));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(folder.run(&["info", "--no-config", "runs/a.trx"]).status.code(), Some(0));
}

#[test]
fn an_output_never_replaces_a_file_of_the_configuration() {
    let folder = Folder::new("rules = \"my.rules\"\n");
    folder.write("my.rules", "never nothing\n");
    for output in ["my.rules", "tracewell.toml"] {
        let refused = folder.run(&["events", "-o", output, "runs/a.trx"]);
        assert_eq!(refused.status.code(), Some(2), "{output}");
        assert!(stderr(&refused).contains("is also an input"), "{}", stderr(&refused));
    }
}
