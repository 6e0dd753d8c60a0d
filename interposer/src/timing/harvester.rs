//! The thread that reads times while the program does not synchronise.

use core::ffi::c_void;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32};

use ascend_trace_ring::ticks::monotonic;

use crate::objects::{self, ContextEntry};
use crate::thread::ThreadState;
use crate::timing::api::{self, Api};
use crate::timing::harvest::{self, Limit, QueryPolicy};
use crate::timing::host_clocks::HostClocks;
use crate::timing::{anchor, card, chip, counters, driver, hardware, lane, schedule};
use crate::{cost, kernels, session, syscall_policy, system, thread, window_borders};

/// How often the lanes are looked at: well below the time in which a queue of 2048 tasks of a few
/// microseconds each fills up.
const INTERVAL_NS: i64 = 5_000_000;
/// How often while the program knows tasks to be done: their times wait for this thread.
const BUSY_INTERVAL_NS: i64 = 1_000_000;
/// How often a device's clock is compared with the host's. A drift of 100 ppm makes 10 µs of it,
/// which the mapping interpolates.
const ANCHOR_NS: u64 = 100_000_000;
/// Pairs read from one lane before the next has its turn.
const BATCH: usize = 512;
/// How often the hardware's log is handed over.
const FLUSH_NS: u64 = 100_000_000;
/// How often events are destroyed that were not needed meanwhile.
const TRIM_NS: u64 = 2_000_000_000;
/// How often the thread looks whether the recorder that has attached to the process exists.
const LOST_NS: u64 = 1_000_000_000;
/// Enough for the runtime's calls: on some chips it reads out failures, and runs the program's
/// callbacks for them, on the asking thread. Only the used part takes memory.
const STACK: usize = 8 << 20;
/// Where that much address space is not available.
const LEAST_STACK: usize = 256 << 10;

static RUNNING: AtomicBool = AtomicBool::new(false);
/// The process is ending: the runtime may go at any time.
static STOPPED: AtomicBool = AtomicBool::new(false);
/// It is at work, and may be inside the runtime.
static AT_WORK: AtomicBool = AtomicBool::new(false);
/// Half milliseconds that the end of a process waits for it.
const STOP_ROUNDS: u32 = 200;

/// Ends its work for good, and waits until it has left the runtime.
pub(crate) fn stop() {
    STOPPED.store(true, SeqCst);
    for _ in 0..STOP_ROUNDS {
        if !AT_WORK.load(SeqCst) {
            return;
        }
        syscall_policy::pause();
    }
}
/// Rounds when the recorder is done with the process: at least those that destroy the events which the tool does not keep, half of
/// them in each, and at most those that wait for tasks that have not ended.
const LEAST_LAST_ROUNDS: u32 = 12;
const MOST_LAST_ROUNDS: u32 = 60;
/// The number of the thread that is or was the last harvester.
static TID: AtomicU32 = AtomicU32::new(0);

/// Starts the harvester with the first context that is measured.
pub(crate) fn ensure_running() {
    if !syscall_policy::is_allowed() || RUNNING.swap(true, AcqRel) {
        return;
    }
    if start(STACK).or_else(|| start(LEAST_STACK)).is_none() {
        RUNNING.store(false, Relaxed);
    }
}

/// Whether there is a thread that reads times.
pub(crate) fn is_running() -> bool {
    RUNNING.load(Acquire)
}

/// How long the harvester is waited for when it has to end, in half milliseconds.
const END_ROUNDS: u32 = 400;

/// The program is about to restrict system calls: the harvester must have ended by then, since the
/// kernel would end the program for its calls.
pub(crate) fn end() {
    for _ in 0..END_ROUNDS {
        let tid = TID.load(Acquire);
        if !RUNNING.load(Acquire) && (tid == 0 || !exists(tid)) {
            return;
        }
        syscall_policy::sleep_always(500_000);
    }
}

/// Whether a thread of this process exists.
fn exists(tid: u32) -> bool {
    let args = [syscall_policy::pid() as usize, tid as usize, 0, 0, 0, 0];
    // SAFETY: signal 0 only asks.
    unsafe { system::call(libc::SYS_tgkill, args) == 0 }
}

/// A child has no threads but its own.
pub(crate) fn forget() {
    TID.store(0, Relaxed);
    RUNNING.store(false, Relaxed);
    STOPPED.store(false, Relaxed);
    AT_WORK.store(false, Relaxed);
}

/// Starts the thread with all signals blocked: they are the program's.
fn start(stack: usize) -> Option<()> {
    // SAFETY: all-zero values are valid to be initialised by the calls below.
    let (mut attributes, mut all, mut before): (
        libc::pthread_attr_t,
        libc::sigset_t,
        libc::sigset_t,
    ) = unsafe { core::mem::zeroed() };
    let mut handle: libc::pthread_t = 0;
    // SAFETY: every pointer is to a live local; the thread function has the right signature and
    // takes no argument.
    unsafe {
        if libc::pthread_attr_init(&mut attributes) != 0 {
            return None;
        }
        libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::pthread_attr_setstacksize(&mut attributes, stack);
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let made = libc::pthread_create(&mut handle, &attributes, run, core::ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, core::ptr::null_mut());
        libc::pthread_attr_destroy(&mut attributes);
        (made == 0).then_some(())
    }
}

