//! Task groups: kernels of a graph that can be replaced between replays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::body::NodePatch;
use super::route::{GraphPosition, RouteTarget};
use super::state::GraphPhase;
use super::update::{GroupUpdate, TaskGroup};
use crate::code::{
    Fault, INVALID_PARAM, Outcome, RT_CAPTURE_INVALIDATED, RT_INTERNAL, RT_INVALID_HANDLE,
    RT_STREAM_CAPTURED, RT_STREAM_MODEL, RT_STREAM_NOT_CAPTURED, RT_TASK_GROUP_STATUS, fault,
};
use crate::engine::task::Work;
use crate::handles::{HandleKind, Registry};
use crate::per_process::PerProcess;
use crate::stream::{Stream, access};
use crate::sync::{Mutex, lock};

static TASK_GROUPS: PerProcess<Registry<TaskGroup>> =
    PerProcess::new(|| Registry::new(HandleKind::TaskGroup));

/// A group's handle is dead from here on.
pub(super) fn forget(handle: usize) {
    TASK_GROUPS.get().remove(handle);
}

fn capturing(stream: usize) -> Outcome<(Arc<Stream>, GraphPosition)> {
    if stream == 0 {
        return fault(INVALID_PARAM, "the stream is NULL");
    }
    let known = access::of_any_context(stream)?;
    let Some(seat) = known.route.capture() else {
        return fault(RT_STREAM_NOT_CAPTURED, "the stream is not capturing");
    };
    Ok((access::of_context(stream)?, seat))
}

pub(crate) fn begin_group(stream: usize) -> Outcome {
    let (_, seat) = capturing(stream)?;
    let mut state = lock(&seat.graph.state);
    let lane = &mut state.lanes[seat.lane];
    if lane.group.is_some() {
        return fault(RT_TASK_GROUP_STATUS, "a task group is open already");
    }
    lane.group = Some(Vec::new());
    Ok(())
}

pub(crate) fn end_group(stream: usize) -> Outcome<usize> {
    let (_, seat) = capturing(stream)?;
    let mut state = lock(&seat.graph.state);
    let Some(nodes) = state.lanes[seat.lane].group.take() else {
        return fault(RT_TASK_GROUP_STATUS, "no task group is open");
    };
    if let Some(failed) = state.capture.as_ref().and_then(|known| known.group_fault) {
        return Err(failed);
    }
    if state.phase != GraphPhase::Capturing {
        return fault(RT_CAPTURE_INVALIDATED, "the capture was invalidated");
    }
    const NONE_LEFT: Fault = Fault {
        code: RT_INTERNAL,
        why: "no task group is left",
    };
    let made = TASK_GROUPS.get().insert_with(|handle| TaskGroup {
        handle,
        nodes,
        is_updated: AtomicBool::new(false),
    });
    let group = made.ok_or(NONE_LEFT)?;
    for node in &group.nodes {
        let _ = node.group.set(group.handle);
    }
    state.groups.push(group.handle);
    Ok(group.handle)
}

/// A stream that may carry an update.
fn updatable(stream: usize) -> Outcome<Arc<Stream>> {
    if stream == 0 {
        return fault(INVALID_PARAM, "the stream is NULL");
    }
    let known = access::of_any_context(stream)?;
    match known.route.target() {
        Some(RouteTarget::Capture(_)) => {
            return fault(RT_STREAM_CAPTURED, "the stream is capturing");
        }
        Some(RouteTarget::Build(_) | RouteTarget::Lane) => {
            return fault(RT_STREAM_MODEL, "the stream belongs to a graph");
        }
        _ => {}
    }
    access::of_context(stream)
}

pub(crate) fn begin_update(stream: usize, group: usize) -> Outcome {
    if group == 0 {
        return fault(INVALID_PARAM, "the task group is NULL");
    }
    let stream = updatable(stream)?;
    const UNKNOWN: Fault = Fault {
        code: RT_INVALID_HANDLE,
        why: "this is no task group",
    };
    const BUSY: Outcome = fault(
        RT_TASK_GROUP_STATUS,
        "the stream or the task group is being updated already",
    );
    let group = TASK_GROUPS.get().get(group).ok_or(UNKNOWN)?;
    if stream.update_failed.load(Ordering::Acquire) {
        return fault(RT_STREAM_CAPTURED, "an update on this stream has failed");
    }
    if stream.route.target().is_some() || group.is_updated.swap(true, Ordering::AcqRel) {
        return BUSY;
    }
    let update = Arc::new(GroupUpdate {
        group: Arc::clone(&group),
        works: Mutex::default(),
        is_spoilt: AtomicBool::new(false),
    });
    if stream.route.divert(RouteTarget::Update(update)) {
        return Ok(());
    }
    group.is_updated.store(false, Ordering::Release);
    BUSY
}

/// Ends an update: the new tasks take the place of the old ones when the stream comes to it.
pub(crate) fn end_update(stream: usize) -> Outcome {
    let stream = updatable(stream)?;
    let Some(RouteTarget::Update(update)) = stream.route.target() else {
        return fault(RT_TASK_GROUP_STATUS, "the stream updates no task group");
    };
    stream.route.close();
    update.group.is_updated.store(false, Ordering::Release);
    let works = std::mem::take(&mut *lock(&update.works));
    if update.is_spoilt.load(Ordering::Acquire) || works.len() != update.group.nodes.len() {
        stream.update_failed.store(true, Ordering::Release);
        return fault(
            RT_INTERNAL,
            "the tasks of the update are not those of the group",
        );
    }
    let nodes = update.group.nodes.iter().cloned();
    let patches = nodes
        .zip(works)
        .map(|(node, work)| NodePatch { node, work });
    let patches = patches.collect();
    stream.submit(|_| Work::Patch(patches)).map(drop)
}
