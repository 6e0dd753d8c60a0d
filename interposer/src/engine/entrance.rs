//! The way from a patch to the wrapper, which keeps what callers in the patched file rely on.
//!
//! A wrapper keeps to the platform's convention for calls: it may change registers that the function
//! itself leaves alone. A compiler that sees a function together with its callers knows better than
//! the convention: callers keep values in every register that the function does not use, and need
//! not align the stack for a function that does not care. Such calls reach a wrapper only through
//! patches. So each patch leads to an entrance, which saves every register that a callee may change,
//! vectors in their full width, calls the wrapper with an aligned copy of the arguments on the
//! stack, and brings all of them back but those that hold the result.
//!
//! An entrance is an ordinary function with a frame: exceptions, backtraces and processors that check
//! return addresses work as expected.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicUsize};

#[cfg(target_arch = "aarch64")]
use aarch64::{STUB_BYTES, prepare};
#[cfg(target_arch = "x86_64")]
use x86_64::{STUB_BYTES, prepare};

use super::shape::Shape;
use crate::{stubs, variadic};

/// Functions that can be patched.
const ENTRANCES: usize = stubs::STUBS;

/// In [`Entrance::results`]: no function is called, the program continues at the address that the
/// target returns.
const PASSES_ON: u32 = 1 << 31;

/// Where an entrance leads, laid out for the assembly.
#[repr(C)]
struct Entrance {
    target: AtomicUsize,
    /// Bytes of stack arguments; of one that passes on, the function's number.
    stack: AtomicU32,
    results: AtomicU32,
}

const _: () = assert!(size_of::<Entrance>() == 16);
const _: () = assert!(core::mem::offset_of!(Entrance, stack) == 8);
const _: () = assert!(core::mem::offset_of!(Entrance, results) == 12);

static TABLE: [Entrance; ENTRANCES] = [const {
    Entrance {
        target: AtomicUsize::new(0),
        stack: AtomicU32::new(0),
        results: AtomicU32::new(0),
    }
}; ENTRANCES];

static USED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    fn ascend_trace_entrances();
}

fn first() -> usize {
    let first: unsafe extern "C" fn() = ascend_trace_entrances;
    first as usize
}

/// An entrance to `target`, which takes the calls of a function of this shape; `None` when all are
/// used. An existing one is used again where `is_again` allows it.
pub(super) fn to(target: usize, shape: Shape, is_again: bool) -> Option<usize> {
    enter(target, shape.stack?, shape.results, is_again)
}

/// The same for the function with this number, which takes any number of arguments.
pub(super) fn to_variadic(id: usize, is_again: bool) -> Option<usize> {
    let target = variadic::enter as *const () as usize;
    enter(target, u32::try_from(id).ok()?, PASSES_ON, is_again)
}

fn enter(target: usize, stack: u32, results: u32, is_again: bool) -> Option<usize> {
    let is_it = |place: &Entrance| {
        place.target.load(Acquire) == target
            && place.stack.load(Relaxed) == stack
            && place.results.load(Relaxed) == results
    };
    let address = |index: usize| first().wrapping_add(index.wrapping_mul(STUB_BYTES));
    let used = USED.load(Relaxed);
    if is_again && let Some(index) = TABLE.iter().take(used).position(is_it) {
        return Some(address(index));
    }
    if used >= ENTRANCES {
        return None;
    }
    prepare();
    let index = USED.fetch_add(1, AcqRel);
    let place = TABLE.get(index)?;
    place.stack.store(stack, Relaxed);
    place.results.store(results, Relaxed);
    place.target.store(target, Release);
    Some(address(index))
}

/// Where the entrance at an address leads.
pub(super) fn target(address: usize) -> Option<usize> {
    let offset = address.wrapping_sub(first());
    let place = TABLE.get(offset / STUB_BYTES)?;
    Some(place.target.load(Acquire)).filter(|target| *target != 0)
}

/// How much of the caller's stack there is, for the assembly.
unsafe extern "C" fn readable(stack: usize, wanted: usize) -> usize {
    stubs::readable(stack, wanted)
}

#[cfg(test)]
mod tests {
    use super::super::shape::{ANY, INTEGER, VECTOR};
    use super::*;

