//! Giving functions stubs.

use core::ffi::CStr;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::fnv;
use ascend_trace_format::record::Shape;

use super::table::StubKind;
use super::{entry, planning, table};
use crate::loader::object::Object;
use crate::loader::{self, containing_object, walk};
use crate::{libraries, names, symbol_lookups};

/// Why a function got no stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is a wrapper or a stub of this library already.
    Own,
    /// The hook table has it: it has a wrapper.
    Known,
    /// Its name is not AscendCL's, or its library is not the one for that name.
    Foreign,
    /// There is data at the address, or nothing of that name.
    NoFunction,
    /// It does the work of another function, which is the one to be seen.
    Twin,
    /// All stubs are taken.
    Full,
}

/// The stub for the function of this name at `address`, which must be the dynamic linker's result for
/// the name. The library of the function stays loaded from then on.
///
/// # Errors
/// When the function is not to have a stub; the program must then get the function itself.
pub fn install(name: &CStr, address: usize) -> Result<usize, Refusal> {
    let bytes = name.to_bytes();
    if walk::is_own_address(address) {
        return Err(Refusal::Own);
    }
    if names::id(bytes).is_some() {
        return Err(Refusal::Known);
    }
    let is_below = names::is_below(bytes);
    if !names::is_acl(bytes) && !is_below {
        return Err(Refusal::Foreign);
    }
    if let Some(index) = table::find(bytes, address) {
        return Ok(entry::address(index));
    }
    let look = |object: &Object<'_>| {
        let is_foreign = is_below && !libraries::is_below(object.file_name());
        (shape_of(bytes, object), twin_of(bytes, object), is_foreign)
    };
    let (holder, ((shape, operator), is_twin, is_foreign)) =
        containing_object::of(name, address, look).ok_or(Refusal::NoFunction)?;
    if is_foreign {
        return Err(Refusal::Foreign);
    }
    if is_twin || other_of(bytes).is_some_and(containing_object::anybody_offers) {
        return Err(Refusal::Twin);
    }
    let kind = if is_below {
        StubKind::Below
    } else {
        StubKind::Of(shape)
    };
    let Some(index) = table::add(bytes, address, kind, fnv::hash(operator)) else {
        symbol_lookups::short(SHORT.fetch_add(1, Relaxed) + 1);
        return Err(Refusal::Full);
    };
    loader::pin(&holder);
    symbol_lookups::untyped(name);
    Ok(entry::address(index))
}

/// Has a stub call something else in place of its function, from now on: for what calls the function
/// around code that was put into it.
///
/// Answers `false` when there is no such stub.
pub fn set_target(stub: usize, target: usize) -> bool {
    let stub = entry::index(stub).and_then(table::get);
    if let Some(stub) = stub {
        stub.set_target(target);
    }
    stub.is_some()
}

/// Functions that got no stub because all were taken.
static SHORT: AtomicU64 = AtomicU64::new(0);

/// The function that one of this name does the work of: `aclrtMalloc` forwards to `aclrtMallocImpl`.
fn other_of(name: &[u8]) -> Option<&[u8]> {
    name.strip_suffix(b"Impl")
}

/// Whether such a function is in the table, or in the same object.
fn twin_of(name: &[u8], object: &Object<'_>) -> bool {
    other_of(name).is_some_and(|other| names::id(other).is_some() || object.offers(other))
}

/// Facts about a function by its name and its neighbours, and its operator.
fn shape_of<'a>(name: &'a [u8], object: &Object<'_>) -> (Shape, &'a [u8]) {
    if !name.starts_with(b"aclnn") {
        return (Shape::Unknown, &[]);
    }
    if let Some(operator) = name.strip_suffix(planning::ENDING) {
        return (Shape::Planning, operator);
    }
    let mut buffer = [0; LONGEST];
    match planning_of(name, &mut buffer).is_some_and(|planning| object.offers(planning)) {
        true => (Shape::Submitting, name),
        false => (Shape::Unknown, &[]),
    }
}

/// Longer names are not those of operators.
const LONGEST: usize = 256;

/// The name of the function that plans the operator which the function of this name submits.
fn planning_of<'a>(name: &[u8], buffer: &'a mut [u8; LONGEST]) -> Option<&'a [u8]> {
    let length = name.len() + planning::ENDING.len();
    let (front, back) = buffer.get_mut(..length)?.split_at_mut(name.len());
    front.copy_from_slice(name);
    back.copy_from_slice(planning::ENDING);
    buffer.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excluded_functions_get_no_stub() {
        let getpid = libc::getpid as *const () as usize;
        assert_eq!(install(c"aclrtMalloc", getpid), Err(Refusal::Known));
        assert_eq!(install(c"getpid", getpid), Err(Refusal::Foreign));
        assert_eq!(install(c"rtNew", getpid), Err(Refusal::NoFunction));
        assert_eq!(install(c"aclNew", getpid), Err(Refusal::NoFunction));
        assert_eq!(install(c"aclNew", 8), Err(Refusal::NoFunction));
        assert!(!set_target(getpid, getpid));
    }
}
