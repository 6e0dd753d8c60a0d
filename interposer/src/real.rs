//! The functions that the wrappers stand in for.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Release};

use crate::errno::Errno;
use crate::hooks::FUNCTIONS;

/// Libraries to ask when the search order does not lead to the function: an extension module of
/// Python, for one, loads them into a scope of its own.
const LIBRARIES: &[&CStr] = &[
    c"libascendcl.so",
    c"libacl_rt.so",
    c"libacl_rt_impl.so",
    c"libruntime.so",
    c"libnnopbase.so",
    c"libacl_mdl.so",
    c"libacl_op_executor.so",
    c"libacl_op_compiler.so",
    c"libacl_tdt_channel.so",
    c"libacl_tdt_queue.so",
    c"libmsprofiler.so",
    c"libascend_dump.so",
    c"libhccl.so",
    c"libms_tools_ext.so",
];

const LONGEST_NAME: usize = 128;

static ADDRESSES: [AtomicUsize; FUNCTIONS.len()] = [const { AtomicUsize::new(0) }; FUNCTIONS.len()];

/// Address of the real function with this id.
#[inline]
pub(crate) fn address(id: usize) -> Option<usize> {
    match ADDRESSES.get(id)?.load(Acquire) {
        0 => find(id),
        known => Some(known),
    }
}

/// Address of the real function with this name, for the interposer's own calls.
pub(crate) fn by_name(name: &str) -> Option<usize> {
    let id = FUNCTIONS
        .binary_search_by(|function| function.name.cmp(name))
        .ok()?;
    address(id)
}

#[cold]
fn find(id: usize) -> Option<usize> {
    let _errno = Errno::save();
    let name = FUNCTIONS.get(id)?.name.as_bytes();
    let mut buffer = [0u8; LONGEST_NAME];
    buffer.get_mut(..name.len())?.copy_from_slice(name);
    let name = CStr::from_bytes_until_nul(&buffer).ok()?;
    let found = search(name)?;
    ADDRESSES.get(id)?.store(found, Release);
    Some(found)
}

fn search(name: &CStr) -> Option<usize> {
    if let Some(found) = symbol(libc::RTLD_NEXT, name) {
        return Some(found);
    }
    LIBRARIES.iter().find_map(|library| {
        // SAFETY: RTLD_NOLOAD only answers a handle of what is loaded already.
        let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if handle.is_null() {
            return None;
        }
        // The handle is kept: the library must not go away while its address is in the table.
        symbol(handle, name)
    })
}

fn symbol(handle: *mut c_void, name: &CStr) -> Option<usize> {
    let name: *const c_char = name.as_ptr();
    // SAFETY: a lookup by a valid handle and a C string.
    let address = unsafe { libc::dlsym(handle, name) } as usize;
    (address != 0).then_some(address)
}
