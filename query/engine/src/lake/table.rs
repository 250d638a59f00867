//! The tables of a lake, for the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::runtime_env::RuntimeEnv;
use tracewell_tables::{Kind, Table};

use super::{Lake, Place};
use crate::columns::{fixed_fields, joined};
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

    /// Makes the engine find the storage.
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
        let url = &self.lake.place.url;
        let urls = self.lake.files(table);
        let urls = urls.map(|file| ListingTableUrl::parse(format!("{url}/{}", file.key)));
        let urls: Vec<_> = urls.collect::<Result<_>>()?;
        if urls.is_empty() {
            return Ok(Arc::new(EmptyTable::new(schema)));
        }
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()));
        let config = ListingTableConfig::new_with_multi_paths(urls);
        let config = config.with_listing_options(options).with_schema(schema);
        Ok(Arc::new(ListingTable::try_new(config)?))
    }

    /// Returns the columns of all files of a table.
    fn schema(&self, table: Table) -> Result<SchemaRef, Failure> {
        let mut more: BTreeMap<&str, DataType> = BTreeMap::new();
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
        Ok(Arc::new(Schema::new(fixed_fields(table).into_iter().chain(more).collect::<Vec<_>>())))
    }
}
