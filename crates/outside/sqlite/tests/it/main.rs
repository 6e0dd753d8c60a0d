//! Databases read back and compared with the other exports.

/// What tests of both formats need.
mod database;
/// The tables that Nsight Systems exports.
mod nsys;
/// The databases of the ranks of a job.
mod ranks;
/// The tables of a trace, against the CSV tables.
mod tables;
