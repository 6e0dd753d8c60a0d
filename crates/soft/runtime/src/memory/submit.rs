//! Reductions, writes and waits in device memory as tasks.

use super::reduce;
use super::value::{ValueWait, checked};
use crate::code::{Outcome, check};
use crate::engine::task::Work;
use crate::stream::access;

/// `aclrtReduceAsync`.
pub(crate) fn reduction(
    dst: usize,
    src: usize,
    bytes: u64,
    kind: u32,
    data_type: i32,
    stream: usize,
) -> Outcome {
    let reduce = reduce::checked(dst, src, bytes, kind, data_type)?;
    let stream = access::of_context(stream)?;
    stream.submit(|_| Work::Reduce(Box::new(reduce))).map(drop)
}

pub(crate) fn write(address: usize, value: u64, flag: u32, stream: usize) -> Outcome {
    checked(address)?;
    check(flag == 0, "this write flag does not exist")?;
    let stream = access::of_context(stream)?;
    stream
        .submit(|_| Work::WriteValue { address, value })
        .map(drop)
}

pub(crate) fn wait(address: usize, value: u64, flag: u32, stream: usize) -> Outcome {
    let wait = ValueWait::checked(address, value, flag)?;
    let stream = access::of_context(stream)?;
    stream.submit(|_| Work::WaitValue(wait)).map(drop)
}
