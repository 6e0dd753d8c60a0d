//! The part of the collector that reads records, as the package has it.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "the fuzzer needs only a part"
)]

#[path = "../../../crates/read/collector/src/clock.rs"]
pub mod clock;
#[path = "../../../crates/read/collector/src/command.rs"]
pub mod command;
#[path = "../../../crates/read/collector/src/decode.rs"]
pub mod decode;
#[path = "../../../crates/read/collector/src/long_texts.rs"]
pub mod long_texts;
#[path = "../../../crates/read/collector/src/operator_words.rs"]
pub mod operator_words;
#[path = "../../../crates/read/collector/src/stub_functions.rs"]
pub mod stub_functions;
#[path = "../../../crates/read/collector/src/process_name.rs"]
pub mod process_name;
#[path = "../../../crates/read/collector/src/stacks.rs"]
pub mod stacks;

#[path = "../../../crates/inject/tables/src/lib.rs"]
pub mod tables;
