//! Calls that may write memory of the device where no argument says which.

use ascend_trace_format::api::{ArgKind, ArgPart, Fact as Said, Role, TaskKind};
use ascend_trace_recording::{Call, Function, Trace};

use super::action::{CallEffect, uses};

/// Writes of a call that the order of uses may not have.
pub(super) fn of(trace: &Trace, function: &Function, call: &Call) -> Option<CallEffect> {
    let has = |part: ArgPart| function.part(part).is_some();
    match function.role {
        _ if has(ArgPart::Pooled) || has(ArgPart::PoolFreed) => None,
        Role::Task => writes(trace, function, call).then_some(CallEffect::MayWrite),
        Role::BlockingCopy => is_open(trace, function, call).then_some(CallEffect::MayWrite),
        Role::ExecuteGraph => Some(CallEffect::MayWrite),
        Role::Plain if has(ArgPart::Allocated) || has(ArgPart::Freed) => None,
        Role::Plain => {
            let all = function.args.iter().zip(trace.args(call));
            let pointers = all.filter(|(arg, word)| arg.kind == ArgKind::Pointer && **word != 0);
            let pointers: Vec<u64> = pointers.map(|it| *it.1).collect();
            (!pointers.is_empty()).then_some(CallEffect::Mentions(pointers))
        }
        _ => None,
    }
}

/// Whether a task may write memory that is not known.
fn writes(trace: &Trace, function: &Function, call: &Call) -> bool {
    let Some(task) = call.task.map(|task| trace.task(task)) else {
        return true;
    };
    match task.kind {
        TaskKind::Memcpy | TaskKind::Memset => is_open(trace, function, call),
        TaskKind::Value => function.is(Said::Sets),
        TaskKind::Notify | TaskKind::HostFunc | TaskKind::Record | TaskKind::Wait => false,
        TaskKind::Other | TaskKind::Kernel | TaskKind::Graph | TaskKind::Collective => true,
    }
}

/// Whether the target of a copy or a fill is not known.
fn is_open(trace: &Trace, function: &Function, call: &Call) -> bool {
    uses(trace, function, call).is_none_or(|it| it.writes.is_none())
}
