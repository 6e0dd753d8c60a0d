//! A call as roles see it.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{ArgKind, ArgPart, Fact, Function};

use crate::thread::ThreadState;

/// A call as its role sees it.
pub(crate) struct Context<'a> {
    pub(crate) state: &'a ThreadState,
    pub(crate) function: &'static Function,
    pub(crate) args: &'a [u64],
}

impl Context<'_> {
    /// The argument at the position that the table names.
    pub(crate) fn arg(&self, position: Option<u8>) -> Option<u64> {
        self.args.get(usize::from(position?)).copied()
    }

    /// The argument that is this part of the call.
    pub(crate) fn part(&self, part: ArgPart) -> Option<u64> {
        self.arg(self.function.part(part))
    }

    pub(crate) fn is(&self, fact: Fact) -> bool {
        self.function.facts.has(fact)
    }

    /// The first argument of this kind.
    pub(crate) fn of_kind(&self, kind: ArgKind) -> Option<u64> {
        let position = (self.function.args.iter()).position(|arg| arg.kind == kind)?;
        self.args.get(position).copied()
    }

    /// Serial of the thread's context, 0 when unknown.
    pub(crate) fn context_serial(&self) -> u32 {
        self.state
            .context()
            .map_or(0, |context| context.serial.load(Relaxed))
    }

    pub(crate) fn device(&self) -> u32 {
        self.state
            .context()
            .map_or(0, |context| context.device.load(Relaxed))
    }
}
