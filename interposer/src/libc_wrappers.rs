//! Functions of the C library after which this library may do less in the program's threads:
//!
//! - `pthread_setcanceltype`: a thread that can be cancelled at any instruction must not be while the tracer works in it
//!   (`thread/shield.rs`).
//! - `prctl` and `syscall`, by which a program gives system calls up (seccomp): one that it would not make
//!   itself kills it. The strict mode, and `PR_SET_TSC`, also take the processor's counter from the calling
//!   thread: reading it would kill as well, so calls of that thread are counted, and not recorded.
//!
//! Each goes on to the function that the program would have called, with its arguments as they were.

use core::ffi::{CStr, c_int, c_long, c_ulong};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Release};

use crate::timing::harvester;
use crate::{loader, syscall_policy, system, thread};

const ASYNCHRONOUS: c_int = 1;
/// `SECCOMP_MODE_STRICT`: the calling thread may read, write and end, and not read the counter.
const STRICT: c_ulong = 1;
/// Whether the calling thread may read the processor's counter.
const PR_SET_TSC: c_int = 26;
const TSC_ENABLED: c_ulong = 1;
const TSC_FAULTS: c_ulong = 2;

static SET_CANCEL_TYPE: AtomicUsize = AtomicUsize::new(0);
static PRCTL: AtomicUsize = AtomicUsize::new(0);
static SYSCALL: AtomicUsize = AtomicUsize::new(0);

/// Finds the functions that the program would call without us. Until then the kernel is asked instead.
pub(crate) fn prepare() {
    find(&SET_CANCEL_TYPE, c"pthread_setcanceltype");
    find(&PRCTL, c"prctl");
    find(&SYSCALL, c"syscall");
    thread::shield::prepare();
    personality::prepare();
}

fn find(place: &AtomicUsize, name: &CStr) -> usize {
    let known = place.load(Acquire);
    if known != 0 {
        return known;
    }
    let found = loader::next(name).unwrap_or(0);
    place.store(found, Release);
    found
}

/// The program may be about to give system calls up.
#[cold]
fn gives_up() {
    if syscall_policy::is_allowed() {
        syscall_policy::give_up();
        harvester::end();
    }
}

/// Stands in for the C library's.
// SAFETY: the name is the C library's on purpose.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int {
    type Real = unsafe extern "C-unwind" fn(c_int, *mut c_int) -> c_int;
    let real = find(&SET_CANCEL_TYPE, c"pthread_setcanceltype");
    if real == 0 {
        return libc::ENOSYS;
    }
    // SAFETY: the function of this name has the signature `Real`.
    let real = unsafe { core::mem::transmute::<usize, Real>(real) };
    // The thread may be cancelled at once.
    if kind == ASYNCHRONOUS {
        thread::with(|state| state.set_fragile(true));
    }
    // SAFETY: the arguments are the program's own.
    let answer = unsafe { real(kind, before) };
    if answer != 0 || kind != ASYNCHRONOUS {
        thread::with(|state| state.set_fragile(kind == ASYNCHRONOUS && answer == 0));
    }
    answer
}

/// Stands in for the C library's, which takes as many arguments as it is given, five at most.
// SAFETY: the name is the C library's on purpose.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn prctl(
    option: c_int,
    a: c_ulong,
    b: c_ulong,
    c: c_ulong,
    d: c_ulong,
) -> c_int {
    type Real = unsafe extern "C-unwind" fn(c_int, c_ulong, c_ulong, c_ulong, c_ulong) -> c_int;
    if option == libc::PR_SET_SECCOMP && a != STRICT {
        gives_up();
    }
    // From then on the processor's counter may not be read in this thread: nothing can be timed.
    let loses_counter =
        option == libc::PR_SET_SECCOMP && a == STRICT || option == PR_SET_TSC && a == TSC_FAULTS;
    if loses_counter {
        thread::with(|state| state.set_blind(true));
    }
    let answer = match PRCTL.load(Acquire) {
        0 => {
            let args = [
                option as usize,
                a as usize,
                b as usize,
                c as usize,
                d as usize,
                0,
            ];
            // SAFETY: the call is the program's own.
            as_libc(unsafe { system::call(libc::SYS_prctl, args) }) as c_int
        }
        real => {
            // SAFETY: the function of this name; a variable number of integers is passed as these are.
            let real = unsafe { core::mem::transmute::<usize, Real>(real) };
            // SAFETY: the arguments are the program's own.
            unsafe { real(option, a, b, c, d) }
        }
    };
    let gets_counter = option == PR_SET_TSC && a == TSC_ENABLED;
    if loses_counter && answer != 0 || gets_counter && answer == 0 {
        thread::with(|state| state.set_blind(false));
    }
    answer
}

