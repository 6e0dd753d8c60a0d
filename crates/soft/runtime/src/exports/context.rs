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

    fn aclrtDestroyContext(context: usize) { calls::destroy(context) }

    fn aclrtSetCurrentContext(context: usize) { calls::set_current(context) }

    fn aclrtGetCurrentContext(context: Out<usize>) {
        context.check()?;
        current::with(|current| context.put(current.handle))
    }

    fn aclrtCtxGetCurrentDefaultStream(stream: Out<usize>) {
        stream.check()?;
        current::with(|context| stream.put(context.default_stream().handle))
    }
}
