//! The hardware log, as msPTI provides it (`--timing hardware` and `both`).
//!
//! msPTI serves one profiler at a time. It is loaded and asked when the program first uses a device;
//! without it, tasks are timed by events. A program that begins a profiler gets msPTI: the tool ends
//! its subscription before that call is made. Entries arrive on a thread of msPTI, in memory of the
//! tool.

mod buffers;
mod entries;
mod other_profilers;

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize};

use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_format::record::{ActivityKind, LogState, kinds};

use crate::call_context::Context;
use crate::contexts::adopt_context;
use crate::errno::Errno;
use crate::objects::StreamEntry;
use crate::thread::upper_layers::watch_exit;
use crate::timing::{api, harvester, submit};
use crate::{emit, large_stack, real, session, syscall_policy, thread, until_exit};

const LIBRARY: &CStr = c"libmspti.so";
/// `MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED`.
const BUSY: i32 = 2;

const UNTRIED: u8 = 0;
const TRYING: u8 = 1;
const ON: u8 = 2;
const OFF: u8 = 3;
/// It was read, until the program began a profiler. Times of events are on another clock than those that were read, so
/// none are taken from then on.
const GAVE_WAY: u8 = 4;

/// Half milliseconds that a thread waits at most for another one to begin the log.
const MOST_PAUSES: u32 = 2000;

static STATE: AtomicU8 = AtomicU8::new(UNTRIED);
/// The thread that begins it, or has begun it.
static TRIED_BY: AtomicU32 = AtomicU32::new(0);
/// A thread has waited for it without success, so no other thread waits.
static IS_AWAITED_IN_VAIN: AtomicBool = AtomicBool::new(false);
/// A bit for each kind of entries that there are.
static KINDS: AtomicU32 = AtomicU32::new(0);
static SUBSCRIBER: AtomicUsize = AtomicUsize::new(0);

type Subscribe = unsafe extern "C" fn(*mut *mut c_void, *const c_void, *mut c_void) -> i32;
type Unsubscribe = unsafe extern "C" fn(*mut c_void) -> i32;
type Register = unsafe extern "C" fn(buffers::Request, buffers::Complete) -> i32;
type OfNumber = unsafe extern "C" fn(u32) -> i32;

/// The function of msPTI's with this name, as an `F`.
macro_rules! function {
    ($name:literal as $type:ty) => {{
        let address = real::by_name($name).ok_or(Refusal {
            state: LogState::Absent,
            code: 0,
        });
        // SAFETY: the address is that of the function with this name; the type repeats its signature.
        address.map(|address| unsafe { core::mem::transmute::<usize, $type>(address) })
    }};
}

/// Why there is no log.
struct Refusal {
    state: LogState,
    code: i32,
}

/// The program is about to use a device.
pub(crate) fn begin() {
    let state = STATE.load(Acquire);
    if !session::wants_log() || !matches!(state, UNTRIED | TRYING) || !syscall_policy::is_allowed()
    {
        return;
    }
    match STATE.compare_exchange(UNTRIED, TRYING, AcqRel, Acquire) {
        Ok(_) => TRIED_BY.store(thread::tid(), Release),
        Err(TRYING) => return await_another(),
        Err(_) => return,
    }
    let _errno = Errno::save();
    let answer = large_stack::run(|| until_exit::call(subscribe)).unwrap_or(Err(Refusal {
        state: LogState::Refused,
        code: 0,
    }));
    let reported = |state, code: i32, kinds| kinds::Log {
        state,
        code: code.unsigned_abs(),
        kinds,
        is_alone: session::wants_log_alone(),
    };
    match answer {
        Ok(kinds) => {
            emit::from_inside(&reported(LogState::On, 0, kinds));
            KINDS.store(kinds, Release);
            STATE.store(ON, Release);
            watch_exit();
            harvester::ensure_running();
        }
        Err(Refusal { state, code }) => {
            emit::from_inside(&reported(state, code, 0));
            STATE.store(OFF, Release);
        }
    }
}

/// Another thread is beginning the log. What this one submits before that is in no log, so it waits as for the runtime's
/// own setup; not for ever, since this thread may have the lock of the loader that the other one needs.
#[cold]
fn await_another() {
    // A handler of a signal may have interrupted the thread that begins it.
    if IS_AWAITED_IN_VAIN.load(Relaxed) || TRIED_BY.load(Acquire) == thread::tid() {
        return;
    }
    let _errno = Errno::save();
    for _ in 0..MOST_PAUSES {
        if STATE.load(Acquire) != TRYING {
            return;
        }
        syscall_policy::pause();
    }
    IS_AWAITED_IN_VAIN.store(true, Relaxed);
}

/// Loads msPTI and enables its activities. Returns the enabled kinds.
fn subscribe() -> Result<u32, Refusal> {
    if other_profilers::are_there() {
        return Err(Refusal {
            state: LogState::Busy,
            code: 0,
        });
    }
    load()?;
    let refused = |code| Refusal {
        state: if code == BUSY {
            LogState::Busy
        } else {
            LogState::Refused
        },
        code,
    };
    let subscribe = function!("msptiSubscribe" as Subscribe)?;
    let register = function!("msptiActivityRegisterCallbacks" as Register)?;
    entries::prepare()?;
    let mut subscriber = core::ptr::null_mut();
    // SAFETY: the handle is a live local, and no callback is asked for.
    match unsafe { subscribe(&mut subscriber, core::ptr::null(), core::ptr::null_mut()) } {
        0 => SUBSCRIBER.store(subscriber as usize, Release),
        code => return Err(refused(code)),
    }
    // SAFETY: both functions stay for as long as the process.
    let code = unsafe { register(buffers::request, entries::complete) };
    if code != 0 {
        end();
        return Err(refused(code));
    }
    enable().map_err(|code| {
        end();
        refused(code)
    })
}

