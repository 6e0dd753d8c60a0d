//! Databases read back and compared with the other exports.

/// What tests of both formats need.
mod database;
/// The tables that Nsight Systems exports.
mod nsys;
/// The tables of a trace, against the CSV tables.
mod tables;
