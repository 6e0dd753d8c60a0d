//! Streams: their queue, and waiting for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::code::{
    Fault, Outcome, RT_INVALID_HANDLE, RT_NO_STREAM, RT_STREAM_CAPTURED, SUCCESS, fault,
};
use crate::context::Context;
use crate::device::Device;
use crate::engine::task::{Task, Token, Work};
use crate::engine::{Due, HostThread, Lane};
use crate::ffi::Callback;
use crate::graph::{Route, Target};
use crate::inlet::{Inlet, Queue};
use crate::progress::Progress;
use crate::sync::lock;
use crate::virtual_time::{self, Ends};
use crate::{clock, engine, mspti, observers, process, settings};

use crate::handles::{Kind, Registry};
use crate::per_process::PerProcess;
pub(crate) use access::{create, destroy, launch, of_any_context, of_context, timeout};
pub(crate) use waiting::{Drop, FailureMode, Failures, Waited};

static STREAMS: PerProcess<Registry<Stream>> = PerProcess::new(|| Registry::new(Kind::Stream));

mod access;
mod recycle;
mod waiting;

pub(crate) mod flag {
    /// What default streams have.
    pub(crate) const DEFAULT_STREAM: u32 = 0x3;
    pub(crate) const PERSISTENT: u32 = 0x4;
    pub(crate) const CPU_SCHEDULE: u32 = 0x10;
    pub(crate) const DEVICE_USE_ONLY: u32 = 0x20;
    /// Streams with one of these are not waited for by the host.
    pub(crate) const NOT_AWAITED: u32 = PERSISTENT | CPU_SCHEDULE | DEVICE_USE_ONLY;
}

pub(crate) struct Stream {
    pub(crate) handle: usize,
    pub(crate) id: i32,
    pub(crate) device: &'static Device,
    /// Handle of the context it belongs to.
    pub(crate) context: usize,
    pub(crate) is_default: bool,
    /// It stands for a lane of a graph; the program did not create it.
    pub(crate) is_hidden: bool,
    pub(crate) flags: u32,
    pub(crate) priority: AtomicU32,
    pub(crate) lane: Mutex<Lane>,
    inlet: Inlet<Task>,
    progress: Progress,
    submitted: AtomicU64,
    /// In virtual time. A leaf among the locks.
    ends: Mutex<Ends>,
    recycled: recycle::Recycled,
    drop_request: AtomicU8,
    error: AtomicI32,
    failures: Arc<Failures>,
    failure_mode_was_set: AtomicBool,
    host_thread: Arc<HostThread>,
    pub(crate) ran_host_functions: AtomicBool,
    /// An update of a task group ended badly; no other one begins on this stream.
    pub(crate) update_failed: AtomicBool,
    /// Host functions that returned and were not seen to: which, and the host time.
    host_done: Mutex<Vec<(Token, u64)>>,
    pub(crate) route: Route,
}

impl Stream {
    /// Creates a stream of the context, unless the device has no stream left.
    pub(crate) fn create(
        context: &Context,
        flags: u32,
        priority: u32,
        is_default: bool,
    ) -> Outcome<Arc<Self>> {
        Self::make(context, flags, priority, is_default, false)
    }

    /// Creates a stream that the runtime keeps for itself. Observers hear of it.
    pub(crate) fn create_internal(context: &Context) -> Outcome<Arc<Self>> {
        let stream = Self::make(context, 0, 0, false, false)?;
        stream.route.divert(Target::Lane);
        Ok(stream)
    }

    /// Creates a stream that stands for a lane of a graph and takes no tasks.
    pub(crate) fn create_hidden(
        context: &Context,
        flags: u32,
        priority: u32,
    ) -> Outcome<Arc<Self>> {
        let stream = Self::make(context, flags, priority, false, true)?;
        stream.route.divert(Target::Lane);
        Ok(stream)
    }

