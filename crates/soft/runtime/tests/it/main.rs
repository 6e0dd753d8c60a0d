//! softacl's tests: C programs against the built library, and the library's documents.
#![allow(clippy::unwrap_used, reason = "tests stop at the first surprise")]

mod adversarial;
/// The conformance cases in their C programs.
mod cases;
mod clients;
mod conformance;
mod load;
mod meddler;
mod names;
mod races;
mod stubs;
mod support;
mod truth;
mod virtual_time;