extern "C" fn run(_: *mut c_void) -> *mut c_void {
    // SAFETY: names the calling thread by a C string shorter than 16 bytes.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"ascend-trace".as_ptr()) };
    // Whatever the runtime calls back into from this thread is not the program's.
    thread::with(ThreadState::set_own);
    schedule::settle();
    let (mut flush, mut trim) = (
        PeriodicTimer::every(FLUSH_NS),
        PeriodicTimer::every(TRIM_NS),
    );
    let mut lost = PeriodicTimer::every(LOST_NS);
    let mut clocks = HostClocks::read();
    let mut last_rounds = 0;
    TID.store(thread::tid(), Release);
    while syscall_policy::is_allowed() && !is_last_thread() && !STOPPED.load(Relaxed) {
        let mut found = RoundAmount::Nothing;
        window_borders::follow_switch();
        let is_last = session::is_armed();
        if !is_last && lost.comes() && session::armed::has_lost_recorder() {
            session::armed::begin_leaving();
        }
        if is_last && ends(last_rounds) {
            break;
        }
        last_rounds += u32::from(is_last);
        AT_WORK.store(true, SeqCst);
        if let Some(api) = api::get().filter(|_| !STOPPED.load(SeqCst)) {
            chip::learn();
            let trim = trim.comes() || is_last;
            for context in objects::contexts() {
                if STOPPED.load(SeqCst) {
                    break;
                }
                found = found.max(visit(api, context, trim));
            }
            if flush.comes() {
                hardware::flush();
            }
            thread::with(kernels::ask_wanted);
            clocks = clocks.follow();
            counters::tell();
        }
        AT_WORK.store(false, SeqCst);
        thread::with(cost::tell_due);
        match found {
            RoundAmount::Nothing if is_last => syscall_policy::pause(),
            RoundAmount::Nothing => syscall_policy::sleep(INTERVAL_NS),
            RoundAmount::Some => syscall_policy::sleep(BUSY_INTERVAL_NS),
            // A program that submits faster than that is read without a rest.
            RoundAmount::Many => {}
        }
    }
    thread::with(ThreadState::leave_session);
    RUNNING.store(false, SeqCst);
    session::armed::end_leaving();
    core::ptr::null_mut()
}

/// Whether this number of last rounds is enough.
fn ends(rounds: u32) -> bool {
    let has_pending = || lane::all().any(|lane| lane.is_used() && lane.has_pending());
    rounds >= MOST_LAST_ROUNDS || rounds >= LEAST_LAST_ROUNDS && !has_pending()
}

/// A program with a main thread that has left by `pthread_exit` ends with its last thread; that must
/// not be this one.
fn is_last_thread() -> bool {
    // SAFETY: an all-zero stat is a valid out-parameter.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: a C string and a live local. The directory has two links plus one per thread.
    let answered = unsafe { libc::stat(c"/proc/self/task".as_ptr(), &mut stat) } == 0;
    answered && stat.st_nlink <= 3
}

/// Finished pairs of a round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RoundAmount {
    Nothing,
    Some,
    /// More than could be read at once.
    Many,
}

/// Something that is done from time to time.
struct PeriodicTimer {
    every_ns: u64,
    last: u64,
}

impl PeriodicTimer {
    fn every(every_ns: u64) -> Self {
        Self {
            every_ns,
            last: monotonic(),
        }
    }

    fn comes(&mut self) -> bool {
        let now = monotonic();
        let is_due = now.wrapping_sub(self.last) >= self.every_ns;
        if is_due {
            self.last = now;
        }
        is_due
    }
}

/// Reads finished pairs in one context and compares the clocks when that is due.
fn visit(api: &Api, context: &'static ContextEntry, trim: bool) -> RoundAmount {
    let Some(_visit) = context.timing.visit() else {
        return RoundAmount::Nothing;
    };
    card::learn(context.device.load(Relaxed));
    driver::take(context);
    let handle = context.handle.load(Relaxed);
    let own = |lane: &&lane::Lane| {
        lane.is_used()
            && lane
                .context()
                .is_some_and(|owner| core::ptr::eq(owner, context))
    };
    let mut waiting = lane::all()
        .filter(own)
        .filter(|lane| lane.has_pending())
        .peekable();
    let is_idle = waiting.peek().is_none();
    if is_idle && !trim || !api.enter_context(handle) {
        return RoundAmount::Nothing;
    }
    let mut found = RoundAmount::Nothing;
    let ask = QueryPolicy::Overdue {
        is_quiet: !is_idle && lane::is_quiet(context),
    };
    if trim {
        lane::all()
            .filter(own)
            .for_each(|lane| lane.tidy(context, api));
    }
    for lane in waiting {
        found = found.max(
            match harvest::lane(lane, api, &Limit::pairs(BATCH), None, ask) {
                0 => RoundAmount::Nothing,
                BATCH => RoundAmount::Many,
                _ => RoundAmount::Some,
            },
        );
    }
    context.timing.tend_events(api, trim);
    if !is_idle {
        anchor::take(api, context, 0, ANCHOR_NS);
    }
    found
}
