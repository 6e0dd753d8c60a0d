//! What is known of the calling thread: its channel, how deep it is in calls, its context.

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32};

use ascend_trace_ring::Producer;

use crate::cost::{self, Meter, Sample};
use crate::errno::Errno;
use crate::objects::ContextEntry;
use crate::{emit, session, shortcut};

/// One per thread, in thread-local memory that needs no destructor.
pub(crate) struct State {
    /// The tracer itself is at work in this thread: a hook that is entered now is not the
    /// program's, or comes from a signal handler, and passes straight through.
    busy: Cell<bool>,
    /// Calls are to be measured; see [`cost`].
    sampling: Cell<bool>,
    /// How many more of them.
    samples_left: Cell<u8>,
    /// The one that is being measured.
    sample: Cell<Option<Sample>>,
    meter: Cell<Option<&'static Meter>>,
    depth: Cell<u8>,
    /// Calls around the present one that submit tasks: what is submitted inside them is part of
    /// their task.
    submitting: Cell<u8>,
    /// Calls around the present one that run callbacks of the program.
    callbacks: Cell<u8>,
    context: Cell<Option<&'static ContextEntry>>,
    /// A function and the address that a stub has noted for its wrapper; address 0 for none.
    alternate: Cell<(u32, usize)>,
    /// The id that the runtime gave to the thread's last task, while records of ours came after it.
    last_task: Cell<Option<u32>>,
    /// The name that the trace has of this thread.
    name: Cell<[u8; 16]>,
    channel: UnsafeCell<Channel>,
}

enum Channel {
    None,
    Open(Producer),
    /// There was no channel to be had when this thread first recorded.
    Homeless,
}

thread_local! {
    static STATE: State = const {
        State {
            busy: Cell::new(false),
            sampling: Cell::new(false),
            samples_left: Cell::new(0),
            sample: Cell::new(None),
            meter: Cell::new(None),
            depth: Cell::new(0),
            submitting: Cell::new(0),
            callbacks: Cell::new(0),
            context: Cell::new(None),
            alternate: Cell::new((0, 0)),
            last_task: Cell::new(None),
            name: Cell::new([0; 16]),
            channel: UnsafeCell::new(Channel::None),
        }
    };
}

const _: () = assert!(!core::mem::needs_drop::<State>());

/// Runs `action` with the calling thread's state.
#[inline]
pub(crate) fn with<R>(action: impl FnOnce(&State) -> R) -> R {
    // SAFETY: the calling thread's state lives as long as the thread.
    action(unsafe { &*current() })
}

/// The calling thread's state, for a call that looks at it more than once.
#[inline]
pub(crate) fn current() -> *const State {
    let known = shortcut::get().cast::<State>();
    if known.is_null() { first() } else { known }
}

#[cold]
fn first() -> *const State {
    let state = STATE.with(core::ptr::from_ref);
    shortcut::set(state.cast());
    state
}

