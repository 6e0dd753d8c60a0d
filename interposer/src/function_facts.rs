//! Facts about each function for the hot path, computed at compile time.

use ascend_trace_format::api::{Fact, Function, Role};
use ascend_trace_format::role::ObjectUse;

use crate::functions::FUNCTIONS;

/// The facts that would otherwise need a walk over a function's arguments.
#[derive(Clone, Copy)]
pub(crate) struct Traits {
    /// It puts a task on a stream.
    pub(crate) submits: bool,
    /// It only asks whether something is done.
    pub(crate) is_query: bool,
    /// It runs callbacks of the program.
    pub(crate) calls_back: bool,
    /// It returns values through pointers.
    pub(crate) has_outputs: bool,
    /// It takes strings or arrays that are recorded as texts.
    pub(crate) has_strings: bool,
    /// It means something for streams, events or contexts.
    pub(crate) has_role: bool,
    /// It is one of the runtime's, on either of its two layers.
    pub(crate) is_runtime: bool,
    /// Later calls cannot be understood without it: it is recorded also while the program has paused that.
    pub(crate) is_lasting: bool,
    /// It changes objects that the interposer follows: its calls never pass, also while no recorder is attached.
    pub(crate) is_followed: bool,
}

/// The libraries of the two layers.
const UPPER: &str = "libacl_rt.so";
const LOWER: &str = "libruntime.so";

const fn is_in(function: &Function, library: &str) -> bool {
    let (mut one, mut other) = (function.library.as_bytes(), library.as_bytes());
    loop {
        match (one, other) {
            ([], []) => return true,
            ([first, rest @ ..], [same, others @ ..]) if *first == *same => {
                (one, other) = (rest, others)
            }
            _ => return false,
        }
    }
}

const fn lasts(function: &Function) -> bool {
    let mut is_of_memory = false;
    let mut parts = function.parts;
    while let [(part, _), rest @ ..] = parts {
        is_of_memory |= part.is_of_memory();
        parts = rest;
    }
    function.role.meaning().lasts() || function.names.is_some() || is_of_memory
}

const fn is_followed(function: &Function) -> bool {
    let role = function.role.meaning();
    role.changes
        || role.bounds_life
        || role.makes_graph
        || matches!(role.stream, ObjectUse::Gives)
        || matches!(role.context, ObjectUse::Gives)
        || matches!(function.role, Role::LastTaskId | Role::UnloadKernels)
        || function.facts.has(Fact::Profiles)
        || bounds_group(function)
}

/// Whether a group of collectives begins or ends with it.
const fn bounds_group(function: &Function) -> bool {
    function.facts.has(Fact::BeginsGroup) || function.facts.has(Fact::EndsGroup)
}

/// Whether calls of the function with this id are followed also while no recorder is attached.
pub(crate) const fn follows(id: usize) -> bool {
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time, within bounds"
    )]
    is_followed(&FUNCTIONS[id])
}

/// Whether the function with this id puts a task on a stream.
pub(crate) const fn submits(id: usize) -> bool {
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time, within bounds"
    )]
    FUNCTIONS[id].task.is_some()
}

pub(crate) const fn traits_of(function: &Function) -> Traits {
    let mut traits = Traits {
        submits: function.task.is_some(),
        is_query: function.role.asks_for_an_end(),
        calls_back: function.role.meaning().calls_back,
        has_outputs: false,
        has_strings: false,
        has_role: !matches!(function.role, Role::Plain)
            || function.stream.is_some()
            || function.event.is_some()
            || function.names.is_some()
            || function.facts.has(Fact::Profiles)
            || bounds_group(function),
        is_runtime: is_in(function, UPPER) || is_in(function, LOWER),
        is_lasting: lasts(function),
        is_followed: is_followed(function),
    };
    let mut args = function.args;
    while let [arg, rest @ ..] = args {
        traits.has_outputs |= arg.out;
        traits.has_strings |= arg.kind.is_text() && !arg.out;
        args = rest;
    }
    traits
}

/// Whether the function with this id is recorded and nothing more.
pub(crate) const fn is_simple(id: usize) -> bool {
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time, within bounds"
    )]
    let traits = traits_of(&FUNCTIONS[id]);
    !traits.has_role && !traits.submits && !traits.has_strings && !traits.calls_back
}

/// Whether calls of the function with this id leave no record during a pause.
pub(crate) const fn may_be_left_out(id: usize) -> bool {
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time, within bounds"
    )]
    let traits = traits_of(&FUNCTIONS[id]);
    is_simple(id) && !traits.is_lasting
}

/// Whether the function with this id is of the layer below AscendCL.
pub(crate) const fn is_below(id: usize) -> bool {
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time, within bounds"
    )]
    is_in(&FUNCTIONS[id], LOWER)
}

/// Whether the function with this id is of the runtime's upper layer, which calls the one below, and no callbacks of the
/// program's.
pub(crate) const fn is_above(id: usize) -> bool {
    #[expect(
        clippy::indexing_slicing,
        reason = "evaluated at compile time, within bounds"
    )]
    let function = &FUNCTIONS[id];
    is_in(function, UPPER) && !function.role.meaning().calls_back
}

static TRAITS: [Traits; FUNCTIONS.len()] = {
    let nothing = Traits {
        submits: false,
        is_query: false,
        calls_back: false,
        has_outputs: false,
        has_strings: false,
        has_role: false,
        is_runtime: false,
        is_lasting: false,
        is_followed: false,
    };
    let mut all = [nothing; FUNCTIONS.len()];
    let mut id = 0;
    while id < FUNCTIONS.len() {
        #[expect(
            clippy::indexing_slicing,
            reason = "evaluated at compile time, within bounds"
        )]
        {
            all[id] = traits_of(&FUNCTIONS[id]);
        }
        id += 1;
    }
    all
};

/// The traits of the function with this id.
#[inline]
pub(crate) fn of(id: usize) -> Option<&'static Traits> {
    TRAITS.get(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Traits {
        let id = FUNCTIONS
            .iter()
            .position(|function| function.name == name)
            .unwrap();
        *of(id).unwrap()
    }

    #[test]
    fn traits_agree_with_the_table() {
        assert!(named("aclrtMemcpyAsync").submits);
        assert!(!named("aclrtMemcpy").submits);
        assert!(named("aclrtProcessReport").calls_back);
        assert!(named("aclrtCreateStream").has_outputs);
        assert!(named("aclInit").has_strings);
        assert!(named("aclCreateTensor").has_strings);
        assert!(!named("aclrtFree").has_role);
        assert!(named("aclrtFree").is_runtime && named("rtFree").is_runtime);
        assert!(!named("HcclAllReduce").is_runtime);
    }

    #[test]
    fn only_calls_that_change_objects_are_followed_without_a_recorder() {
        for name in [
            "aclrtSetDevice",
            "aclrtCreateStream",
            "aclrtDestroyEvent",
            "aclrtSetCurrentContext",
            "aclmdlRICaptureBegin",
            "aclrtResetDevice",
            "aclrtGetThreadLastTaskId",
        ] {
            assert!(named(name).is_followed, "{name}");
        }
        for name in [
            "aclrtMalloc",
            "aclrtMemcpyAsync",
            "aclrtRecordEvent",
            "aclrtSynchronizeStream",
            "aclrtGetDevice",
            "mstxRangeStartA",
        ] {
            assert!(!named(name).is_followed, "{name}");
        }
    }
}
