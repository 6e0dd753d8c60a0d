//! Streams: their queue, and waiting for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use crate::clock::mono;
use crate::code::{
    Code, Fault, INVALID_PARAM, Outcome, RT_INVALID_HANDLE, RT_NO_STREAM, RT_PARAM_INVALID,
    RT_STREAM_CONTEXT, RT_STREAM_SYNC_TIMEOUT, SUCCESS, check, fault,
};
use crate::context::Context;
use crate::device::Device;
use crate::engine::task::{Task, Work};
use crate::engine::{HostThread, Lane};
use crate::ffi::Callback;
use crate::inlet::{Inlet, Queue};
use crate::progress::Progress;
pub(crate) use crate::progress::Waited;
use crate::sync::lock;
use crate::{observers, runtime};

pub(crate) mod flag {
    pub(crate) const PERSISTENT: u32 = 0x4;
    pub(crate) const CPU_SCHEDULE: u32 = 0x10;
    pub(crate) const DEVICE_USE_ONLY: u32 = 0x20;
    pub(crate) const ALL: u32 = 0x3f;
    /// Streams with one of these are not waited for by the host.
    pub(crate) const NOT_AWAITED: u32 = PERSISTENT | CPU_SCHEDULE | DEVICE_USE_ONLY;
}

/// How long a waiting thread looks before it goes to sleep.
const LOOK_NS: u64 = 4_000;

pub(crate) struct Stream {
    pub(crate) handle: usize,
    pub(crate) id: i32,
    pub(crate) device: &'static Device,
    /// Handle of the context it belongs to.
    pub(crate) context: usize,
    pub(crate) is_default: bool,
    pub(crate) flags: u32,
    pub(crate) priority: AtomicU32,
    pub(crate) lane: Mutex<Lane>,
    inlet: Inlet<Task>,
    progress: Progress,
    submitted: AtomicU64,
    /// Up to which task the host has learnt of completion: timestamps are readable up to there.
    reaped: AtomicU64,
    drop_request: AtomicU8,
    error: AtomicI32,
    failures: Arc<Failures>,
    failure_mode_was_set: AtomicBool,
    host_thread: Arc<HostThread>,
    /// The last host function that returned: the number of its task, and the host time.
    host_done: Mutex<(u64, u64)>,
}

/// What the streams of a context share about failing tasks.
#[derive(Default)]
pub(crate) struct Failures {
    stops: AtomicBool,
    /// The failure after which nothing may be submitted any more.
    stopped_by: AtomicI32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureMode {
    Continue,
    Stop,
}

/// What the engine is asked to throw away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drop {
    Nothing,
    Current,
    Everything,
}

impl Stream {
    /// Creates a stream of the context, unless the device has no stream left.
    pub(crate) fn create(
        context: &Context,
        flags: u32,
        priority: u32,
        is_default: bool,
    ) -> Outcome<Arc<Self>> {
        check(flags & !flag::ALL == 0, "this stream flag does not exist")?;
        const FULL: Fault = Fault {
            code: RT_NO_STREAM,
            why: "the device has no stream left",
        };
        let id = context.device.stream_ids.take().ok_or(FULL)?;
        let made = runtime::get().streams.insert_with(|handle| Self {
            handle,
            id: id as i32,
            device: context.device,
            context: context.handle,
            is_default,
            flags,
            priority: AtomicU32::new(priority.min(7)),
            lane: Mutex::default(),
            inlet: Inlet::new(),
            progress: Progress::new(),
            submitted: AtomicU64::new(0),
            reaped: AtomicU64::new(0),
            drop_request: AtomicU8::new(0),
            failures: Arc::clone(&context.failures),
            failure_mode_was_set: AtomicBool::new(false),
            error: AtomicI32::new(SUCCESS),
            host_thread: Arc::clone(&context.host_thread),
            host_done: Mutex::default(),
        });
        made.ok_or(FULL)
            .inspect_err(|_| context.device.stream_ids.give_back(id))
    }

    /// Takes the stream out of the registry; its handle is dead from here on.
    pub(crate) fn retire(&self) {
        let runtime = runtime::get();
        if runtime.streams.get(self.handle).is_none() {
            return;
        }
        observers::stream_changes(self.handle, observers::stream_state::DESTROY_PRE);
        if runtime.streams.remove(self.handle).is_some() {
            runtime.settings.forget_stream(self.handle);
            self.inlet.lock().closed = true;
            self.device.stream_ids.give_back(self.id as u32);
        }
    }

