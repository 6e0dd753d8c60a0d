//! From the tables of the AscendCL interface to C headers and to the interposer's hooks.
//!
//! `data/*.tsv` list the interface: functions, constants, types and their layouts. `headers.toml` and
//! `hooks.toml` add the rest: the contents of each header, and the effect of a call on streams, events
//! and the host. All output is a function of these files.

mod args;
mod c_text;
mod ctype;
mod emit_headers;
mod emit_hooks;
mod emit_shapes;
mod emit_table;
mod error;
#[cfg(feature = "bindgen")]
pub mod foreign;
mod header_plan;
mod hook_spec;
mod hook_table;
mod installed;
mod layout;
mod model;
mod operators;
mod parts;
mod read;
mod roles;
mod table;
mod types;

use std::path::Path;

pub use args::HookArg;
pub use ctype::{CType, FunctionPointer};
pub use emit_headers::{emit_headers, write_headers};
pub use emit_hooks::emit_hooks;
pub use emit_shapes::emit_shapes;
pub use emit_table::{emit_table, table_hash};
pub use error::Error;
pub use header_plan::HeaderPlan;
pub use hook_spec::{FunctionSpec, HookSpec};
pub use hook_table::{ERROR_ENUMERATION, Hook, HookTable, NamedValues, Unhooked};
pub use installed::for_build;
pub use layout::{MemberKind, Struct, StructMember};
pub use model::{
    Alias, ApiModel, Callback, Enumeration, Function, Macro, NamedType, Opaque, Param, StreamParam,
    Tables,
};
pub use operators::{
    MOST_FLOATS, Operator, OperatorParameter, emit_operator_words, emit_operators, operators,
};

/// Writes `hooks.rs`, `shapes.rs` and `api_table.rs` into `folder`: what build scripts call. All are
/// made of the same table, so the ids in them agree. Adds `operators.rs` and `operator_words.rs`.
pub fn write_all(folder: &Path) -> Result<(), Error> {
    let (table, operators) = (for_build()?, operators()?);
    for (name, text) in [
        ("hooks.rs", emit_hooks(&table)),
        ("shapes.rs", emit_shapes(&table)),
        ("api_table.rs", emit_table(&table)),
        ("operators.rs", emit_operators(&operators)),
        ("operator_words.rs", emit_operator_words(&operators)),
    ] {
        let path = folder.join(name);
        // An unchanged file keeps its time stamp, so that cargo does not rebuild.
        if std::fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
            continue;
        }
        std::fs::write(&path, text).map_err(|source| Error::Write { path, source })?;
    }
    Ok(())
}
