//! Which threads work together: they submit to the same streams, or use the same events. Loops of others are separate.

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{CallId, ThreadId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Events that are looked at. A program may make events without end: with more of them, all threads count as one group.
const MOST: usize = 1 << 16;

/// The groups of threads.
#[derive(Debug, Default)]
pub(super) struct ThreadGroups {
    /// A thread of the same group, or itself.
    groups: FxHashMap<ThreadId, ThreadId>,
    streams: FxHashMap<u32, ThreadId>,
    events: FxHashMap<u32, ThreadId>,
    /// Streams that may be in an order with others.
    ordered: FxHashSet<u32>,
    has_overflown: bool,
}

impl ThreadGroups {
    /// Takes in a call.
    pub(super) fn take(&mut self, trace: &Trace, id: CallId) {
        let call = trace.call(id);
        let thread = call.thread;
        // One thread may make the streams of all others, and wait for them.
        let Some(task) = call.task.map(|task| trace.task(task)) else {
            return;
        };
        let owner = *self.streams.entry(task.stream.0).or_insert(thread);
        self.join(owner, thread);
        if !is_work(task.kind) {
            self.ordered.insert(task.stream.0);
        }
        if let Some(event) = call.event {
            if self.events.len() >= MOST && !self.events.contains_key(&event.event.0) {
                self.has_overflown = true;
                return;
            }
            let owner = *self.events.entry(event.event.0).or_insert(thread);
            self.join(owner, thread);
        }
    }

    /// Whether nothing orders a stream's work after that of others.
    pub(super) fn is_alone(&self, stream: u32) -> bool {
        !self.has_overflown && !self.ordered.contains(&stream)
    }

    /// The group of a thread, by one of its threads.
    pub(super) fn group(&self, thread: ThreadId) -> ThreadId {
        if self.has_overflown {
            return ThreadId(0);
        }
        let mut group = thread;
        while let Some(next) = self.groups.get(&group).filter(|it| **it != group) {
            group = *next;
        }
        group
    }

    fn join(&mut self, one: ThreadId, other: ThreadId) {
        if one == other {
            return;
        }
        let (one, other) = (self.group(one), self.group(other));
        if one != other {
            self.groups.insert(one.max(other), one.min(other));
        }
    }
}

/// Whether a task neither waits for others nor lets them go on.
fn is_work(kind: TaskKind) -> bool {
    matches!(
        kind,
        TaskKind::Kernel | TaskKind::Memcpy | TaskKind::Memset | TaskKind::Graph
    )
}
