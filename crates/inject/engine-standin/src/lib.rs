//! A stand-in for Frida's Gum, which no package registry has: for tests only.
//!
//! It exports the functions of Gum that the engine uses, under their names, so that the engine can be
//! linked against it; and it is an engine itself, so that tests can do without the bindings to Gum and
//! libclang. It patches in the simplest way, by a jump at the function's begin. It patches only functions
//! with first instructions that it can move elsewhere; it refuses the others, as Gum refuses some.

#![expect(unsafe_code, reason = "patches functions of the running program")]

pub mod gum;
mod memory;
mod relocated_code;

use core::ffi::c_void;

use ascend_trace_engine::Patcher;
use ascend_trace_format::engine::{EngineTable, HostTable, PatchOutcome, PatchRequest, VERSION};

/// Uses the functions of [`gum`] as the bindings do.
struct StandIn(*mut c_void);

// SAFETY: as `gum` says of itself: the jumps keep all registers that calls use, copies of functions
// are complete when `replace` returns, and nothing is ever taken back.
unsafe impl Patcher for StandIn {
    fn begin(&mut self) {
        // SAFETY: the pointer is the result of `obtain`.
        unsafe { gum::gum_interceptor_begin_transaction(self.0) };
    }

    unsafe fn replace(&mut self, entry: usize, replacement: usize) -> Result<usize, PatchOutcome> {
        let mut original = core::ptr::null_mut();
        let (entry, replacement) = (entry as *mut c_void, replacement as *mut c_void);
        // SAFETY: as above; the functions are the caller's to vouch for.
        let code = unsafe {
            gum::gum_interceptor_replace_fast(self.0, entry, replacement, &raw mut original)
        };
        match code {
            gum::OK => Ok(original as usize),
            _ => Err(PatchOutcome::Refused),
        }
    }

    fn commit(&mut self) {
        // SAFETY: as above.
        unsafe { gum::gum_interceptor_end_transaction(self.0) };
    }
}

unsafe extern "C" fn install(host: *const HostTable, patches: *mut PatchRequest, count: usize) {
    let make = || {
        gum::gum_init_embedded();
        Box::new(StandIn(gum::gum_interceptor_obtain())) as Box<dyn Patcher>
    };
    // SAFETY: the caller obeys the contract of the table.
    unsafe { ascend_trace_engine::install(host, patches, count, make) };
}

static ENGINE: EngineTable = EngineTable {
    version: VERSION,
    install,
};

/// The one way in, see `ascend_trace_format::engine`.
// SAFETY: the name belongs to this agreement alone.
#[unsafe(no_mangle)]
pub extern "C" fn ascend_trace_engine() -> *const EngineTable {
    &raw const ENGINE
}
