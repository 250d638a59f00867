//! `tracewell serve`: shows traces in a browser.
//!
//! | file | purpose |
//! |---|---|
//! | `server` | accepts connections, and answers each in a thread |
//! | `http` | reads requests and writes responses, within limits |
//! | `guard` | decides which requests are answered |
//! | `routes` | the paths that follow the secret, and their answers |
//! | `marks` | the file with the marks of the user |
//! | `query` | the parameters of a request |
//! | `redirect` | the private file that leads the browser to the address |
//! | `content` | reads a trace, reads it again after each change, and provides its page and views |
//! | `traces` | the files named on the command line, and how to read them |
//! | `cache` | the summaries of large traces, in the user's folder for caches |
//! | `shown` | all shown traces, and their progress |
//! | `priority` | gives the browser the processors before the threads that read traces |
//!
//! To answer requests, the server opens only the files named on the command line and the marks
//! file. It never opens a path from a request.

mod cache;
mod content;
mod guard;
mod http;
mod marks;
mod priority;
mod progress;
mod query;
mod redirect;
mod routes;
mod server;
mod shown;
#[cfg(test)]
mod tests;
mod traces;

use std::env;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use clap::Args;
use tracewell::text::shown_path;

use self::cache::Cache;
use self::content::Content;
use self::guard::Guard;
use self::http::Limits;
use self::progress::Changes;
use self::redirect::Redirect;
use self::routes::Routes;
use self::server::Server;
use self::shown::Shown;
use self::traces::Traces;
use super::sources::stop_signal;
use crate::args::InputArgs;
use crate::outcome::{Failure, Outcome, warn};
use crate::output;

/// Show traces in a browser, even while they grow
///
/// Prints an address, and answers requests from a browser at this address until Ctrl-C. The address
/// contains a secret: only programs that know it can read the trace. By default, only programs on
/// this computer can connect.
///
/// Marks that you set in the page are stored in FILE.marks.txt. The summary of a trace with more
/// than 2,000,000 events is stored in the user's folder for caches, so the next start does not read
/// the trace again.
///
/// The page shows the timeline of `convert -o trace.html`. It follows a growing file, and a stream
/// in shared memory. If there are several files, each file is a tree on a common time axis, with an
/// offset that you can drag or type. Programs can read the same data; docs/viewing.md lists the
/// addresses.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell serve trace.trx
  tracewell serve --open -O rate=100MHz trace.trx
  tracewell serve --port 8000 /dev/shm/app.twx
  tracewell serve left.trx right.trx
  tracewell serve --join 0trace.dat 1trace.dat")]
pub(crate) struct Serve {
    /// Traces, or the parts of one (--join)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Open the address in the browser of this computer
    #[arg(long)]
    open: bool,

    /// Listen at this port; 0 is any free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,

    /// Listen at this address of this computer; other computers can connect to it, unless it is a
    /// loopback address
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,

    /// Neither read nor store the summary of a large trace in the folder for caches
    #[arg(long)]
    no_cache: bool,

    #[command(flatten)]
    input: InputArgs,
}

/// Interval at which the server checks whether a signal has arrived.
const PAUSE: Duration = Duration::from_millis(50);

impl Serve {
    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        for file in &self.files {
            // `Input::open` reports missing files and folders.
            let kind = fs::metadata(file).map(|metadata| metadata.file_type());
            let is_stream = kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir());
            if is_stream || file == Path::new("-") {
                let message = "cannot be read again for each request: save the trace in a file";
                return Err(Failure::usage(format!("{}: {message}", shown_path(file))));
            }
        }
        let shown = Arc::new(self.shown()?);
        let address = (self.listen, self.port).into();
        let failed = |error| Failure::io(Path::new(&format!("{address}")), &error);
        let listener = TcpListener::bind::<SocketAddr>(address).map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        let stop = stop_signal().map_err(|error| Failure::io(Path::new("signals"), &error))?;
        let guard = Guard::new().map_err(|error| {
            Failure::io(Path::new("random numbers"), &io::Error::other(error.to_string()))
        })?;
        let printed = format!("http://{}/{}/", reachable(local), guard.token());
        if !self.listen.is_loopback() {
            let port = local.port();
            warn!(
                "{}: other computers can reach port {port} of this one, without encryption",
                self.listen
            );
        }
        let verbose = self.input.verbose;
        for content in &shown.all {
            let reader = Arc::clone(content);
            thread::spawn(move || {
                priority::lower();
                reader.read(verbose);
            });
        }
        let routes = Routes::new(Arc::clone(&shown));
        let server = Arc::new(Server::new(guard, Limits::default(), routes));
        thread::spawn(move || server.run(&listener));
        let outcome = output::print_exactly(format!("{printed}\n"));
        // The file must exist until the server ends, because the browser may read it late.
        let _redirect = self.open.then(|| open(&printed));
        while !stop.load(Ordering::Relaxed) {
            thread::sleep(PAUSE);
        }
        Ok(outcome.max(shown.outcome()))
    }

    /// Opens each trace, so that an unreadable file is reported before the address is printed.
    fn shown(&self) -> Result<Shown, Failure> {
        let length = if self.input.join { self.files.len() } else { 1 };
        let runs = self.files.chunks(length);
        let is_one_of_several = runs.len() > 1;
        let changes = Arc::<Changes>::default();
        let cache = if self.no_cache { None } else { Cache::of_user() };
        let content = |files: &[PathBuf]| -> Result<Arc<Content>, Failure> {
            let traces = Traces::new(files, &self.files, &self.input)?;
            self.input.warn_ineffective(&traces.open()?, files.len());
            let changes = Arc::clone(&changes);
            let cache = cache.clone();
            Ok(Arc::new(Content::new(traces, is_one_of_several, cache, changes)))
        };
        let all = runs.map(content).collect::<Result<Vec<_>, _>>()?;
        Ok(Shown::new(all, Arc::clone(&changes)))
    }
}

/// Given the local address of a server, returns an address at which this computer can reach the
/// server. A server at `0.0.0.0` or `::` answers at all addresses of the computer.
fn reachable(local: SocketAddr) -> SocketAddr {
    match local.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, local.port()).into(),
        IpAddr::V6(ip) if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, local.port()).into(),
        _ => local,
    }
}

/// Opens an address in the user's browser. Returns the file that the browser reads. On failure,
/// only prints a warning, because the user can open the printed address.
fn open(address: &str) -> Option<Redirect> {
    let redirect = Redirect::new(&env::temp_dir(), address);
    let redirect = redirect.inspect_err(|error| warn!("--open: {error}")).ok()?;
    let program = if cfg!(windows) {
        "explorer"
    } else if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(redirect.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // The thread waits for the program's exit status.
        Ok(mut child) => drop(thread::spawn(move || child.wait())),
        Err(error) => warn!("--open: {program}: {error}"),
    }
    Some(redirect)
}
