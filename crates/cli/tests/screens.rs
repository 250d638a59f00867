//! Tests text on screens: its width and colours, and the pager. `terminal` runs commands on a
//! terminal.
#![cfg(target_os = "linux")]

mod program;
mod signals;
mod terminal;

use std::fs::File;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use program::{root, stderr, stdout};
use tempfile::tempdir;
use tracewell::text::display_width;

use terminal::{Terminal, tracewell};

/// The options and files of each trace. The traces are of several dialects, and some have long
/// names or losses.
fn traces() -> Vec<Vec<String>> {
    let fixtures = "crates/tracewell/tests/fixtures";
    let own = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>();
    let mut traces = vec![
        own(&["-O", "rate=100MHz", "examples/scheduling.trx"]),
        own(&["--join", "examples/hooks.twx", "examples/hooks.twx-0", "examples/hooks.twx-1"]),
        own(&["fuzz/corpus/native/small_log"]),
        own(&["fuzz/corpus/posix_log/loop"]),
    ];
    for file in ["threadx/tiny.trx", "rkh/ahsm-a.bin", "rkh/ahsm-overrun.bin", "rkh/shared-c.bin"] {
        traces.push(vec![format!("{fixtures}/{file}")]);
    }
    for file in ["shark/a_linear.dat", "shark/b_cyclic.dat", "shark/cbs_server.dat"] {
        traces.push(vec![format!("{fixtures}/{file}")]);
    }
    traces
}

/// Runs the program in the root of the repository, without access to the terminal that runs the
/// test.
fn run(arguments: &[&str]) -> Output {
    tracewell(arguments).current_dir(root()).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let folder = tempdir().unwrap();
    let rules = folder.path().join("some.rules");
    // Every trace violates these rules, and one line is wider than the screens of this test.
    let long = format!("NO_SUCH_EVENT {}# end\n", " ".repeat(150));
    std::fs::write(&rules, long + "never *\n").unwrap();
    let check = ["check", rules.to_str().unwrap()];
    let verbs: [&[&str]; 7] = [
        &["report"],
        &["report", "--layout", "trcrpt"],
        &["report", "--tail", "5", "--color", "always"],
        &["analyze"],
        &["analyze", "--show", "all", "--waits", "--jobs", "--color", "always"],
        &["info"],
        &check,
    ];
    for width in ["60", "80", "100", "160"] {
        let others: [&[&str]; 3] = [
            &["formats"],
            &[
                "template",
                "list",
                "crates/tracewell/templates/aix.fmt",
                "crates/tracewell/templates/threadx.fmt",
            ],
            &[
                "template",
                "run",
                "-t",
                "crates/tracewell/templates/aix.fmt",
                "--entry",
                "10600007DEADBEEF",
            ],
        ];
        let with_traces = verbs.iter().flat_map(|verb| {
            traces().into_iter().map(|trace| (verb.iter().map(|w| w.to_string()).collect(), trace))
        });
        let without =
            others.iter().map(|verb| (verb.iter().map(|w| w.to_string()).collect(), vec![]));
        for (verb, trace) in with_traces.chain(without) {
            let arguments: Vec<String> = [verb, trace].concat();
            let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            arguments.extend(["--width", width]);
            let output = run(&arguments);
            let (screen, most) = (stdout(&output), width.parse().unwrap());
            assert!(!screen.is_empty(), "{arguments:?}: {}", stderr(&output));
            for line in screen.lines() {
                assert!(display_width(line) <= most, "{arguments:?}: {line}");
            }
        }
    }
}

#[test]
fn the_summary_of_figures_fits_on_a_screen() {
    let fixtures = root().join("crates/tracewell/tests/fixtures");
    let mut traces = traces();
    for folder in ["threadx", "rkh", "shark"] {
        for file in std::fs::read_dir(fixtures.join(folder)).unwrap() {
            let file = file.unwrap().path();
            let is_trace =
                file.extension().is_some_and(|e| ["trx", "bin", "dat"].iter().any(|t| e == *t));
            traces.extend(is_trace.then(|| vec![file.to_str().unwrap().to_owned()]));
        }
    }
    assert!(traces.len() > 25, "{}", traces.len());
    for trace in traces {
        let arguments: Vec<_> = trace.iter().map(String::as_str).collect();
        let output = run(&[&["analyze", "--width", "100"], &arguments[..]].concat());
        let screen = stdout(&output);
        let lines = screen.lines().count();
        assert!((4..=45).contains(&lines), "{trace:?}: {lines} lines\n{screen}");
    }
}

