//! `--engine frida`: an engine that uses Frida's Gum to patch functions.
//!
//! Of Gum only `replace_fast` is used: the patch is a jump to our wrapper, and nothing of Gum runs
//! during a call. Its other ways save the state of every call and put another return address on the
//! stack, which costs twenty times as much and ends programs that throw exceptions.

#![cfg(feature = "gum")]
#![expect(unsafe_code, reason = "patches functions of the running program")]

use std::mem::ManuallyDrop;

use ascend_trace_engine::Patcher;
use ascend_trace_format::engine::{EngineTable, HostTable, PatchOutcome, PatchRequest, VERSION};
use frida_gum::interceptor::Interceptor;
use frida_gum::{Gum, NativePointer};

/// Gum takes back every patch when the last of these is dropped, which must never happen while the
/// program lives: so they are not dropped, not even when a recording ends.
struct Frida(ManuallyDrop<Interceptor>);

impl Frida {
    fn obtain() -> Self {
        let gum = ManuallyDrop::new(Gum::obtain());
        Self(ManuallyDrop::new(Interceptor::obtain(&gum)))
    }
}

fn pointer(address: usize) -> NativePointer {
    NativePointer(address as *mut _)
}

// SAFETY: what Gum has replaced goes on to the replacement with all registers and the stack as they
// were; its trampolines can be called before the transaction ends, because their memory is
// executable from the start on Linux; and nothing is taken back, because nothing is dropped.
unsafe impl Patcher for Frida {
    fn begin(&mut self) {
        self.0.begin_transaction();
    }

    unsafe fn replace(&mut self, entry: usize, replacement: usize) -> Result<usize, PatchOutcome> {
        match self.0.replace_fast(pointer(entry), pointer(replacement)) {
            Ok(original) if !original.is_null() => Ok(original.0 as usize),
            _ => Err(PatchOutcome::Refused),
        }
    }

    fn commit(&mut self) {
        self.0.end_transaction();
    }
}

unsafe extern "C" fn install(host: *const HostTable, patches: *mut PatchRequest, count: usize) {
    // SAFETY: the caller obeys the contract of the table.
    unsafe {
        ascend_trace_engine::install(host, patches, count, || Box::new(Frida::obtain()));
    }
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
