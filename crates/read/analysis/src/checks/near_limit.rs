//! A process had many streams or events at a time. The number of each is limited for a device, over all of its
//! processes. At the limit, the calls that make them fail.
//!
//! | chip | streams | events |
//! |---|---|---|
//! | 910B, 910_93, 950 | 1,984 | 65,536 |
//! | 910 (first generation) | 2,048 | 65,535 |
//! | 310P | 1,024 | 1,023 |
//! | 310B | 512 | 65,536 |
//!
//! A recording does not have the chip's name. So the finding starts at 80 % of the least number of streams, and of the usual
//! number of events. Default streams count as well, and so do streams that a framework keeps in pools. Events of
//! `aclrtCreateEventExWithFlag` that only keep times do not count, and the check cannot distinguish them from others.
//!
//! Reuse streams and events, and destroy those that are no longer needed.

use std::collections::HashMap;

use ascend_trace_format::api::Role;
use ascend_trace_recording::units::count;
use ascend_trace_recording::{CallId, ProcessId};

use super::super::finding::began;
use super::super::object_lifetimes::ObjectKind;
use super::super::{Check, Finding};
use crate::Window;

const STREAMS: u64 = 512 * 8 / 10;
const EVENTS: u64 = 65_536 * 8 / 10;

const fn limit(kind: ObjectKind) -> u64 {
    match kind {
        ObjectKind::Stream => STREAMS,
        ObjectKind::Event => EVENTS,
    }
}

/// Number of objects of a kind that a process has on a device.
#[derive(Debug, Default)]
struct LiveObjectCount {
    now: u64,
    most: u64,
    /// The calls that made more than there had been before, beyond the limit.
    found: Option<Finding>,
}

/// Devices are those of the calling threads; `None` where that is not known.
type Key = (ProcessId, Option<u8>, ObjectKind);

#[derive(Debug, Default)]
pub(super) struct NearLimit {
    live: HashMap<Key, LiveObjectCount>,
}

impl Check for NearLimit {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        let role = |id: &CallId| trace.function(trace.call(*id).function).role;
        let matters = |role: Role| ObjectKind::of(role).is_some() || ends_all(role);
        let mut calls: Vec<CallId> = window.calls().filter(|id| matters(role(id))).collect();
        // Calls of different threads come in any order.
        calls.sort_by_key(|id| began(trace, *id));
        for id in calls {
            let call = trace.call(id);
            if call.result() != Some(0) {
                continue;
            }
            let process = trace.thread(call.thread).process;
            let Some((kind, makes)) = ObjectKind::of(role(&id)) else {
                let is_over = |key: &Key| {
                    key.0 == process && (call.device.is_none() || key.1 == call.device)
                };
                let over = self.live.iter_mut().filter(|(key, _)| is_over(key));
                over.for_each(|(_, live)| live.now = 0);
                continue;
            };
            let live = self.live.entry((process, call.device, kind)).or_default();
            if !makes {
                live.now = live.now.saturating_sub(1);
                continue;
            }
            live.now += 1;
            if live.now <= live.most {
                continue;
            }
            live.most = live.now;
            if live.most < limit(kind) || !wanted(id) {
                continue;
            }
            let this = Finding::of_call(trace, id);
            match &mut live.found {
                Some(known) => known.join(&this),
                None => live.found = Some(this),
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let live = std::mem::take(&mut self.live).into_iter();
        let found = live.filter_map(|((_, _, kind), live)| {
            let name = kind.name();
            Some(Finding {
                what: format!("the process had {} {name} at a time", count(live.most)),
                advice: format!("reuse {name}, and destroy those that are no longer needed"),
                ..live.found?
            })
        });
        found.collect()
    }
}

/// Whether a call ends all streams and events of a device or of the process.
fn ends_all(role: Role) -> bool {
    let meaning = role.meaning();
    meaning.on_all_streams && meaning.bounds_life
}
