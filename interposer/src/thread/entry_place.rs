//! Where the stack was at the entry of a wrapper.
//!
//! A call that was left without returning is noticed by the place of the next one: its wrapper was entered with the stack
//! above the frame of the wrapper that was left. A call inside it is entered below that frame. So this place must not
//! depend on the size of a wrapper's frame, which only the unwind tables of this library show. They are read once for each
//! wrapper, and only if a call is under way: otherwise any place in the frame will do.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use super::ThreadState;
use crate::functions::FUNCTIONS;
use crate::stacks::{self, Registers};
use crate::thread;

/// The slot of the wrapper that all stubs of submitting operators share.
pub(crate) const SUBMITTING_STUBS: usize = FUNCTIONS.len();
/// Frames are multiples of this.
pub(super) const FRAME_ALIGN: usize = 16;
/// Used if the tables have no entry: most frames are not larger.
const USUAL_FRAME: usize = 112;

/// Bytes from the stack pointer in a wrapper to its begin at the entry; 0 as long as they are not known.
static FRAMES: [AtomicU32; SUBMITTING_STUBS + 1] =
    [const { AtomicU32::new(0) }; SUBMITTING_STUBS + 1];

/// Where the caller's frame ends, for the wrapper that contains this. Must be used in the wrapper itself.
#[inline(always)]
pub(crate) fn entry(id: usize) -> usize {
    entry_of(id, stacks::registers())
}

#[inline(never)]
fn entry_of(id: usize, registers: Registers) -> usize {
    let sp = registers.stack_pointer();
    match FRAMES.get(id).map_or(0, |frame| frame.load(Relaxed)) {
        0 => thread::with(|state| match state.is_outermost() {
            true => sp.wrapping_add(FRAME_ALIGN),
            false => sp.wrapping_add(measure(state, id, registers)),
        }),
        known => sp.wrapping_add(known as usize),
    }
}

/// The size of the frame that contains these registers.
#[cold]
fn measure(state: &ThreadState, id: usize, registers: Registers) -> usize {
    let Some(size) = stacks::frame_size(state, registers) else {
        return USUAL_FRAME;
    };
    if let (Some(frame), Ok(size)) = (FRAMES.get(id), u32::try_from(size)) {
        frame.store(size, Relaxed);
    }
    size
}

impl ThreadState {
    /// Whether no call is around one that begins.
    fn is_outermost(&self) -> bool {
        self.depth() == 0 && self.suppressed.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::hint::black_box;

    /// The result of `entry` in a frame of at least this number of words.
    #[inline(never)]
    fn with_frame<const WORDS: usize>(id: usize) -> usize {
        let words = black_box([0_u64; WORDS]);
        let place = entry(id);
        black_box(words);
        place
    }

    /// Otherwise two wrappers with frames of different sizes would have different places.
    #[test]
    fn frames_of_any_size_begin_where_the_caller_calls() {
        thread::with(|state| {
            let depth = state.deepen(usize::MAX);
            let (small, large) = (with_frame::<1>(0), with_frame::<100>(1));
            assert_eq!(small, large);
            assert_eq!(with_frame::<100>(1), large, "measured once");
            let here = thread::stack();
            assert!(
                (here..=here + FRAME_ALIGN).contains(&small),
                "{here:x} {small:x}"
            );
            state.restore_depth(depth);
        });
    }
}