    /// Queues what `make` builds from the task's number. Blocks while the queue is full.
    pub(crate) fn submit(self: &Arc<Self>, make: impl FnOnce(u64) -> Work) -> Outcome<u64> {
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
        let queue = self.inlet.lock();
        if queue.closed {
            return fault(RT_INVALID_HANDLE, "the stream was destroyed");
        }
        match self.failures.stopped_by.load(Ordering::Acquire) {
            SUCCESS => {}
            code => return fault(code, "a task failed, and the stream stops on failure"),
        }
        let depth = u64::from(runtime::get().options.queue);
        let is_full = queue.pushed - self.progress.completed() >= depth;
        Ok((!is_full).then_some(Room {
            stream: self,
            queue,
        }))
    }

    pub(crate) fn wait_for_room(&self) -> Outcome {
        let depth = u64::from(runtime::get().options.queue);
        let room_at = (self.inlet.lock().pushed + 1).saturating_sub(depth);
        match self.wait_for(room_at, None) {
            Waited::Aborted(code) => fault(code, "the stream was aborted"),
            _ => Ok(()),
        }
    }

    /// Moves new tasks to the engine; false when there are none.
    pub(crate) fn refill(&self, tasks: &mut VecDeque<Task>) -> bool {
        self.inlet.take(tasks)
    }

    pub(crate) fn complete(&self, seq: u64) {
        self.progress.complete(seq);
    }

    pub(crate) fn wake_sleepers(&self) {
        self.progress.wake();
    }

    pub(crate) fn has_completed(&self, seq: u64) -> bool {
        self.progress.completed() >= seq
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.has_completed(self.submitted.load(Ordering::Acquire))
    }

    pub(crate) fn is_reaped(&self, seq: u64) -> bool {
        self.reaped.load(Ordering::Acquire) >= seq
    }

    /// The host has learnt that the task is complete, and with it all before.
    pub(crate) fn reap(&self, seq: u64) {
        self.reaped.fetch_max(seq, Ordering::AcqRel);
    }

    /// Waits until the task is complete.
    pub(crate) fn wait_for(&self, seq: u64, limit: Option<Duration>) -> Waited {
        let begin = mono();
        while mono() < begin + LOOK_NS {
            if self.has_completed(seq) {
                return Waited::Done;
            }
            std::hint::spin_loop();
        }
        let deadline = limit.map(|limit| begin.saturating_add(limit.as_nanos() as u64));
        self.progress.sleep(seq, || match deadline {
            None => Some(Duration::from_secs(3600)),
            Some(end) => Some(end.saturating_sub(mono()))
                .filter(|&left| left != 0)
                .map(Duration::from_nanos),
        })
    }

    /// Waits for everything submitted so far and reports what failed on the device meanwhile.
    pub(crate) fn synchronize(&self, limit: Option<Duration>) -> Outcome {
        if self.flags & flag::NOT_AWAITED != 0 {
            return Ok(());
        }
        let seq = self.submitted.load(Ordering::Acquire);
        match self.wait_for(seq, limit) {
            Waited::Done => self.reap(seq),
            Waited::TimedOut => return fault(RT_STREAM_SYNC_TIMEOUT, "the stream is not done yet"),
            Waited::Aborted(code) => return fault(code, "the stream was aborted"),
        }
        match self.error.swap(SUCCESS, Ordering::AcqRel) {
            SUCCESS => Ok(()),
            code => fault(code, "a task of the stream failed"),
        }
    }

    /// Notes that a task failed on the device; the next synchronisation reports it.
    pub(crate) fn fail(&self, code: Code) {
        self.error.store(code, Ordering::Release);
        if self.failures.stops.load(Ordering::Acquire) {
            self.failures.stopped_by.store(code, Ordering::Release);
        }
    }

    /// May be called once per stream. Stopping is contagious within the context.
    pub(crate) fn set_failure_mode(&self, mode: u64) -> Outcome {
        check(mode <= 1, "this failure mode does not exist")?;
        let was_set = self.failure_mode_was_set.swap(true, Ordering::AcqRel);
        check(!was_set, "the failure mode was set before")?;
        if mode == 1 {
            self.failures.stops.store(true, Ordering::Release);
        }
        Ok(())
    }

    pub(crate) fn failure_mode(&self) -> FailureMode {
        let stops = self.failures.stops.load(Ordering::Acquire);
        if stops {
            FailureMode::Stop
        } else {
            FailureMode::Continue
        }
    }

    /// Drops all queued tasks. Threads that wait for the stream get the code, if there is one.
    pub(crate) fn abort(self: &Arc<Self>, code: Option<Code>) {
        let seq = self.request_drop(Drop::Everything);
        if let Some(code) = code {
            self.progress.interrupt(code);
        }
        // The wait is short and must not be taken for an interrupted one.
        while matches!(self.wait_for(seq, None), Waited::Aborted(_)) {}
    }

    /// Drops the task that is running.
    pub(crate) fn stop_current(self: &Arc<Self>) {
        self.request_drop(Drop::Current);
    }

