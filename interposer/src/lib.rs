//! What runs inside the traced program: a wrapper for every function of the hook table, which
//! records the call, lets the real function do its work, and puts timeline events around tasks.
//!
//! Rules of this crate, most of them held by lints (see `clippy.toml`): no panic, no lock, allocation
//! or system call to record a call, nothing printed, `errno` unchanged, and when in doubt the call
//! passes through untouched. Measuring a task takes locks that are held for a few memory operations.

#![expect(unsafe_code, reason = "stands between a C program and a C library")]
#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod alternate;
mod asked;
mod below;
mod call;
mod checker;
mod clock;
mod cost;
mod emit;
mod engine;
mod environment;
mod errno;
mod given;
mod graph_roles;
mod graphs;
mod hook;
mod identity;
mod integers;
mod kernels;
mod last_task;
mod libraries;
mod lifecycle;
mod loader;
mod memory;
mod names;
mod object_table;
mod objects;
mod page;
mod quiet;
mod ranges;
mod real;
mod registers;
mod roles;
mod roomy;
mod scalars;
mod session;
mod shortcut;
mod simple;
mod spin;
pub mod stubs;
mod system;
mod table;
mod thread;
mod timing;
mod traits;
mod until_exit;
mod variadic;
mod watched;
mod word;

/// The hook table and one wrapper per function, generated from the declarations.
#[expect(
    non_snake_case,
    unreachable_pub,
    dead_code,
    reason = "generated: the names and shapes are those of the C interface, the table serves others too"
)]
mod hooks {
    use crate::engine::shape::{Shape, shape};
    use crate::hook::hook;
    use crate::variadic::variadic;
    use crate::word::by_value;

    include!(concat!(env!("OUT_DIR"), "/api_table.rs"));
    include!(concat!(env!("OUT_DIR"), "/hooks.rs"));
    include!(concat!(env!("OUT_DIR"), "/shapes.rs"));
}
