//! What each role asks of a function: a hook that lacks it would make the interposer misread calls.

use ascend_trace_format::api::{ArgKind, Blocks, ObjectUse, RetKind, Role};

use crate::hook_spec::FunctionSpec;
use crate::hook_table::Hook;
use crate::model::Function;

/// Refuses a hook with a role that does not fit its function.
pub(crate) fn check(function: &Function, hook: &Hook, spec: &FunctionSpec) -> Result<(), String> {
    let role = hook.role;
    let meaning = role.meaning();
    let submits = meaning.submits;
    let is_plain = role == Role::Plain || meaning.annotates;
    if spec.plain.is_some() && !is_plain {
        return Err(format!(
            "`plain` on a function with the role {}",
            role.name()
        ));
    }
    if submits != function.submits && spec.plain.is_none() {
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
    if function.blocks == Blocks::Yes && role == Role::Plain && spec.plain.is_none() {
        return Err("it blocks the host: give it a role, or say under `plain` why not".to_owned());
    }
    if spec.streamless.is_none() {
        check_argument(hook, hook.stream, ArgKind::Stream, meaning.stream)?;
    }
    if role == Role::RangeBegin && hook.ret != RetKind::Wide {
        return Err("the role range-begin on a function that returns no id".to_owned());
    }
    check_argument(hook, hook.event, ArgKind::Event, meaning.event)?;
    check_argument(hook, context_of(hook), ArgKind::Context, meaning.context)?;
    check_bytes(hook)
}

fn check_argument(
    hook: &Hook,
    index: Option<u8>,
    kind: ArgKind,
    place: ObjectUse,
) -> Result<(), String> {
    let (out, way) = match place {
        ObjectUse::Free => return Ok(()),
        ObjectUse::Takes => (false, "takes"),
        ObjectUse::Gives => (true, "hands out"),
    };
    let arg = index.and_then(|index| hook.args.get(usize::from(index)));
    match arg {
        Some(arg) if arg.kind == kind && arg.out == out => Ok(()),
        _ => Err(format!(
            "the role {} on a function that {way} no {}",
            hook.role.name(),
            kind.name()
        )),
    }
}

/// The first argument that is a context.
fn context_of(hook: &Hook) -> Option<u8> {
    let mut args = hook.args.iter();
    let index = args.position(|arg| arg.kind == ArgKind::Context);
    index.and_then(|index| u8::try_from(index).ok())
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