    type Many =
        extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, f64, f64, f64, u64, u64, u64) -> u64;

    /// Fourteen arguments, of which some are on the stack everywhere.
    extern "C" fn many(
        a: u64,
        b: u64,
        c: u64,
        d: u64,
        e: u64,
        f: u64,
        g: u64,
        h: u64,
        x: f64,
        y: f64,
        z: f64,
        i: u64,
        j: u64,
        k: u64,
    ) -> u64 {
        let floats = (x + 2.0 * y + 4.0 * z) as u64;
        [a, b, c, d, e, f, g, h, floats, i, j, k]
            .iter()
            .fold(0u64, |sum, word| sum.wrapping_mul(31).wrapping_add(*word))
    }

    extern "C" fn half(value: f64) -> f64 {
        value / 2.0
    }

    // Returns its result in the first vector, and changes the second one, as any called function may.
    #[cfg(target_arch = "x86_64")]
    core::arch::global_asm!(
        ".text",
        ".hidden ascend_trace_test_spoils",
        ".globl ascend_trace_test_spoils",
        "ascend_trace_test_spoils:",
        "addsd xmm0, xmm0",
        "pxor xmm1, xmm1",
        "ret",
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::global_asm!(
        ".text",
        ".hidden ascend_trace_test_spoils",
        ".globl ascend_trace_test_spoils",
        "ascend_trace_test_spoils:",
        "fadd d0, d0, d0",
        "movi v1.2d, #0",
        "ret",
    );

    unsafe extern "C" {
        fn ascend_trace_test_spoils();
    }

    /// The first two vectors after a call with 1 and 3 in them.
    fn first_vectors(function: usize) -> (f64, f64) {
        let (mut first, mut second) = (1.0f64, 3.0f64);
        // SAFETY: an entrance to the function above, which takes the first vector and changes no more
        // than a call may.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            core::arch::asm!(
                "call {function}",
                function = in(reg) function,
                inout("xmm0") first,
                inout("xmm1") second,
                clobber_abi("C"),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            core::arch::asm!(
                "blr {function}",
                function = in(reg) function,
                inout("v0") first,
                inout("v1") second,
                clobber_abi("C"),
            );
        }
        (first, second)
    }

    fn check_that_only_the_result_changes(shape: Shape, expected: (f64, f64)) {
        let function: unsafe extern "C" fn() = ascend_trace_test_spoils;
        let at = to(function as usize, shape, false).unwrap();
        assert_eq!(first_vectors(at), expected, "{shape:?}");
    }

    fn check() {
        let shape = |stack, results| Shape {
            stack: Some(stack),
            results,
        };
        for results in [INTEGER, ANY] {
            let at = to(many as *const () as usize, shape(112, results), false).unwrap();
            assert_eq!(target(at), Some(many as *const () as usize));
            // SAFETY: an entrance to a function of this type.
            let through = unsafe { core::mem::transmute::<usize, Many>(at) };
            let of = |way: Many| way(1, 2, 3, 4, 5, 6, 7, 8, 9.0, 10.0, 11.0, 12, 13, 14);
            assert_eq!(of(through), of(many));
        }
        let at = to(half as *const () as usize, shape(0, VECTOR), false).unwrap();
        // SAFETY: as above.
        let through = unsafe { core::mem::transmute::<usize, extern "C" fn(f64) -> f64>(at) };
        assert_eq!(through(9.0).to_bits(), 4.5f64.to_bits());
        check_that_only_the_result_changes(shape(0, 0), (1.0, 3.0));
        check_that_only_the_result_changes(shape(0, VECTOR), (2.0, 3.0));
        check_that_only_the_result_changes(shape(0, ANY), (2.0, 0.0));
    }

    #[test]
    fn arguments_arrive_and_results_return_with_every_way_to_save_vectors() {
        check();
        #[cfg(target_arch = "x86_64")]
        x86_64::with_each_way(check);
        #[cfg(target_arch = "aarch64")]
        aarch64::with_each_way(check);
    }

    #[test]
    fn an_entrance_is_used_again() {
        let shape = Shape {
            stack: Some(0),
            results: INTEGER,
        };
        let first = to(0x1234, shape, false).unwrap();
        assert_eq!(to(0x1234, shape, true), Some(first));
        assert_ne!(
            to(
                0x1234,
                Shape {
                    results: 0,
                    ..shape
                },
                true
            ),
            Some(first)
        );
        assert_eq!(target(8), None);
    }
}
