//! The tables of a lake, for the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use serde::{Deserialize, Serialize};
use tracewell_tables::{Kind, Table};

use super::{DataFile, Lake};
use crate::columns::{joined, lake_fields};
use crate::failure::Failure;

/// The tables of a lake.
#[derive(Debug)]
pub(crate) struct LakeTables {
    lake: Lake,
}

impl LakeTables {
    pub(crate) const fn new(lake: Lake) -> Self {
        Self { lake }
    }

    /// Returns a table of all traces.
    ///
    /// # Errors
    ///
    /// Fails if the log names an unknown type.
    pub(crate) fn table(&self, table: Table, words: Words) -> Result<Arc<dyn TableProvider>> {
        let mut schema = schema(table, self.lake.labels(), self.lake.files(table))?;
        if words == Words::Plain {
            schema = Arc::new(Schema::new(schema.fields().iter().map(plain).collect::<Vec<_>>()));
        }
        Ok(Arc::new(LakeTable { schema, scan: Scan::new(&self.lake, self.lake.files(table)) }))
    }
}

/// Returns a table of some files of a lake, all of the same table, in this order.
///
/// # Errors
///
/// Fails if the log names an unknown type.
pub(crate) fn table_of_files(
    lake: &Lake,
    table: Table,
    files: &[DataFile],
) -> Result<Arc<dyn TableProvider>, Failure> {
    let schema = schema(table, std::iter::empty(), files.iter())?;
    Ok(Arc::new(LakeTable { schema, scan: Scan::new(lake, files.iter()) }))
}

/// Returns the columns of files of a table.
fn schema<'a>(
    table: Table,
    labels: impl Iterator<Item = &'a str>,
    files: impl Iterator<Item = &'a DataFile>,
) -> Result<SchemaRef, Failure> {
    let mut more: BTreeMap<&str, DataType> = labels.map(|label| (label, DataType::Utf8)).collect();
    for file in files {
        for (name, kind) in &file.columns {
            let data_type = Kind::ALL.into_iter().find(|known| known.name() == kind);
            let data_type = data_type.map(Kind::data_type).ok_or_else(|| {
                Failure::damaged(format!("{}: unknown type {kind} of {name}", file.key))
            })?;
            match more.get_mut(name.as_str()) {
                Some(known) => *known = joined(known, &data_type),
                None => {
                    more.insert(name, data_type);
                }
            }
        }
    }
    let more = more.into_iter().map(|(name, data_type)| Field::new(name, data_type, true));
    Ok(Arc::new(Schema::new(lake_fields(table).into_iter().chain(more).collect::<Vec<_>>())))
}

/// A table of a lake. The log contains the files and their sizes, so a query requests from the
/// storage only the data that it reads.
#[derive(Debug)]
struct LakeTable {
    schema: SchemaRef,
    scan: Scan,
}

/// The files of a table.
#[derive(Debug, Serialize, Deserialize)]
struct Scan {
    /// The address of the lake in the engine.
    url: String,
    /// Key and size of each file.
    files: Vec<(String, u64)>,
}

impl Scan {
    fn new<'a>(lake: &Lake, files: impl Iterator<Item = &'a DataFile>) -> Self {
        let files = files.map(|file| (file.key.clone(), file.bytes)).collect();
        Self { url: lake.place.url.to_string(), files }
    }
}

/// The form in which the engine reads texts that repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Words {
    /// Numbers that refer to words in a dictionary.
    Numbered,
    /// Texts, for plans of a cluster. When a machine sends numbered words, they arrive as texts,
    /// but the plan of the receiver would expect numbers.
    Plain,
}

/// Returns a column with texts in place of numbered words.
fn plain(field: &Arc<Field>) -> Field {
    match field.data_type() {
        DataType::Dictionary(_, value) => field.as_ref().clone().with_data_type(*value.clone()),
        _ => field.as_ref().clone(),
    }
}

/// Returns true for a table of a lake.
pub(crate) fn is_table_of_lake(table: &dyn TableProvider) -> bool {
    table.is::<LakeTable>()
}

/// Returns the bytes from which an engine on another machine can create the same table of a lake.
/// The bytes do not contain the schema. Returns `None` if the table is not part of a lake.
pub fn encode_table(table: &dyn TableProvider) -> Option<Vec<u8>> {
    let table = table.downcast_ref::<LakeTable>()?;
    // Text and numbers can always be written as JSON.
    serde_json::to_vec(&table.scan).ok()
}

/// Creates a table of a lake from the bytes that [`encode_table`] returned, and from its columns.
///
/// # Errors
///
/// Fails if the bytes are not those of a table.
pub fn decode_table(bytes: &[u8], schema: SchemaRef) -> Result<Arc<dyn TableProvider>> {
    match serde_json::from_slice(bytes) {
        Ok(scan) => Ok(Arc::new(LakeTable { schema, scan })),
        Err(error) => Err(Failure::damaged(format!("not a table of a lake: {error}")).into()),
    }
}

#[async_trait]
impl TableProvider for LakeTable {
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
        // The engine skips files, and parts of files, if their statistics show that no row matches.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Scan { url, files } = &self.scan;
        if files.is_empty() {
            let schema = match projection {
                Some(projection) => Arc::new(self.schema.project(projection)?),
                None => self.schema(),
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let count = state.config().target_partitions().min(files.len()).max(1);
        let mut groups = vec![FileGroup::default(); count];
        for (index, (key, bytes)) in files.iter().enumerate() {
            groups[index % count].push(PartitionedFile::new(key.clone(), *bytes));
        }
        let source = Arc::new(ParquetSource::new(Arc::clone(&self.schema)));
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::parse(url)?, source)
            .with_file_groups(groups)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
