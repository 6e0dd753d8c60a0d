//! Places for files in object stores: `s3://BUCKET/PREFIX` (docs/FLEET.md).
//!
//! A `Bucket` is such a place. Its functions return when the store has done what was asked. An object has its name
//! when all of it is there, so nobody reads half of one.
#![cfg(feature = "s3")]

mod address;
mod bucket;
mod connect;
mod fault;
mod upload;

pub use bucket::{Bucket, Connection, connect};
pub use fault::Fault;
