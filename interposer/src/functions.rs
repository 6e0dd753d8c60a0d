//! The hook table, generated from the declarations.

#![expect(
    unreachable_pub,
    dead_code,
    reason = "generated: the table serves others too"
)]

include!(concat!(env!("OUT_DIR"), "/api_table.rs"));