    fn request_drop(self: &Arc<Self>, what: Drop) -> u64 {
        let queue = self.inlet.lock();
        let seq = queue.pushed;
        self.drop_request.store(what as u8, Ordering::SeqCst);
        drop(queue);
        // The engine is called in any case; a second look does no harm.
        self.inlet.must_call();
        runtime::get().engine.enqueue(self);
        seq
    }

    /// What the engine has to drop; asked for once.
    pub(crate) fn take_drop_request(&self) -> Drop {
        if self.drop_request.load(Ordering::Relaxed) == 0 {
            return Drop::Nothing;
        }
        match self.drop_request.swap(0, Ordering::SeqCst) {
            0 => Drop::Nothing,
            1 => Drop::Current,
            _ => Drop::Everything,
        }
    }

    /// A task that only takes its place in the order.
    pub(crate) fn mark(self: &Arc<Self>) -> Outcome {
        self.submit(|_| Work::Marker).map(drop)
    }

    pub(crate) fn call_host(self: &Arc<Self>, callback: Callback, seq: u64) {
        self.host_thread.call(callback, self, seq);
    }

    /// The host function of a task has returned.
    pub(crate) fn host_work_done(self: &Arc<Self>, seq: u64) {
        *lock(&self.host_done) = (seq, mono());
        runtime::get().engine.enqueue(self);
    }

    /// When the host function of this task returned.
    pub(crate) fn host_work_end(&self, seq: u64) -> Option<u64> {
        let (done, end) = *lock(&self.host_done);
        (done == seq).then_some(end)
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
        queue.items.push_back(Task {
            work: make(seq),
            submitted_ns: mono(),
            seq,
        });
        stream.submitted.store(seq, Ordering::Release);
        drop(queue);
        if stream.inlet.must_call() {
            runtime::get().engine.enqueue(stream);
        }
        LAST_TASK.with(|last| last.set((seq - 1) as u32));
        seq
    }
}

thread_local! {
    static LAST_TASK: std::cell::Cell<u32> = const { std::cell::Cell::new(u32::MAX) };
}

/// Number of the task that this thread submitted last.
pub(crate) fn last_task() -> Outcome<u32> {
    let task = LAST_TASK.with(std::cell::Cell::get);
    check(task != u32::MAX, "this thread has submitted no task")?;
    Ok(task)
}

const UNKNOWN: Fault = Fault {
    code: RT_INVALID_HANDLE,
    why: "this is no stream",
};

/// The stream for a call that submits: it must belong to the thread's current context.
pub(crate) fn of_context(handle: usize) -> Outcome<Arc<Stream>> {
    let runtime = runtime::get();
    runtime.with_context(|context| {
        if handle == 0 {
            return Ok(Arc::clone(context.default_stream()));
        }
        let stream = runtime.streams.get(handle).ok_or(UNKNOWN)?;
        if stream.context != context.handle {
            return fault(RT_STREAM_CONTEXT, "the stream belongs to another context");
        }
        Ok(stream)
    })
}

/// The stream for a call that may look at streams of any context.
pub(crate) fn of_any_context(handle: usize) -> Outcome<Arc<Stream>> {
    if handle == 0 {
        return runtime::get().with_context(|context| Ok(Arc::clone(context.default_stream())));
    }
    runtime::get().streams.get(handle).ok_or(UNKNOWN)
}

/// Creates an explicit stream in the thread's current context.
pub(crate) fn create(flags: u32, priority: u32) -> Outcome<usize> {
    runtime::get().with_context(|context| {
        let stream = Stream::create(context, flags, priority, false)?;
        context.adopt(&stream);
        observers::stream_changes(stream.handle, observers::stream_state::CREATE_POST);
        Ok(stream.handle)
    })
}

/// Destroys an explicit stream; unless forced, its queued tasks are completed first.
pub(crate) fn destroy(handle: usize, force: bool) -> Outcome {
    if handle == 0 {
        return fault(INVALID_PARAM, "the stream is NULL");
    }
    let stream = of_context(handle)?;
    if stream.is_default {
        return fault(
            RT_PARAM_INVALID,
            "a default stream lives as long as its context",
        );
    }
    if force {
        stream.abort(None);
    } else {
        let seq = stream.submitted.load(Ordering::Acquire);
        stream.wait_for(seq, None);
        stream.reap(seq);
    }
    runtime::get().with_context(|context| {
        context.disown(handle);
        Ok(())
    })?;
    stream.retire();
    Ok(())
}

/// A timeout argument in milliseconds: -1 waits for ever, otherwise it must be positive.
pub(crate) fn timeout(milliseconds: i32) -> Outcome<Option<Duration>> {
    match milliseconds {
        -1 => Ok(None),
        1.. => Ok(Some(Duration::from_millis(milliseconds as u64))),
        _ => fault(RT_PARAM_INVALID, "the timeout is neither -1 nor positive"),
    }
}
