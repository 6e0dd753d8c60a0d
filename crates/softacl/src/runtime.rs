//! The one runtime of the process: options, registries, devices and the engine.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::code::{Code, Fault, Outcome, RT_CONTEXT_NULL, RT_INVALID_DEVICE, UNINITIALIZE, fault};
use crate::context::Context;
use crate::device::Device;
use crate::engine::Engine;
use crate::event::Event;
use crate::ffi::complain;
use crate::graph::{Graph, Group, Node};
use crate::handles::{Kind, Registry};
use crate::init::InitState;
use crate::kernel::{Binary, Builder, Function};
use crate::label::{self, Label};
use crate::memory::HostMemory;
use crate::memory::vmm::{Mappings, Physical};
use crate::mspti::Mspti;
use crate::observers::Observers;
use crate::settings::Settings;
use crate::signal::Signal;
use crate::stream::Stream;
use crate::truth::Truth;
use crate::{aclnn, callback, device, guard, hccl, virtual_time};
use softacl_options::Options;

pub(crate) struct Runtime {
    /// Tells a thread's remembered context from one of an earlier runtime (before a fork).
    generation: u64,
    pub(crate) options: Options,
    pub(crate) options_error: Option<String>,
    pub(crate) init: Mutex<InitState>,
    pub(crate) devices: Vec<Device>,
    pub(crate) contexts: Registry<Context>,
    pub(crate) streams: Registry<Stream>,
    pub(crate) events: Registry<Event>,
    pub(crate) notifies: Registry<Signal>,
    pub(crate) counting_notifies: Registry<Signal>,
    pub(crate) physical: Registry<Physical>,
    pub(crate) pools: Registry<usize>,
    pub(crate) binaries: Registry<Binary>,
    pub(crate) functions: Registry<Function>,
    pub(crate) arguments: Registry<Mutex<Builder>>,
    /// What programs make for operators.
    pub(crate) operands: Registry<aclnn::object::Object>,
    pub(crate) communicators: Registry<hccl::Communicator>,
    pub(crate) graphs: Registry<Graph>,
    pub(crate) graph_tasks: Registry<Arc<Node>>,
    pub(crate) task_groups: Registry<Group>,
    pub(crate) labels: Registry<Label>,
    pub(crate) label_lists: Registry<label::List>,
    pub(crate) mappings: Mappings,
    pub(crate) host_memory: HostMemory,
    pub(crate) reports: callback::Reports,
    /// The same for host functions.
    pub(crate) host_reports: callback::Reports,
    pub(crate) observers: Observers,
    pub(crate) settings: Settings,
    pub(crate) engine: Engine,
    pub(crate) truth: Option<Truth>,
    pub(crate) mspti: Mspti,
    pub(crate) op_wait_timeout_s: AtomicU64,
    /// The device of threads that set none; negative when there is no such device.
    pub(crate) default_device: AtomicI32,
    failures: Vec<AtomicU64>,
    failures_armed: AtomicBool,
}

static CURRENT: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// A thread's context, and the runtime that it belongs to.
type Remembered = (u64, ManuallyDrop<Weak<Context>>);

thread_local! {
    /// Needs no destructor: at exit those of the main thread run before the program's exit handlers
    /// and destructors, which may still use the runtime. What a thread that ends leaves behind does
    /// not keep the context alive.
    static CONTEXT: RefCell<Option<Remembered>> = const { RefCell::new(None) };
}

const _: () = assert!(!std::mem::needs_drop::<Remembered>());

/// The runtime, made at first use. It is never freed: its threads may run until the process ends.
pub(crate) fn get() -> &'static Runtime {
    let current = CURRENT.load(Ordering::Acquire);
    if current.is_null() {
        return create();
    }
    // SAFETY: non-null values come from `Box::into_raw` in `create` and are never freed.
    unsafe { &*current }
}

#[cold]
fn create() -> &'static Runtime {
    let made = Box::into_raw(Box::new(Runtime::new()));
    let null = std::ptr::null_mut();
    match CURRENT.compare_exchange(null, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            // SAFETY: `made` is a live allocation that is never freed from here on.
            let runtime = unsafe { &*made };
            watch_forks();
            runtime
        }
        Err(winner) => {
            // SAFETY: nobody else has seen `made`; `winner` is live for ever as in `get`.
            unsafe {
                drop(Box::from_raw(made));
                &*winner
            }
        }
    }
}

