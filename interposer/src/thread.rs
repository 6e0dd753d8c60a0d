//! Facts about the calling thread: its channel, its depth in calls, its context.

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32, fence};

use ascend_trace_format::record::CallHead;
use ascend_trace_format::session::OPEN_LEVELS;
use ascend_trace_ring::{Ledger, OpenCall, OpenCalls, Producer};

use crate::errno::Errno;
use crate::first_records::introduce;
use crate::meter::{self, Meter, Sample};
use crate::session::places::{self, SessionPlace};
use crate::stream_progress::StreamProgress;
use crate::{fast_tls, session, stubs, syscall_policy};

mod collective_groups;
mod cpu_clock;
pub(crate) mod entry_place;
pub(crate) mod fast;
mod gate;
mod held_locks;
pub(crate) mod last_task_view;
pub(crate) mod open_calls;
pub(crate) mod publish;
pub(crate) mod shield;
pub(crate) mod spill;
pub(crate) mod upper_layers;

use collective_groups::CollectiveGroups;
use cpu_clock::CpuClock;
pub(crate) use gate::{Admission, Asking, AtWork};
use held_locks::{Submitting, ThreadHoldings};
use last_task_view::LastTask;
pub(crate) use open_calls::EnclosingCalls;
use spill::Spill;

/// The smallest page there is.
const PAGE: usize = 4096;
/// Nested calls with a remembered place on the stack.
const LEVELS: usize = 16;

/// One per thread, in thread-local memory that needs no destructor. Calls on the fast path need the first fields.
#[repr(C, align(64))]
pub(crate) struct ThreadState {
    /// Obstacles for a call; see [`gate`].
    gate: Cell<u32>,
    /// The mark of a process with all calls of this thread on the fast path; see [`session::plain_mark`]. 0 before the thread has
    /// looked for a channel.
    plain: Cell<u32>,
    /// The list of running calls: in the channel, or else here. Null only until the first call.
    open: Cell<*const OpenCalls>,
    /// The current context's serial, where it is, and its device as a part of the head of a record.
    context_serial: Cell<u32>,
    /// Number of running calls inside the outermost one.
    deeper: Cell<u8>,
    serial_place: Cell<&'static AtomicU32>,
    device: Cell<u64>,
    channel: UnsafeCell<Channel>,
    /// The session of the channel.
    place: Cell<Option<&'static SessionPlace>>,
    spill: Spill,
    /// Stack pointers of the running calls, outermost first, and their kinds.
    levels: [Cell<usize>; LEVELS],
    /// Where the stack stood when the tracer began to work; where it has noted that there, and what.
    busy_here: Cell<usize>,
    busy_at: Cell<usize>,
    mark: Cell<u64>,
    /// Number of further calls to measure; see [`meter`].
    samples_left: Cell<u8>,
    /// The one that is being measured.
    sample: Cell<Option<Sample>>,
    meter: Cell<Option<&'static Meter>>,
    /// The targets that the running calls wait for.
    waits: [Cell<Option<&'static StreamProgress>>; LEVELS],
    /// Number of enclosing calls that submit tasks: submissions inside them are part of their task.
    submitting: Cell<u8>,
    /// Calls around the present one that run callbacks of the program.
    callbacks: Cell<u8>,
    /// The current context's entry. For [`crate::objects`] only.
    context: Cell<*const c_void>,
    /// A function and the address that a stub has noted for its wrapper; address 0 for none.
    alternate: Cell<(u32, usize)>,
    /// The runtime's id of the thread's last task, while records of the tool came after it.
    last_task: Cell<LastTask>,
    cpu: CpuClock,
    /// The name that the trace has of this thread.
    name: Cell<[u8; 16]>,
    /// Stubs with functions that this thread's channel has named, a bit for each.
    named_stubs: [Cell<u64>; stubs::STUBS / 64],
    /// Stack pointer in a call of the runtime that is not recorded, or not in the usual way; 0 for
    /// none.
    suppressed: Cell<usize>,
    /// A stretch of the stack that is known to be there: begin and end.
    mapped: Cell<(usize, usize)>,
    /// Its own stack: begin and top, once they were looked for.
    pub(crate) stack_bounds: Cell<Option<(usize, usize)>>,
    /// Whether this is the process's first thread, once that was determined.
    pub(crate) is_first: Cell<Option<bool>>,
    /// The channel, for signal handlers.
    ledger: Cell<Option<Ledger>>,
    own_open: OpenCalls,
    /// The last reported range of gradients, and its begin; 0 for none.
    pub(crate) turn: Cell<(u64, u64)>,
    /// The last query that found little room: its function and its result, and its first arguments.
    asked: Cell<[u64; 3]>,
    pub(crate) groups: CollectiveGroups,
    /// Things that a running submission holds.
    pub(crate) submission: Submitting,
    /// Locks that the tracer holds in this thread.
    pub(crate) held: ThreadHoldings,
}

/// Serial of the context of a thread without one.
static NO_CONTEXT: AtomicU32 = AtomicU32::new(0);

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
    /// No channel was free at the thread's first record.
    Refused,
}

