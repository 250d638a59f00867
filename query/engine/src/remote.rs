//! The interface to a cluster that answers queries instead of this program. `check` refuses queries
//! that a cluster cannot answer.
//!
//! The engine of a cluster depends on many crates, so it is in a separate program,
//! `tracewell-cluster`. `tracewell-query --cluster` starts that program.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::source_as_provider;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::TryStreamExt;

use crate::failure::{Failure, Outcome};
use crate::lake::is_table_of_lake;

/// A cluster that answers the queries of a session.
pub trait Remote: Debug + Send + Sync {
    /// Returns the state of a session whose queries run on the cluster.
    ///
    /// # Errors
    ///
    /// Fails if the state cannot be made.
    fn planner(&self, state: SessionState) -> Result<SessionState>;

    /// Converts an error of a query on the cluster to a failure.
    fn failure(&self, error: &DataFusionError) -> Failure;
}

/// Schema of the tables that describe the session. This program itself answers queries that read
/// these tables.
const DESCRIPTION: &str = "information_schema";

/// Checks that a plan reads only tables that a cluster can read.
///
/// # Errors
///
/// Returns an error that names the first table that a cluster cannot read.
pub(crate) fn check(plan: &LogicalPlan) -> Result<(), Failure> {
    let mut other = None;
    plan.apply_with_subqueries(|node| {
        let LogicalPlan::TableScan(scan) = node else { return Ok(TreeNodeRecursion::Continue) };
        // The plan also contains the plans of its views.
        let is_readable = scan.table_name.schema() == Some(DESCRIPTION)
            || is_table_of_lake(&*source_as_provider(&scan.source)?);
        if is_readable {
            return Ok(TreeNodeRecursion::Continue);
        }
        other = Some(scan.table_name.table().to_owned());
        Ok(TreeNodeRecursion::Stop)
    })?;
    match other {
        Some(name) => Err(not_a_lake(&name)),
        None => Ok(()),
    }
}

/// Returns the failure for an input that a cluster cannot read.
pub(crate) fn not_a_lake(name: &str) -> Failure {
    let message = "--cluster reads lakes only: tracewell ingest adds traces to a lake";
    Failure::usage(format!("{name}: {message}"))
}

/// Runs a query on a cluster, and returns its rows.
pub(crate) async fn rows(
    remote: &Arc<dyn Remote>,
    frame: DataFrame,
) -> Result<SendableRecordBatchStream, Failure> {
    let rows = frame.execute_stream().await.map_err(|error| remote.failure(&error))?;
    let remote = Arc::clone(remote);
    let schema = rows.schema();
    let rows = rows.map_err(move |error| remote.failure(&error).into());
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
}

/// The program that answers queries on a cluster.
const PROGRAM: &str = "tracewell-cluster";

/// Runs this command line with the program for clusters, which is beside this program or in PATH.
///
/// # Errors
///
/// Fails if the program is not found.
pub(crate) fn start() -> Result<Outcome, Failure> {
    let beside = std::env::current_exe().ok();
    let beside = beside.map(|own| own.with_file_name(PROGRAM)).map(|mut path| {
        path.set_extension(std::env::consts::EXE_EXTENSION);
        path
    });
    let beside = beside.filter(|path| path.is_file());
    let program = beside.unwrap_or_else(|| PathBuf::from(PROGRAM));
    let arguments = std::env::args_os().skip(1);
    match Command::new(&program).arg("query").args(arguments).status() {
        Ok(status) => Ok(Outcome::of_status(status.code())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = "not found beside tracewell-query or in PATH; build it with `cargo \
                           install --path query/cluster` in the sources of tracewell";
            let error = io::Error::new(io::ErrorKind::NotFound, message);
            Err(Failure::io(Path::new(PROGRAM), &error))
        }
        Err(error) => Err(Failure::io(&program, &error)),
    }
}
