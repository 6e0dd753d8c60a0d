//! Loading the engine.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::engine::{ENTRY, EngineEntry, EngineTable, VERSION};

use super::{library, loaded};
use crate::{environment, session};

/// The environment variable [`ascend_trace_format::engine::VARIABLE`], as a C string.
const VARIABLE: &CStr = c"ASCEND_TRACE_ENGINE";

const NOT_ASKED: u8 = 0;
const UNWANTED: u8 = 1;
const WANTED: u8 = 2;
const FAILED: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(NOT_ASKED);

/// Whether there is or may be an engine.
#[inline]
pub(super) fn is_wanted() -> bool {
    match STATE.load(Relaxed) {
        NOT_ASKED => ask(),
        state => state == WANTED,
    }
}

#[cold]
fn ask() -> bool {
    if !environment::is_ready() {
        return false;
    }
    let wanted = path().is_some();
    STATE.store(if wanted { WANTED } else { UNWANTED }, Relaxed);
    wanted
}

fn path() -> Option<&'static CStr> {
    // SAFETY: a lookup by a C string; the environment is not changed while the loader or the first
    // call runs, as far as a library can know.
    let value: *const c_char = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: getenv returns a C string.
    let value = unsafe { CStr::from_ptr(value) };
    (!value.is_empty()).then_some(value)
}

/// The engine, loaded by the first caller. A failure is reported, and loading is not tried again.
pub(super) fn engine() -> Option<&'static EngineTable> {
    loaded::get().or_else(load)
}

fn load() -> Option<&'static EngineTable> {
    match path().ok_or(c"").and_then(open) {
        Ok(engine) => {
            loaded::set(engine);
            session::note(session::ENGINE, true);
            Some(engine)
        }
        Err(message) => {
            STATE.store(FAILED, Relaxed);
            library::tell_failure(message.to_bytes());
            None
        }
    }
}

fn open(path: &'static CStr) -> Result<&'static EngineTable, &'static CStr> {
    let flags = libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE;
    // SAFETY: loads a library that the user has named to this tool.
    let handle: *mut c_void = unsafe { libc::dlopen(path.as_ptr(), flags) };
    if handle.is_null() {
        return Err(failure());
    }
    // SAFETY: the handle is that of the library.
    let entry = unsafe { libc::dlsym(handle, ENTRY.as_ptr()) };
    if entry.is_null() {
        return Err(c"it is not an engine of ascend-trace");
    }
    // SAFETY: a function of this name is of this type.
    let entry = unsafe { core::mem::transmute::<*mut c_void, EngineEntry>(entry) };
    // SAFETY: returns null or a table that stays.
    match unsafe { entry().as_ref() } {
        Some(engine) if engine.version == VERSION => Ok(engine),
        Some(_) => Err(c"it is of another version of ascend-trace"),
        None => Err(c"it does not work here"),
    }
}

/// The loader's text about the last failure; valid until this thread's next one.
fn failure() -> &'static CStr {
    // SAFETY: asks the loader for its message.
    let message = unsafe { libc::dlerror() };
    if message.is_null() {
        return c"the loader does not say why";
    }
    // SAFETY: a C string, which is used before the loader is called again.
    unsafe { CStr::from_ptr(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_the_one_that_the_command_sets() {
        let name = VARIABLE.to_bytes();
        assert_eq!(name, ascend_trace_format::engine::VARIABLE.as_bytes());
    }

    #[test]
    fn a_library_that_is_no_engine_is_refused_with_a_reason() {
        let missing = open(c"/nowhere/libengine.so").unwrap_err();
        assert!(missing.to_str().unwrap().contains("/nowhere/libengine.so"));
        assert_eq!(
            open(c"libc.so.6").unwrap_err(),
            c"it is not an engine of ascend-trace"
        );
    }
}
