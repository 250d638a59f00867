//! Provides tables of several traces to the engine. This module determines the columns of a table,
//! and chooses the traces and rows that a query needs. `scan` reads the rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::streaming::StreamingTableExec;
use tracewell_tables::Table;

use crate::columns::{PATH, fixed_fields, joined};
use crate::failure::Failure;
use crate::files::TraceFile;
use crate::pushdown::Wanted;
use crate::scan::{Part, Scan};
use crate::sources::Sources;

/// A table of several traces.
#[derive(Debug)]
pub(crate) struct TraceTable {
    table: Table,
    files: Vec<Arc<TraceFile>>,
    schema: SchemaRef,
    sources: Arc<Sources>,
}

impl TraceTable {
    /// Creates a table of these traces. The table `events` has a column for each argument of their
    /// events, unless `arguments` is false. To find these columns, this opens all traces. Traces
    /// that cannot be opened have no rows.
    ///
    /// # Errors
    ///
    /// Fails if a label has the name of a column, or if options are wrong.
    pub(crate) fn new(
        table: Table,
        files: Vec<Arc<TraceFile>>,
        sources: Arc<Sources>,
        arguments: bool,
    ) -> Result<Self, Failure> {
        let mut fields = fixed_fields(table);
        let columns = fields.len();
        if table == Table::Events && arguments {
            for file in &files {
                let Some(source) = sources.open(file)? else { continue };
                let schema = source.schema(table);
                for field in &schema.fields()[table.columns().len()..] {
                    add_argument(field, &mut fields);
                }
            }
        }
        for (label, _) in files.iter().flat_map(|file| &file.labels) {
            match fields.iter().position(|field| field.name() == label) {
                None => fields.push(Field::new(label, DataType::Utf8, true)),
                Some(at) if at < columns => {
                    let message = format!("label {label}: the table {table} has this column");
                    return Err(Failure::usage(message));
                }
                Some(_) => {}
            }
        }
        Ok(Self { table, files, schema: Arc::new(Schema::new(fields)), sources })
    }

    /// Returns true if the column is a label or the path of the trace.
    fn is_of_trace(&self, column: &str) -> bool {
        column == PATH || self.files.iter().any(|file| file.label(column).is_some())
    }

    /// Returns true if a filter depends only on labels and the path of the trace.
    fn chooses_traces(&self, filter: &Expr) -> bool {
        let columns = filter.column_refs();
        !columns.is_empty() && columns.iter().all(|column| self.is_of_trace(column.name()))
    }

    /// Returns the traces whose paths and labels meet the filters.
    fn chosen_files(&self, state: &dyn Session, filters: &[Expr]) -> Result<Vec<Arc<TraceFile>>> {
        let mut files = self.files.clone();
        for filter in filters.iter().filter(|filter| self.chooses_traces(filter)) {
            let columns: Vec<_> = filter.column_refs().into_iter().collect();
            let field = |name: &str| Field::new(name, DataType::Utf8, true);
            let fields: Vec<_> = columns.iter().map(|column| field(column.name())).collect();
            let value = |file: &TraceFile, column: &str| match column {
                PATH => Some(file.path.to_string_lossy().into_owned()),
                label => file.label(label).map(str::to_owned),
            };
            let values = columns.iter().map(|column| -> ArrayRef {
                let texts = files.iter().map(|file| value(file, column.name()));
                Arc::new(texts.collect::<StringArray>())
            });
            let schema = Arc::new(Schema::new(fields));
            let batch = RecordBatch::try_new(Arc::clone(&schema), values.collect())?;
            // A filter qualifies columns with the table, but the batch has no table.
            let bare = datafusion::logical_expr::expr_rewriter::unnormalize_col(filter.clone());
            let schema = DFSchema::try_from(schema)?;
            let met = state.create_physical_expr(bare, &schema)?.evaluate(&batch)?;
            let met = met.into_array(files.len())?;
            let met = met.as_boolean_opt().ok_or_else(|| {
                DataFusionError::Internal(format!("expected a condition, found {filter}"))
            })?;
            // A trace does not meet a condition whose result is null.
            let mut met = met.iter().map(|met| met == Some(true));
            files.retain(|_| met.next() == Some(true));
        }
        Ok(files)
    }
}

/// Adds a column of arguments.
fn add_argument(argument: &Field, fields: &mut Vec<Field>) {
    match fields.iter_mut().find(|field| field.name() == argument.name()) {
        None => fields.push(argument.clone()),
        Some(known) => known.set_data_type(joined(known.data_type(), argument.data_type())),
    }
}

#[async_trait]
impl TableProvider for TraceTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let of = |filter: &&Expr| match self.chooses_traces(filter) || Wanted::is_used(filter) {
            // The engine tests each row again, because this provider may not use every part of a
            // filter.
            true => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(of).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(projection) => Arc::new(self.schema.project(projection)?),
            None => self.schema(),
        };
        let mut wanted = Wanted::default();
        filters.iter().for_each(|filter| wanted.restrict(filter));
        // A thread reads the traces of one part, one after the other. If there are fewer traces
        // than processors, several threads read each of them.
        let files = self.chosen_files(state, filters)?;
        let processors = state.config().target_partitions();
        let count = processors.min(files.len()).max(1);
        let scan = Arc::new(Scan {
            table: self.table,
            schema: Arc::clone(&schema),
            wanted,
            limit,
            threads: (processors / count).max(1),
            sources: Arc::clone(&self.sources),
        });
        let mut parts = vec![Vec::new(); count];
        for (index, file) in files.into_iter().enumerate() {
            parts[index % count].push(file);
        }
        let parts = parts.into_iter().map(|files| Part::new(Arc::clone(&scan), files));
        let parts = parts.map(|part| Arc::new(part) as _).collect();
        Ok(Arc::new(StreamingTableExec::try_new(schema, parts, None, None, false, limit)?))
    }
}
