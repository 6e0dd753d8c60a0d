//! An operator's second function: its shape is known, so it is a call like those of the table, and
//! its task is timed.

use core::mem::transmute;

use ascend_trace_format::record::STUB;

use super::frame::Frame;
use super::{planning, shapes, table};
use crate::span::Span;
use crate::thread;

/// Arguments of such a function. The register of the next one is free for the stub's number.
const ARGUMENTS: usize = 4;

/// Where such a stub goes on: to one function for all of them, which gets the number as well.
pub(super) fn way(index: usize, frame: &mut Frame) -> usize {
    if let Some(place) = frame.integers.get_mut(ARGUMENTS) {
        *place = index as u64;
    }
    run as *const () as usize
}

unsafe extern "C-unwind" fn run(
    workspace: u64,
    size: u64,
    executor: u64,
    stream: u64,
    index: usize,
) -> i32 {
    type Real = unsafe extern "C-unwind" fn(u64, u64, u64, u64) -> i32;
    let Some(stub) = table::get(index) else {
        return 0;
    };
    // SAFETY: the address is that of a function of this shape.
    let real = unsafe { transmute::<usize, Real>(stub.target()) };
    planning::submitted(stub, executor);
    let here = thread::entry_place::entry(thread::entry_place::SUBMITTING_STUBS);
    let mut words = [workspace, size, executor, stream];
    match Span::enter_as(usize::from(STUB) + index, here, shapes::SUBMITS, &words) {
        // SAFETY: the arguments are the program's own.
        None => unsafe { real(workspace, size, executor, stream) },
        Some(span) => {
            // SAFETY: as above.
            let result = unsafe { real(workspace, size, executor, stream) };
            span.leave(&mut words, i64::from(result) as u64);
            result
        }
    }
}
