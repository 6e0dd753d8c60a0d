//! Facts about functions from their shape alone.

use ascend_trace_format::api::{
    Arg, ArgKind, ArgPart, Blocks, FactSet, Function, RetKind, Role, TaskKind,
};

use crate::function_facts::{Traits, traits_of};

/// A function of which nothing is known.
pub(crate) static UNKNOWN: Function = Function {
    name: "",
    header: "",
    library: "",
    category: "",
    role: Role::Plain,
    task: None,
    timed: false,
    blocks: Blocks::No,
    stream: None,
    event: None,
    bytes: None,
    label: None,
    names: None,
    parts: &[],
    facts: FactSet::of(&[]),
    ret: RetKind::Int,
    args: &[],
};

/// An operator's second function, which submits the planned operator.
static SUBMITTING: Function = Function {
    role: Role::Task,
    task: Some(TaskKind::Kernel),
    timed: true,
    stream: Some(3),
    parts: &[(ArgPart::Executor, 2)],
    ret: RetKind::Error,
    args: &[
        argument("workspace", ArgKind::Pointer),
        argument("workspaceSize", ArgKind::Size),
        argument("executor", ArgKind::Handle),
        argument("stream", ArgKind::Stream),
    ],
    ..UNKNOWN
};

const fn argument(name: &'static str, kind: ArgKind) -> Arg {
    Arg {
        name,
        ctype: "",
        kind,
        out: false,
        width: 8,
        enumeration: "",
        count: None,
    }
}

/// A function and its facts for the hot path.
pub(crate) type FunctionTraits = (&'static Function, &'static Traits);

pub(crate) static UNTYPED: FunctionTraits = (&UNKNOWN, &const { traits_of(&UNKNOWN) });
pub(super) static SUBMITS: FunctionTraits = (&SUBMITTING, &const { traits_of(&SUBMITTING) });