/// A log without kernels has no use. Copies and fills are not asked for: their entries have the times of calls
/// on the host. Nor is communication under its old name, of which only a library that was preloaded knows.
fn enable() -> Result<u32, i32> {
    let Ok(enable) = function!("msptiActivityEnable" as OfNumber) else {
        return Err(0);
    };
    let bit = |kind: ActivityKind| {
        // SAFETY: takes a number.
        match unsafe { enable(kind.code().into()) } {
            0 => Ok(1 << kind.code()),
            code => Err(code),
        }
    };
    Ok(bit(ActivityKind::Kernel)? | bit(ActivityKind::Communication).unwrap_or(0))
}

/// Makes msPTI read the rest from the devices, and stop there. Without this it continues its work even
/// without a subscriber.
fn disable(kinds: u32) {
    let Ok(disable) = function!("msptiActivityDisable" as OfNumber) else {
        return;
    };
    for kind in [ActivityKind::Kernel, ActivityKind::Communication] {
        if kinds & 1 << kind.code() != 0 {
            // SAFETY: takes a number.
            unsafe { disable(kind.code().into()) };
        }
    }
}

/// Loads the library. The empty one in `LD_PRELOAD` has no `SONAME`, so the loader looks further for
/// the vendor's.
fn load() -> Result<(), Refusal> {
    let flags = libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE;
    // SAFETY: loads the vendor's library by its name.
    let handle = unsafe { libc::dlopen(LIBRARY.as_ptr(), flags) };
    if handle.is_null() {
        // SAFETY: asks for the failure's message, so that the program does not find it.
        unsafe { libc::dlerror() };
        return Err(Refusal {
            state: LogState::Absent,
            code: 0,
        });
    }
    Ok(())
}

fn end() {
    let subscriber = SUBSCRIBER.swap(0, AcqRel);
    if let Ok(unsubscribe) = function!("msptiUnsubscribe" as Unsubscribe) {
        // SAFETY: the handle is the one that msPTI gave.
        unsafe { unsubscribe(subscriber as *mut c_void) };
    }
}

/// The program is about to begin a profiler: it must find the state without the tool.
pub(crate) fn give_way() {
    if STATE.load(Acquire) == UNTRIED && session::wants_log() {
        // Nor is one begun from now on.
        STATE.store(OFF, Release);
        tell_way();
        return;
    }
    if STATE
        .compare_exchange(ON, GAVE_WAY, AcqRel, Acquire)
        .is_err()
    {
        return;
    }
    let _errno = Errno::save();
    stop();
    large_stack::run(|| until_exit::call(end));
    tell_way();
}

/// Has all that ran handed over, and no more asked for.
fn stop() {
    let kinds = KINDS.swap(0, AcqRel);
    large_stack::run(|| until_exit::call(|| disable(kinds)));
    large_stack::run(|| until_exit::call(ask_for_all));
}

/// The process is about to end.
pub(crate) fn at_exit() {
    if STATE.load(Acquire) == ON {
        let _errno = Errno::save();
        stop();
    }
}

/// The program is about to set the runtime up, by a file that may ask for a profiler.
pub(crate) fn before_init(configuration: u64) {
    if !session::wants_log() {
        return;
    }
    let _errno = Errno::save();
    if large_stack::run(|| other_profilers::are_in(configuration as *const c_char)) {
        give_way();
    }
}

fn tell_way() {
    emit::from_inside(&kinds::Log {
        state: LogState::GaveWay,
        code: 0,
        kinds: 0,
        is_alone: session::wants_log_alone(),
    });
}

/// Has all entries handed over: by itself msPTI does so with full buffers only.
pub(crate) fn flush() {
    if STATE.load(Acquire) == ON {
        let _errno = Errno::save();
        large_stack::run(|| until_exit::call(ask_for_all));
    }
}

fn ask_for_all() {
    if let Ok(flush) = function!("msptiActivityFlushAll" as OfNumber) {
        // SAFETY: takes a number: the contents of all buffers are passed on.
        unsafe { flush(1) };
    }
}

/// A child has a new runtime, and subscriptions belong to its parent.
pub(crate) fn forget() {
    STATE.store(UNTRIED, Relaxed);
    IS_AWAITED_IN_VAIN.store(false, Relaxed);
    KINDS.store(0, Relaxed);
    SUBSCRIBER.store(0, Relaxed);
    buffers::forget();
    entries::forget();
}

/// How a task is timed where no events are recorded since the log is read; `None` where events are.
pub(crate) fn times(stream: &'static StreamEntry, call: &Context<'_>) -> Option<Untimed> {
    if !session::wants_log() {
        return None;
    }
    begin();
    if STATE.load(Acquire) == OFF || !session::wants_log_alone() {
        return None;
    }
    let adopted = adopt_context(call.state);
    if let (Some(api), Some(_)) = (api::get(), adopted) {
        submit::learn_id(api, stream);
    }
    let kinds = KINDS.load(Acquire);
    let is_there = |kind: ActivityKind| kinds & 1 << kind.code() != 0;
    let is_logged = match call.function.task {
        // A replay, by its nodes.
        Some(TaskKind::Kernel | TaskKind::Graph) => is_there(ActivityKind::Kernel),
        Some(TaskKind::Collective) => is_there(ActivityKind::Communication),
        _ => false,
    };
    Some(if is_logged {
        Untimed::Timed
    } else {
        Untimed::NotLogged
    })
}
