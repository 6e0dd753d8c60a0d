//! A software AscendCL runtime.
//!
//! Built as `libascendcl.so` it replaces the vendor's library on a machine without an NPU. The exported
//! C functions (`exports`) are thin shells: they translate pointers and codes and call the modules
//! below, which never call an exported symbol themselves, so that an interposer sees the program's
//! calls only.
//!
//! Device time is computed, not measured: see `engine`. ARCHITECTURE.md has the layers of the modules.
#![expect(
    unsafe_code,
    reason = "a C library: raw pointers, mapped memory and callbacks"
)]

mod aclnn;
mod aclop;
mod boundary;
mod callback;
mod clock;
mod context;
mod current;
mod device;
mod engine;
mod errors;
mod event;
mod exports;
mod graph;
mod guard;
mod handles;
mod hccl;
mod init;
mod inlet;
mod kernel;
mod label;
mod memory;
mod mspti;
mod observers;
mod per_process;
mod primitives;
mod process;
mod progress;
mod rt;
mod scatter;
mod settings;
mod signal;
mod snapshot;
mod stream;
mod stubs;
mod threads;
mod truth;
mod virtual_time;

pub(crate) use softacl_base::{code, ffi, sync};
