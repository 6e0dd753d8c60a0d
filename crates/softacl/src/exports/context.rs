//! Contexts.

use super::acl;
use crate::ffi::Out;
use crate::{context, current};

acl! {
    fn aclrtCreateContext(context: Out<usize>, device: i32) {
        context.check()?;
        context.put(context::create(device)?)
    }

    fn aclrtDestroyContext(context: usize) { context::destroy(context) }

    fn aclrtSetCurrentContext(context: usize) { context::set_current(context) }

    fn aclrtGetCurrentContext(context: Out<usize>) {
        context.check()?;
        current::with(|current| context.put(current.handle))
    }

    fn aclrtCtxGetCurrentDefaultStream(stream: Out<usize>) {
        stream.check()?;
        current::with(|context| stream.put(context.default_stream().handle))
    }
}
