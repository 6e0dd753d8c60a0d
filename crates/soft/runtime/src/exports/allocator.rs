//! Allocators that a program registers for its streams. Nothing in softacl allocates through them.

use super::acl;
use crate::code::{INVALID_PARAM, fault};
use crate::ffi::Out;
use crate::settings;
use crate::stream::access;
use crate::sync::lock;

/// An allocator and its four functions.
pub(crate) type Description = [usize; 5];

const OBJECT: usize = 0;
const ALLOC: usize = 1;
const FREE: usize = 2;
const ADVISE: usize = 3;
const ADDRESS: usize = 4;

// SAFETY: the name is AscendCL's; it returns a pointer, so `acl!` cannot declare it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclrtAllocatorCreateDesc() -> *mut Description {
    Box::into_raw(Box::default())
}

fn set(description: &Out<Description>, index: usize, value: usize) -> crate::code::Outcome {
    let mut changed = description.get()?;
    if value == 0 {
        return fault(INVALID_PARAM, "the value is NULL");
    }
    changed[index] = value;
    description.put(changed)
}

acl! {
    fn aclrtAllocatorDestroyDesc(description: Out<Description>) {
        description.check()?;
        description.free()
    }

    fn aclrtAllocatorSetObjToDesc(description: Out<Description>, object: usize) {
        set(&description, OBJECT, object)
    }

    fn aclrtAllocatorSetAllocFuncToDesc(description: Out<Description>, function: usize) {
        set(&description, ALLOC, function)
    }

    fn aclrtAllocatorSetFreeFuncToDesc(description: Out<Description>, function: usize) {
        set(&description, FREE, function)
    }

    fn aclrtAllocatorSetAllocAdviseFuncToDesc(description: Out<Description>, function: usize) {
        set(&description, ADVISE, function)
    }

    fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description: Out<Description>, function: usize) {
        set(&description, ADDRESS, function)
    }

    fn aclrtAllocatorRegister(stream: usize, description: Out<Description>) {
        let description = description.get()?;
        let stream = access::of_context(stream)?;
        lock(&settings::get().allocators).insert(stream.handle, description);
        Ok(())
    }

    fn aclrtAllocatorGetByStream(
        stream: usize,
        description: Out<usize>,
        object: Out<usize>,
        alloc: Out<usize>,
        free: Out<usize>,
        advise: Out<usize>,
        address: Out<usize>,
    ) {
        let stream = access::of_context(stream)?;
        let found = lock(&settings::get().allocators).get(&stream.handle).copied();
        let Some(found) = found else {
            return fault(INVALID_PARAM, "no allocator is registered for the stream");
        };
        description.put_if_wanted(0);
        object.put_if_wanted(found[OBJECT]);
        alloc.put_if_wanted(found[ALLOC]);
        free.put_if_wanted(found[FREE]);
        advise.put_if_wanted(found[ADVISE]);
        address.put_if_wanted(found[ADDRESS]);
        Ok(())
    }

    fn aclrtAllocatorUnregister(stream: usize) {
        let stream = access::of_context(stream)?;
        let known = lock(&settings::get().allocators).remove(&stream.handle);
        match known {
            Some(_) => Ok(()),
            None => fault(INVALID_PARAM, "no allocator is registered for the stream"),
        }
    }
}
