//! The part of the collector that reads records, as the command has it.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "more is there than the fuzzer needs"
)]

#[path = "../../../src/collector/clock.rs"]
pub mod clock;
#[path = "../../../src/collector/command.rs"]
pub mod command;
#[path = "../../../src/collector/decode.rs"]
pub mod decode;
#[path = "../../../src/collector/found.rs"]
pub mod found;

pub mod tables {
    include!(concat!(env!("OUT_DIR"), "/api_table.rs"));
}
