//! Notifies and counting notifies: a number that tasks change and other tasks wait for.
//!
//! Submitting such tasks is in `submit`.
//!
//! A notify is a counter: a record sets it to 1, and the wait that it releases resets it to 0.

pub(crate) mod submit;

use std::sync::Arc;

use crate::code::{Outcome, check};
use crate::device::Lease;
use crate::handles::{HandleKind, Registry};
use crate::per_process::PerProcess;
use crate::sync::{Mutex, lock};

static COUNTING_NOTIFIES: PerProcess<Registry<Signal>> =
    PerProcess::new(|| Registry::new(HandleKind::CountingNotify));
static NOTIFIES: PerProcess<Registry<Signal>> =
    PerProcess::new(|| Registry::new(HandleKind::Notify));

pub(crate) fn counting_notifies() -> &'static Registry<Signal> {
    COUNTING_NOTIFIES.get()
}

pub(crate) fn notifies() -> &'static Registry<Signal> {
    NOTIFIES.get()
}

/// A notify or a counting notify.
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
    /// Handles of the streams that wait for it.
    waiters: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalChange {
    Set(u32),
    Add(u32),
    Or(u32),
    And(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalCondition {
    Less(u32),
    Equal(u32),
    Greater(u32),
    GreaterOrEqual(u32),
    /// All bits of the mask are set.
    Bits(u32),
}

impl SignalCondition {
    pub(crate) const fn holds(self, value: u32) -> bool {
        match self {
            Self::Less(limit) => value < limit,
            Self::Equal(wanted) => value == wanted,
            Self::Greater(limit) => value > limit,
            Self::GreaterOrEqual(limit) => value >= limit,
            Self::Bits(mask) => value & mask == mask,
        }
    }
}

impl Signal {
    /// Applies a change at a device time; returns the streams that may go on now. Called by the
    /// engine only.
    pub(crate) fn change(&self, change: SignalChange, at_ns: u64) -> Vec<usize> {
        let mut state = lock(&self.state);
        state.value = match change {
            SignalChange::Set(value) => value,
            SignalChange::Add(value) => state.value.wrapping_add(value),
            SignalChange::Or(bits) => state.value | bits,
            SignalChange::And(bits) => state.value & bits,
        };
        state.changed_ns = at_ns;
        std::mem::take(&mut state.waiters)
    }

    /// Returns since when the value has met the condition, and resets the signal if requested. Returns `None` if
    /// it does not meet it, and wakes the stream at the next change. Called by the engine only.
    pub(crate) fn try_wait(
        &self,
        condition: SignalCondition,
        clears: bool,
        stream: usize,
    ) -> Option<u64> {
        let mut state = lock(&self.state);
        if condition.holds(state.value) {
            if clears {
                state.value = 0;
            }
            return Some(state.changed_ns);
        }
        if !state.waiters.contains(&stream) {
            state.waiters.push(stream);
        }
        None
    }

    pub(crate) fn id(&self) -> u32 {
        self.lease.id()
    }

    fn host_may_use(&self) -> Outcome {
        check(!self.device_use_only, "the notify is for the device only")
    }

    /// Resets the value to 0 for a host call.
    pub(crate) fn clear(&self) {
        lock(&self.state).value = 0;
    }
}

/// A task that waits for a signal. Timeout 0 waits for ever.
pub(crate) struct SignalWait {
    pub(crate) signal: Arc<Signal>,
    pub(crate) condition: SignalCondition,
    pub(crate) clears: bool,
    pub(crate) timeout_ns: u64,
}

/// Makes a signal in one of the two registries.
fn make(registry: &Registry<Signal>, lease: Arc<Lease>, device_use_only: bool) -> Option<usize> {
    let made = registry.insert_with(|handle| Signal {
        handle,
        lease,
        device_use_only,
        state: Mutex::default(),
    });
    made.map(|signal| signal.handle)
}

pub(crate) fn find(registry: &Registry<Signal>, handle: usize) -> Outcome<Arc<Signal>> {
    registry.named(handle, "the notify is NULL", "this is no notify")
}

pub(crate) fn destroy(registry: &Registry<Signal>, handle: usize) -> Outcome {
    find(registry, handle)?;
    registry.remove(handle);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::SignalCondition;

    #[test]
    fn conditions_compare_as_named() {
        assert!(SignalCondition::Less(3).holds(2) && !SignalCondition::Less(3).holds(3));
        assert!(SignalCondition::Greater(3).holds(4) && !SignalCondition::Greater(3).holds(3));
        assert!(
            SignalCondition::GreaterOrEqual(3).holds(3)
                && !SignalCondition::GreaterOrEqual(3).holds(2)
        );
        assert!(SignalCondition::Equal(3).holds(3) && !SignalCondition::Equal(3).holds(4));
        assert!(SignalCondition::Bits(6).holds(14) && !SignalCondition::Bits(6).holds(4));
    }
}
