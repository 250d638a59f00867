//! The client: sends the queries of `tracewell query --cluster` to a scheduler, and reports the
//! errors of the cluster.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use ballista_core::extension::SessionStateExt;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use tracewell_query::{Args, Failure, Outcome, Remote, run_on};

use crate::common::with_codec;

/// Runs a command line of `tracewell query --cluster`.
///
/// # Errors
///
/// Fails if no scheduler answers at the address, or if the scheduler has no executors.
pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let Some(address) = args.cluster.clone() else {
        let message = "tracewell-cluster query: expected --cluster HOST:PORT";
        return Err(Failure::usage(message));
    };
    check(&address)?;
    Ok(run_on(args, Arc::new(Cluster { address })))
}

/// A cluster, identified by the address of its scheduler.
#[derive(Debug)]
struct Cluster {
    address: String,
}

/// Number of parts into which a plan divides its data. Each part is a task for an executor.
const PARTS: usize = 16;

impl Remote for Cluster {
    fn planner(&self, state: SessionState) -> Result<SessionState> {
        let config = with_codec(state.config().clone()).with_target_partitions(PARTS);
        let state = SessionStateBuilder::new_from_existing(state).with_config(config).build();
        state.upgrade_for_ballista(format!("http://{}", self.address))
    }

    fn failure(&self, error: &DataFusionError) -> Failure {
        let text = error.find_root().strip_backtrace();
        let text = text.strip_prefix("Execution error: ").unwrap_or(&text);
        // Ballista ends some messages with empty lines.
        let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        Failure::storage(format!("cluster {}: {}", self.address, lines.join("; ")))
    }
}

/// Maximum time for each step of [`check`].
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum length in bytes of a scheduler's answer to the request `/readyz`.
const MAX_ANSWER: u64 = 4096;

/// Checks that a scheduler answers and has executors.
fn check(address: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let message = format!("no scheduler of a cluster answers: {error}");
        Failure::storage(format!("--cluster {address}: {message}"))
    };
    let answer = ask(address).map_err(failed)?;
    if answer.starts_with("HTTP/1.1 200") {
        return Ok(());
    }
    let message = match answer.starts_with("HTTP/1.1 503") {
        true => "the scheduler has no executors: start some with tracewell-cluster executor",
        false => "this is not a scheduler of tracewell-cluster",
    };
    Err(Failure::storage(format!("--cluster {address}: {message}")))
}

/// Asks a scheduler whether it is ready, and returns its answer.
fn ask(address: &str) -> io::Result<String> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for resolved in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&resolved, PATIENCE) {
            Ok(mut stream) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                let request =
                    format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
                stream.write_all(request.as_bytes())?;
                let mut answer = Vec::new();
                stream.take(MAX_ANSWER).read_to_end(&mut answer)?;
                return Ok(String::from_utf8_lossy(&answer).into_owned());
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}