/// Stands in for the C library's, which takes as many arguments as it is given, seven at most.
// SAFETY: the name is the C library's on purpose.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    type Real =
        unsafe extern "C-unwind" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;
    let is_strict = number == libc::SYS_seccomp && a == 0;
    if number == libc::SYS_seccomp && !is_strict {
        gives_up();
    }
    if is_strict {
        thread::with(|state| state.set_blind(true));
    }
    match SYSCALL.load(Acquire) {
        // SAFETY: the call is the program's own.
        0 => as_libc(unsafe { system::call(number, [a, b, c, d, e, f]) }),
        real => {
            // SAFETY: the function of this name; a variable number of integers is passed as these are.
            let real = unsafe { core::mem::transmute::<usize, Real>(real) };
            // SAFETY: the arguments are the program's own.
            unsafe { real(number, a, b, c, d, e, f) }
        }
    }
}

/// The kernel's result in the form of the C library.
fn as_libc(answer: isize) -> c_long {
    if (-4095..0).contains(&answer) {
        // SAFETY: the C library's errno of this thread is always writable.
        unsafe { *libc::__errno_location() = -answer as c_int };
        return -1;
    }
    answer as c_long
}

/// How the frames of this library are unwound when their thread is cancelled.
///
/// Rust's own rule ends the process when a frame is unwound at an instruction that makes no call. A thread
/// that can be cancelled anywhere is unwound just there.
mod personality {
    use core::ffi::{c_int, c_void};
    use core::sync::atomic::AtomicUsize;
    use core::sync::atomic::Ordering::{Acquire, Release};

    /// `_UA_FORCE_UNWIND`: the thread is being cancelled or ends.
    const FORCED: c_int = 8;
    /// `_URC_CONTINUE_UNWIND`.
    const CONTINUE: c_int = 8;
    /// `_URC_FATAL_PHASE2_ERROR` and `_URC_FATAL_PHASE1_ERROR`.
    const FATAL: [c_int; 2] = [2, 3];

    type Personality = unsafe extern "C" fn(c_int, c_int, u64, *mut c_void, *mut c_void) -> c_int;

    static RUSTS: AtomicUsize = AtomicUsize::new(0);

    /// As Rust's, but a frame without data is skipped.
    unsafe extern "C" fn lenient(
        version: c_int,
        actions: c_int,
        class: u64,
        exception: *mut c_void,
        context: *mut c_void,
    ) -> c_int {
        // The data that such a frame would tidy up may not exist yet, or not any more. The thread's end
        // handles the rest.
        if actions & FORCED != 0 && crate::thread::with(|state| state.is_fragile()) {
            return CONTINUE;
        }
        // SAFETY: stored below, from where the unwinder would have taken it.
        let rusts = unsafe { core::mem::transmute::<usize, Personality>(RUSTS.load(Acquire)) };
        // SAFETY: the unwinder's own arguments.
        let answer = unsafe { rusts(version, actions, class, exception, context) };
        if actions & FORCED != 0 && FATAL.contains(&answer) {
            return CONTINUE;
        }
        answer
    }

    /// Where the frames of this library find their rule.
    fn place() -> *mut usize {
        let place: *mut usize;
        // SAFETY: computes the address of a word that the compiler puts into every library of Rust.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            core::arch::asm!(
                "lea {}, [rip + DW.ref.rust_eh_personality]",
                out(reg) place,
                options(nomem, nostack, preserves_flags),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            core::arch::asm!(
                "adrp {0}, DW.ref.rust_eh_personality",
                "add {0}, {0}, :lo12:DW.ref.rust_eh_personality",
                out(reg) place,
                options(nomem, nostack, preserves_flags),
            );
        }
        place
    }

    /// Called once, when the library has been loaded.
    pub(super) fn prepare() {
        let place = place();
        // SAFETY: the word exists, in memory that is written when the library is loaded.
        let rusts = unsafe { core::ptr::read_volatile(place) };
        if rusts == 0 || RUSTS.compare_exchange(0, rusts, Release, Acquire).is_err() {
            return;
        }
        let own = lenient as *const () as usize;
        // SAFETY: as above; the compiler puts it into writable data, and words are stored in one go.
        unsafe { core::ptr::write_volatile(place, own) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarded_functions_return_as_before() {
        let mut before = -1;
        // SAFETY: changes how this thread is cancelled, which no other code does.
        let answers = unsafe {
            [
                pthread_setcanceltype(ASYNCHRONOUS, &mut before),
                pthread_setcanceltype(0, &mut before),
            ]
        };
        assert_eq!((answers, before), ([0, 0], ASYNCHRONOUS));
        thread::with(|state| assert!(!state.is_fragile()));
        let mut name = [0u8; 16];
        let place = name.as_mut_ptr() as c_ulong;
        // SAFETY: the kernel writes at most 16 bytes; the others change nothing.
        unsafe {
            assert_eq!(prctl(libc::PR_GET_NAME, place, 0, 0, 0), 0);
            assert_eq!(prctl(-1, 0, 0, 0, 0), -1);
            assert_eq!(
                syscall(libc::SYS_getpid, 0, 0, 0, 0, 0, 0) as i32,
                libc::getpid()
            );
            assert_eq!(syscall(libc::SYS_close, usize::MAX, 0, 0, 0, 0, 0), -1);
            assert_eq!(*libc::__errno_location(), libc::EBADF);
        }
        assert_ne!(name, [0; 16]);
    }
}
