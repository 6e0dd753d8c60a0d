//! Names of kernels that no recorded lookup gives: that lookup may have used an entry instead of a
//! name, or have happened before the recording.
//!
//! A query that fails leaves its error in the asking thread, and a name that does not fit fails: so a
//! thread of the tool asks, some milliseconds after the first launch of a kernel. After an unload of
//! kernels has begun, no query is made.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};

use ascend_trace_format::api::Fact;
use ascend_trace_format::record::{Text, kinds};

use crate::call_context::Context;
use crate::objects::keyed;
use crate::spin::SpinLock;
use crate::table::HandleTable;
use crate::thread::ThreadState;
use crate::thread::upper_layers::watch_exit;
use crate::{emit, long_texts, real, session, syscall_policy, until_exit};

/// A kernel that was launched or given a name.
struct Kernel {
    key: AtomicU64,
    state: AtomicU8,
    /// Ticks before its first launch.
    since: AtomicU64,
}

/// State of a kernel's name: unknown.
const UNKNOWN: u8 = 0;
/// It is in the trace, or does not exist.
const NAMED: u8 = 1;
/// A thread of the tool will query it.
const WANTED: u8 = 2;

keyed!(Kernel);

static KERNELS: HandleTable<Kernel, 16_384> = HandleTable::new(
    [const {
        Kernel {
            key: AtomicU64::new(0),
            state: AtomicU8::new(UNKNOWN),
            since: AtomicU64::new(0),
        }
    }; 16_384],
);

/// Number of kernels with wanted names.
static WANTS: AtomicU32 = AtomicU32::new(0);
/// A question is under way.
static ASKING: AtomicBool = AtomicBool::new(false);
/// The runtime does not return names.
static REFUSES: AtomicBool = AtomicBool::new(false);

/// Names of templates are long.
const LONGEST: usize = 8192;

/// Room for a name: more than the stack of a small thread has to spare.
static ROOM: SpinLock<[u8; LONGEST]> = SpinLock::new([0; LONGEST]);

/// How long unloading waits for names that are wanted, and then for a question that is under way, in half
/// milliseconds. Our thread comes by every 5 ms.
const WANTS_ROUNDS: u32 = 200;
const ASKING_ROUNDS: u32 = 200;

/// A call has given `key` a name, which its record contains.
pub(crate) fn named(key: u64) {
    if let Some(kernel) = KERNELS.get_or_insert(key) {
        kernel.settle(NAMED);
    }
}

impl Kernel {
    /// Its name is not wanted any more. Returns whether it was.
    fn settle(&self, state: u8) -> bool {
        let was_wanted = self.state.swap(state, SeqCst) == WANTED;
        if was_wanted {
            WANTS.fetch_sub(1, SeqCst);
        }
        was_wanted
    }
}

/// A kernel was launched: its name is wanted, once. Returns whether a thread of the tool must query it.
pub(crate) fn launched(call: &Context<'_>, begin: u64) -> bool {
    let is_launch = call.is(Fact::ByHandle);
    let Some(handle) = call.arg(call.function.label).filter(|_| is_launch) else {
        return false;
    };
    let Some(kernel) = KERNELS.get_or_insert(handle) else {
        return false;
    };
    kernel.state.load(Relaxed) == UNKNOWN
        && session::is_timed()
        && syscall_policy::is_allowed()
        && !REFUSES.load(Relaxed)
        && want(kernel, begin)
}

#[cold]
fn want(kernel: &Kernel, begin: u64) -> bool {
    kernel.since.store(begin, Relaxed);
    WANTS.fetch_add(1, SeqCst);
    let wanted = kernel
        .state
        .compare_exchange(UNKNOWN, WANTED, SeqCst, Relaxed);
    if wanted.is_err() {
        WANTS.fetch_sub(1, SeqCst);
        return false;
    }
    watch_exit();
    true
}

/// Queries the wanted names. For a thread of the tool, or at the end of the process.
pub(crate) fn ask_wanted(state: &ThreadState) {
    if WANTS.load(Acquire) == 0 {
        return;
    }
    let Some(mut room) = ROOM.try_lock() else {
        return;
    };
    for kernel in KERNELS.iter() {
        if kernel.state.load(Relaxed) != WANTED {
            continue;
        }
        // In this order: a thread that unloads kernels cancels the requests, and then looks whether a
        // query runs.
        ASKING.store(true, SeqCst);
        if kernel.settle(NAMED) {
            let handle = kernel.key.load(Relaxed);
            if let Some(name) = ask(handle, &mut room) {
                let long = long_texts::reference(state, name);
                let named = kinds::Name {
                    since: kernel.since.load(Relaxed),
                    key: handle,
                    name: Text::new(long_texts::bytes(name, long.as_ref())),
                };
                emit::record(state, &named);
            }
        }
        ASKING.store(false, SeqCst);
    }
}

/// Kernels are about to be unloaded. Waits shortly for wanted names; no query is made from then on, and
/// handles may belong to other kernels. `is_asked`: a thread of the tool will make the queries.
pub(crate) fn before_unload(is_asked: bool) {
    let wait = |rounds: u32, is_over: fn() -> bool| {
        for _ in 0..rounds {
            if is_over() {
                break;
            }
            syscall_policy::pause();
        }
    };
    if is_asked {
        wait(WANTS_ROUNDS, || WANTS.load(SeqCst) == 0);
    }
    for kernel in KERNELS.iter() {
        kernel.settle(UNKNOWN);
    }
    wait(ASKING_ROUNDS, || !ASKING.load(SeqCst));
}

fn ask(handle: u64, name: &mut [u8; LONGEST]) -> Option<&[u8]> {
    type GetName = unsafe extern "C" fn(*mut c_void, u32, *mut c_char) -> i32;
    let Some(address) = real::by_name("aclrtGetFunctionName") else {
        REFUSES.store(true, Relaxed);
        return None;
    };
    // SAFETY: the address is that of the function with this name and the signature of `GetName`.
    let get_name = unsafe { core::mem::transmute::<usize, GetName>(address) };
    // SAFETY: the program has launched the kernel, and has unloaded none since; the buffer has the
    // passed length.
    let code = until_exit::call(|| unsafe {
        get_name(
            handle as usize as *mut c_void,
            LONGEST as u32,
            name.as_mut_ptr().cast(),
        )
    })?;
    let text = CStr::from_bytes_until_nul(name).ok()?.to_bytes();
    (code == 0 && !text.is_empty()).then_some(text)
}

/// Another session has no names: those of kernels that are launched again are asked for.
pub(crate) fn ask_again() {
    for kernel in KERNELS.iter() {
        kernel.settle(UNKNOWN);
    }
}

pub(crate) fn forget() {
    ROOM.break_after_fork();
    WANTS.store(0, Relaxed);
    ASKING.store(false, Relaxed);
    for kernel in KERNELS.iter() {
        kernel.state.store(UNKNOWN, Relaxed);
    }
}
