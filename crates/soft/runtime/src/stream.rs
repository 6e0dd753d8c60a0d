//! Streams. A stream is a line, which has its progress (`line`, `failures`, `recycled`, `waiting`), and
//! the queue of its tasks. Calls on streams are above: `seen`, `submit`, `control`, `access`, `launch`.

pub(crate) mod access;
mod completion_checks;
mod control;
mod demand;
pub(crate) mod failures;
pub(crate) mod last_task;
pub(crate) mod launch;
pub(crate) mod line;
mod recycled;
pub(crate) mod submit;
pub(crate) mod waiting;

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::code::{Fault, Outcome, RT_NO_STREAM, RT_STREAM_CAPTURED, fault};
use crate::engine::host::HostThread;
use crate::engine::lane::Lane;
use crate::engine::task::Task;
use crate::ffi::give_up;
use crate::graph::route::{Route, RouteTarget};
use crate::handles::{HandleKind, Registry};
use crate::inlet::Inlet;
use crate::per_process::PerProcess;
use crate::sync::Mutex;
use crate::{observers, process, settings};
use line::{StreamLine, StreamOwner};

static STREAMS: PerProcess<Registry<Stream>> =
    PerProcess::new(|| Registry::new(HandleKind::Stream));

/// A line and the queue of its tasks.
pub(crate) struct Stream {
    pub(crate) line: Arc<StreamLine>,
    pub(crate) is_default: bool,
    /// It represents a lane of a graph; the program did not create it.
    pub(crate) is_hidden: bool,
    pub(crate) priority: AtomicU32,
    pub(crate) lane: Mutex<Lane>,
    inlet: Inlet<Task>,
    pub(crate) host_thread: Arc<HostThread>,
    pub(crate) ran_host_functions: AtomicBool,
    /// An update of a task group ended badly; no other one begins on this stream.
    pub(crate) update_failed: AtomicBool,
    pub(crate) route: Route,
}

impl Deref for Stream {
    type Target = StreamLine;

    fn deref(&self) -> &StreamLine {
        &self.line
    }
}

/// The stream with that handle.
pub(crate) fn find(handle: usize) -> Option<Arc<Stream>> {
    STREAMS.get().get(handle)
}

impl Stream {
    /// Creates a stream of a context, unless the device has no stream left.
    pub(crate) fn create(
        owner: &StreamOwner,
        flags: u32,
        priority: u32,
        is_default: bool,
    ) -> Outcome<Arc<Self>> {
        Self::make(owner, flags, priority, is_default, false)
    }

    /// Creates a stream that the runtime keeps for itself. Observers hear of it.
    pub(crate) fn create_internal(owner: &StreamOwner) -> Outcome<Arc<Self>> {
        let stream = Self::make(owner, 0, 0, false, false)?;
        stream.route.divert(RouteTarget::Lane);
        Ok(stream)
    }

    /// Creates a stream that represents a lane of a graph and takes no tasks.
    pub(crate) fn create_hidden(
        owner: &StreamOwner,
        flags: u32,
        priority: u32,
    ) -> Outcome<Arc<Self>> {
        let stream = Self::make(owner, flags, priority, false, true)?;
        stream.route.divert(RouteTarget::Lane);
        Ok(stream)
    }

    fn make(
        owner: &StreamOwner,
        flags: u32,
        priority: u32,
        is_default: bool,
        is_hidden: bool,
    ) -> Outcome<Arc<Self>> {
        const FULL: Fault = Fault {
            code: RT_NO_STREAM,
            why: "the device has no stream left",
        };
        let id = owner.device.stream_ids.take().ok_or(FULL)?;
        let made = STREAMS.get().insert_with(|handle| Self {
            line: Arc::new(StreamLine::new(handle, id as i32, flags, owner)),
            is_default,
            is_hidden,
            priority: AtomicU32::new(priority.min(7)),
            lane: Mutex::default(),
            inlet: Inlet::new(),
            host_thread: Arc::clone(&owner.host_thread),
            ran_host_functions: AtomicBool::new(false),
            update_failed: AtomicBool::new(false),
            route: Route::default(),
        });
        made.ok_or(FULL)
            .inspect_err(|_| owner.device.stream_ids.give_back(id))
    }

    /// Takes the stream out of the registry; its handle is dead from here on.
    pub(crate) fn retire(&self) {
        if STREAMS.get().get(self.handle).is_none() {
            return;
        }
        if process::options().catch && self.is_looked_at() {
            give_up(
                "a stream was destroyed while another thread asked about an event on it: on a card \
                 the query goes on with freed memory",
            );
        }
        if !self.is_hidden {
            observers::stream_changes(self.handle, observers::stream_state::DESTROY_PRE);
        }
        if STREAMS.get().remove(self.handle).is_some() {
            settings::get().forget_stream(self.handle);
            self.inlet.lock().closed = true;
            self.device.stream_ids.give_back(self.id as u32);
        }
    }

    /// Moves new tasks to the engine; false without any.
    pub(crate) fn refill(&self, tasks: &mut VecDeque<Task>) -> bool {
        self.inlet.take(tasks)
    }

    pub(crate) fn priority(&self) -> u32 {
        self.priority.load(Ordering::Relaxed)
    }

    /// Refuses calls that are not allowed while the stream captures.
    pub(crate) fn refuse_while_capturing(&self) -> Outcome {
        if self.route.is_capturing() {
            return fault(RT_STREAM_CAPTURED, "the stream is capturing");
        }
        Ok(())
    }
}