#[test]
fn a_folded_report_has_every_word_of_the_unfolded_one() {
    let trace = ["-O", "rate=100MHz", "examples/scheduling.trx"];
    let words = |options: &[&str]| -> Vec<String> {
        let screen = stdout(&run(&[&["report"], options, &trace[..]].concat()));
        // On a screen, long names are truncated, and the digits of counts are grouped.
        let words = screen.lines().flat_map(|line| line.split_whitespace().map(str::to_owned));
        words.filter(|word| word.contains('=') || word.contains('.')).collect()
    };
    let folded = words(&["--width", "70", "--tail", "200"]);
    assert!(folded.len() > 400, "{}", folded.len());
    assert_eq!(folded, words(&["--tail", "200"]));
}

#[test]
fn addresses_of_posix_events_are_shown_only_on_request_or_without_a_screen() {
    let report = |options: &[&str]| {
        let trace = "fuzz/corpus/posix_log/loop";
        stdout(&run(&[&["report"], options, &[trace]].concat()))
    };
    assert!(report(&[]).contains("prog address=0x"));
    assert!(!report(&["--width", "100"]).contains("prog address"));
    assert!(report(&["--width", "100", "-v"]).contains("prog address=0x"));
}

#[test]
fn a_pipe_gets_unfolded_text_unless_columns_is_exported() {
    let report = ["report", "examples/scheduling.trx"];
    let widest = |output: Output| stdout(&output).lines().map(display_width).max().unwrap_or(0);
    assert!(widest(run(&report)) > 120);
    let with =
        |columns| tracewell(&report).current_dir(root()).env("COLUMNS", columns).output().unwrap();
    assert!((61..=90).contains(&widest(with("90"))));
    // The program ignores a value that is not a width.
    assert!(widest(with("narrow")) > 120);
    let machine = tracewell(&["events", "examples/scheduling.trx", "--head", "3"])
        .current_dir(root())
        .env("COLUMNS", "40")
        .output()
        .unwrap();
    assert_eq!(stdout(&machine).lines().count(), 3);
}

#[test]
fn variables_and_color_decide_on_colours() {
    let colors = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = tracewell(arguments);
        command.current_dir(root()).envs(variables.iter().copied());
        stdout(&command.output().unwrap()).contains('\x1b')
    };
    let report = ["report", "examples/scheduling.trx"];
    assert!(!colors(&report, &[]));
    assert!(colors(&report, &[("CLICOLOR_FORCE", "1")]));
    assert!(!colors(&[&report[..], &["--color", "never"]].concat(), &[("CLICOLOR_FORCE", "1")]));
    for verb in ["info", "report"] {
        let arguments = [verb, "examples/scheduling.trx", "--color", "always"];
        assert!(colors(&arguments, &[("NO_COLOR", "1")]), "{verb}");
    }
    assert!(!colors(&["events", "examples/scheduling.trx", "--color", "always"], &[]));
    let terminal = |variables: &[(&str, &str)]| {
        // Disable the progress lines: they would appear on a slow machine, and they contain control
        // characters even without colours.
        let options = ["report", "--no-pager", "--no-progress", "examples/scheduling.trx"];
        let mut command = tracewell(&options);
        command.current_dir(root()).envs(variables.iter().copied());
        Terminal::new(100).run(command).0.contains('\x1b')
    };
    assert!(terminal(&[("TERM", "xterm")]));
    assert!(!terminal(&[("TERM", "dumb")]));
    assert!(!terminal(&[("TERM", "xterm"), ("NO_COLOR", "1")]));
    assert!(!terminal(&[("TERM", "xterm"), ("CLICOLOR", "0")]));
}

