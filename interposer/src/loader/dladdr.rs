//! `dladdr` and `dladdr1`. Programs use them to find the file of a function of AscendCL, and so the
//! folder of their CANN: a wrapper or stub has the place of its function.
//!
//! The result is the real function's, except for its begin: that is the begin of the wrapper or stub,
//! which is the function's only address that the program sees. Other addresses are passed on.

use core::ffi::{c_int, c_void};
use core::ops::ControlFlow;

use super::{dlsym, walk};
use crate::errno::Errno;
use crate::{engine, names, real, second_address, stubs};

type SymbolInfo = libc::Dl_info;

/// Stands in for the C library's.
///
/// # Safety
/// As `dladdr`.
// SAFETY: the name is the C library's on purpose.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn dladdr(address: *const c_void, info: *mut SymbolInfo) -> c_int {
    type Real = unsafe extern "C" fn(*const c_void, *mut SymbolInfo) -> c_int;
    let Some(function) = dlsym::stood_in_for(c"dladdr") else {
        return 0;
    };
    // SAFETY: the address is that of `dladdr`.
    let ask = unsafe { core::mem::transmute::<usize, Real>(function) };
    // SAFETY: the arguments are the program's own, but for the address.
    unsafe {
        answer(address as usize, info, |address| {
            ask(address as *const c_void, info)
        })
    }
}

/// Stands in for the C library's.
///
/// # Safety
/// As `dladdr1`.
// SAFETY: the name is the C library's on purpose.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn dladdr1(
    address: *const c_void,
    info: *mut SymbolInfo,
    extra: *mut *mut c_void,
    flags: c_int,
) -> c_int {
    type Real =
        unsafe extern "C" fn(*const c_void, *mut SymbolInfo, *mut *mut c_void, c_int) -> c_int;
    let Some(function) = dlsym::stood_in_for(c"dladdr1") else {
        return 0;
    };
    // SAFETY: the address is that of `dladdr1`.
    let ask = unsafe { core::mem::transmute::<usize, Real>(function) };
    let ask = |address| {
        // SAFETY: as in `dladdr`.
        unsafe { ask(address as *const c_void, info, extra, flags) }
    };
    // SAFETY: as in `dladdr`.
    unsafe { answer(address as usize, info, ask) }
}

/// Queries the function at an address, as the program knows it.
///
/// # Safety
/// `ask` must ask the loader, and fill `info` in when it does not return 0.
unsafe fn answer(address: usize, info: *mut SymbolInfo, ask: impl Fn(usize) -> c_int) -> c_int {
    if let Some(known) = stand_in_at(address) {
        let answer = ask(known.function);
        if answer != 0 {
            // SAFETY: filled in by the loader.
            unsafe { (*info).dli_saddr = known.begin as *mut c_void };
            return answer;
        }
    }
    match ask(address) {
        0 => engine::patched::function_of(address).map_or(0, ask),
        answer => answer,
    }
}

/// The wrapper or stub of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StandIn {
    begin: usize,
    function: usize,
}

/// The wrapper or stub at an address of this library.
fn stand_in_at(address: usize) -> Option<StandIn> {
    if !walk::is_own_address(address) {
        return None;
    }
    let _errno = Errno::save();
    let found = second_address::at(address).or_else(|| stubs::at(address));
    let (begin, function) = found.or_else(|| wrapper_at(address))?;
    let function = engine::patched::function_of(function).unwrap_or(function);
    Some(StandIn { begin, function })
}

/// The wrapper at an address, or what else has the name of a function of others.
fn wrapper_at(address: usize) -> Option<(usize, usize)> {
    let mut found = None;
    walk::each(|place| {
        if !place.is_own() {
            return ControlFlow::Continue(());
        }
        place.object.each_function(|name, begin, size| {
            if address.wrapping_sub(begin) < size.max(1) {
                // SAFETY: this library is never unloaded, and neither are its names.
                let name = unsafe { core::ffi::CStr::from_ptr(name.as_ptr()) };
                found = Some((name, begin));
            }
        });
        ControlFlow::Break(())
    });
    let (name, begin) = found?;
    let function = match names::id(name.to_bytes()) {
        Some(id) => real::of_wrapper(id),
        None => dlsym::stood_in_for(name),
    };
    Some((begin, function?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::CStr;

    fn ask(address: usize) -> (c_int, Option<String>) {
        // SAFETY: all-zero is a valid out-parameter.
        let mut info: SymbolInfo = unsafe { core::mem::zeroed() };
        // SAFETY: as the C library's.
        let answer = unsafe { super::dladdr(address as *const c_void, &raw mut info) };
        if info.dli_sname.is_null() {
            return (answer, None);
        }
        // SAFETY: the loader returns a C string.
        let name = unsafe { CStr::from_ptr(info.dli_sname) };
        (answer, Some(name.to_str().unwrap().to_owned()))
    }

    #[test]
    fn other_addresses_have_the_result_of_the_c_library() {
        let getpid = libc::getpid as *const () as usize;
        assert_ne!(ask(getpid).0, 0);
        assert_eq!(ask(8), (0, None));
        // SAFETY: all-zero is a valid out-parameter.
        let mut info: SymbolInfo = unsafe { core::mem::zeroed() };
        let mut map: *mut c_void = core::ptr::null_mut();
        const LINK_MAP: c_int = 2;
        // SAFETY: as the C library's.
        let answer = unsafe {
            super::dladdr1(
                getpid as *const c_void,
                &raw mut info,
                &raw mut map,
                LINK_MAP,
            )
        };
        assert!(answer != 0 && !map.is_null());
    }

    #[test]
    fn a_stub_lies_where_its_function_does() {
        // In a test this library is the program, and the function is one of the C library's.
        let qsort = libc::qsort as *const () as usize;
        walk::each(|_| ControlFlow::Break(()));
        let stub = second_address::stub(3, qsort, 0x9000).unwrap();
        let expected = StandIn {
            begin: stub,
            function: qsort,
        };
        assert_eq!(stand_in_at(stub), Some(expected));
        assert_eq!(stand_in_at(stub + 1), Some(expected));
        assert_eq!(ask(stub), ask(qsort));
        assert_eq!(stand_in_at(qsort), None);
    }
}
