//! Runs the examples `examples/c/pump.c`, a traced program, and `examples/c/watch.c`, its
//! controller.

mod build;

use std::fs::DirBuilder;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use build::{Link, compile, compiler, here, succeed};

struct Pair {
    folder: tempfile::TempDir,
    pump: PathBuf,
    watch: PathBuf,
}

impl Pair {
    fn new(cc: &str, link: Link) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str| {
            let place = folder.path().join(name);
            std::fs::create_dir(&place).unwrap();
            let source = here().join("../../examples/c").join(format!("{name}.c"));
            compile(cc, "-std=c11", &source, link, &place)
        };
        Self { pump: program("pump"), watch: program("watch"), folder }
    }

    /// Returns a command that runs one of the programs. Both programs use the registry in the
    /// folder of this test.
    fn command(&self, program: &Path) -> Command {
        let registry = self.folder.path().join("registry");
        let private = DirBuilder::new().recursive(true).mode(0o700).create(&registry);
        private.unwrap();
        let mut command = Command::new(program);
        command.env("TRACEWELL_POSIX_DIR", registry);
        command
    }
}

/// Returns the number of lines with an event of this name.
fn count(said: &str, event: &str) -> usize {
    said.lines().filter(|line| line.split(' ').nth(2) == Some(&format!("{event}:"))).count()
}

/// Checks that the valve keeps the level within its range.
fn is_about_a_pump(said: &str) {
    let level = |line: &str| line.split_once("level ")?.1.split(' ').next()?.parse::<i32>().ok();
    let mut levels = said.lines().filter_map(level);
    assert!(levels.clone().count() > 0, "{said}");
    assert!(levels.all(|level| (800..1200).contains(&level)), "{said}");
    assert!(!said.contains("events were lost"), "{said}");
}

#[test]
fn a_running_program_is_watched_until_it_ends() {
    let Some(cc) = compiler("CC", "gcc") else { return };
    for link in [Link::Static, Link::Shared] {
        let pair = Pair::new(&cc, link);
        // The pump runs until enough events are recorded, whatever time its controller needs to
        // start.
        let mut pump = pair.command(&pair.pump).arg("1000000").spawn().unwrap();
        let mut watch = pair.command(&pair.watch);
        watch.arg(pump.id().to_string()).stdout(Stdio::piped());
        let mut watch = watch.spawn().unwrap();
        let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut said = String::new();
        while count(&said, "pump/reading") < 50 {
            said += &(lines.next().expect("the pump runs") + "\n");
        }
        pump.kill().unwrap();
        pump.wait().unwrap();
        lines.for_each(|line| said += &(line + "\n"));
        assert!(watch.wait().unwrap().success());
        assert_eq!(count(&said, "posix_trace_start"), 1, "{said}");
        is_about_a_pump(&said);
    }
}

#[test]
fn a_program_is_logged_from_its_first_event_on() {
    let Some(cc) = compiler("CC", "gcc") else { return };
    for link in [Link::Static, Link::Shared] {
        let pair = Pair::new(&cc, link);
        let log = pair.folder.path().join("pump.log");
        let said = succeed(pair.command(&pair.watch).arg(&log).arg(&pair.pump).arg("20"));
        assert_eq!(count(&said, "pump/reading"), 20, "{said}");
        assert_eq!(count(&said, "posix_trace_stop"), 1, "{said}");
        is_about_a_pump(&said);
    }
}
