//! A session: the engine with the tables and functions of traces.
//!
//! The engine asks for each table that a query names. A table name such as `events` stands for the
//! rows of this table from all traces of the session. Any other name is a pattern for traces, a
//! lake, or the path of a Parquet file.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use datafusion::catalog::{
    DynamicFileCatalog, TableFunctionArgs, TableFunctionImpl, TableProvider, UrlTableFactory,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SessionContext;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::prelude::{SQLOptions, SessionConfig};
use datafusion::sql::parser::Statement;
use tracewell_tables::Table;

use crate::failure::Failure;
use crate::files::{self, TraceFile};
use crate::findings::Findings;
use crate::functions::functions;
use crate::grouping::GroupByNumbers;
use crate::labels::Labels;
use crate::lake::{self, LakeTables, Stores, Words, is_lake};
use crate::provider::TraceTable;
use crate::remote::{self, Remote};
use crate::sources::Sources;
use crate::sql;

/// Default maximum, in bytes, of the memory in which the engine sorts and groups. Beyond it, the
/// engine uses temporary files or the query fails.
pub const DEFAULT_MEMORY: usize = 2 << 30;

/// A session with the engine: its tables, and the findings about their traces.
pub struct Session {
    context: SessionContext,
    traces: Arc<Traces>,
    /// The cluster that answers; `None` is this program.
    remote: Option<Arc<dyn Remote>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("traces", &self.traces).finish_non_exhaustive()
    }
}

impl Session {
    /// Creates a session with these traces as its tables.
    ///
    /// If a query itself names traces, they are read with these `options`. `memory` is the limit of
    /// the engine's memory in bytes. `remote` is the cluster that answers; it reads only lakes.
    ///
    /// # Errors
    ///
    /// Fails if the engine cannot start.
    pub fn new(
        files: Vec<TraceFile>,
        options: Vec<String>,
        memory: usize,
        remote: Option<Arc<dyn Remote>>,
    ) -> Result<Self, Failure> {
        let files = files.into_iter().map(Arc::new).collect();
        Self::of(Own::Files(files), options, memory, remote)
    }

    /// Creates a session with the tables of a lake.
    ///
    /// # Errors
    ///
    /// Fails if the engine cannot start.
    pub(crate) fn of_lake(
        lake: LakeTables,
        memory: usize,
        remote: Option<Arc<dyn Remote>>,
    ) -> Result<Self, Failure> {
        Self::of(Own::Lake(Arc::new(lake)), Vec::new(), memory, remote)
    }

    fn of(
        own: Own,
        options: Vec<String>,
        memory: usize,
        remote: Option<Arc<dyn Remote>>,
    ) -> Result<Self, Failure> {
        let sources = Arc::new(Sources::default());
        let lists = Arc::new(DynamicListTableFactory::default());
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_limit(memory, 1.0)
            .with_object_store_registry(Arc::new(Stores::default()))
            .build_arc()?;
        let words = if remote.is_some() { Words::Plain } else { Words::Numbered };
        let arguments = AtomicBool::new(true);
        let traces = Arc::new(Traces { own, options, words, sources, lists, arguments });
        let config = SessionConfig::new().with_information_schema(true);
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(runtime)
            .with_default_features()
            .build();
        let catalogs = Arc::clone(state.catalog_list());
        let factory = Arc::clone(&traces) as Arc<dyn UrlTableFactory>;
        let catalogs = Arc::new(DynamicFileCatalog::new(catalogs, factory));
        let state = SessionStateBuilder::new_from_existing(state).with_catalog_list(catalogs);
        let state = match &remote {
            Some(remote) => remote.planner(state.build())?,
            // Other machines do not know the expressions of this rule.
            None => state.with_physical_optimizer_rule(Arc::new(GroupByNumbers)).build(),
        };
        let context = SessionContext::new_with_state(state);
        traces.lists.session_store().with_state(context.state_weak_ref());
        for table in Table::ALL {
            let function = Read { table, traces: Arc::clone(&traces) };
            context.register_udtf(table.name(), Arc::new(function));
        }
        let function = Read { table: Table::Events, traces: Arc::clone(&traces) };
        context.register_udtf("read", Arc::new(function));
        functions().into_iter().for_each(|function| context.register_udf(function));
        Ok(Self { context, traces, remote })
    }

    /// Runs the statements of a text, and passes the rows of each to `show`.
    ///
    /// # Errors
    ///
    /// Fails if the text is not valid SQL, if it names unknown tables or columns, if it would write
    /// files, or if `show` fails.
    pub async fn run<F>(&self, text: &str, mut show: F) -> Result<(), Failure>
    where
        F: AsyncFnMut(SendableRecordBatchStream) -> Result<(), Failure>,
    {
        // Statements that write files could overwrite a trace.
        let allowed = SQLOptions::new().with_allow_dml(false);
        for statement in sql::parse(text)? {
            let plan = self.plan(statement).await?;
            allowed.verify_plan(&plan)?;
            if self.remote.is_some() {
                remote::check(&plan)?;
            }
            // A view has columns, but the statement that creates it returns no rows.
            let is_definition = matches!(plan, LogicalPlan::Ddl(_));
            let has_rows = !is_definition && !plan.schema().fields().is_empty();
            let frame = self.context.execute_logical_plan(plan).await?;
            let rows = match &self.remote {
                Some(remote) => remote::rows(remote, frame).await?,
                None => frame.execute_stream().await?,
            };
            if has_rows {
                show(rows).await?;
            }
        }
        Ok(())
    }