    fn make(
        context: &Context,
        flags: u32,
        priority: u32,
        is_default: bool,
        is_hidden: bool,
    ) -> Outcome<Arc<Self>> {
        const FULL: Fault = Fault {
            code: RT_NO_STREAM,
            why: "the device has no stream left",
        };
        let id = context.device.stream_ids.take().ok_or(FULL)?;
        let made = STREAMS.get().insert_with(|handle| Self {
            handle,
            id: id as i32,
            device: context.device,
            context: context.handle,
            is_default,
            is_hidden,
            flags,
            priority: AtomicU32::new(priority.min(7)),
            lane: Mutex::default(),
            inlet: Inlet::new(),
            progress: Progress::new(),
            submitted: AtomicU64::new(0),
            ends: Mutex::default(),
            recycled: recycle::Recycled::default(),
            drop_request: AtomicU8::new(0),
            failures: Arc::clone(&context.failures),
            failure_mode_was_set: AtomicBool::new(false),
            error: AtomicI32::new(SUCCESS),
            host_thread: Arc::clone(&context.host_thread),
            ran_host_functions: AtomicBool::new(false),
            update_failed: AtomicBool::new(false),
            host_done: Mutex::default(),
            route: Route::default(),
        });
        made.ok_or(FULL)
            .inspect_err(|_| context.device.stream_ids.give_back(id))
    }