thread_local! {
    static STATE: ThreadState = const {
        ThreadState {
            gate: Cell::new(gate::AT_FIRST),
            plain: Cell::new(0),
            deeper: Cell::new(0),
            open: Cell::new(core::ptr::null()),
            context_serial: Cell::new(0),
            serial_place: Cell::new(&NO_CONTEXT),
            device: Cell::new(0),
            channel: UnsafeCell::new(Channel::None),
            place: Cell::new(None),
            spill: Spill::new(),
            levels: [const { Cell::new(0) }; LEVELS],
            busy_here: Cell::new(0),
            busy_at: Cell::new(0),
            mark: Cell::new(0),
            samples_left: Cell::new(0),
            sample: Cell::new(None),
            meter: Cell::new(None),
            waits: [const { Cell::new(None) }; LEVELS],
            submitting: Cell::new(0),
            callbacks: Cell::new(0),
            context: Cell::new(core::ptr::null()),
            alternate: Cell::new((0, 0)),
            last_task: Cell::new(LastTask::None),
            cpu: CpuClock::new(),
            name: Cell::new([0; 16]),
            named_stubs: [const { Cell::new(0) }; stubs::STUBS / 64],
            suppressed: Cell::new(0),
            mapped: Cell::new((0, 0)),
            stack_bounds: Cell::new(None),
            is_first: Cell::new(None),
            ledger: Cell::new(None),
            own_open: [const { OpenCall::none() }; OPEN_LEVELS],
            turn: Cell::new((0, 0)),
            asked: Cell::new([0; 3]),
            groups: CollectiveGroups::new(),
            submission: Submitting::new(),
            held: ThreadHoldings::new(),
        }
    };
}

const _: () = assert!(!core::mem::needs_drop::<ThreadState>());

/// Runs `action` with the calling thread's state.
#[inline]
pub(crate) fn with<R>(action: impl FnOnce(&ThreadState) -> R) -> R {
    // SAFETY: the calling thread's state lives as long as the thread.
    action(unsafe { &*current() })
}

/// The calling thread's state, for a call that looks at it more than once.
#[inline]
pub(crate) fn current() -> *const ThreadState {
    let known = fast_tls::get().cast::<ThreadState>();
    if known.is_null() { first() } else { known }
}

/// Whether a submission of the calling thread may pass unseen: the runtime's last task of the thread is no record of the tool.
#[inline(always)]
pub(crate) fn may_pass() -> bool {
    // SAFETY: null, or the calling thread's state, which lives as long as the thread.
    let state = unsafe { fast_tls::get().cast::<ThreadState>().as_ref() };
    match state {
        Some(state) => !state.keeps_last_task(),
        None => may_pass_at_first(),
    }
}

/// The same for a thread without a pointer to its state: it has none, or the pointer is not found in this process.
#[cold]
#[inline(never)]
fn may_pass_at_first() -> bool {
    fast_tls::is_found() || STATE.with(|state| !state.keeps_last_task())
}

#[cold]
#[inline(never)]
fn first() -> *const ThreadState {
    let state = STATE.with(core::ptr::from_ref);
    fast_tls::set(state.cast());
    state
}

impl ThreadState {
    /// Sets the number of following calls to measure.
    pub(crate) fn set_sampling(&self, calls: u8) {
        self.samples_left.set(calls);
        self.mark_sampling(calls > 0);
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

    /// Where the tracer overhead of this thread is counted.
    #[inline]
    pub(crate) fn meter(&self) -> &'static Meter {
        match self.meter.get() {
            Some(meter) => meter,
            None => self.first_meter(),
        }
    }

    #[cold]
    fn first_meter(&self) -> &'static Meter {
        let meter = meter::claim();
        self.meter.set(Some(meter));
        watch_thread_end();
        meter
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

