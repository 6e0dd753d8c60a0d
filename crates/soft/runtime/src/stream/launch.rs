//! Kernels and operators as tasks.

use super::access::of_context;
use crate::code::Outcome;
use crate::engine::task::{Operator, Work};
use crate::kernel::{self, Arguments};

pub(crate) fn kernel(handle: usize, blocks: u32, arguments: Arguments, stream: usize) -> Outcome {
    let launch = kernel::prepare(handle, blocks, arguments)?;
    let stream = of_context(stream)?;
    stream.submit(|_| Work::Kernel(Box::new(launch))).map(drop)
}

/// Submits an operation to a stream of the calling thread's context; NULL is the default stream.
///
/// This is all that an operator library needs to know of streams: when the stream captures, the
/// operation becomes a node of its graph instead, and `Operator::effect` runs at every replay.
/// Operations between the brackets of a task update replace the captured ones.
pub(crate) fn operator(stream: usize, operator: Operator) -> Outcome {
    let operator = Box::new(operator);
    of_context(stream)?
        .submit(|_| Work::Operator(operator))
        .map(drop)
}
