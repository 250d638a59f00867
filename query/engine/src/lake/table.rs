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
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use tracewell_tables::{Kind, Table};

use super::{Lake, Place};
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

    /// Registers the storage with the engine.
    pub(crate) fn register(&self, engine: &RuntimeEnv) {
        let Place { url, store, .. } = &self.lake.place;
        let _ = engine.register_object_store(url, Arc::clone(store));
    }

    /// Returns a table of all traces.
    ///
    /// # Errors
    ///
    /// Fails if the log names an unknown type.
    pub(crate) fn table(&self, table: Table) -> Result<Arc<dyn TableProvider>> {
        let schema = self.schema(table)?;
        let files = self.lake.files(table).map(|file| (file.key.clone(), file.bytes)).collect();
        let url = ObjectStoreUrl::parse(&self.lake.place.url)?;
        Ok(Arc::new(LakeTable { schema, url, files }))
    }

    /// Returns the columns of all files of a table.
    fn schema(&self, table: Table) -> Result<SchemaRef, Failure> {
        let labels = self.lake.labels().map(|label| (label, DataType::Utf8));
        let mut more: BTreeMap<&str, DataType> = labels.collect();
        for file in self.lake.files(table) {
            for (name, kind) in &file.columns {
                let data_type = Kind::ALL.into_iter().find(|known| known.name() == kind);
                let data_type = data_type.map(Kind::data_type).ok_or_else(|| {
                    let message = format!("{}: unknown type {kind} of {name}", file.key);
                    Failure::damaged(message)
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
}

/// A table of a lake. The log contains the files and their sizes, so a query requests from the
/// storage only the data that it reads.
#[derive(Debug)]
struct LakeTable {
    schema: SchemaRef,
    url: ObjectStoreUrl,
    /// Key and size of each file.
    files: Vec<(String, u64)>,
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
        // From the statistics of the files and of their parts, the engine decides which files and
        // parts to read.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if self.files.is_empty() {
            let schema = match projection {
                Some(projection) => Arc::new(self.schema.project(projection)?),
                None => self.schema(),
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let count = state.config().target_partitions().min(self.files.len()).max(1);
        let mut groups = vec![FileGroup::default(); count];
        for (index, (key, bytes)) in self.files.iter().enumerate() {
            groups[index % count].push(PartitionedFile::new(key.clone(), *bytes));
        }
        let source = Arc::new(ParquetSource::new(Arc::clone(&self.schema)));
        let config = FileScanConfigBuilder::new(self.url.clone(), source)
            .with_file_groups(groups)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
