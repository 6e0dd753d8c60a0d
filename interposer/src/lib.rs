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

mod admission;
mod alternate;
mod asked;
mod below;
mod call;
mod called;
mod checker;
mod clock;
mod contexts;
mod cost;
mod emit;
mod engine;
mod environment;
mod errno;
mod functions;
mod given;
mod graph_roles;
mod graphs;
mod hook;
mod hooks;
mod identity;
mod integers;
mod introduce;
mod kernels;
mod last_task;
mod libraries;
mod lifecycle;
mod loader;
mod memory;
mod meter;
mod names;
mod object_table;
mod objects;
mod outputs;
mod page;
mod paused;
mod quiet;
mod ranges;
mod real;
mod registers;
mod returned;
mod roles;
mod roomy;
mod scalars;
mod seen;
mod session;
mod shortcut;
mod simple;
mod span;
mod spin;
mod stacks;
mod streams;
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