#[test]
fn a_context_has_one_colour_in_all_reports() {
    let style = |arguments: &[&str]| {
        let screen = stdout(&run(arguments));
        let line = screen.lines().find(|line| line.contains("mtelemetry")).unwrap().to_owned();
        let (before, _) = line.split_once("telemetry").unwrap();
        before[before.rfind('\x1b').unwrap()..].to_owned()
    };
    let trace = ["examples/scheduling.trx", "--color", "always"];
    assert_eq!(
        style(&[&["report"], &trace[..]].concat()),
        style(&[&["info"], &trace[..]].concat())
    );
}

#[test]
fn a_report_on_a_terminal_fits_it() {
    let mut command = tracewell(&["report", "--no-pager", "examples/scheduling.trx"]);
    command.current_dir(root()).env("TERM", "dumb");
    let (screen, status) = Terminal::new(72).run(command);
    assert_eq!(status, Some(0), "{screen}");
    let widest = screen.lines().map(display_width).max().unwrap();
    assert!((60..=72).contains(&widest), "{widest}");
}

#[test]
fn a_terminal_gets_a_pager_and_a_pipe_none() {
    let folder = tempdir().unwrap();
    let copy = folder.path().join("copy");
    let pager = format!("tee {}", copy.display());
    let paged = |arguments: &[&str], variable: &str| {
        let _ = std::fs::remove_file(&copy);
        let mut command = tracewell(arguments);
        command.current_dir(root()).env(variable, &pager).env("TERM", "dumb");
        let (screen, status) = Terminal::new(100).run(command);
        assert_eq!(status, Some(0), "{screen}");
        std::fs::read_to_string(&copy).ok().map(|copy| (copy, screen))
    };
    let info = ["info", "examples/scheduling.trx"];
    let (copy_of_info, screen) = paged(&info, "PAGER").unwrap();
    assert_eq!(copy_of_info.replace('\n', "\r\n"), screen);
    assert!(paged(&info, "TRACEWELL_PAGER").is_some());
    assert!(paged(&[&info[..], &["--no-pager"]].concat(), "PAGER").is_none());
    // `--follow` uses no pager, because its output never ends.
    let mut follow = tracewell(&["analyze", "--follow", "-"]);
    follow.current_dir(root()).env("PAGER", &pager).env("TERM", "dumb");
    let log = File::open(root().join("fuzz/corpus/native/small_log")).unwrap();
    let _ = std::fs::remove_file(&copy);
    let (screen, status) = Terminal::new(100).run_with(follow, log.into());
    assert_eq!((status, copy.exists()), (Some(0), false), "{screen}");
    let mut piped = tracewell(&info);
    piped.current_dir(root()).env("PAGER", &pager);
    assert!(piped.output().unwrap().status.success());
    assert!(!copy.exists());
}

#[test]
fn a_pager_that_quits_early_ends_the_command_quietly() {
    let mut command = tracewell(&["report", "examples/scheduling.trx"]);
    // The output of 1096 events does not fit into a pipe, so the command is still writing when the
    // pager ends.
    command.current_dir(root()).env("PAGER", "head -n 2").env("TERM", "dumb");
    let (screen, status) = Terminal::new(100).run(command);
    assert_eq!(status, Some(0), "{screen}");
    assert_eq!(screen.lines().count(), 2, "{screen}");
}

#[test]
fn without_a_pager_the_terminal_gets_the_text() {
    let path = tempdir().unwrap();
    let screen = |pager: Option<&str>| {
        let mut command = tracewell(&["info", "examples/scheduling.trx"]);
        // This PATH contains no programs, so `less` is missing too.
        command.current_dir(root()).env("PATH", path.path()).env("TERM", "dumb");
        command.envs(pager.map(|pager| ("PAGER", pager)));
        let (screen, status) = Terminal::new(100).run(command);
        assert_eq!(status, Some(0), "{screen}");
        screen
    };
    let plain = screen(None);
    assert!(plain.starts_with("format    threadx"), "{plain}");
    let warned = screen(Some("no-such-pager -x"));
    assert!(warned.starts_with("warning: pager 'no-such-pager' cannot be started"), "{warned}");
    assert!(warned.ends_with(&plain), "{warned}");
    assert_eq!(screen(Some("cat")), plain);
}

