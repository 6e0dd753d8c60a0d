//! What each role asks of a function: a hook that lacks it would make the interposer misread calls.

use ascend_trace_format::api::{ArgKind, Blocks, RetKind, Role};

use crate::hook_spec::FunctionSpec;
use crate::hook_table::Hook;
use crate::model::Function;

/// Refuses a hook whose role does not fit its function.
pub(crate) fn check(function: &Function, hook: &Hook, said: &FunctionSpec) -> Result<(), String> {
    let role = hook.role;
    let submits = matches!(
        role,
        Role::Task | Role::RecordEvent | Role::WaitEvent | Role::ResetEvent
    );
    let is_plain = matches!(
        role,
        Role::Plain | Role::Mark | Role::RangeBegin | Role::RangeEnd
    );
    if said.plain.is_some() && !is_plain {
        return Err(format!(
            "`plain` on a function with the role {}",
            role.name()
        ));
    }
    if submits != function.submits && said.plain.is_none() {
        let which = if function.submits {
            "submits"
        } else {
            "does not submit"
        };
        return Err(format!(
            "the role {} on a function that {which} a task",
            role.name()
        ));
    }
    if submits != hook.task.is_some() {
        return Err(format!(
            "the role {} and the kind of task do not fit",
            role.name()
        ));
    }
    if hook.timed && hook.task.is_none() {
        return Err("timed, but it submits no task".to_owned());
    }
    if function.blocks == Blocks::Yes && role == Role::Plain && said.plain.is_none() {
        return Err("it blocks the host: give it a role, or say under `plain` why not".to_owned());
    }
    if needs_stream(role) {
        check_argument(hook, hook.stream, ArgKind::Stream, gives_stream(role))?;
    }
    if role == Role::RangeBegin && hook.ret != RetKind::Wide {
        return Err("the role range-begin on a function that answers no id".to_owned());
    }
    if needs_event(role) {
        check_argument(hook, hook.event, ArgKind::Event, role == Role::CreateEvent)?;
    }
    check_context(hook)?;
    check_bytes(hook)
}

fn needs_stream(role: Role) -> bool {
    gives_stream(role)
        || matches!(
            role,
            Role::Task
                | Role::RecordEvent
                | Role::WaitEvent
                | Role::ResetEvent
                | Role::SyncStream
                | Role::DestroyStream
                | Role::CaptureBegin
                | Role::CaptureEnd
                | Role::QueryStream
                | Role::GetStreamId
                | Role::BindStream
                | Role::UnbindStream
                | Role::UpdateBegin
                | Role::UpdateEnd
                | Role::TaskGroupBegin
                | Role::TaskGroupEnd
                | Role::AbortStream
        )
}

fn gives_stream(role: Role) -> bool {
    matches!(role, Role::CreateStream | Role::GetDefaultStream)
}

fn needs_event(role: Role) -> bool {
    matches!(
        role,
        Role::RecordEvent
            | Role::WaitEvent
            | Role::ResetEvent
            | Role::SyncEvent
            | Role::QueryEvent
            | Role::CreateEvent
            | Role::DestroyEvent
    )
}

fn check_argument(hook: &Hook, index: Option<u8>, kind: ArgKind, out: bool) -> Result<(), String> {
    let arg = index.and_then(|index| hook.args.get(usize::from(index)));
    match arg {
        Some(arg) if arg.kind == kind && arg.out == out => Ok(()),
        _ => {
            let way = if out { "hands out" } else { "takes" };
            Err(format!(
                "the role {} on a function that {way} no {}",
                hook.role.name(),
                kind.name()
            ))
        }
    }
}

fn check_context(hook: &Hook) -> Result<(), String> {
    let out = match hook.role {
        Role::CreateContext | Role::GetContext => true,
        Role::DestroyContext | Role::SetContext => false,
        _ => return Ok(()),
    };
    let index = hook
        .args
        .iter()
        .position(|arg| arg.kind == ArgKind::Context);
    check_argument(
        hook,
        index.and_then(|index| u8::try_from(index).ok()),
        ArgKind::Context,
        out,
    )
}

fn check_bytes(hook: &Hook) -> Result<(), String> {
    let Some(index) = hook.bytes else {
        return Ok(());
    };
    match hook.args.get(usize::from(index)) {
        Some(arg) if arg.kind == ArgKind::Size && !arg.out => Ok(()),
        _ => Err("the argument under `bytes` is no size".to_owned()),
    }
}
