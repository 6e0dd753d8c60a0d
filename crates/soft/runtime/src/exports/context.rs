//! Contexts.

use super::acl;
use crate::context::calls;
use crate::current;
use crate::ffi::Out;

acl! {
    fn aclrtCreateContext(context: Out<usize>, device: i32) {
        context.check()?;
        context.put(calls::create(device)?)
    }

    fn [aclrtDestroyContext; rtCtxDestroy, rtCtxDestroyEx](context: usize) { calls::destroy(context) }

    fn [aclrtSetCurrentContext; rtCtxSetCurrent](context: usize) { calls::set_current(context) }

    fn [aclrtGetCurrentContext; rtCtxGetCurrent](context: Out<usize>) {
        context.check()?;
        current::with(|current| context.put(current.handle))
    }

    fn [aclrtCtxGetCurrentDefaultStream; rtCtxGetCurrentDefaultStream](stream: Out<usize>) {
        stream.check()?;
        current::with(|context| stream.put(context.default_stream().handle))
    }
}
