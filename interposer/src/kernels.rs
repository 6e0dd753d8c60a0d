//! Names of kernels that the trace does not learn from the call which looks a kernel up: that may
//! have gone by entry instead of by name, or have happened before we were there.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};

use crate::call::Context;
use crate::objects::keyed;
use crate::spin::SpinLock;
use crate::table::{Entry, HandleTable};
use crate::thread::Asking;
use crate::{emit, lifecycle, real, session};

/// A kernel whose name is in the trace.
struct Kernel {
    key: AtomicU64,
    is_named: AtomicBool,
}

keyed!(Kernel);

static KERNELS: HandleTable<Kernel, 16_384> = HandleTable::new(
    [const {
        Kernel {
            key: AtomicU64::new(0),
            is_named: AtomicBool::new(false),
        }
    }; 16_384],
);

/// The runtime does not tell names.
static REFUSES: AtomicBool = AtomicBool::new(false);

/// A name that does not fit is an error, which would be left to the program; names of templates are long.
const LONGEST: usize = 8192;

/// Room for a name: more than the stack of a small thread has to spare. Whoever finds it taken asks with the
/// next launch.
static ROOM: SpinLock<[u8; LONGEST]> = SpinLock::new([0; LONGEST]);

/// A call has given what `key` stands for a name, and says so itself.
pub(crate) fn named(key: u64) {
    if let Some(kernel) = KERNELS.get_or_insert(key) {
        kernel.is_named.store(true, Relaxed);
    }
}

/// Launches whose handles the runtime tells the names of.
const LAUNCHES: [&str; 2] = ["aclrtLaunch", "rtLaunchKernelByFuncHandle"];

/// A kernel was launched, so its handle is a good one: asks for its name, once.
pub(crate) fn launched(call: &Context<'_>, begin: u64) {
    let is_launch = (LAUNCHES.iter()).any(|prefix| call.function.name.starts_with(prefix));
    let Some(handle) = call.arg(call.function.label).filter(|_| is_launch) else {
        return;
    };
    let Some(kernel) = KERNELS.get_or_insert(handle) else {
        return;
    };
    if kernel.is_named.load(Relaxed) || !session::is_timed() || REFUSES.load(Relaxed) {
        return;
    }
    let Some(_outside) = lifecycle::Outside::begin(call.state) else {
        return;
    };
    let Some(mut name) = ROOM.try_lock() else {
        return;
    };
    kernel.is_named.store(true, Relaxed);
    match ask(handle, &mut name) {
        Some(name) => emit::name(call.state, handle, begin, name),
        None => REFUSES.store(true, Relaxed),
    }
}

fn ask(handle: u64, name: &mut [u8; LONGEST]) -> Option<&[u8]> {
    type GetName = unsafe extern "C" fn(*mut c_void, u32, *mut c_char) -> i32;
    let address = real::by_name("aclrtGetFunctionName")?;
    // SAFETY: the address is that of the function with this name, whose signature `GetName` repeats.
    let get_name = unsafe { core::mem::transmute::<usize, GetName>(address) };
    let _asking = Asking::begin();
    // SAFETY: the program has just launched the kernel; the buffer has the length that is told.
    let code = unsafe {
        get_name(
            handle as usize as *mut c_void,
            LONGEST as u32,
            name.as_mut_ptr().cast(),
        )
    };
    let text = CStr::from_bytes_until_nul(name).ok()?.to_bytes();
    (code == 0 && !text.is_empty()).then_some(text)
}

pub(crate) fn forget() {
    ROOM.break_after_fork();
    for kernel in KERNELS.iter() {
        kernel.is_named.store(false, Relaxed);
    }
}
