//! The functions of Gum 17.9.5 that the engine uses, with their names and parameters.

use core::ffi::{c_int, c_void};
use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::{memory, relocated_code};

/// Codes of `GumReplaceReturn`.
pub const OK: c_int = 0;
pub const WRONG_SIGNATURE: c_int = -1;
pub const ALREADY_REPLACED: c_int = -2;

/// A patch that takes effect when the transaction ends.
struct PendingPatch {
    entry: usize,
    replacement: usize,
}

#[derive(Default)]
struct InterceptorState {
    in_transaction: bool,
    waiting: Vec<PendingPatch>,
    replaced: BTreeSet<usize>,
}

static STATE: Mutex<Option<InterceptorState>> = Mutex::new(None);

fn with<T>(action: impl FnOnce(&mut InterceptorState) -> T) -> T {
    let mut state = STATE.lock().unwrap_or_else(|error| error.into_inner());
    action(state.get_or_insert_default())
}

/// Nothing needs to be made ready.
// SAFETY: as for all names here: they are Gum's, which this crate replaces.
#[unsafe(no_mangle)]
pub extern "C" fn gum_init_embedded() {}

/// Gum would put every function back. This must not happen in a program that lives: tests see it.
#[unsafe(no_mangle)]
pub extern "C" fn gum_deinit_embedded() {
    std::process::abort();
}

/// There is one interceptor; its address means nothing.
#[unsafe(no_mangle)]
pub extern "C" fn gum_interceptor_obtain() -> *mut c_void {
    (&raw const STATE).cast_mut().cast()
}

#[unsafe(no_mangle)]
pub extern "C" fn _frida_g_object_ref(object: *mut c_void) -> *mut c_void {
    object
}

/// The last reference would put every function back, as above; the engine keeps all.
#[unsafe(no_mangle)]
pub extern "C" fn _frida_g_object_unref(_: *mut c_void) {
    std::process::abort();
}

/// # Safety
/// No requirements. The function is unsafe because Gum's function is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gum_interceptor_begin_transaction(_: *mut c_void) {
    with(|state| state.in_transaction = true);
}

/// # Safety
/// `entry` must be that of a function that stays loaded, `replacement` one that takes its calls;
/// `original` null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gum_interceptor_replace_fast(
    _: *mut c_void,
    entry: *mut c_void,
    replacement: *mut c_void,
    original: *mut *mut c_void,
) -> c_int {
    let (entry, replacement) = (entry as usize, replacement as usize);
    with(|state| {
        if state.replaced.contains(&entry) {
            return ALREADY_REPLACED;
        }
        // SAFETY: a function's first bytes; code is mapped in whole pages, and begins aligned.
        let head = unsafe { core::slice::from_raw_parts(entry as *const u8, HEAD) };
        let Some(copy) = memory::keep(MOST, |address| relocated_code::copy(head, entry, address))
        else {
            return WRONG_SIGNATURE;
        };
        if !original.is_null() {
            // SAFETY: as the caller says.
            unsafe { *original = copy as *mut c_void };
        }
        state.replaced.insert(entry);
        state.waiting.push(PendingPatch { entry, replacement });
        if !state.in_transaction {
            commit(state);
        }
        OK
    })
}

/// Bytes that are looked at: more than the longest instructions that a patch can touch.
const HEAD: usize = 32;
/// Room for a copy: instructions may become longer at another address.
const MOST: usize = 256;

/// # Safety
/// No other thread may run the functions that were replaced.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gum_interceptor_end_transaction(_: *mut c_void) {
    with(|state| {
        state.in_transaction = false;
        commit(state);
    });
}

fn commit(state: &mut InterceptorState) {
    for patch in state.waiting.drain(..) {
        memory::overwrite(patch.entry, &memory::jump(patch.replacement));
    }
}
