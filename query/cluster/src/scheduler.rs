//! The scheduler: accepts queries, plans them, and gives their tasks to executors that ask for
//! work.

use std::net::SocketAddr;
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::SessionConfigExt;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tracewell_query::{Failure, Stores, functions};

use crate::codec::Codec;
use crate::common::{MAX_MESSAGE, advertised, announce, listen, with_codec};

/// Accept queries, and distribute their tasks to executors
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Listen on this address, without any password; port 0 is any free port
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,

    /// Announce this machine to executors and clients by this name; the default is the address of
    /// --listen
    #[arg(long, value_name = "HOST")]
    advertise: Option<String>,

    /// Run the tasks of an executor again on other executors if it sends nothing for this time
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(MIN_LOST_AFTER..))]
    lost_after: u64,
}

/// Minimum of `--lost-after`. A busy executor reports every five seconds.
const MIN_LOST_AFTER: u64 = 10;

/// Runs a scheduler until the program is stopped.
///
/// # Errors
///
/// Fails if the address is not free.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let (listener, address) = listen(args.listen).await?;
    let stores = Arc::new(Stores::default());
    let config = SchedulerConfig {
        external_host: advertised(address.ip(), args.advertise)?,
        bind_host: address.ip().to_string(),
        bind_port: address.port(),
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: args.lost_after,
        expire_dead_executor_interval_seconds: 2,
        no_executors_grace_period_seconds: args.lost_after,
        grpc_server_max_decoding_message_size: MAX_MESSAGE,
        grpc_server_max_encoding_message_size: MAX_MESSAGE,
        grpc_client_max_message_size: MAX_MESSAGE,
        override_config_producer: Some(Arc::new(|| with_codec(SessionConfig::new_with_ballista()))),
        override_session_builder: Some(Arc::new(move |config| state(config, &stores))),
        override_logical_codec: Some(Arc::new(Codec::default())),
        ..SchedulerConfig::default()
    };
    let failed = |error| Failure::storage(format!("scheduler: {error}"));
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(failed)?;
    let scheduler =
        create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config));
    let scheduler = scheduler.await.map_err(failed)?;
    announce(&format!("scheduler on {address}"));
    start_grpc_service_with_listener(listener, scheduler).await.map_err(failed)
}

/// Returns the session state with which the scheduler plans a query.
fn state(config: SessionConfig, stores: &Arc<Stores>) -> Result<SessionState> {
    let stores = Arc::clone(stores);
    let runtime = RuntimeEnvBuilder::new().with_object_store_registry(stores).build_arc()?;
    let state = default_session_builder(config)?;
    let mut state = SessionStateBuilder::new_from_existing(state).with_runtime_env(runtime).build();
    for function in functions() {
        state.register_udf(Arc::new(function))?;
    }
    Ok(state)
}
