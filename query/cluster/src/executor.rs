//! An executor: asks the scheduler for tasks, runs them, and keeps their results for other
//! executors and for clients.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::create_grpc_server;
use ballista_executor::ArrowFlightServerProvider;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::flight_service::BallistaFlightService;
use ballista_executor::health::ExecutorHealth;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tracewell_query::{Failure, Stores, functions};

use crate::codec::Codec;
use crate::common::{MAX_MESSAGE, advertised, announce, listen, with_codec};

/// Run tasks of queries
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Ask this scheduler for tasks
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    scheduler: String,

    /// Listen on this address and give results, without any password; port 0 is any free port
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Announce this machine to executors and clients by this name; the default is the address of
    /// --listen
    #[arg(long, value_name = "HOST")]
    advertise: Option<String>,

    /// Run at most this many tasks at the same time; the default is the number of processors
    #[arg(long, value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    tasks: Option<u16>,

    /// Limit the memory of all tasks, in MiB; the default is 70 % of the machine's memory
    #[arg(long, value_name = "MIB")]
    #[arg(value_parser = clap::value_parser!(u64).range(16..))]
    memory: Option<u64>,

    /// Create a folder for results in this folder; the default is the system's folder for temporary
    /// files
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Runs an executor until the program is stopped.
///
/// # Errors
///
/// Fails if the address is not free, or the scheduler does not answer.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let (scheduler_host, scheduler_port) = host_and_port(&args.scheduler)?;
    let (listener, address) = listen(args.listen).await?;
    let folder = folder(args.folder.as_deref())?;
    let work_dir = folder.path().to_string_lossy().into_owned();
    let (stores, temporary) = (Arc::new(Stores::default()), work_dir.clone());
    let health = ExecutorHealth::new();
    let mut config = ExecutorProcessConfig {
        bind_host: address.ip().to_string(),
        external_host: Some(advertised(address.ip(), args.advertise)?),
        port: address.port(),
        grpc_port: address.port(),
        scheduler_host,
        scheduler_port,
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: Some(work_dir),
        grpc_max_decoding_message_size: MAX_MESSAGE,
        grpc_max_encoding_message_size: MAX_MESSAGE,
        memory_pool_size: args.memory.map(|mebibytes| mebibytes << 20),
        override_function_registry: Some(Arc::new(registry())),
        override_config_producer: Some(Arc::new(|| with_codec(SessionConfig::new_with_ballista()))),
        override_runtime_producer: Some(Arc::new(move |_| {
            RuntimeEnvBuilder::new()
                .with_object_store_registry(Arc::clone(&stores) as _)
                .with_temp_file_path(temporary.clone())
                .build_arc()
        })),
        override_logical_codec: Some(Arc::new(Codec::default())),
        override_arrow_flight_service: Some(flight(listener)),
        health: health.clone(),
        ..ExecutorProcessConfig::default()
    };
    if let Some(tasks) = args.tasks {
        config.vcores = tasks.into();
    }
    let line = format!("executor on {address} for {}", args.scheduler);
    tokio::spawn(announce_when_registered(health, line));
    let ran = start_executor_process(Arc::new(config)).await;
    ran.map_err(|error| Failure::storage(format!("scheduler {}: {error}", args.scheduler)))
}

/// Returns a new folder, which is removed when the executor ends.
fn folder(parent: Option<&Path>) -> Result<TempDir, Failure> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("tracewell-executor-");
    let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
    builder.tempdir_in(&parent).map_err(|error| Failure::io(&parent, &error))
}

/// Returns the functions that tasks may call.
fn registry() -> BallistaFunctionRegistry {
    let mut registry = BallistaFunctionRegistry::default();
    for function in functions() {
        registry.scalar_functions.insert(function.name().to_owned(), Arc::new(function));
    }
    registry
}

/// Returns the host and the port of an address.
fn host_and_port(address: &str) -> Result<(String, u16), Failure> {
    let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    match parts {
        Some((host, port)) if !host.is_empty() => Ok((host.to_owned(), port)),
        _ => Err(Failure::usage(format!("--scheduler {address}: expected HOST:PORT"))),
    }
}

/// Returns the service that sends results to executors and clients. It uses a listener that is
/// already bound.
fn flight(listener: TcpListener) -> Arc<ArrowFlightServerProvider> {
    // Ballista calls this function once, but its type allows several calls.
    let listener = Mutex::new(Some(listener));
    Arc::new(move |folder, _, mut shutdown, config| {
        let listener = listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        tokio::spawn(async move {
            let Some(listener) = listener else { return Ok(()) };
            let service = FlightServiceServer::new(BallistaFlightService::new(folder))
                .max_decoding_message_size(MAX_MESSAGE as usize)
                .max_encoding_message_size(MAX_MESSAGE as usize);
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            let server = create_grpc_server(&config).add_service(service);
            Ok(server.serve_with_incoming_shutdown(incoming, shutdown.recv()).await?)
        })
    })
}

/// Time between two checks of the connection.
const LOOK: Duration = Duration::from_millis(20);

/// Prints a line after the scheduler has answered for the first time.
async fn announce_when_registered(health: ExecutorHealth, line: String) {
    while !health.is_ready() {
        tokio::time::sleep(LOOK).await;
    }
    announce(&line);
}