    /// Plans a statement.
    async fn plan(&self, statement: Statement) -> Result<LogicalPlan> {
        let state = self.context.state();
        if !sql::may_name_arguments(&statement) {
            self.traces.arguments.store(false, Ordering::Relaxed);
            let plan = state.statement_to_plan(statement.clone()).await;
            self.traces.arguments.store(true, Ordering::Relaxed);
            // If a column is missing, it may be that of an argument.
            if plan.is_ok() {
                return plan;
            }
        }
        state.statement_to_plan(statement).await
    }

    /// Returns the findings about the traces that were read.
    pub fn findings(&self) -> &Findings {
        &self.traces.sources.findings
    }
}

/// The tables of a session.
#[derive(Debug)]
enum Own {
    /// The tables of traces.
    Files(Vec<Arc<TraceFile>>),
    /// The tables of a lake.
    Lake(Arc<LakeTables>),
}

/// The tables of a session, and tables for paths in queries.
#[derive(Debug)]
struct Traces {
    own: Own,
    options: Vec<String>,
    /// The form of texts in tables of lakes.
    words: Words,
    sources: Arc<Sources>,
    /// Creates tables from Parquet files.
    lists: Arc<DynamicListTableFactory>,
    /// False while the engine plans a statement that names no argument of events. To find all
    /// arguments, a table reads its traces.
    arguments: AtomicBool,
}

#[async_trait]
impl UrlTableFactory for Traces {
    async fn try_new(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Ok(table) = name.parse() {
            return match &self.own {
                // The engine also looks for tables with the names of functions such as `events(…)`,
                // so a table without traces is not an error here.
                Own::Files(files) if files.is_empty() => Ok(None),
                Own::Files(files) => self.table(table, files.clone()).map(Some),
                Own::Lake(lake) => lake.table(table, self.words).map(Some),
            };
        }
        if is_parquet(name) {
            return self.lists.try_new(name).await;
        }
        let is_path = name.contains(['/', '.', '*']) || std::path::Path::new(name).exists();
        if !is_path {
            return Ok(None);
        }
        self.of_pattern(Table::Events, name, self.options.clone(), None).map(Some)
    }
}

/// Returns true if a path has the name of a Parquet file. It may be a file or a folder.
fn is_parquet(name: &str) -> bool {
    name.trim_end_matches('/').ends_with(".parquet")
}

impl Traces {
    fn table(&self, table: Table, files: Vec<Arc<TraceFile>>) -> Result<Arc<dyn TableProvider>> {
        let arguments = self.arguments.load(Ordering::Relaxed);
        Ok(Arc::new(TraceTable::new(table, files, Arc::clone(&self.sources), arguments)?))
    }

    fn of_pattern(
        &self,
        table: Table,
        pattern: &str,
        options: Vec<String>,
        labels: Option<&Labels>,
    ) -> Result<Arc<dyn TableProvider>> {
        if is_lake(pattern) {
            return self.of_lake(table, pattern, &options, labels);
        }
        let files = files::find(&[pattern.to_owned()], &options, labels)?;
        self.table(table, files.into_iter().map(Arc::new).collect())
    }
}

impl Traces {
    /// Returns a table of the lake that has this path or address.
    fn of_lake(
        &self,
        table: Table,
        name: &str,
        options: &[String],
        labels: Option<&Labels>,
    ) -> Result<Arc<dyn TableProvider>> {
        if !options.is_empty() || labels.is_some() {
            let message = format!("{name}: a lake has its own labels and options");
            return Err(Failure::usage(message).into());
        }
        // The engine calls this function on a thread of its runtime. The function cannot be
        // asynchronous, so it blocks the thread.
        let open = || tokio::runtime::Handle::current().block_on(lake::open(name));
        tokio::task::block_in_place(open)?.table(table, self.words)
    }
}

/// The function `read(pattern, option => value, …)`, or a function with the name of a table.
#[derive(Debug)]
struct Read {
    table: Table,
    traces: Arc<Traces>,
}

/// The option of [`Read`] with a pattern for labels.
const LABELS: &str = "labels=";

impl TableFunctionImpl for Read {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let text = |expr: &Expr| match expr {
            Expr::Literal(ScalarValue::Utf8(Some(text)), _) => Some(text.clone()),
            _ => None,
        };
        let texts: Option<Vec<_>> = args.exprs().iter().map(text).collect();
        let Some([pattern, given @ ..]) = texts.as_deref() else {
            let message = "SQL: expected the path of a trace or a pattern, and options such as \
                           rate => '100MHz'";
            return Err(Failure::usage(message).into());
        };
        let mut options = self.traces.options.clone();
        let mut labels = None;
        for option in given {
            match option.strip_prefix(LABELS) {
                Some(pattern) => labels = Some(Labels::parse(pattern)?),
                None => options.push(option.clone()),
            }
        }
        self.traces.of_pattern(self.table, pattern, options, labels.as_ref())
    }
}
