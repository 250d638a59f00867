//! Traces as Parquet files in folders and object stores.
