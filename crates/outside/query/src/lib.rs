//! SQL over Parquet tables: the engine of `ascend-trace query` (docs/QUERIES.md).
//!
//! A `Database` is a set of tables, each a folder of Parquet files with partition columns as
//! subfolders. A query only reads: it makes no tables, writes no files, and reads no others.
#![cfg(feature = "engine")]

mod answer;
mod database;
mod value;

pub use answer::{Column, QueryProgress, QueryResult};
pub use database::{Database, QueryLimits, tables_of};
pub use value::Value;

/// Why a query has no result. The text names the fault of the query or of the tables.
#[derive(Debug)]
pub struct QueryError(String);

impl QueryError {
    fn of(error: datafusion::error::DataFusionError) -> Self {
        // The place in the engine's source is of no use to who wrote the query.
        Self(error.strip_backtrace())
    }
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for QueryError {}
