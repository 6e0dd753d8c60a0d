//! `hooks`: every intercepted function, and its decoded arguments.

use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_format::api::{ArgKind, Blocks, Function, TaskKind};

use super::args::HooksArgs;
use crate::output::{print, print_json};
use crate::text_table::TableRows;
use ascend_trace_tables as tables;

/// Kind of the JSON document.
pub(super) const DOCUMENT: &str = "hooks";

/// The document of `hooks --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct HooksDocument {
    /// Differs between builds with different records.
    table_hash: String,
    functions: Vec<HookEntry>,
    /// Functions of AscendCL that are not caught.
    unhooked: Vec<UnhookedFunction>,
}

#[derive(Serialize, JsonSchema)]
struct HookEntry {
    name: &'static str,
    header: &'static str,
    library: &'static str,
    category: &'static str,
    /// How the call is caught.
    caught: &'static str,
    role: &'static str,
    task: Option<&'static str>,
    timed: bool,
    blocks: &'static str,
    returns: &'static str,
    args: Vec<HookArgument>,
}

#[derive(Serialize, JsonSchema)]
struct HookArgument {
    name: &'static str,
    #[serde(rename = "type")]
    ctype: &'static str,
    kind: &'static str,
    out: bool,
    enumeration: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct UnhookedFunction {
    name: &'static str,
    reason: &'static str,
}

pub(crate) fn run(args: &HooksArgs) -> anyhow::Result<()> {
    if args.json {
        return print_json(DOCUMENT, &document());
    }
    print(&text())
}

/// The content of `hooks --json`.
pub(super) fn document() -> HooksDocument {
    let unhooked = tables::UNHOOKED.iter();
    HooksDocument {
        table_hash: format!("{:016x}", tables::TABLE_HASH),
        functions: tables::FUNCTIONS.iter().map(hook).collect(),
        unhooked: unhooked
            .map(|(name, reason)| UnhookedFunction { name, reason })
            .collect(),
    }
}

fn hook(function: &Function) -> HookEntry {
    let args = function.args.iter().map(|arg| HookArgument {
        name: arg.name,
        ctype: arg.ctype,
        kind: arg.kind.name(),
        out: arg.out,
        enumeration: Some(arg.enumeration).filter(|name| !name.is_empty()),
    });
    HookEntry {
        name: function.name,
        header: function.header,
        library: function.library,
        category: function.category,
        caught: "preload",
        role: function.role.name(),
        task: function.task.map(TaskKind::name),
        timed: function.timed,
        blocks: function.blocks.name(),
        returns: function.ret.name(),
        args: args.collect(),
    }
}

fn text() -> String {
    let table = TableRows::of(tables::FUNCTIONS)
        .left("function", |it| it.name)
        .left("library", |it| it.library)
        .left("role", |it| it.role.name())
        .left("task", |it| it.task.map_or("", TaskKind::name))
        .left("timed", |it| if it.timed { "yes" } else { "" })
        .left("blocks", |it| match it.blocks {
            Blocks::No => "",
            blocks => blocks.name(),
        })
        .left("decoded", |it| decoded(it))
        .table();
    format!(
        "{}\n{} functions are intercepted by preloaded wrappers, {} are not (--json lists them)\n",
        table.render(0),
        tables::FUNCTIONS.len(),
        tables::UNHOOKED.len()
    )
}

/// The arguments that mean more than an address or a number.
fn decoded(function: &Function) -> String {
    let plain = |kind| matches!(kind, ArgKind::Pointer | ArgKind::Int | ArgKind::Uint);
    let names = function
        .args
        .iter()
        .filter(|arg| arg.out || !plain(arg.kind));
    names
        .map(|arg| {
            if arg.out {
                format!("{}=>", arg.name)
            } else {
                arg.name.to_owned()
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_in_the_text_and_in_the_document() {
        let (text, document) = (text(), document());
        assert_eq!(document.functions.len(), tables::FUNCTIONS.len());
        for function in tables::FUNCTIONS {
            assert!(text.contains(function.name), "{}", function.name);
        }
        let wait = document
            .functions
            .iter()
            .find(|hook| hook.name == "aclrtStreamWaitEvent");
        assert_eq!(wait.map(|hook| hook.role), Some("wait-event"));
    }
}
