//! A cluster on loopback for tests: a scheduler and its executors on free ports, and programs with
//! a time limit.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

#[allow(dead_code, unreachable_pub, reason = "public in the crate of the benchmarks")]
#[path = "../../../../bench/src/fleet.rs"]
pub mod fleet;

/// Maximum time for everything that a test waits for. A test that needs longer fails.
const DEADLINE: Duration = Duration::from_secs(900);

/// Time between two looks at something that a test waits for.
const LOOK: Duration = Duration::from_millis(5);

/// Seconds without a report after which the scheduler considers an executor dead. This is the
/// smallest value that the scheduler accepts.
const LOST_AFTER: &str = "10";

/// Variables of the environment of a program.
pub type Variables = Vec<(&'static str, String)>;

/// Returns a program of the crate `tracewell-query`. When Cargo builds the tests of that crate, it
/// puts the program beside the program of this crate.
pub fn program(name: &str) -> PathBuf {
    let own = Path::new(env!("CARGO_BIN_EXE_tracewell-cluster"));
    let path = own.with_file_name(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.is_file(), "{} is missing: add --package tracewell-query", path.display());
    path
}

/// A service that ends when this value is dropped.
pub struct Service {
    child: Child,
    /// The line that the service printed when it was ready.
    pub line: String,
}

impl Service {
    /// Starts the program of this crate, and waits until it prints a line.
    fn start(variables: &Variables, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell-cluster"));
        command.args(arguments).envs(variables.iter().cloned());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(out).read_line(&mut line).map(|_| line);
            // After the deadline, the channel has no receiver.
            let _ = sender.send(read);
        });
        let mut service = Self { child, line: String::new() };
        service.line = receiver.recv_timeout(DEADLINE).unwrap().unwrap();
        assert!(!service.line.is_empty(), "{arguments:?} ended");
        service
    }

    /// Returns the address that the service printed.
    pub fn address(&self) -> &str {
        self.line.split_whitespace().nth(2).unwrap()
    }

    /// Suspends the service, which cannot react to the signal (SIGSTOP).
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets a stopped service continue (SIGCONT).
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Ends the service at once (SIGKILL).
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A scheduler, its executors, and a folder for all files of the test.
pub struct Cluster {
    pub scheduler: Service,
    pub executors: Vec<Service>,
    pub folder: TempDir,
    variables: Variables,
}

impl Cluster {
    /// Starts a cluster, and waits until all executors are registered.
    pub fn start(executors: usize, variables: Variables) -> Self {
        let scheduler = ["scheduler", "--listen", "127.0.0.1:0", "--lost-after", LOST_AFTER];
        let scheduler = Service::start(&variables, &scheduler);
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = Self { scheduler, executors: Vec::new(), folder, variables };
        (0..executors).for_each(|_| cluster.add_executor());
        cluster
    }

    /// Starts an executor, and waits until it is registered.
    pub fn add_executor(&mut self) {
        let folder = self.work_folder(self.executors.len());
        std::fs::create_dir(&folder).unwrap();
        let address = self.scheduler.address();
        let arguments = ["executor", "--scheduler", address, "--tasks", "1", "--folder"];
        let arguments = [&arguments[..], &[folder.to_str().unwrap()]].concat();
        let executor = Service::start(&self.variables, &arguments);
        self.executors.push(executor);
    }

    /// Returns the folder in which an executor keeps results.
    fn work_folder(&self, executor: usize) -> PathBuf {
        self.folder.path().join(format!("executor-{executor}"))
    }

    /// Returns true if an executor has begun to store results of a query.
    pub fn has_worked(&self, executor: usize) -> bool {
        let own = std::fs::read_dir(self.work_folder(executor)).unwrap().next().unwrap().unwrap();
        let mut folders = std::fs::read_dir(own.path()).unwrap();
        // Each query has a folder. One more folder is for temporary files of the engine.
        folders
            .any(|folder| !folder.unwrap().file_name().to_string_lossy().starts_with("datafusion-"))
    }

    /// Returns the number of files with results that an executor keeps.
    pub fn results(&self, executor: usize) -> usize {
        count_files(&self.work_folder(executor))
    }

    /// Writes the traces of a fleet, and adds them to a lake.
    pub fn ingest(&self, devices: u32, ms: u32, lake: &str) {
        fleet::write(&self.folder.path().join("fleet"), devices, ms).unwrap();
        let rate = format!("rate={}", fleet::RATE);
        let arguments = ["fleet", "-o", lake, "--partition", "firmware", "-O", &rate];
        let added = self.run("tracewell-ingest", &arguments);
        let added = printed(&added);
        assert!(added.starts_with(&format!("added {devices} traces, ")), "{added}");
    }

    /// Returns a program in the folder of the cluster.
    fn command(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program(name));
        command.args(arguments).current_dir(self.folder.path());
        command.envs(self.variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a query on the cluster.
    pub fn query(&self, arguments: &[&str]) -> Running {
        let cluster = ["--cluster", self.scheduler.address()];
        Running::start(self.command("tracewell-query", &[arguments, &cluster].concat()))
    }

    /// Runs a program to its end.
    pub fn run(&self, name: &str, arguments: &[&str]) -> Output {
        Running::start(self.command(name, arguments)).output()
    }
}

/// Returns the number of files in a folder and in its folders.
fn count_files(folder: &Path) -> usize {
    // Another program may delete folders in the meantime.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.map(|path| if path.is_dir() { count_files(&path) } else { 1 }).sum()
}

/// Returns the output of a program, which must have ended successfully and without messages.
pub fn printed(output: &Output) -> String {
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*messages), (Some(0), ""));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Waits until a condition holds.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        thread::sleep(LOOK);
    }
}

/// A program that runs. It ends when this value is dropped.
pub struct Running {
    child: Child,
    out: thread::JoinHandle<Vec<u8>>,
    messages: thread::JoinHandle<Vec<u8>>,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let out = reader(child.stdout.take().unwrap());
        let messages = reader(child.stderr.take().unwrap());
        Self { child, out, messages }
    }

    /// Returns true if the program has not ended.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Ends the program at once (SIGKILL).
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the program ends, and returns its output.
    pub fn output(mut self) -> Output {
        let start = Instant::now();
        while self.is_running() {
            if start.elapsed() >= DEADLINE {
                let _ = self.child.kill();
                let messages = self.messages.join().unwrap();
                panic!("no end within {DEADLINE:?}: {}", String::from_utf8_lossy(&messages));
            }
            thread::sleep(LOOK);
        }
        let status = self.child.wait().unwrap();
        let (stdout, stderr) = (self.out.join().unwrap(), self.messages.join().unwrap());
        Output { status, stdout, stderr }
    }
}

fn reader(mut from: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}