    /// Takes the stream out of the registry; its handle is dead from here on.
    pub(crate) fn retire(&self) {
        if STREAMS.get().get(self.handle).is_none() {
            return;
        }
        if process::options().catch && self.is_looked_at() {
            crate::ffi::give_up(
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

    /// Queues what `make` builds from the task's number. Blocks while the queue is full. A stream
    /// that captures hands the task to its graph instead, where it has no number yet.
    pub(crate) fn submit(self: &Arc<Self>, make: impl FnOnce(u64) -> Work) -> Outcome<u64> {
        if let Some(target) = self.route.target() {
            return target.take(make(0)).map(|()| 0);
        }
        loop {
            match self.room()? {
                Some(room) => return Ok(room.fill(make)),
                None => self.wait_for_room()?,
            }
        }
    }

    /// A place in the queue, or `None` when it is full. Who holds another lock has to give it up
    /// before it waits: the queue may depend on a callback that wants the same lock.
    pub(crate) fn room(self: &Arc<Self>) -> Outcome<Option<Room<'_>>> {
        virtual_time::submits();
        engine::get().begin()?;
        let queue = self.inlet.lock();
        if queue.closed {
            return fault(RT_INVALID_HANDLE, "the stream was destroyed");
        }
        match self.failures.stopped_by.load(Ordering::Acquire) {
            SUCCESS => {}
            code => return fault(code, "a task failed, and the stream stops on failure"),
        }
        let depth = u64::from(process::options().queue);
        let is_full = queue.pushed - self.completed() >= depth;
        Ok((!is_full).then_some(Room {
            stream: self,
            queue,
        }))
    }

    pub(crate) fn wait_for_room(&self) -> Outcome {
        let depth = u64::from(process::options().queue);
        let room_at = (self.inlet.lock().pushed + 1).saturating_sub(depth);
        let before = virtual_time::now();
        match self.wait_for(room_at, None) {
            Waited::Aborted(code) => fault(code, "the stream was aborted"),
            // The engine was late, and the thread's clock was not: there was room.
            _ if virtual_time::is_on() && virtual_time::now() == before => Ok(()),
            _ => {
                self.seen_by_submitter();
                Ok(())
            }
        }
    }

    /// Moves new tasks to the engine; false when there are none.
    pub(crate) fn refill(&self, tasks: &mut VecDeque<Task>) -> bool {
        self.inlet.take(tasks)
    }

    pub(crate) fn complete(&self, seq: u64, end_ns: u64) {
        if virtual_time::is_on() {
            let keep = 2 * process::options().queue as usize;
            lock(&self.ends).push(end_ns, keep);
        }
        self.progress.complete(seq);
    }

    /// How many tasks are complete, as the calling thread can know.
    fn completed(&self) -> u64 {
        if virtual_time::is_on() {
            return lock(&self.ends).until(virtual_time::now());
        }
        self.progress.completed()
    }

    pub(crate) fn wake_sleepers(&self) {
        self.progress.wake();
    }

    pub(crate) fn has_completed(&self, seq: u64) -> bool {
        self.completed() >= seq
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.completed() >= self.submitted.load(Ordering::Acquire)
    }

    /// A task that only takes its place in the order.
    pub(crate) fn mark(self: &Arc<Self>) -> Outcome {
        self.submit(|_| Work::Marker).map(drop)
    }

    /// Makes sure that host functions can run.
    pub(crate) fn begin_host(&self) -> Outcome {
        self.host_thread.begin()
    }

    pub(crate) fn call_host(self: &Arc<Self>, callback: Callback, token: Token, begin_ns: u64) {
        let stream = Arc::clone(self);
        self.host_thread.call(Due {
            callback,
            stream,
            token,
            begin_ns,
        });
    }

    /// A host function has returned.
    pub(crate) fn host_work_done(self: &Arc<Self>, token: Token) {
        lock(&self.host_done).push((token, clock::now()));
        engine::get().enqueue(self);
    }

    /// When this host function returned; told once.
    pub(crate) fn host_work_end(&self, token: Token) -> Option<u64> {
        let mut done = lock(&self.host_done);
        let index = done.iter().position(|(known, _)| *known == token)?;
        Some(done.swap_remove(index).1)
    }

    /// Forgets host functions of tasks that were dropped.
    pub(crate) fn forget_host_work(&self) {
        lock(&self.host_done).clear();
    }

    pub(crate) fn priority(&self) -> u32 {
        self.priority.load(Ordering::Relaxed)
    }

    /// Refuses what a stream cannot do while it captures.
    pub(crate) fn refuse_while_capturing(&self) -> Outcome {
        if self.route.is_capturing() {
            return fault(RT_STREAM_CAPTURED, "the stream is capturing");
        }
        Ok(())
    }
}

/// A free place in a stream's queue, which nobody else can take.
pub(crate) struct Room<'a> {
    stream: &'a Arc<Stream>,
    queue: MutexGuard<'a, Queue<Task>>,
}

impl Room<'_> {
    /// Takes the place with what `make` builds from the task's number.
    pub(crate) fn fill(self, make: impl FnOnce(u64) -> Work) -> u64 {
        let Self { stream, mut queue } = self;
        queue.pushed += 1;
        let seq = queue.pushed;
        // The clock is read under the lock: times along a queue never go backwards.
        let work = make(seq);
        let correlation = mspti::submitted(&work, stream);
        queue.items.push_back(Task {
            work,
            submitted_ns: clock::now(),
            seq,
            correlation,
        });
        stream.submitted.store(seq, Ordering::Release);
        drop(queue);
        if stream.is_due(seq) {
            stream.device.wants_recycling.store(true, Ordering::Release);
            engine::get().enqueue(stream);
        }
        // Who waits until the engine has played all has to know of each task.
        if stream.inlet.must_call() || virtual_time::is_on() {
            engine::get().enqueue(stream);
        }
        remember_task(((seq - 1) as u32, stream.id as u32));
        seq
    }
}

thread_local! {
    static LAST_TASK: std::cell::Cell<(u32, u32)> = const { std::cell::Cell::new((0, 0)) };
}

/// Notes the number of the task that this thread submitted last, and its stream's.
pub(crate) fn remember_task(task: (u32, u32)) {
    // During thread exit nobody can ask for it any more.
    let _ = LAST_TASK.try_with(|last| last.set(task));
}

/// Numbers of the task that this thread submitted last, and of its stream; 0 when there is none.
pub(crate) fn last_task() -> (u32, u32) {
    LAST_TASK.try_with(std::cell::Cell::get).unwrap_or((0, 0))
}