impl State {
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.get()
    }

    pub(crate) fn set_busy(&self, busy: bool) {
        self.busy.set(busy);
    }

    /// Whether calls are to be measured.
    #[inline]
    pub(crate) fn is_sampling(&self) -> bool {
        self.sampling.get()
    }

    /// So many of the calls that follow are to be measured.
    pub(crate) fn set_sampling(&self, calls: u8) {
        self.samples_left.set(calls);
        self.sampling.set(calls > 0);
    }

    /// One of them has been measured.
    pub(crate) fn count_sample(&self) {
        self.set_sampling(self.samples_left.get().saturating_sub(1));
    }

    pub(crate) fn sample(&self) -> Option<Sample> {
        self.sample.get()
    }

    pub(crate) fn set_sample(&self, sample: Option<Sample>) {
        self.sample.set(sample);
    }

    /// Where it is counted what the tracer costs this thread.
    #[inline]
    pub(crate) fn meter(&self) -> &'static Meter {
        match self.meter.get() {
            Some(meter) => meter,
            None => self.first_meter(),
        }
    }

    #[cold]
    fn first_meter(&self) -> &'static Meter {
        let meter = cost::claim();
        self.meter.set(Some(meter));
        watch_thread_end();
        meter
    }

    pub(crate) fn depth(&self) -> u8 {
        self.depth.get()
    }

    /// A call begins that neither submits nor calls back. Answers the depth to go back to.
    #[inline]
    pub(crate) fn deepen(&self) -> u8 {
        let depth = self.depth.get();
        self.depth.set(depth.wrapping_add(1));
        depth
    }

    /// Such a call ends.
    #[inline]
    pub(crate) fn restore_depth(&self, depth: u8) {
        self.depth.set(depth);
    }

    pub(crate) fn in_task(&self) -> bool {
        self.submitting.get() > 0
    }

    pub(crate) fn in_callback(&self) -> bool {
        self.callbacks.get() > 0
    }

    /// A call begins; `submits` and `calls_back` say of what kind it is.
    pub(crate) fn descend(&self, submits: bool, calls_back: bool) {
        self.depth.set(self.depth.get().saturating_add(1));
        self.submitting
            .set(self.submitting.get().saturating_add(u8::from(submits)));
        self.callbacks
            .set(self.callbacks.get().saturating_add(u8::from(calls_back)));
    }

    /// The call that began with the same arguments ends.
    pub(crate) fn ascend(&self, submits: bool, calls_back: bool) {
        self.depth.set(self.depth.get().saturating_sub(1));
        self.submitting
            .set(self.submitting.get().saturating_sub(u8::from(submits)));
        self.callbacks
            .set(self.callbacks.get().saturating_sub(u8::from(calls_back)));
    }

    /// The current context, if it was seen being set and still exists.
    pub(crate) fn context(&self) -> Option<&'static ContextEntry> {
        self.context
            .get()
            .filter(|context| context.serial.load(Acquire) != 0)
    }

    /// The device of the current context.
    pub(crate) fn device(&self) -> Option<u8> {
        self.context()
            .map(|context| context.device.load(Relaxed) as u8)
    }

    pub(crate) fn last_task(&self) -> Option<u32> {
        self.last_task.get()
    }

    pub(crate) fn set_last_task(&self, id: Option<u32>) {
        self.last_task.set(id);
    }

    /// Notes a name of the thread; `false` when the trace has it already, or nothing of the thread.
    pub(crate) fn changes_name(&self, name: [u8; 16]) -> bool {
        let known = self.name.replace(name);
        known != name && known != [0; 16]
    }

    pub(crate) fn set_alternate(&self, id: u32, address: usize) {
        self.alternate.set((id, address));
    }

    /// The address noted for this function, which is forgotten.
    pub(crate) fn take_alternate(&self, id: u32) -> Option<usize> {
        let (noted, address) = self.alternate.get();
        if noted != id || address == 0 {
            return None;
        }
        self.alternate.set((0, 0));
        Some(address)
    }

    pub(crate) fn set_context(&self, context: Option<&'static ContextEntry>) {
        self.context.set(context);
    }

    /// The thread's channel, if it has one by now. Must only be called while the thread is busy.
    #[inline]
    #[expect(
        clippy::mut_from_ref,
        reason = "the state belongs to one thread, and `busy` keeps a second caller out"
    )]
    pub(crate) fn producer(&self) -> Option<&mut Producer> {
        // SAFETY: `busy` keeps a second caller in this thread out, and no other thread can reach
        // this thread's state.
        match unsafe { &mut *self.channel.get() } {
            Channel::Open(producer) => Some(producer),
            _ => None,
        }
    }

    /// Runs `write` with the thread's channel, claiming one at first; counts the loss when there
    /// is none. Must only be called while the thread is busy, so that it cannot be entered twice.
    #[inline]
    pub(crate) fn record(&self, write: impl FnOnce(&mut Producer)) {
        // SAFETY: `busy` keeps a second caller in this thread out, and no other thread can reach
        // this thread's state.
        let channel = unsafe { &mut *self.channel.get() };
        if let Channel::Open(producer) = channel {
            write(producer);
            return;
        }
        self.record_first(write);
    }

    #[cold]
    fn record_first(&self, write: impl FnOnce(&mut Producer)) {
        let _errno = Errno::save();
        let Some(session) = session::get() else {
            return;
        };
        // SAFETY: as in `record`; the reference made there is not used any more.
        let channel = unsafe { &mut *self.channel.get() };
        if matches!(channel, Channel::None) {
            let claimed = Producer::claim(session, pid(), tid(), session::process_key());
            *channel = claimed.map_or(Channel::Homeless, Channel::Open);
            watch_thread_end();
            if let Channel::Open(producer) = channel {
                self.name.set(emit::introduce(producer));
                self.set_sampling(cost::SAMPLES);
            }
        }
        match channel {
            Channel::Open(producer) => write(producer),
            _ => session.count_homeless(),
        }
    }

    /// Gives the channel back. A later record of this thread claims another one.
    fn close(&self) {
        // SAFETY: as in `record`: called at the end of the thread, or in a fresh child.
        let channel = unsafe { &mut *self.channel.get() };
        if let Channel::Open(producer) = core::mem::replace(channel, Channel::None) {
            producer.close();
        }
    }

    /// Forgets what belongs to the parent process, without touching it.
    pub(crate) fn forget_parent(&self) {
        // SAFETY: as in `close`. The parent's channel is its own to close.
        unsafe { *self.channel.get() = Channel::None };
        self.context.set(None);
        self.meter.set(None);
        self.sample.set(None);
    }
}

fn pid() -> u32 {
    // SAFETY: always succeeds.
    unsafe { libc::getpid() as u32 }
}

pub(crate) fn tid() -> u32 {
    // SAFETY: always succeeds.
    unsafe { libc::gettid() as u32 }
}

static KEY: AtomicU32 = AtomicU32::new(0);
static KEY_MADE: AtomicBool = AtomicBool::new(false);

/// Makes the key whose destructor closes a thread's channel.
pub(crate) fn prepare_thread_end() {
    let mut key: libc::pthread_key_t = 0;
    // SAFETY: `key` is a live local; the destructor has the signature that the key wants.
    if unsafe { libc::pthread_key_create(&mut key, Some(thread_ends)) } == 0 {
        KEY.store(key, Relaxed);
        KEY_MADE.store(true, Release);
    }
}

fn watch_thread_end() {
    if KEY_MADE.load(Acquire) {
        let key = KEY.load(Relaxed) as libc::pthread_key_t;
        // SAFETY: the key exists; any non-null value makes the destructor run.
        unsafe { libc::pthread_setspecific(key, core::ptr::dangling()) };
    }
}

unsafe extern "C" fn thread_ends(_: *mut c_void) {
    with(|state| {
        if !state.is_busy() {
            state.set_busy(true);
            emit::rename(state);
            if let Some(meter) = state.meter.take() {
                meter.release(state);
            }
            state.set_busy(false);
            state.close();
        }
    });
}
