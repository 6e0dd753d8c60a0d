//! Creating signals, and tasks that change them or wait for them.

use std::sync::Arc;

use super::{Signal, SignalChange, SignalCondition, SignalWait, make};
use crate::code::{Fault, Outcome, RT_NO_NOTIFY, RT_PARAM_INVALID, fault};
use crate::current;
use crate::device::Lease;
use crate::engine::task::Work;
use crate::handles::Registry;
use crate::stream::access;

/// Creates a signal on the current device, in one of the two registries.
pub(crate) fn create(registry: &Registry<Signal>, flags: u64) -> Outcome<usize> {
    const NONE_LEFT: Fault = Fault {
        code: RT_NO_NOTIFY,
        why: "the device has no notify left",
    };
    if flags > 1 {
        return fault(RT_PARAM_INVALID, "this notify flag does not exist");
    }
    let lease = Lease::take(&current::device()?.notify_ids).ok_or(NONE_LEFT)?;
    make(registry, lease, flags == 1).ok_or(NONE_LEFT)
}

impl Signal {
    pub(crate) fn submit_change(self: &Arc<Self>, change: SignalChange, stream: usize) -> Outcome {
        self.host_may_use()?;
        let signal = Arc::clone(self);
        let stream = access::of_context(stream)?;
        stream.submit(|_| Work::Change { signal, change }).map(drop)
    }

    pub(crate) fn submit_wait(
        self: &Arc<Self>,
        condition: SignalCondition,
        clears: bool,
        timeout_s: u32,
        stream: usize,
    ) -> Outcome {
        self.host_may_use()?;
        let signal = Arc::clone(self);
        let stream = access::of_context(stream)?;
        let timeout_ns = u64::from(timeout_s) * 1_000_000_000;
        let pass = SignalWait {
            signal,
            condition,
            clears,
            timeout_ns,
        };
        stream.submit(|_| Work::Pass(Box::new(pass))).map(drop)
    }
}
