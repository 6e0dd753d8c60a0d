//! What is known of the calling thread: its channel, how deep it is in calls, its context.

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32};

use ascend_trace_ring::Producer;

use crate::cost::{self, Meter, Sample};
use crate::errno::Errno;
use crate::objects::ContextEntry;
use crate::{emit, session, shortcut, stubs};

/// The smallest page there is.
const PAGE: usize = 4096;
/// Calls within calls whose place on the stack is remembered.
const LEVELS: usize = 16;
/// What a call is, in the low bits of its place on the stack.
const SUBMITS: usize = 1;
const CALLS_BACK: usize = 2;
const PLACE: usize = !15;

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
    /// Where the stack stood in the calls that are under way, outermost first, and what they are.
    levels: [Cell<usize>; LEVELS],
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
    /// Stubs whose functions this thread's channel has named, a bit for each.
    named_stubs: [Cell<u64>; stubs::STUBS / 64],
    /// A stretch of the stack that is known to be there: begin and end.
    mapped: Cell<(usize, usize)>,
    channel: UnsafeCell<Channel>,
}

/// The calls around one that is under way.
#[derive(Clone, Copy)]
pub(crate) struct Around {
    pub(crate) depth: u8,
    submitting: u8,
    callbacks: u8,
    here: usize,
}

/// Where the stack stands.
#[inline(always)]
pub(crate) fn stack() -> usize {
    let here: usize;
    // SAFETY: reads a register.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!("mov {}, rsp", out(reg) here, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!("mov {}, sp", out(reg) here, options(nomem, nostack, preserves_flags));
    }
    here
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
            levels: [const { Cell::new(0) }; LEVELS],
            submitting: Cell::new(0),
            callbacks: Cell::new(0),
            context: Cell::new(None),
            alternate: Cell::new((0, 0)),
            last_task: Cell::new(None),
            name: Cell::new([0; 16]),
            named_stubs: [const { Cell::new(0) }; stubs::STUBS / 64],
            mapped: Cell::new((0, 0)),
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

    /// A call begins that neither submits nor calls back, with the stack at `here`. Answers what to
    /// go back to.
    #[inline]
    pub(crate) fn deepen(&self, here: usize) -> u8 {
        let depth = self.depth_at(here);
        self.note_level(depth, here & PLACE);
        self.depth.set(depth.wrapping_add(1));
        depth
    }

    /// Such a call ends.
    #[inline]
    pub(crate) fn restore_depth(&self, depth: u8) {
        self.depth.set(depth);
    }

    /// The number of calls around one that begins with the stack at `here`. A call that was left by
    /// `longjmp` never ended: the stack has come back to where that call stood, or above.
    #[inline]
    fn depth_at(&self, here: usize) -> u8 {
        let depth = self.depth.get();
        match self.level(depth) {
            Some(place) if place & PLACE <= here => self.forget_left(here),
            _ => depth,
        }
    }

    #[cold]
    fn forget_left(&self, here: usize) -> u8 {
        loop {
            let depth = self.depth.get();
            let Some(level) = self.level(depth).filter(|level| level & PLACE <= here) else {
                return depth;
            };
            let one_less = |count: &Cell<u8>, is_it: bool| {
                count.set(count.get().saturating_sub(u8::from(is_it)));
            };
            one_less(&self.submitting, level & SUBMITS != 0);
            one_less(&self.callbacks, level & CALLS_BACK != 0);
            self.depth.set(depth.saturating_sub(1));
        }
    }

    /// The innermost of so many calls, if it is remembered.
    #[inline]
    fn level(&self, depth: u8) -> Option<usize> {
        let place = usize::from(depth).checked_sub(1)?;
        self.levels.get(place).map(Cell::get)
    }

    #[inline]
    fn note_level(&self, depth: u8, level: usize) {
        if let Some(place) = self.levels.get(usize::from(depth)) {
            place.set(level);
        }
    }

    pub(crate) fn in_task(&self) -> bool {
        self.submitting.get() > 0
    }

    pub(crate) fn in_callback(&self) -> bool {
        self.callbacks.get() > 0
    }

    /// The calls around one that begins with the stack at `here`.
    pub(crate) fn around(&self, here: usize) -> Around {
        Around {
            depth: self.depth_at(here),
            submitting: self.submitting.get(),
            callbacks: self.callbacks.get(),
            here,
        }
    }

    /// A call begins within others; `submits` and `calls_back` say of what kind it is.
    pub(crate) fn descend(&self, around: Around, submits: bool, calls_back: bool) {
        let kind = (usize::from(submits) * SUBMITS) | (usize::from(calls_back) * CALLS_BACK);
        self.note_level(around.depth, around.here & PLACE | kind);
        let more = |count: u8, is_it: bool| count.saturating_add(u8::from(is_it));
        self.depth.set(around.depth.saturating_add(1));
        self.submitting.set(more(around.submitting, submits));
        self.callbacks.set(more(around.callbacks, calls_back));
    }

    /// The call that began within these ends.
    pub(crate) fn ascend(&self, around: Around) {
        self.depth.set(around.depth);
        self.submitting.set(around.submitting);
        self.callbacks.set(around.callbacks);
    }

    /// Whether the thread's channel lacks the name of a stub's function.
    #[inline]
    pub(crate) fn lacks_stub(&self, index: usize) -> bool {
        let word = self.named_stubs.get(index / 64).map_or(0, Cell::get);
        word & (1 << (index % 64)) == 0
    }

    pub(crate) fn has_stub_now(&self, index: usize) {
        if let Some(word) = self.named_stubs.get(index / 64) {
            word.set(word.get() | 1 << (index % 64));
        }
    }

    /// Whether an address lies in a part of the stack that was found to be there.
    pub(crate) fn is_mapped(&self, address: usize) -> bool {
        let (begin, end) = self.mapped.get();
        (begin..end).contains(&address)
    }

    /// The page that begins at `page` is there.
    pub(crate) fn set_mapped(&self, page: usize) {
        let (begin, end) = self.mapped.get();
        let after = page.wrapping_add(PAGE);
        self.mapped.set(match page {
            _ if page == end => (begin, after),
            _ if after == begin => (page, end),
            _ => (page, after),
        });
    }

    fn forget_stubs(&self) {
        self.named_stubs.iter().for_each(|word| word.set(0));
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
            self.forget_stubs();
        }
    }

    /// Forgets what belongs to the parent process, without touching it.
    pub(crate) fn forget_parent(&self) {
        // SAFETY: as in `close`. The parent's channel is its own to close.
        unsafe { *self.channel.get() = Channel::None };
        self.forget_stubs();
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
    // SAFETY: always succeeds. The C library's function for it is younger than the hosts we run on.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_was_left_by_a_jump_is_forgotten_when_the_stack_is_back() {
        with(|state| {
            assert_eq!(state.deepen(0x9000), 0);
            let around = state.around(0x8000);
            state.descend(around, true, true);
            assert_eq!((around.depth, state.in_task()), (1, true));
            assert_eq!(state.deepen(0x7000), 2);
            // Two calls never return.
            assert_eq!(state.deepen(0x8800), 1);
            assert!(!state.in_task() && !state.in_callback());
            assert_eq!(state.deepen(0x8000), 2);
            state.restore_depth(0);
            assert_eq!(state.deepen(0x9000), 0);
            state.restore_depth(0);
        });
    }

    #[test]
    fn deeper_calls_than_are_remembered_are_counted() {
        with(|state| {
            for depth in 0..40u8 {
                assert_eq!(state.deepen(0x9000 - usize::from(depth) * 64), depth);
            }
            state.restore_depth(0);
        });
    }
}
