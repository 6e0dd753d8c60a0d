//! Contexts: owners of streams; one is current in each thread.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::code::{
    Code, Fault, INVALID_PARAM, Outcome, RT_CONTEXT_NULL, RT_INTERNAL, RT_PARAM_INVALID,
    RT_STREAM_CAPTURED, RT_STREAM_SYNC_TIMEOUT, fault,
};
use crate::device::Device;
use crate::engine::HostThread;
use crate::graph::Graph;
use crate::handles::{Kind, Registry};
use crate::observers::{self, stream_state};
use crate::per_process::PerProcess;
use crate::stream::{Failures, Stream, flag};
use crate::sync::lock;
use crate::{clock, current, device, process};

static CONTEXTS: PerProcess<Registry<Context>> = PerProcess::new(|| Registry::new(Kind::Context));

pub(crate) struct Context {
    pub(crate) handle: usize,
    pub(crate) device: &'static Device,
    pub(crate) is_primary: bool,
    pub(crate) host_thread: Arc<HostThread>,
    pub(crate) failures: Arc<Failures>,
    alive: AtomicBool,
    default_stream: OnceLock<Arc<Stream>>,
    streams: Mutex<Vec<Arc<Stream>>>,
    graphs: Mutex<Vec<Arc<Graph>>>,
    /// Captures that are under way.
    captures: AtomicUsize,
}

impl Context {
    pub(crate) fn create(device: &'static Device, is_primary: bool) -> Outcome<Arc<Self>> {
        let made = CONTEXTS.get().insert_with(|handle| Self {
            handle,
            device,
            is_primary,
            host_thread: Arc::default(),
            failures: Arc::default(),
            alive: AtomicBool::new(true),
            default_stream: OnceLock::new(),
            streams: Mutex::default(),
            graphs: Mutex::default(),
            captures: AtomicUsize::new(0),
        });
        let context = made.ok_or(Fault {
            code: RT_INTERNAL,
            why: "no context is left",
        })?;
        match context.make_own_streams() {
            Ok(()) => Ok(context),
            Err(failed) => {
                CONTEXTS.get().remove(context.handle);
                Err(failed)
            }
        }
    }

    /// The default stream; the default context of a device has another one, for the runtime's own use.
    fn make_own_streams(&self) -> Outcome {
        let stream = Stream::create(self, flag::DEFAULT_STREAM, 0, true)?;
        if self.is_primary {
            let internal = Stream::create_internal(self).inspect_err(|_| stream.retire())?;
            self.adopt(&internal);
        }
        self.default_stream.get_or_init(|| stream);
        Ok(())
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// `create` sets it before anybody sees the context.
    pub(crate) fn default_stream(&self) -> &Arc<Stream> {
        self.default_stream.wait()
    }

    /// Tells the program's observers about the streams that came with the context. Not under any lock.
    pub(crate) fn announce(&self) {
        for stream in self.all_streams() {
            observers::stream_changes(stream.handle, stream_state::CREATE_POST);
        }
    }

    /// Drops the tasks of all streams; waiting threads get the code.
    pub(crate) fn abort(&self, code: Code) {
        for stream in self.all_streams() {
            stream.abort(Some(code));
        }
    }

    pub(crate) fn adopt(&self, stream: &Arc<Stream>) {
        lock(&self.streams).push(Arc::clone(stream));
    }

    pub(crate) fn disown(&self, handle: usize) {
        let mut streams = lock(&self.streams);
        if let Some(index) = streams.iter().position(|stream| stream.handle == handle) {
            streams.swap_remove(index);
        }
    }

    pub(crate) fn adopt_graph(&self, graph: &Arc<Graph>) {
        lock(&self.graphs).push(Arc::clone(graph));
    }

    pub(crate) fn disown_graph(&self, handle: usize) {
        lock(&self.graphs).retain(|graph| graph.handle != handle);
    }

    pub(crate) fn graphs(&self) -> Vec<Arc<Graph>> {
        lock(&self.graphs).clone()
    }

    /// A capture begins or ends.
    pub(crate) fn count_capture(&self, begins: bool) {
        if begins {
            self.captures.fetch_add(1, Ordering::AcqRel);
        } else {
            self.captures.fetch_sub(1, Ordering::AcqRel);
        }
    }

    pub(crate) fn has_captures(&self) -> bool {
        self.captures.load(Ordering::Acquire) != 0
    }

    /// Waits for every stream of the context, none of which may be capturing.
    pub(crate) fn synchronize_device(&self, limit: Option<Duration>) -> Outcome {
        if self.has_captures() {
            return fault(RT_STREAM_CAPTURED, "a stream of the context is capturing");
        }
        self.synchronize(limit)
    }

    fn all_streams(&self) -> Vec<Arc<Stream>> {
        let explicit = lock(&self.streams).clone();
        self.default_stream
            .get()
            .cloned()
            .into_iter()
            .chain(explicit)
            .collect()
    }

    pub(crate) fn recycle(&self) {
        if let Some(stream) = self.default_stream.get() {
            stream.recycle();
        }
        for stream in &*lock(&self.streams) {
            stream.recycle();
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.all_streams().iter().all(|stream| stream.is_idle())
    }

    /// Waits for every stream of the context.
    pub(crate) fn synchronize(&self, limit: Option<Duration>) -> Outcome {
        let deadline = limit.map(|limit| clock::now().saturating_add(limit.as_nanos() as u64));
        let mut outcome = Ok(());
        for stream in self.all_streams() {
            let left = deadline.map(|end| Duration::from_nanos(end.saturating_sub(clock::now())));
            let one = stream.synchronize(left);
            if one.is_err_and(|failed| failed.code == RT_STREAM_SYNC_TIMEOUT) {
                return one;
            }
            outcome = outcome.and(one);
        }
        outcome
    }

    /// Ends the context: waits for its streams and takes them away.
    pub(crate) fn release(&self) {
        for graph in self.graphs() {
            graph.end_with_context();
        }
        // What failed on the device has nobody to be reported to any more.
        let _ = self.synchronize(None);
        self.alive.store(false, Ordering::Release);
        for stream in self.all_streams() {
            stream.retire();
        }
        lock(&self.streams).clear();
        self.host_thread.close();
        CONTEXTS.get().remove(self.handle);
    }
}

pub(crate) fn create(device: i32) -> Outcome<usize> {
    process::require_usable()?;
    let device = device::of(device)?;
    let context = Context::create(device, false)?;
    device.adopt(&context);
    context.announce();
    let handle = context.handle;
    current::set(Some(context));
    Ok(handle)
}

/// The context, if it has not ended.
pub(crate) fn find(handle: usize) -> Option<Arc<Context>> {
    CONTEXTS.get().get(handle)
}

/// What is unknown is answered with the code that the call has for it.
fn of(handle: usize, unknown: Code) -> Outcome<Arc<Context>> {
    if handle == 0 {
        return fault(INVALID_PARAM, "the context is NULL");
    }
    CONTEXTS.get().get(handle).ok_or(Fault {
        code: unknown,
        why: "this is no context",
    })
}

pub(crate) fn destroy(handle: usize) -> Outcome {
    let context = of(handle, RT_CONTEXT_NULL)?;
    if context.is_primary {
        return fault(
            RT_PARAM_INVALID,
            "a default context is destroyed by resetting its device",
        );
    }
    context.release();
    context.device.disown(handle);
    Ok(())
}

pub(crate) fn set_current(handle: usize) -> Outcome {
    let context = of(handle, RT_PARAM_INVALID)?;
    current::set(Some(context));
    Ok(())
}
