//! `dlsym` and `dlvsym`. Most clients fetch AscendCL's functions with them: PyTorch all but a few,
//! MindSpore all.
//!
//! For a foreign name, control jumps to the real function, so that it sees the caller's return address,
//! by which it finds the caller's place in the search order. For a name of the table, the lookup is
//! made first: a name that the real libraries lack stays NULL, because clients find out by this query
//! the functions of a release; for an existing function the result is a wrapper for that very address.

use core::ffi::{CStr, c_char, c_void};
use core::ops::ControlFlow;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Release};

use super::walk::{self, Holder};
use super::{slots, weak};
use crate::stubs::{self, Refusal};
use crate::{engine, large_stack, libraries, names, real, session, symbol_lookups};

type Handle = *mut c_void;

/// The next step of the assembly: jump to `jump` with unchanged arguments, unless that is 0; else
/// return `answer`.
#[repr(C)]
struct Verdict {
    answer: usize,
    jump: usize,
}

impl Verdict {
    fn answer(address: usize) -> Self {
        Self {
            answer: address,
            jump: 0,
        }
    }

    fn jump(address: usize) -> Self {
        Self {
            answer: 0,
            jump: address,
        }
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! ask_first {
    ($decide:ident) => {
        core::arch::naked_asm!(
            "push rdi",
            "push rsi",
            "push rdx",
            "mov rcx, [rsp + 24]",
            "call {decide}",
            "mov r11, rdx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "test r11, r11",
            "jnz 2f",
            "ret",
            "2:",
            "jmp r11",
            decide = sym $decide,
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! ask_first {
    ($decide:ident) => {
        core::arch::naked_asm!(
            "stp x29, x30, [sp, #-48]!",
            "mov x29, sp",
            "stp x0, x1, [sp, #16]",
            "str x2, [sp, #32]",
            "mov x3, x30",
            "bl {decide}",
            "mov x16, x1",
            "cbz x16, 2f",
            "ldp x0, x1, [sp, #16]",
            "ldr x2, [sp, #32]",
            "ldp x29, x30, [sp], #48",
            "br x16",
            "2:",
            "ldp x29, x30, [sp], #48",
            "ret",
            decide = sym $decide,
        )
    };
}

/// Stands in for the C library's.
///
/// # Safety
/// As `dlsym`.
// SAFETY: the name is the C library's on purpose.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn dlsym(_: Handle, _: *const c_char) -> *mut c_void {
    ask_first!(decide_dlsym)
}

/// Stands in for the C library's.
///
/// # Safety
/// As `dlvsym`.
// SAFETY: the name is the C library's on purpose.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn dlvsym(_: Handle, _: *const c_char, _: *const c_char) -> *mut c_void {
    ask_first!(decide_dlvsym)
}

/// Functions of the loader that this library replaces, and the addresses of the real ones.
static REAL: [(&CStr, AtomicUsize); 4] = [
    (c"dlsym", AtomicUsize::new(0)),
    (c"dlvsym", AtomicUsize::new(0)),
    (c"dladdr", AtomicUsize::new(0)),
    (c"dladdr1", AtomicUsize::new(0)),
];

/// The function of this name that would be called without this library, if this library replaces it:
/// the next in order, which may be another tool's.
pub(super) fn stood_in_for(name: &CStr) -> Option<usize> {
    let (name, cache) = REAL.iter().find(|(known, _)| *known == name)?;
    let known = match cache.load(Acquire) {
        0 => {
            let found = super::next(name).unwrap_or(0);
            cache.store(found, Release);
            found
        }
        known => known,
    };
    (known != 0).then_some(known)
}

/// The `dlsym` that would be called without us.
pub(super) fn real() -> Option<usize> {
    stood_in_for(c"dlsym")
}

/// Whether this library replaces a function of the loader.
pub(super) fn has_stand_in(name: &[u8]) -> bool {
    name.starts_with(b"dl") && REAL.iter().any(|(known, _)| known.to_bytes() == name)
}

/// Whether an address is that of the real function of this name, which this library replaces.
pub(super) fn is_real(name: &CStr, address: usize) -> bool {
    stood_in_for(name) == Some(address)
}

/// How the caller asks: with or without a version.
#[derive(Clone, Copy)]
pub(super) struct SymbolLookup<'a> {
    name: &'a CStr,
    version: *const c_char,
    function: usize,
}

impl<'a> SymbolLookup<'a> {
    /// A lookup of a name, or of one version of it.
    pub(super) fn of(name: &'a CStr, version: Option<&'a CStr>) -> Option<Self> {
        let function = match version {
            None => stood_in_for(c"dlsym"),
            Some(_) => stood_in_for(c"dlvsym"),
        };
        Some(Self {
            name,
            version: version.map_or(core::ptr::null(), CStr::as_ptr),
            function: function?,
        })
    }

    /// Asks the real function, as a caller in this library.
    pub(super) fn ask(&self, handle: Handle) -> usize {
        let name = self.name.as_ptr();
        if self.version.is_null() {
            type Real = unsafe extern "C" fn(Handle, *const c_char) -> Handle;
            // SAFETY: the address is that of `dlsym`.
            let real = unsafe { core::mem::transmute::<usize, Real>(self.function) };
            // SAFETY: the handle is the program's own or one of the fixed ones.
            return unsafe { real(handle, name) } as usize;
        }
        type Real = unsafe extern "C" fn(Handle, *const c_char, *const c_char) -> Handle;
        // SAFETY: the address is that of `dlvsym`.
        let real = unsafe { core::mem::transmute::<usize, Real>(self.function) };
        // SAFETY: as above; the version is the program's own string.
        unsafe { real(handle, name, self.version) as usize }
    }
}

unsafe extern "C" fn decide_dlsym(
    handle: Handle,
    name: *const c_char,
    _: *const c_char,
    caller: usize,
) -> Verdict {
    let function = stood_in_for(c"dlsym").unwrap_or(0);
    decide(handle, name, core::ptr::null(), caller, function)
}

unsafe extern "C" fn decide_dlvsym(
    handle: Handle,
    name: *const c_char,
    version: *const c_char,
    caller: usize,
) -> Verdict {
    let function = stood_in_for(c"dlvsym").unwrap_or(0);
    decide(handle, name, version, caller, function)
}

/// What there is to do for our names may need more stack than is left.
fn decide(
    handle: Handle,
    name: *const c_char,
    version: *const c_char,
    caller: usize,
    function: usize,
) -> Verdict {
    // SAFETY: the program asks for a C string, or for none.
    let is_ours = !name.is_null() && is_ours(unsafe { CStr::from_ptr(name) }.to_bytes());
    match is_ours {
        true => large_stack::run(|| decide_here(handle, name, version, caller, function)),
        false => decide_here(handle, name, version, caller, function),
    }
}

fn is_ours(name: &[u8]) -> bool {
    names::is_acl(name) || names::is_below(name) || names::id(name).is_some()
}

fn decide_here(
    handle: Handle,
    name: *const c_char,
    version: *const c_char,
    caller: usize,
    function: usize,
) -> Verdict {
    if function == 0 || name.is_null() {
        return Verdict::jump(function);
    }
    // SAFETY: the program asks for a C string.
    let name = unsafe { CStr::from_ptr(name) };
    let is_acl = names::is_acl(name.to_bytes());
    if is_acl {
        engine::look();
    }
    let question = SymbolLookup {
        name,
        version,
        function,
    };
    // Before the initialisation of this library, the caller may be a sanitizer that looks up the
    // functions it replaces, and the C library cannot be used.
    if is_acl || session::has_begun() {
        slots::sweep_if_new();
    }
    let Some(id) = names::id(name.to_bytes()) else {
        return match name.to_bytes() {
            _ if is_acl && session::is_on() => unknown(&question, handle, caller),
            text if names::is_below(text) && session::is_on() => unknown_below(&question, handle),
            text if has_stand_in(text) => own_question(&question, handle),
            _ => Verdict::jump(function),
        };
    };
    if weak::sweep_if_new() {
        libraries::tell_new();
    }
    let verdict = match handle {
        libc::RTLD_NEXT => next(&question, id, caller),
        libc::RTLD_DEFAULT => everywhere(&question, id, caller),
        handle => behind_handle(&question, handle, id, caller),
    };
    symbol_lookups::known(id, name, verdict.answer != 0 || verdict.jump != 0);
    verdict
}

/// `dlsym` and its kind. A handle that leads past this library to a replaced function gets the result
/// of a plain reference, so that the program knows one address of each.
fn own_question(question: &SymbolLookup<'_>, handle: Handle) -> Verdict {
    let is_explicit = handle != libc::RTLD_NEXT && handle != libc::RTLD_DEFAULT;
    if is_explicit
        && is_real(question.name, question.ask(handle))
        && let Some(own) = super::own(question.name)
    {
        return Verdict::answer(own);
    }
    Verdict::jump(question.function)
}

/// A name of AscendCL that is not in the table: what there is of it gets a stub, if it is a function.
fn unknown(question: &SymbolLookup<'_>, handle: Handle, caller: usize) -> Verdict {
    let found = match handle {
        libc::RTLD_NEXT => walk::holder(caller).and_then(|holder| after(question, &holder)),
        libc::RTLD_DEFAULT => match question.ask(handle) {
            0 => in_scope_of(question, caller),
            found => Some(found),
        },
        handle => Some(question.ask(handle)).filter(|found| *found != 0),
    };
    let Some(found) = found else {
        // The real one reports the missing name.
        symbol_lookups::unknown(question.name, false);
        return Verdict::jump(question.function);
    };
    Verdict::answer(match stubs::install(question.name, found) {
        Ok(stub) => stub,
        Err(refusal) => {
            if refusal != Refusal::Own {
                symbol_lookups::unknown(question.name, true);
            }
            found
        }
    })
}

/// A name that may be one of the layer below AscendCL, and is not in the table. That of another library is left
/// to the real function.
fn unknown_below(question: &SymbolLookup<'_>, handle: Handle) -> Verdict {
    let found = match handle {
        libc::RTLD_NEXT => 0,
        handle => question.ask(handle),
    };
    match stubs::install(question.name, found) {
        Ok(stub) if found != 0 => Verdict::answer(stub),
        _ => Verdict::jump(question.function),
    }
}

/// An explicit handle.
fn behind_handle(question: &SymbolLookup<'_>, handle: Handle, id: usize, caller: usize) -> Verdict {
    match question.ask(handle) {
        0 => Verdict::answer(0),
        // The program's own handle leads to everything from the start, to us before all.
        found if real::is_wrapper(id, found) => everywhere(question, id, caller),
        found => Verdict::answer(real::wrapper_for(id, found)),
    }
}

/// `RTLD_DEFAULT`: the order in which a plain reference in the caller would be resolved.
fn everywhere(question: &SymbolLookup<'_>, id: usize, caller: usize) -> Verdict {
    let first = question.ask(libc::RTLD_DEFAULT);
    let is_other = first != 0 && !real::is_wrapper(id, first);
    let found = match walk::is_late() {
        true if is_other => Some(first),
        true => in_scope_of(question, caller),
        // Another preloaded library before us, which finds us by RTLD_NEXT.
        false if is_other => return Verdict::answer(first),
        false => match question.ask(libc::RTLD_NEXT) {
            0 => in_scope_of(question, caller),
            found => Some(found),
        },
    };
    match found {
        None => Verdict::answer(0),
        Some(found) => Verdict::answer(real::wrapper_for(id, found)),
    }
}

/// The function in the caller's library and the libraries that it needs.
fn in_scope_of(question: &SymbolLookup<'_>, caller: usize) -> Option<usize> {
    let holder = walk::holder(caller)?;
    if holder.is_from_start {
        // Its scope is the one that was just searched, with the right error left behind.
        return None;
    }
    let found = match LibraryHandle::of(&holder) {
        Some(handle) => question.ask(handle.0),
        None => question.ask(libc::RTLD_NEXT),
    };
    (found != 0 && !walk::is_own_address(found)).then_some(found)
}

/// A handle of a library that is loaded, for one question.
struct LibraryHandle(Handle);

impl LibraryHandle {
    fn of(holder: &Holder) -> Option<Self> {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: only returns a handle of an object that is loaded already.
        let handle = unsafe { libc::dlopen(holder.path.text().as_ptr(), flags) };
        (!handle.is_null()).then_some(Self(handle))
    }
}

// No `Drop`: closing a handle is a call to the loader which would clear the error that a failed
// question has left for the program, and the reference it keeps does no harm.

/// `RTLD_NEXT`: the objects after the caller.
fn next(question: &SymbolLookup<'_>, id: usize, caller: usize) -> Verdict {
    let Some(holder) = walk::holder(caller) else {
        return Verdict::jump(question.function);
    };
    let own = walk::holder(walk::own_address());
    let is_before = own.is_some_and(|own| holder.position < own.position);
    if is_before && !walk::is_late() {
        // The result would be the wrapper, which must not exist for a missing function.
        if between(question.name, &holder) || question.ask(libc::RTLD_NEXT) != 0 {
            return Verdict::jump(question.function);
        }
        return Verdict::answer(0);
    }
    // A library with a function of that name replaces the real one, as this library does, and the
    // wrapper calls it: it queries the rest of the same call.
    match after(question, &holder) {
        Some(found) => Verdict::answer(real::wrapper_for(id, found)),
        None => Verdict::jump(question.function),
    }
}

/// Whether an object between `holder` and this library offers the function.
fn between(name: &CStr, holder: &Holder) -> bool {
    let mut found = false;
    walk::each(|place| {
        if place.is_own() {
            return ControlFlow::Break(());
        }
        found |= place.position > holder.position && place.object.function(name).is_some();
        ControlFlow::Continue(())
    });
    found
}

/// The function that comes after a library which has none of that name itself.
fn after(question: &SymbolLookup<'_>, holder: &Holder) -> Option<usize> {
    let mut found = None;
    let mut has_one = false;
    walk::each(|place| {
        let is_later = place.position > holder.position;
        if place.position == holder.position {
            has_one = place.object.function(question.name).is_some();
        } else if holder.is_from_start && is_later && place.is_from_start() && found.is_none() {
            found = place.object.function(question.name);
        }
        ControlFlow::Continue(())
    });
    if has_one {
        return None;
    }
    found.or_else(|| {
        let handle = LibraryHandle::of(holder)?;
        let found = question.ask(handle.0);
        (found != 0 && !walk::is_own_address(found)).then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(handle: Handle, name: &CStr) -> usize {
        // SAFETY: as the C library's.
        unsafe { super::dlsym(handle, name.as_ptr()) as usize }
    }

    #[test]
    fn foreign_names_have_the_result_of_the_c_library() {
        let getpid = libc::getpid as *const () as usize;
        assert_eq!(ask(libc::RTLD_DEFAULT, c"getpid"), getpid);
        assert_eq!(ask(libc::RTLD_NEXT, c"getpid"), getpid);
        assert_eq!(ask(libc::RTLD_DEFAULT, c"no_such_function_at_all"), 0);
        let version: *const c_char = if cfg!(target_arch = "x86_64") {
            c"GLIBC_2.2.5".as_ptr()
        } else {
            c"GLIBC_2.17".as_ptr()
        };
        // SAFETY: as the C library's.
        let found = unsafe { super::dlvsym(libc::RTLD_DEFAULT, c"getpid".as_ptr(), version) };
        assert_eq!(found as usize, getpid);
    }

    #[test]
    fn a_name_that_no_library_has_is_not_found() {
        assert_eq!(ask(libc::RTLD_DEFAULT, c"aclrtMemcpyAsync"), 0);
        assert_eq!(ask(libc::RTLD_NEXT, c"aclrtMemcpyAsync"), 0);
        // SAFETY: the program's own handle.
        let own = unsafe { libc::dlopen(core::ptr::null(), libc::RTLD_LAZY) };
        assert_eq!(ask(own, c"aclrtMemcpyAsync"), 0);
    }
}
