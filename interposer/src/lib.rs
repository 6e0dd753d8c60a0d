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
mod apart;
mod attach;
mod blocks;
mod call;
mod call_context;
mod call_record;
mod clock;
mod contexts;
mod cost;
mod described;
mod emit;
mod engine;
mod environment;
mod errno;
mod fast;
mod fast_tls;
mod filters;
mod first_records;
mod function_facts;
mod functions;
mod graph_roles;
mod graphs;
mod hook;
mod hooks;
mod integers;
mod kernels;
mod large_stack;
mod last_task;
mod late_start;
mod libc_wrappers;
mod libraries;
mod lifecycle;
mod loader;
mod long_texts;
mod memory;
mod messages;
mod meter;
mod names;
mod object_table;
mod objects;
mod outputs;
mod page;
mod paused;
mod process_facts;
mod ranges;
mod readable_memory;
mod real;
mod register_entry;
mod roles;
mod runtime_layer;
mod scalars;
mod second_address;
mod session;
mod simple;
mod span;
mod spin;
mod stacks;
mod stream_progress;
mod streams;
pub mod stubs;
mod symbol_lookups;
mod syscall_policy;
mod system;
mod table;
mod thread;
mod timing;
mod until_exit;
mod valgrind;
mod variadic;
mod window;
mod window_borders;
mod word;
