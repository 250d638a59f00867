//! The program `tracewell-cluster`: the scheduler, the executors and the client of a cluster that
//! answers SQL questions over lakes of traces.
//!
//! The cluster is Ballista, which runs plans of the engine of `tracewell-query` on several
//! machines. Every machine can read tables from the storage of a lake, and has the SQL functions
//! for traces. `docs/cluster.md` is the guide.
//!
//! | file | content |
//! |---|---|
//! | `scheduler` | accepts queries and distributes their tasks |
//! | `executor` | runs tasks |
//! | `client` | sends the queries of `tracewell query --cluster` |
//! | `codec` | encodes tables of lakes for messages between machines |
//! | `common` | settings, addresses and messages of the scheduler, the executors and the client |
#![forbid(unsafe_code)]

mod client;
mod codec;
mod common;
mod executor;
mod scheduler;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracewell_query::{Failure, Outcome, report};

/// Answers SQL questions over lakes of traces on several machines.
#[derive(Debug, Parser)]
#[command(name = "tracewell-cluster", version)]
#[command(after_help = "Examples:
  tracewell-cluster scheduler --listen 10.0.0.1:50050
  tracewell-cluster executor --scheduler 10.0.0.1:50050 --listen 10.0.0.2:50051
  tracewell query --run steps --set label=firmware --cluster 10.0.0.1:50050 s3://traces/lake

Nothing here asks for a password: who reaches a port can read every lake that the executors can
read. Use loopback or a private network.")]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Scheduler(scheduler::Args),
    Executor(executor::Args),
    /// Answer a command line of `tracewell query --cluster`
    Query(Box<tracewell_query::Args>),
}

/// Size of the stack of each thread. The engine walks through plans recursively.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let ran = match Program::parse().command {
        Command::Query(args) => client::run(&args),
        Command::Scheduler(args) => serve(scheduler::run(args)),
        Command::Executor(args) => serve(executor::run(args)),
    };
    ExitCode::from(ran.unwrap_or_else(|failure| report(&failure)).status())
}

/// Runs a service until it ends.
fn serve(service: impl Future<Output = Result<(), Failure>>) -> Result<Outcome, Failure> {
    common::print_warnings();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().thread_stack_size(STACK).build();
    let runtime = runtime.map_err(|error| Failure::io(Path::new("threads"), &error))?;
    runtime.block_on(service)?;
    Ok(Outcome::Done)
}
