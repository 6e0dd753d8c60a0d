//! `--format sqlite` and `--format nsys-sqlite`: a trace as a SQLite database, in one file.
//!
//! The first has the tables of the Parquet export, with indices and views. The second has the tables of an export of
//! Nsight Systems, for tools that read these: SQL makes them from the tables of the first (`nsys.sql`). So both have
//! one source for their columns, the declarations of the package `export`.
//!
//! The folders of `--format ascend` have databases for each rank, with the tables that torch_npu's profiler writes. Their
//! rows come from the package `export` as well.

mod database;
mod database_format;
mod rank_databases;
mod store;

pub use database_format::{NSYS, SQLITE, SqliteFormat};
pub use rank_databases::ASCEND;
