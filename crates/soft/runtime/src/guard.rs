//! Catches a tracer that meddles with the program (option `catch`): the process ends with a message.
//!
//! A tracer is a library that stands between the program and this one, by name. Its wrappers pass the program's
//! calls on under their own name; every other call that comes out of it is the tracer's own. Who called is read
//! off the stack, which is slow and happens only with the option.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::ffi::give_up;
use crate::process;

/// Parts of the names of the tracer's files.
const TRACERS: [&str; 2] = ["ascend_trace", "ascend-trace"];

/// How the names of the files of operators begin, which call this library for the program.
const OPERATORS: [&str; 2] = ["libopapi", "libaclnn_"];

/// How long the end of the runtime takes.
const LASTING: Duration = Duration::from_millis(20);

/// The runtime's destructors have run.
static ENDED: AtomicBool = AtomicBool::new(false);
/// Running calls in threads of the tracer, and their process: a child has no such calls.
static UNDER_WAY: AtomicU32 = AtomicU32::new(0);
static COUNTED_IN: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static IS_TRACERS: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Who made a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallOrigin {
    Program,
    /// The tracer, in a thread of the program's.
    TracerInProgram,
    /// The tracer, in a separate thread.
    TracerAlone,
}

/// A call under way.
pub(crate) struct Call {
    is_tracers: bool,
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.is_tracers {
            UNDER_WAY.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn is_on() -> bool {
    process::options().catch
}

/// Forgets the calls of threads that are the parent's.
fn count_here() {
    let own = std::process::id();
    if COUNTED_IN.swap(own, Ordering::AcqRel) != own {
        UNDER_WAY.store(0, Ordering::Release);
    }
}

/// A call begins.
pub(crate) fn enter(function: &str) -> Option<Call> {
    if !is_on() {
        return None;
    }
    let known = IS_TRACERS.try_with(Cell::get).ok().flatten();
    let is_tracers = known.unwrap_or_else(|| {
        let alone = caller(function) == CallOrigin::TracerAlone;
        let _ = IS_TRACERS.try_with(|own| own.set(Some(alone)));
        alone
    });
    if ENDED.load(Ordering::Acquire) && (is_tracers || caller(function) != CallOrigin::Program) {
        give_up(&format!(
            "{function} was called by the tracer after the runtime's destructors: on a card it runs freed code"
        ));
    }
    if is_tracers {
        count_here();
        UNDER_WAY.fetch_add(1, Ordering::AcqRel);
    }
    Some(Call { is_tracers })
}

/// Runs when the process ends, after the program's own exit handlers. Makes nothing that is not there.
extern "C" fn at_exit() {
    if let Some(options) = process::known_options() {
        process::flush_truth();
        end(options.catch);
    }
}

#[used]
// SAFETY: a pointer to an `extern "C"` function without arguments is what this section holds.
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// The runtime's destructors run.
fn end(catch: bool) {
    ENDED.store(true, Ordering::Release);
    count_here();
    if UNDER_WAY.load(Ordering::Acquire) != 0 {
        give_up(
            "a call of the tracer's was under way when the runtime's destructors ran: on a card it runs freed code",
        );
    }
    if catch {
        // As long as a runtime takes to end: late calls must be detected.
        std::thread::sleep(LASTING);
    }
}

/// A call failed, or was refused: its error is the calling thread's from now on.
pub(crate) fn left_an_error(function: &str, code: i32) {
    if is_on() && caller(function) == CallOrigin::TracerInProgram {
        give_up(&format!(
            "{function} was called by the tracer in a thread of the program's and left the error {code} there"
        ));
    }
}

/// Somebody takes an error away that the program has not seen.
pub(crate) fn took_an_error(function: &str) {
    if is_on() && caller(function) != CallOrigin::Program {
        give_up(&format!(
            "{function} was called by the tracer and took an error that is the program's"
        ));
    }
}

/// Facts about one return address.
struct ReturnAddress {
    is_own: bool,
    is_tracers: bool,
    is_system: bool,
    /// The exported function around it.
    symbol: Option<String>,
}

fn frame(address: *mut c_void, own_base: usize) -> Option<ReturnAddress> {
    // SAFETY: plain data that dladdr fills in.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is only looked up.
    if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr gives strings that live as long as the library.
    let file = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy();
    let name = file.rsplit('/').next().unwrap_or(&file);
    let symbol = (!info.dli_sname.is_null()).then(|| {
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(info.dli_sname) };
        text.to_string_lossy().into_owned()
    });
    Some(ReturnAddress {
        is_own: info.dli_fbase as usize == own_base
            || OPERATORS.iter().any(|start| name.starts_with(start)),
        is_tracers: TRACERS.iter().any(|part| name.contains(part)) && name.contains(".so"),
        is_system: ["libc.so", "libpthread", "ld-linux", "libc-"]
            .iter()
            .any(|part| name.starts_with(part)),
        symbol,
    })
}

/// Whose call this is, from the inside out.
fn caller(function: &str) -> CallOrigin {
    const MOST: usize = 64;
    let mut addresses = [std::ptr::null_mut::<c_void>(); MOST];
    // SAFETY: there is room for as many addresses as asked for.
    let count = unsafe { libc::backtrace(addresses.as_mut_ptr(), MOST as i32) };
    let mut own: libc::Dl_info = unsafe {
        // SAFETY: plain data that dladdr fills in.
        std::mem::zeroed()
    };
    // SAFETY: the address of a function of this library is only looked up.
    unsafe { libc::dladdr(caller as *const c_void, &raw mut own) };
    let own_base = own.dli_fbase as usize;
    let frames = addresses.iter().take(count.max(0) as usize);
    let mut frames = frames
        .filter_map(|&address| frame(address, own_base))
        .skip_while(|frame| frame.is_own);
    let mut outermost: Option<ReturnAddress> = None;
    let mut program_follows = false;
    for frame in &mut frames {
        // The tracer's wrappers have the addresses of the functions that they wrap.
        if frame.is_tracers || frame.is_own && outermost.is_some() {
            outermost = Some(frame);
        } else if !frame.is_system && !frame.is_own {
            program_follows = true;
            break;
        }
    }
    match outermost {
        None => CallOrigin::Program,
        Some(wrapper) if wrapper.symbol.as_deref() == Some(function) => CallOrigin::Program,
        Some(_) if program_follows => CallOrigin::TracerInProgram,
        Some(_) => CallOrigin::TracerAlone,
    }
}
