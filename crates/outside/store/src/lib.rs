//! Places for files in object stores: `s3://BUCKET/PREFIX` (docs/FLEET.md).
//!
//! A `Bucket` is such a place. Its functions return when the store has done the request. An object gets
//! its name when all of it is stored, so readers never see half of one.
#![cfg(feature = "s3")]

mod address;
mod bucket;
mod connect;
mod fault;
mod upload;

pub use bucket::{Bucket, Connection, connect};
pub use fault::StoreError;
