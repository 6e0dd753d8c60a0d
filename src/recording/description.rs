//! What a trace says of its own recording: its first two chunks.

use std::collections::BTreeMap;

use chrono::{Local, SecondsFormat};

use ascend_trace_format::api::{Arg, Function, TaskKind};
use ascend_trace_format::session::Timing;
use ascend_trace_model::rows::{ArgRow, FunctionRow, SessionRow, TablesRow};

use super::Plan;
use crate::collector::clock;
use crate::tables;

/// How and where this recording is made.
pub(crate) fn session(plan: &Plan) -> SessionRow {
    let wall = Local::now();
    let words = plan
        .words
        .iter()
        .map(|word| word.to_string_lossy().into_owned());
    SessionRow {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: words.collect(),
        host: rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned(),
        architecture: std::env::consts::ARCH.to_owned(),
        timing: match plan.timing {
            Timing::Events => "events".to_owned(),
            Timing::Off => "off".to_owned(),
            Timing::Chained => "chained".to_owned(),
            Timing::Sample(step) => format!("sample={step}"),
        },
        runtime: match plan.soft {
            Some(_) => "softacl".to_owned(),
            None => "installed".to_owned(),
        },
        start_time: wall.to_rfc3339_opts(SecondsFormat::Micros, false),
        start_ns: clock::now(),
        start_realtime_ns: wall.timestamp_nanos_opt().unwrap_or(0),
    }
}

/// The hook table, so that the trace can be read without it.
pub(crate) fn tables() -> TablesRow {
    let enumerations = tables::ENUMERATIONS.iter().map(|(name, values)| {
        let values = values
            .iter()
            .map(|(value, name)| (*value, (*name).to_owned()));
        ((*name).to_owned(), values.collect::<BTreeMap<_, _>>())
    });
    TablesRow {
        functions: tables::FUNCTIONS.iter().map(function).collect(),
        enumerations: enumerations.collect(),
    }
}

fn function(function: &Function) -> FunctionRow {
    FunctionRow {
        name: function.name.to_owned(),
        category: function.category.to_owned(),
        role: function.role.name().to_owned(),
        task: function
            .task
            .map(TaskKind::name)
            .unwrap_or_default()
            .to_owned(),
        blocks: function.blocks.name().to_owned(),
        ret: function.ret.name().to_owned(),
        stream: function.stream,
        event: function.event,
        bytes: function.bytes,
        label: function.label,
        args: function.args.iter().map(argument).collect(),
    }
}

fn argument(arg: &Arg) -> ArgRow {
    ArgRow {
        name: arg.name.to_owned(),
        kind: arg.kind.name().to_owned(),
        out: arg.out,
        enumeration: arg.enumeration.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_hold_every_function_at_its_own_number() {
        let tables = tables();
        assert_eq!(tables.functions.len(), tables::FUNCTIONS.len());
        for (row, function) in tables.functions.iter().zip(tables::FUNCTIONS) {
            assert_eq!(row.name, function.name);
        }
        assert!(
            tables.enumerations["aclError"]
                .values()
                .any(|name| name == "ACL_SUCCESS")
        );
    }
}
