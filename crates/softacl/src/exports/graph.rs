//! Graphs. Nothing is captured yet: every stream answers that it is not capturing.

use super::acl;
use crate::code::{INVALID_PARAM, fault};
use crate::ffi::Out;
use crate::stream;

const CAPTURE_NONE: u32 = 0;

acl! {
    fn aclmdlRICaptureGetInfo(stream: usize, status: Out<u32>, model: Out<usize>) {
        if stream == 0 || (status.is_null() && model.is_null()) {
            return fault(INVALID_PARAM, "the stream or both results are NULL");
        }
        stream::of_any_context(stream)?;
        status.put_if_wanted(CAPTURE_NONE);
        model.put_if_wanted(0);
        Ok(())
    }
}
