//! The cost of the events around a task on the device, for the account of its stream and for the recording.

use ascend_trace_format::record::figure::Work;
use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::objects::ContextEntry;
use crate::timing::budget::Account;
use crate::timing::pair::Pair;
use crate::timing::reference;

/// Sums over tasks with events.
#[derive(Clone, Copy)]
pub(super) struct Price {
    /// Nanoseconds that the events took on the device.
    pub(super) device: u64,
    /// Time of streams, from the end of a task to the end of the next one.
    pub(super) stream: u64,
}

impl Price {
    pub(super) const NONE: Self = Self {
        device: 0,
        stream: 0,
    };
}

/// Learns from a task with times of its events, and adds its price to a sum. `last_end` is the end of the task before it, if
/// that is known.
pub(super) fn note(
    sum: &mut Price,
    account: &Account,
    context: &ContextEntry,
    (pair, closed): (Pair, HostNs),
    last_end: Option<i64>,
    (begin, end): (DeviceNs, DeviceNs),
) {
    let learners = reference::excess(context).zip(reference::record_time(context));
    let Some((excess, record)) = learners else {
        return;
    };
    let each = record.estimate();
    // Without a measurement, the way from a record to a task and back counts as two records more. A device that takes longer for it
    // would exceed the budget. Replays begin and end with kernels.
    let unmeasured = each.saturating_mul(3);
    let measured = excess.beyond(pair.work.unwrap_or(Work::Kernel));
    let beyond = measured.map_or(unmeasured, |it| u32::try_from(it).unwrap_or(0));
    // Between tasks without events, a pair is as far from the task before it and after it. Next to another pair, only the
    // record comes before it.
    let price = beyond.saturating_add(beyond.max(each));
    let own = match pair.start {
        0 => beyond,
        start if start == pair.end => each,
        _ => price,
    };
    let behind = if pair.behind == 0 { 0 } else { each };
    let device = u64::from(own).saturating_add(behind.into());
    sum.device = sum.device.saturating_add(device);
    account.settle(device, pair.paid);
    let passed = last_end.map_or(0, |last| end.ns().saturating_sub(last));
    let passed = u64::try_from(passed).unwrap_or(0);
    sum.stream = sum.stream.saturating_add(passed);
    if pair.tasks > 1 {
        return;
    }
    let length = u32::try_from(end.ns().wrapping_sub(begin.ns())).unwrap_or(0);
    if pair.work.is_none() {
        return account.note_other(length.saturating_sub(beyond), price);
    }
    let waited = record.was_waiting(closed, begin);
    account.note_device(length, beyond, price, waited);
}
