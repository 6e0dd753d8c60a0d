//! A thread made thousands of copies of a few bytes. Each of them costs a submission and a transfer, which take a few
//! microseconds for any number of bytes.
//!
//! Collect the data in one buffer, and copy them at once. Values that a kernel needs can be its arguments.

use ascend_trace_format::api::{TaskKind, WaitTarget};
use ascend_trace_recording::units::{bytes, count};
use ascend_trace_recording::{CallId, Direction, Trace};

use super::super::grouping::Groups;
use super::super::{Check, Finding, Remedy};
use crate::Window;

/// Larger copies are not small.
const MOST_BYTES: u64 = 256;
/// Fewer copies are not worth a word.
const LEAST: u64 = 1_000;

#[derive(Debug, Default)]
pub(super) struct SmallCopies {
    groups: Groups<Direction>,
}

impl Check for SmallCopies {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls().filter(|id| wanted(*id)) {
            if let Some((direction, moved)) = small(trace, id) {
                self.groups.add(trace, id, direction, moved);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let groups = std::mem::take(&mut self.groups);
        let found = groups.into_findings(|found, direction, moved| {
            let what = format!(
                "{} made {} copies {} of {} each, on average",
                found.site.name,
                count(found.count),
                direction.name(),
                bytes(moved / found.count.max(1)),
            );
            (
                what,
                "collect the data in one buffer, and copy them at once".to_owned(),
            )
        });
        let found = found.into_iter().filter(|it| it.count >= LEAST);
        let remedy = Some(Remedy::NotSimulated);
        found.map(|it| Finding { remedy, ..it }).collect()
    }
}

/// The direction and the size of a small copy between host and device.
fn small(trace: &Trace, id: CallId) -> Option<(Direction, u64)> {
    let call = trace.call(id);
    let function = trace.function(call.function);
    let is_task = call
        .task
        .is_some_and(|task| trace.task(task).kind == TaskKind::Memcpy);
    let copies = is_task || function.role.meaning().waits == WaitTarget::Transfer;
    if !copies || call.depth > 0 || call.result() != Some(0) {
        return None;
    }
    let moved = trace
        .bytes(call)
        .filter(|it| (1..=MOST_BYTES).contains(it))?;
    let direction = trace.direction(call)?;
    let is_between = matches!(direction, Direction::HostToDevice | Direction::DeviceToHost);
    is_between.then_some((direction, moved))
}
