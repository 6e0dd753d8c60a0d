//! Threads of the runtime that wait in functions of the program (`aclrtLaunchHostFunc`).
//!
//! The frames of such a thread begin in the runtime, and the innermost one outside the C library is the program's.

use std::collections::BTreeSet;

use ascend_trace_analysis::hang::{FunctionSight, NamedThread};

use super::helpers::tasks;
use super::stuck::{CodeOwner, ProgramObjects, is_own};
use super::system_calls::{Memory, SystemCall};
use super::waits::{ThreadWait, Threads};

/// The threads of a process that wait there without a limit in time. Threads that made calls are known, and not among them.
pub(super) fn waiting(
    process: &Threads,
    memory: &Memory,
    known: &[NamedThread],
) -> Vec<FunctionSight> {
    let pid = process.pid;
    let Some(objects) = ProgramObjects::of(pid) else {
        return Vec::new();
    };
    let known = known.iter().filter(|it| it.pid == pid);
    let known: BTreeSet<u32> = known.map(|it| it.tid).collect();
    let others = tasks(pid).into_iter();
    let others = others.filter(|tid| !known.contains(tid) && !is_own(pid, *tid));
    let waits = others.filter_map(|tid| {
        let call = SystemCall::of(pid, tid)?;
        let wait = ThreadWait::of(&call, process, memory)?;
        let frames = objects.frames(memory, call.stack);
        runs_a_function(&frames).then_some(FunctionSight {
            pid,
            tid,
            waits: match wait {
                ThreadWait::For(wait) => Some(wait),
                ThreadWait::ForItsProcess | ThreadWait::ForOwnPipe => None,
            },
        })
    });
    waits.collect()
}

/// By the owners of the code of its frames, the innermost first.
fn runs_a_function(frames: &[CodeOwner]) -> bool {
    frames.first() == Some(&CodeOwner::Program) && frames.last() == Some(&CodeOwner::Runtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_runs_between_the_runtime_and_the_c_library() {
        use CodeOwner::{Program, Runtime};
        assert!(runs_a_function(&[Program, Runtime]));
        assert!(runs_a_function(&[Program, Runtime, Program, Runtime]));
        // It waits inside the runtime, or the program started it.
        assert!(!runs_a_function(&[Runtime, Program, Runtime]));
        assert!(!runs_a_function(&[Program]));
        assert!(!runs_a_function(&[Program, Runtime, Program]));
        assert!(!runs_a_function(&[]));
    }
}
