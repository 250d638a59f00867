//! Traces a process of another user, which only root can do. The test runs in a separate process,
//! because a fault would end the process with SIGBUS, and because the library reads the directory
//! of streams from the environment once per process.

use std::env;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use tracewell_posix::{Attributes, Controller, DIRECTORY_VARIABLE};

/// The id of a user without privileges.
const OTHER: u32 = 65_534;

/// A process of another user, which is killed at the end.
struct Sleeper(Child);

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Truncates the memory of the streams that trace processes of the other user.
fn truncate_streams() -> usize {
    let folder = env::var_os(DIRECTORY_VARIABLE).unwrap();
    let entries = fs::read_dir(folder).unwrap().flatten();
    let streams = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("o."));
    let truncate = |path| File::options().write(true).open(path).unwrap().set_len(0).unwrap();
    streams.map(|entry| truncate(entry.path())).count()
}

/// Runs a test again in a process whose streams are in a temporary directory of the other user.
fn run_in_temporary_directory(test: &str) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let streams = folder.path().join("streams");
    fs::DirBuilder::new().mode(0o700).create(&streams).unwrap();
    chown(&streams, Some(OTHER), None).unwrap();
    let mut again = Command::new(env::current_exe().unwrap());
    let ran = again.args([test, "--exact"]).env(DIRECTORY_VARIABLE, &streams).output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && printed.contains("1 passed"), "{printed}");
    let names = fs::read_dir(&streams).unwrap().map(|entry| entry.unwrap().file_name());
    assert_ne!(names.count(), 0, "the streams were in another directory");
}

#[test]
fn truncating_the_memory_of_a_stream_ends_the_trace_and_not_the_controller() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("skipped: only root can trace processes of another user");
        return;
    }
    if env::var_os(DIRECTORY_VARIABLE).is_none() {
        let test = "truncating_the_memory_of_a_stream_ends_the_trace_and_not_the_controller";
        return run_in_temporary_directory(test);
    }
    let sleeper = Sleeper(Command::new("sleep").arg("600").uid(OTHER).spawn().unwrap());
    let process = i32::try_from(sleeper.0.id()).unwrap();
    let attributes = Attributes::default();
    let direct = Controller::create(process, &attributes).unwrap();
    let file = tempfile::tempfile().unwrap();
    let logged = Controller::create_with_log(process, &attributes, file.as_raw_fd()).unwrap();
    for controller in [&direct, &logged] {
        controller.stream().start();
        assert!(!controller.stream().is_cut() && !controller.stream().is_abandoned());
    }
    assert!(truncate_streams() >= 2);
    let end = std::iter::from_fn(|| direct.try_next().transpose()).find_map(Result::err);
    assert_eq!(end.map(|error| error.number()), Some(libc::EIO));
    assert_eq!(direct.next(None).unwrap_err().number(), libc::EIO);
    assert_eq!(logged.shutdown().unwrap_err().number(), libc::EIO);
    for controller in [direct, logged] {
        assert!(controller.stream().is_cut() && controller.stream().is_abandoned());
    }
}
