//! The cause of a gap before a task: what kept the host from submitting it in time, if it was the
//! host.

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{TaskId, TimeRange, Trace};

use super::Cause;
use super::host_stalls::HostStalls;
use super::overhead::spent;

/// Time in which a task may be on its way to the device after the call that submitted it.
const IN_FLIGHT_NS: i64 = 10_000;

/// The latest time at which a task comes to the device.
pub(super) fn arrived(trace: &Trace, id: TaskId) -> i64 {
    let call = trace.call(trace.task(id).call);
    call.end.saturating_add(IN_FLIGHT_NS)
}

/// Why the stream was idle before `task` began, which was at the end of the gap.
///
/// The gap has one cause: the one that took most of it.
pub(super) fn judge(trace: &Trace, hosts: &HostStalls, gap: TimeRange, task: TaskId) -> Cause {
    let (id, task) = (task, trace.task(task));
    let call = trace.call(task.call);
    let length = gap.duration();
    let is_most = |part: i64| part >= length - part;

    let arrived = gap.clamp(arrived(trace, id));
    if !is_most(arrived - gap.begin) {
        return Cause::Unknown;
    }
    let called = gap.clamp(call.begin);
    if task.kind == TaskKind::Graph && is_most(arrived - called) {
        return Cause::GraphLaunch;
    }
    // After too many stalls, the last ones represent all.
    let begin = hosts.looked_at_from(call.thread, gap.begin, called);
    let length = gap.end - begin;
    let is_most = |part: i64| part >= length - part;
    let blocked = hosts.blocked(call.thread, begin, called);
    // Costs between two points are spread evenly; inside a blocking call the thread waits for the device.
    let outside = (called - begin).saturating_sub(blocked.total());
    if is_most(spent(trace, call.thread, TimeRange::new(begin, called)).min(outside)) {
        return Cause::TracerOverhead;
    }
    if !is_most(blocked.total()) {
        return Cause::HostLate;
    }
    let most = blocked.waiting.max(blocked.returning).max(blocked.queue);
    match most {
        _ if most == blocked.waiting => Cause::HostBlocked,
        _ if most == blocked.queue => Cause::QueueFull,
        _ => Cause::ReturnLatency,
    }
}
