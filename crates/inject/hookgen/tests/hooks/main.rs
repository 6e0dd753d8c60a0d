//! The hook table and the code generated from it.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside #[test]")]

mod abi;
mod coverage;
mod mini;
mod rustc;
