//! Contexts: owners of streams; one is current in each thread.

pub(crate) mod calls;
pub(crate) mod device_contexts;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::code::{Fault, Outcome, RT_INTERNAL};
use crate::device::Device;
use crate::engine::host::HostThread;
use crate::graph::state::Graph;
use crate::handles::{HandleKind, Registry};
use crate::observers::{self, stream_state};
use crate::per_process::PerProcess;
use crate::stream::Stream;
use crate::stream::failures::Failures;
use crate::stream::line::{StreamOwner, flag};
use crate::sync::{Mutex, lock};

static CONTEXTS: PerProcess<Registry<Context>> =
    PerProcess::new(|| Registry::new(HandleKind::Context));

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
    /// Where kernels say that a number overflowed.
    overflow: OnceLock<Option<usize>>,
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(Some(address)) = self.overflow.get() {
            self.device.memory.release(*address);
        }
    }
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
            overflow: OnceLock::new(),
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
        let stream = Stream::create(&self.owner(), flag::DEFAULT_STREAM, 0, true)?;
        if self.is_primary {
            let internal =
                Stream::create_internal(&self.owner()).inspect_err(|_| stream.retire())?;
            self.adopt(&internal);
        }
        self.default_stream.get_or_init(|| stream);
        Ok(())
    }

    /// What its streams have of it.
    pub(crate) fn owner(&self) -> StreamOwner {
        StreamOwner {
            device: self.device,
            context: self.handle,
            failures: Arc::clone(&self.failures),
            host_thread: Arc::clone(&self.host_thread),
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// `create` sets it before anybody sees the context.
    pub(crate) fn default_stream(&self) -> &Arc<Stream> {
        self.default_stream.wait()
    }

    /// Reports to the program's observers the streams that came with the context. Not under any lock.
    pub(crate) fn announce(&self) {
        for stream in self.all_streams() {
            observers::stream_changes(stream.handle, stream_state::CREATE_POST);
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

    /// Memory of the device for marks of overflows, which no task of softacl makes.
    pub(crate) fn overflow_address(&self) -> Option<usize> {
        const SIZE: usize = 512;
        *self
            .overflow
            .get_or_init(|| self.device.memory.allocate(SIZE, 0))
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

    pub(crate) fn all_streams(&self) -> Vec<Arc<Stream>> {
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
}

/// The context, if it has not ended.
pub(crate) fn find(handle: usize) -> Option<Arc<Context>> {
    CONTEXTS.get().get(handle)
}
