//! Notifies and counting notifies: a number that tasks change and other tasks wait for.
//!
//! A notify is a counter that is set to one and taken back by the wait that it let go.

use std::sync::{Arc, Mutex};

use crate::code::{
    Fault, INVALID_PARAM, Outcome, RT_INVALID_HANDLE, RT_NO_NOTIFY, RT_PARAM_INVALID, check, fault,
};
use crate::current;
use crate::device::Lease;
use crate::engine::task::Work;
use crate::handles::{Kind, Registry};
use crate::per_process::PerProcess;
use crate::stream::{self, Stream};
use crate::sync::lock;

static COUNTING_NOTIFIES: PerProcess<Registry<Signal>> =
    PerProcess::new(|| Registry::new(Kind::CountingNotify));
static NOTIFIES: PerProcess<Registry<Signal>> = PerProcess::new(|| Registry::new(Kind::Notify));

pub(crate) fn counting_notifies() -> &'static Registry<Signal> {
    COUNTING_NOTIFIES.get()
}

pub(crate) fn notifies() -> &'static Registry<Signal> {
    NOTIFIES.get()
}

pub(crate) struct Signal {
    pub(crate) handle: usize,
    lease: Arc<Lease>,
    device_use_only: bool,
    state: Mutex<SignalState>,
}

#[derive(Default)]
struct SignalState {
    value: u32,
    changed_ns: u64,
    waiters: Vec<Arc<Stream>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Set(u32),
    Add(u32),
    Or(u32),
    And(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Less(u32),
    Equal(u32),
    Bigger(u32),
    BiggerOrEqual(u32),
    /// All bits of the mask are set.
    Bits(u32),
}

impl Condition {
    pub(crate) const fn holds(self, value: u32) -> bool {
        match self {
            Self::Less(limit) => value < limit,
            Self::Equal(wanted) => value == wanted,
            Self::Bigger(limit) => value > limit,
            Self::BiggerOrEqual(limit) => value >= limit,
            Self::Bits(mask) => value & mask == mask,
        }
    }
}

impl Signal {
    /// Applies a change at a device time; returns the streams that may go on now. Called by the
    /// engine only.
    pub(crate) fn change(&self, change: Change, at_ns: u64) -> Vec<Arc<Stream>> {
        let mut state = lock(&self.state);
        state.value = match change {
            Change::Set(value) => value,
            Change::Add(value) => state.value.wrapping_add(value),
            Change::Or(bits) => state.value | bits,
            Change::And(bits) => state.value & bits,
        };
        state.changed_ns = at_ns;
        std::mem::take(&mut state.waiters)
    }

    /// When the condition holds, the time since when; takes the signal back if asked to. Otherwise
    /// the stream is told at the next change. Called by the engine only.
    pub(crate) fn pass(
        &self,
        condition: Condition,
        clears: bool,
        stream: &Arc<Stream>,
    ) -> Option<u64> {
        let mut state = lock(&self.state);
        if condition.holds(state.value) {
            if clears {
                state.value = 0;
            }
            return Some(state.changed_ns);
        }
        if !state
            .waiters
            .iter()
            .any(|waiting| Arc::ptr_eq(waiting, stream))
        {
            state.waiters.push(Arc::clone(stream));
        }
        None
    }

    pub(crate) fn id(&self) -> u32 {
        self.lease.id()
    }

    fn host_may_use(&self) -> Outcome {
        check(!self.device_use_only, "the notify is for the device only")
    }

    pub(crate) fn submit_change(self: &Arc<Self>, change: Change, stream: usize) -> Outcome {
        self.host_may_use()?;
        let signal = Arc::clone(self);
        let stream = stream::of_context(stream)?;
        stream.submit(|_| Work::Change { signal, change }).map(drop)
    }

    pub(crate) fn submit_wait(
        self: &Arc<Self>,
        condition: Condition,
        clears: bool,
        timeout_s: u32,
        stream: usize,
    ) -> Outcome {
        self.host_may_use()?;
        let signal = Arc::clone(self);
        let stream = stream::of_context(stream)?;
        let timeout_ns = u64::from(timeout_s) * 1_000_000_000;
        let pass = Pass {
            signal,
            condition,
            clears,
            timeout_ns,
        };
        stream.submit(|_| Work::Pass(Box::new(pass))).map(drop)
    }

    /// Takes the signal back from the host.
    pub(crate) fn clear(&self) {
        lock(&self.state).value = 0;
    }
}

/// A task that waits for a signal. Timeout 0 waits for ever.
pub(crate) struct Pass {
    pub(crate) signal: Arc<Signal>,
    pub(crate) condition: Condition,
    pub(crate) clears: bool,
    pub(crate) timeout_ns: u64,
}

/// Creates a signal on the current device, in one of the two registries.
pub(crate) fn create(registry: &Registry<Signal>, flags: u64) -> Outcome<usize> {
    const NONE_LEFT: Fault = Fault {
        code: RT_NO_NOTIFY,
        why: "the device has no notify left",
    };
    if flags > 1 {
        return fault(RT_PARAM_INVALID, "this notify flag does not exist");
    }
    let device = current::context()?.device;
    let lease = Lease::take(&device.notify_ids).ok_or(NONE_LEFT)?;
    let made = registry.insert_with(|handle| Signal {
        handle,
        lease,
        device_use_only: flags == 1,
        state: Mutex::default(),
    });
    made.map(|signal| signal.handle).ok_or(NONE_LEFT)
}

pub(crate) fn of(registry: &Registry<Signal>, handle: usize) -> Outcome<Arc<Signal>> {
    if handle == 0 {
        return fault(INVALID_PARAM, "the notify is NULL");
    }
    registry.get(handle).ok_or(Fault {
        code: RT_INVALID_HANDLE,
        why: "this is no notify",
    })
}

pub(crate) fn destroy(registry: &Registry<Signal>, handle: usize) -> Outcome {
    of(registry, handle)?;
    registry.remove(handle);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Condition;

    #[test]
    fn conditions_compare_as_named() {
        assert!(Condition::Less(3).holds(2) && !Condition::Less(3).holds(3));
        assert!(Condition::Bigger(3).holds(4) && !Condition::Bigger(3).holds(3));
        assert!(Condition::BiggerOrEqual(3).holds(3) && !Condition::BiggerOrEqual(3).holds(2));
        assert!(Condition::Equal(3).holds(3) && !Condition::Equal(3).holds(4));
        assert!(Condition::Bits(6).holds(14) && !Condition::Bits(6).holds(4));
    }
}
