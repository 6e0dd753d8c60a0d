//! Labels: places in the streams of a graph that a task of the graph can jump to.

use std::sync::{Arc, Weak};

use crate::code::{Fault, Outcome, RT_INTERNAL, RT_PARAM_INVALID, check, fault};
use crate::graph::activity::Activity;
use crate::handles::{HandleKind, Registry};
use crate::per_process::PerProcess;
use crate::sync::{Mutex, lock};

static LISTS: PerProcess<Registry<LabelList>> =
    PerProcess::new(|| Registry::new(HandleKind::LabelList));
static LABELS: PerProcess<Registry<Label>> = PerProcess::new(|| Registry::new(HandleKind::Label));

pub(crate) struct Label {
    handle: usize,
    place: Mutex<LabelPlace>,
}

/// Where a label was set: the graph, the stream in it, and the place in that stream.
#[derive(Default, Clone)]
pub(crate) struct LabelPlace {
    graph: Weak<Activity>,
    pub(crate) lane: usize,
    pub(crate) position: usize,
    is_set: bool,
}

pub(crate) struct LabelList {
    pub(crate) labels: Vec<Arc<Label>>,
}

const NONE_LEFT: Fault = Fault {
    code: RT_INTERNAL,
    why: "no label is left",
};

pub(crate) fn create() -> Outcome<usize> {
    let made = LABELS.get().insert_with(|handle| Label {
        handle,
        place: Mutex::default(),
    });
    made.map(|label| label.handle).ok_or(NONE_LEFT)
}

pub(crate) fn of(handle: usize) -> Outcome<Arc<Label>> {
    LABELS
        .get()
        .named(handle, "the label is NULL", "this is no label")
}

pub(crate) fn destroy(handle: usize) -> Outcome {
    of(handle)?;
    LABELS.get().remove(handle);
    Ok(())
}

pub(crate) fn create_list(handles: &[usize]) -> Outcome<usize> {
    check(!handles.is_empty(), "there is no label")?;
    let labels: Outcome<Vec<_>> = handles.iter().map(|&label| of(label)).collect();
    let labels = labels?;
    let mut own = 0;
    let made = LISTS.get().insert_with(|handle| {
        own = handle;
        LabelList { labels }
    });
    made.map(|_| own).ok_or(NONE_LEFT)
}

pub(crate) fn list(handle: usize) -> Outcome<Arc<LabelList>> {
    LISTS.get().named(
        handle,
        "the list of labels is NULL",
        "this is no list of labels",
    )
}

pub(crate) fn destroy_list(handle: usize) -> Outcome {
    list(handle)?;
    LISTS.get().remove(handle);
    Ok(())
}

impl Label {
    /// A label has one place.
    pub(crate) fn put(&self, graph: &Arc<Activity>, lane: usize, position: usize) -> Outcome {
        let mut place = lock(&self.place);
        if place.is_set && place.graph.strong_count() != 0 {
            return fault(RT_PARAM_INVALID, "the label was set before");
        }
        *place = LabelPlace {
            graph: Arc::downgrade(graph),
            lane,
            position,
            is_set: true,
        };
        Ok(())
    }

    /// Its place, if that is in this graph.
    pub(crate) fn place_in(&self, graph: &Arc<Activity>) -> Option<LabelPlace> {
        let place = lock(&self.place).clone();
        let is_here = place.is_set && std::ptr::eq(place.graph.as_ptr(), Arc::as_ptr(graph));
        is_here.then_some(place)
    }
}

/// Where to go: the label with the number that is in device memory when the turn comes.
pub(crate) struct LabelSwitch {
    pub(crate) address: usize,
    pub(crate) labels: Vec<Arc<Label>>,
}

impl LabelSwitch {
    /// Where to go now; nowhere when the label is not in this graph. An index beyond the last label
    /// means the last one.
    pub(crate) fn target(&self, graph: &Arc<Activity>) -> Option<LabelPlace> {
        // SAFETY: its maker checked that the bytes are inside memory of this library, which stays
        // mapped.
        let index = unsafe { (self.address as *const u32).read_unaligned() } as usize;
        let label = self.labels.get(index).or_else(|| self.labels.last())?;
        label.place_in(graph)
    }
}