#[test]
fn ctrl_c_in_a_pager_does_not_end_the_command() {
    signals::end_programs();
    let folder = tempdir().unwrap();
    let done = folder.path().join("done");
    // The pager sends SIGINT to the command, as a terminal does at Ctrl-C, and then reads the rest
    // of the output.
    let script = folder.path().join("pager");
    let content = format!("#!/bin/sh\nkill -INT $PPID\nwc -l > {}\n", done.display());
    std::fs::write(&script, content).unwrap();
    Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    let mut command = tracewell(&["report", "examples/scheduling.trx"]);
    command.current_dir(root()).env("PAGER", &script).env("TERM", "dumb");
    let (screen, status) = Terminal::new(100).run(command);
    assert_eq!(status, Some(0), "{screen}");
    let lines: usize = std::fs::read_to_string(done).unwrap().trim().parse().unwrap();
    assert!(lines > 1096, "{lines}");
}

/// Returns the text without the progress lines that the program removed.
fn without_removed(screen: &str) -> String {
    let lines = screen.split('\n').map(|line| line.rsplit("\x1b[J").next().unwrap());
    lines.map(|line| line.trim_end_matches('\r').to_owned() + "\n").collect()
}

#[test]
fn a_verb_that_reads_a_pipe_shows_its_progress_until_it_prints() {
    let trace = root().join("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin");
    let bytes = std::fs::read(trace).unwrap();
    let mut session =
        Terminal::new(60).start(tracewell(&["info", "--no-pager", "-"]), Stdio::piped());
    let mut input = session.child.stdin.take().unwrap();
    // Keep the input open until progress appears.
    let (shown, seen) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        while seen.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            input.write_all(&bytes).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    });
    let progress = session.until("/s\x1b[K");
    drop(shown);
    writer.join().unwrap();
    let line = progress.rsplit('\r').next().unwrap();
    assert!(line.contains(" events, ") && display_width(line) < 60 + "\x1b[K".len(), "{line:?}");
    let (screen, _) = session.end();
    let rest = without_removed(&screen);
    assert!(rest.contains("format") && !rest.contains("/s"), "{rest}");
}

#[test]
fn collect_shows_what_it_receives_and_then_its_account() {
    signals::end_programs();
    let folder = tempdir().unwrap();
    let mut command = tracewell(&["collect", "--tcp-listen", "127.0.0.1:0", "-o", "kept"]);
    command.current_dir(folder.path());
    let mut session = Terminal::new(90).start(command, Stdio::null());
    let told = session.until("waiting    0 B, 0 B/s, 0 B dropped");
    let address = told.split("listening on ").nth(1).unwrap().lines().next().unwrap();
    let mut target = std::net::TcpStream::connect(address).unwrap();
    target.write_all(&[0; 1500]).unwrap();
    session.until("connected  1.5 kB, ");
    let collector = rustix::process::Pid::from_child(&session.child);
    rustix::process::kill_process(collector, rustix::process::Signal::INT).unwrap();
    let (screen, status) = session.end();
    assert_eq!(status, Some(0), "{screen}");
    let rest = without_removed(&screen);
    assert!(rest.contains("\n1500 bytes from tcp-listen-127.0.0.1-0\n"), "{rest:?}");
    assert!(!rest.contains("dropped"), "{rest:?}");
}

#[test]
fn record_shows_its_progress_beside_a_program_only_on_request() {
    let folder = tempdir().unwrap();
    let record = |options: &[&str], program: &[&str]| {
        let mut command = tracewell(&[&["record"], options, &["--"], program].concat());
        command.current_dir(folder.path());
        command
    };
    let waiting = record(&["--progress"], &["cat"]);
    let mut session = Terminal::new(90).start(waiting, Stdio::piped());
    session.until("0 s, 0 events, 0/s, 0 lost\x1b[K");
    // The program ends when its input ends.
    drop(session.child.stdin.take());
    let (screen, status) = session.end();
    assert_eq!(status, Some(0), "{screen}");
    assert!(!without_removed(&screen).contains("0 lost"), "{screen:?}");
    // This takes longer than the delay before the first progress line.
    let (screen, _) = Terminal::new(90).run(record(&[], &["sleep", "0.8"]));
    assert!(screen.contains("recorded nothing") && !screen.contains("0 lost"), "{screen:?}");
}
