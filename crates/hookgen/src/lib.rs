//! From the tables of the AscendCL interface to C headers and to the interposer's hooks.
//!
//! `data/*.tsv` say what exists: functions, constants, types and their layouts. `headers.toml`
//! and `hooks.toml` say what the tables do not: what goes into which header, and what a call does
//! to streams, events and the host. Everything emitted is a function of these files.

mod c_text;
mod ctype;
mod emit_headers;
mod error;
mod header_plan;
mod layout;
mod model;
mod read;
mod table;

pub use ctype::{CType, FunctionPointer};
pub use emit_headers::{emit_headers, write_headers};
pub use error::Error;
pub use header_plan::HeaderPlan;
pub use layout::{Member, MemberKind, Struct};
pub use model::{
    Alias, ApiModel, Callback, Enumeration, Function, Macro, Named, Opaque, Param, StreamParam,
    Tables,
};
