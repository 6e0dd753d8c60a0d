//! Overflow states. No task of softacl overflows, so every state reads as zero.

use super::acl;
use crate::code::Outcome;
use crate::memory::copy;
use crate::memory::transfer::Fill;
use crate::stream::access;

fn no_overflow(output: usize, size: usize, stream: usize) -> Outcome {
    copy::fill_async(Fill::bytes(output, size, 0, size)?, stream)
}

acl! {
    fn aclrtGetOverflowStatus(output: usize, size: usize, stream: usize) {
        no_overflow(output, size, stream)
    }

    fn aclrtGetFloatOverflowStatus(output: usize, size: u64, stream: usize) {
        no_overflow(output, size as usize, stream)
    }

    fn aclrtNpuGetFloatOverFlowStatus(output: usize, size: u64, _mode: u32, stream: usize) {
        no_overflow(output, size as usize, stream)
    }

    fn [aclrtResetOverflowStatus, aclrtResetFloatOverflowStatus](stream: usize) {
        access::of_context(stream)?.mark()
    }

    fn aclrtNpuClearFloatOverFlowStatus(_mode: u32, stream: usize) {
        access::of_context(stream)?.mark()
    }
}
