//! Loaded libraries of AscendCL, for the report on interception.

use core::ffi::CStr;
use core::ops::ControlFlow;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use ascend_trace_format::record::{Text, kinds};

use crate::errno::Errno;
use crate::loader::object::Object;
use crate::loader::walk::{self, Path};
use crate::thread::upper_layers::settle;
use crate::{emit, session, thread};

/// How the names of the files begin.
const PREFIXES: &[&[u8]] = &[
    b"libacl",
    b"libascend",
    b"libcust_opapi",
    b"libhccl",
    b"liblcal",
    b"libms_tools_ext",
    b"libmsprofiler",
    b"libnnopbase",
    b"libopapi",
    b"libruntime",
];

/// Those that are not, although their names begin so.
const OTHERS: &[&[u8]] = &[b"libacl.so", b"libascend_trace"];

/// The addresses of reported libraries. Further ones are not reported.
static REPORTED: [AtomicUsize; 128] = [const { AtomicUsize::new(0) }; 128];

/// Reports new libraries.
pub(crate) fn tell_new() {
    if !session::is_on() {
        return;
    }
    while let Some(path) = next(|object| is_acl(object.file_name())) {
        tell(&path);
    }
}

/// Another session has none of the reports.
pub(crate) fn begin_again() {
    REPORTED.iter().for_each(|place| place.store(0, Release));
}

/// Reports the libraries that offer a function which the program has found, under any file name.
pub(crate) fn tell_offering(name: &CStr) {
    while session::is_on()
        && let Some(path) = next(|object| object.offers(name.to_bytes()))
    {
        tell(&path);
    }
}

/// Whether a file name is that of a library of AscendCL.
pub(crate) fn is_acl(file: &[u8]) -> bool {
    let begins = |list: &[&[u8]]| list.iter().any(|prefix| file.starts_with(prefix));
    begins(PREFIXES) && !begins(OTHERS)
}

/// Whether a file name is that of a library of the layer below AscendCL.
pub(crate) fn is_below(file: &[u8]) -> bool {
    file.starts_with(b"libruntime")
}

/// A library that was not reported yet.
fn next(is_wanted: impl Fn(&Object<'_>) -> bool) -> Option<Path> {
    let mut found = None;
    walk::each(|place| {
        let object = &place.object;
        // The program itself has no name.
        if object.name.is_empty() || place.is_own() || !is_wanted(object) || !is_new(object.base) {
            return ControlFlow::Continue(());
        }
        found = Path::of(object);
        match found {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    found
}

fn is_new(base: usize) -> bool {
    for place in &REPORTED {
        match place.compare_exchange(0, base, AcqRel, Acquire) {
            Ok(_) => return true,
            Err(known) if known == base => return false,
            Err(_) => {}
        }
    }
    false
}

fn tell(path: &Path) {
    let _errno = Errno::save();
    thread::with(|state| {
        if !state.is_busy() && settle(state) {
            let path = Text::new(path.text().to_bytes());
            state.at_work(|state| emit::record(state, &kinds::Library { path }));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_the_interface_are_recognised_by_their_names() {
        for file in [
            "libascendcl.so",
            "libacl_rt.so",
            "libopapi_nn.so",
            "libhccl.so.1",
        ] {
            assert!(is_acl(file.as_bytes()), "{file}");
        }
        for file in [
            "libacl.so.1",
            "libc.so.6",
            "libascend_trace_interposer.so",
            "",
        ] {
            assert!(!is_acl(file.as_bytes()), "{file}");
        }
    }
}