/// A forked child has none of our threads. It starts over with a fresh runtime, so that neither its
/// calls nor its exit can wait for work that nobody does.
fn watch_forks() {
    extern "C" fn in_child() {
        CURRENT.store(std::ptr::null_mut(), Ordering::Release);
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: the handler only stores to an atomic, which is allowed in a forked child.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// Runs when the process ends, after the program's own exit handlers.
extern "C" fn at_exit() {
    let current = CURRENT.load(Ordering::Acquire);
    // SAFETY: as in `get`.
    if let Some(runtime) = unsafe { current.as_ref() } {
        runtime.flush_truth();
        guard::end(runtime.options.catch);
    }
}

#[used]
// SAFETY: a pointer to an `extern "C"` function without arguments is what this section holds.
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

impl Runtime {
    fn new() -> Self {
        let text = std::env::var("SOFTACL").unwrap_or_default();
        let (options, options_error) = match Options::parse(&text) {
            Ok(options) => (options, None),
            Err(error) => (Options::default(), Some(error)),
        };
        if options.virtual_ns != 0 {
            virtual_time::turn_on();
        }
        let devices = device::visible(&options)
            .enumerate()
            .map(|(id, physical)| Device::new(id as u32, physical, &options))
            .collect();
        let failures: Vec<AtomicU64> = options.fail.iter().map(|_| AtomicU64::new(0)).collect();
        Self {
            generation: GENERATION.fetch_add(1, Ordering::Relaxed),
            init: Mutex::default(),
            devices,
            contexts: Registry::new(Kind::Context),
            streams: Registry::new(Kind::Stream),
            events: Registry::new(Kind::Event),
            notifies: Registry::new(Kind::Notify),
            counting_notifies: Registry::new(Kind::CountingNotify),
            physical: Registry::new(Kind::Physical),
            pools: Registry::new(Kind::Pool),
            binaries: Registry::new(Kind::Binary),
            functions: Registry::new(Kind::Function),
            arguments: Registry::new(Kind::Arguments),
            operands: Registry::new(Kind::Operand),
            communicators: Registry::new(Kind::Communicator),
            graphs: Registry::new(Kind::Graph),
            graph_tasks: Registry::new(Kind::GraphTask),
            task_groups: Registry::new(Kind::TaskGroup),
            labels: Registry::new(Kind::Label),
            label_lists: Registry::new(Kind::LabelList),
            mappings: Mappings::default(),
            host_memory: HostMemory::new(options.memory),
            reports: callback::Reports::default(),
            host_reports: callback::Reports::default(),
            observers: Observers::default(),
            settings: Settings::default(),
            engine: Engine::new(),
            truth: open_truth(),
            mspti: Mspti::new(),
            op_wait_timeout_s: AtomicU64::new(0),
            default_device: AtomicI32::new(-1),
            failures_armed: AtomicBool::new(!failures.is_empty()),
            failures,
            options,
            options_error,
        }
    }

    pub(crate) fn flush_truth(&self) {
        if let Some(truth) = &self.truth {
            truth.flush();
        }
    }

    pub(crate) fn device(&'static self, id: i32) -> Outcome<&'static Device> {
        usize::try_from(id)
            .ok()
            .and_then(|index| self.devices.get(index))
            .ok_or(Fault {
                code: RT_INVALID_DEVICE,
                why: "there is no device with this number",
            })
    }

    /// Refuses to work after options that could not be read. `aclInit` need not have been called.
    pub(crate) fn require_usable(&self) -> Outcome {
        if self.options_error.is_some() {
            return fault(
                UNINITIALIZE,
                "aclInit failed: SOFTACL holds an invalid option",
            );
        }
        Ok(())
    }

    /// The code with which this call has to fail, if the options say so.
    pub(crate) fn injected_failure(&self, function: &str) -> Option<Code> {
        if !self.failures_armed.load(Ordering::Relaxed) {
            return None;
        }
        let rules = self.options.fail.iter().zip(&self.failures);
        rules
            .filter(|(rule, _)| rule.function == function)
            .filter(|(rule, count)| count.fetch_add(1, Ordering::Relaxed) + 1 == rule.nth)
            .map(|(rule, _)| rule.code)
            .last()
    }

    /// Runs `body` with the calling thread's context.
    pub(crate) fn with_context<T>(
        &self,
        body: impl FnOnce(&Arc<Context>) -> Outcome<T>,
    ) -> Outcome<T> {
        const NONE: Fault = Fault {
            code: RT_CONTEXT_NULL,
            why: "this thread has no current context",
        };
        if let Some(context) = self.remembered_context() {
            return body(&context);
        }
        let default = self.default_device.load(Ordering::Acquire);
        if default < 0 {
            return Err(NONE);
        }
        device::set(default)?;
        body(&self.remembered_context().ok_or(NONE)?)
    }

    fn remembered_context(&self) -> Option<Arc<Context>> {
        let current = CONTEXT.try_with(|current| match &*current.borrow() {
            Some((generation, context)) if *generation == self.generation => context.upgrade(),
            _ => None,
        });
        current.ok().flatten().filter(|context| context.is_alive())
    }

    pub(crate) fn context(&self) -> Outcome<Arc<Context>> {
        self.with_context(|context| Ok(Arc::clone(context)))
    }

    /// After a reset: a context that ended is no longer this thread's.
    pub(crate) fn forget_dead_context(&self) {
        if self.remembered_context().is_none() {
            self.set_context(None);
        }
    }

    pub(crate) fn set_context(&self, context: Option<Arc<Context>>) {
        let next = context.map(|context| {
            let remembered = ManuallyDrop::new(Arc::downgrade(&context));
            (self.generation, remembered)
        });
        if let Ok(Some((_, old))) = CONTEXT.try_with(|current| current.replace(next)) {
            drop(ManuallyDrop::into_inner(old));
        }
    }
}

fn open_truth() -> Option<Truth> {
    let path = std::env::var("SOFTACL_TRUTH")
        .ok()
        .filter(|path| !path.is_empty())?;
    Truth::open(&path)
        .map_err(|error| complain(&format!("cannot write the truth log {path}: {error}")))
        .ok()
}