    /// Whether an address is in a part of the stack that was found mapped.
    pub(crate) fn is_mapped(&self, address: usize) -> bool {
        let (begin, end) = self.mapped.get();
        (begin..end).contains(&address)
    }

    /// The page that begins at `page` is mapped.
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

    /// The current context's entry, or null, and the serial that the context had there: another context may have the
    /// entry now.
    #[inline]
    pub(crate) fn context_entry(&self) -> (*const c_void, u32) {
        (self.context.get(), self.context_serial.get())
    }

    /// Sets the entry of the current context, the place of its serial in there, the serial, and the device.
    pub(crate) fn set_context_entry(
        &self,
        entry: Option<(*const c_void, &'static AtomicU32, u32, u8)>,
    ) {
        let none = (core::ptr::null(), &NO_CONTEXT, 0);
        let (context, place, serial) =
            entry.map_or(none, |(context, place, serial, _)| (context, place, serial));
        self.context.set(context);
        self.serial_place.set(place);
        self.context_serial.set(serial);
        let device = entry.map(|(.., device)| device);
        self.device.set(CallHead::device_bits(device));
    }

    /// The mark of a process with all calls of this thread on the fast path.
    #[inline(always)]
    pub(crate) fn plain(&self) -> u32 {
        self.plain.get()
    }

    /// Whether the runtime's last task of this thread may be a record of the tool.
    #[inline(always)]
    pub(crate) fn keeps_last_task(&self) -> bool {
        matches!(
            self.last_task.get(),
            LastTask::Kept(_) | LastTask::Copying { .. }
        )
    }

    pub(crate) fn last_task(&self) -> LastTask {
        self.last_task.get()
    }

    pub(crate) fn set_last_task(&self, last: LastTask) {
        self.last_task.set(last);
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

    /// A call of the runtime's begins, with the stack at `here`, that is not recorded in the usual way.
    pub(crate) fn begin_suppressed(&self, here: usize) {
        if self.suppressed.get() == 0 {
            self.suppressed.set(here);
        }
    }

    /// It has ended.
    pub(crate) fn end_suppressed(&self, here: usize) {
        if self.suppressed.get() == here {
            self.suppressed.set(0);
        }
    }

    /// A call that came while the tracer was at work has ended: there are no others around it.
    pub(crate) fn end_inside(&self) {
        self.suppressed.set(0);
    }

    /// Whether a call with the stack at `here` is inside of such a one. One that was jumped out of is forgotten
    /// when the stack is back.
    #[inline]
    pub(crate) fn is_suppressed(&self, here: usize) -> bool {
        let outer = self.suppressed.get();
        if outer != 0 && here >= outer {
            self.suppressed.set(0);
        }
        outer != 0 && here < outer
    }

    /// The thread's channel, if it has one. Must only be called while the thread is busy.
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

    /// Runs `write` with the thread's channel, claiming one at first. Without one, `write` does not
    /// run: the caller that records a call counts it then. Must only be called while the thread is
    /// busy, so that it cannot be entered twice.
    #[inline]
    pub(crate) fn record(&self, write: impl FnOnce(&mut Producer)) {
        // SAFETY: `busy` keeps a second caller in this thread out, and no other thread can reach
        // this thread's state.
        let channel = unsafe { &mut *self.channel.get() };
        if let Channel::Open(producer) = channel {
            write(producer);
            return;
        }
        self.claim();
        if let Some(producer) = self.producer() {
            write(producer);
        }
    }

    /// Claims a channel, unless the thread has one or all were used. Must only be called while the
    /// thread is busy.
    #[cold]
    fn claim(&self) {
        let _errno = Errno::save();
        // A thread that gives objects their entries meanwhile is seen by the one that joins the session, or sees the session.
        fence(SeqCst);
        let Some(held) = places::hold() else {
            return;
        };
        // SAFETY: as in `record`; the reference made there is not used any more.
        let channel = unsafe { &mut *self.channel.get() };
        if matches!(channel, Channel::None) {
            self.plain.set(session::plain_mark(held.epoch()));
            let claimed = Producer::claim(
                held.session(),
                syscall_policy::pid(),
                tid(),
                session::process_key(),
            );
            *channel = claimed.map_or(Channel::Refused, Channel::Open);
            if matches!(channel, Channel::Open(_)) {
                self.place.set(Some(held.keep()));
            }
            self.mark_channelless(!matches!(channel, Channel::Open(_)));
            watch_thread_end();
            if let Channel::Open(producer) = channel {
                let ledger = producer.ledger();
                self.ledger.set(Some(ledger));
                self.move_open(ledger);
                self.name.set(introduce(producer));
                self.set_sampling(meter::SAMPLES);
            }
        }
    }

    /// Announces the running calls in the shared memory, where the collector finds them from now on.
    fn move_open(&self, ledger: Ledger) {
        let Some(open) = ledger.open_calls() else {
            return;
        };
        for (to, from) in open.iter().zip(&self.own_open) {
            for (to, from) in to.0.iter().zip(&from.0).rev() {
                to.store(from.load(Relaxed), Release);
            }
        }
        self.open.set(open);
    }

    /// Gives the channel back. A later record of this thread claims another one.
    fn close(&self) {
        // SAFETY: as in `record`: called at the end of the thread, or in a fresh child.
        let channel = unsafe { &mut *self.channel.get() };
        self.mark_channelless(true);
        if let Channel::Open(producer) = core::mem::replace(channel, Channel::None) {
            // Running calls continue in a list without readers.
            self.ledger.set(None);
            self.forget_open();
            producer.close();
            self.forget_stubs();
            self.mark_new();
        }
        self.place.take().into_iter().for_each(places::release);
    }

    /// Whether the thread has looked for a channel in an earlier session, and not in the present one.
    pub(crate) fn is_behind(&self) -> bool {
        self.plain.get() != 0 && !session::is_of_session(self.plain.get())
    }

    /// Whether the list of the thread's running calls may have been emptied, with the session of its channel.
    pub(crate) fn has_lost_list(&self) -> bool {
        let place = self.place.get();
        place.is_some_and(|place| !places::is_present(place))
    }

    /// The process is in another session than this thread: its channel belongs to a recording that is complete. The thread claims
    /// another one with its next record. Must not be called while the thread is busy.
    #[cold]
    pub(crate) fn leave_session(&self) {
        self.mark_channelless(true);
        // SAFETY: the thread is not busy, so the channel has no user.
        unsafe { *self.channel.get() = Channel::None };
        self.ledger.set(None);
        self.forget_open();
        self.spill.forget();
        self.forget_stubs();
        self.turn.set((0, 0));
        self.cpu.forget();
        self.sample.set(None);
        self.set_sampling(0);
        self.plain.set(0);
        self.mark_new();
        if let Some(meter) = self.meter.get() {
            meter.begin();
        }
        self.place.take().into_iter().for_each(places::release);
    }

    /// The thread ends. `last` writes its last records, and gives its meter back.
    pub(crate) fn end(&self, last: impl FnOnce(&Self, Option<&'static Meter>)) {
        // A thread that ends cannot be cancelled, and its running calls have been left.
        self.set_fragile(false);
        if !self.spill.is_empty() {
            self.mark_spilled();
        }
        self.mend(usize::MAX);
        self.leave_all_behind();
        self.at_work(|state| last(state, state.meter.take()));
        if !self.is_busy() {
            self.close();
        }
    }

    /// The process is a child that this thread has forked. Where a signal handler forked in the middle of the tracer's
    /// work, that goes on first.
    pub(crate) fn forked(&self) {
        if !self.is_busy() {
            self.forget_parent();
        }
    }

    /// Forgets the parent process's data, without touching it.
    pub(crate) fn forget_parent(&self) {
        self.mark_channelless(true);
        // SAFETY: as in `close`. The parent's channel is its own to close.
        unsafe { *self.channel.get() = Channel::None };
        self.place.set(None);
        self.plain.set(0);
        self.ledger.set(None);
        self.forget_open();
        self.suppressed.set(0);
        self.spill.forget();
        self.submission.forget();
        self.waits.iter().for_each(|wait| wait.set(None));
        self.forget_stubs();
        self.cpu.forget();
        self.mark_new();
        self.set_context_entry(None);
        self.meter.set(None);
        self.sample.set(None);
    }
}

pub(crate) fn tid() -> u32 {
    syscall_policy::tid()
}

static KEY: AtomicU32 = AtomicU32::new(0);
static KEY_MADE: AtomicBool = AtomicBool::new(false);

/// Makes the key with a destructor that closes a thread's channel: `ends`, which calls
/// [`ThreadState::end`].
pub(crate) fn prepare_thread_end(ends: unsafe extern "C" fn(*mut c_void)) {
    let mut key: libc::pthread_key_t = 0;
    // SAFETY: `key` is a live local; the destructor has the signature that the key wants.
    if unsafe { libc::pthread_key_create(&mut key, Some(ends)) } == 0 {
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
