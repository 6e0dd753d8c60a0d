//! Dropout in two parts: a mask of bits, and its use.

use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

use super::NamedOperator;
use crate::random;
use softacl_base::status::refuse;

/// Room for the random numbers of a mask: two masks share none.
const MASK_BITS: u32 = 32;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("DropOutDoMask", |call, all| {
        let Some(kept) = all.number(2) else {
            return refuse("the share of elements that stay is missing");
        };
        let handles = [all.input(0), all.input(1), all.output()];
        random::masked(call, handles, 1.0 - kept)
    }),
    // Its inputs are a shape and the share that stays. Each call goes on with the numbers of the seeds.
    ("DropOutGenMask", |call, all| {
        static CALLS: AtomicI64 = AtomicI64::new(0);
        let kept = all.operand(call, 1)?;
        let [one, other] = ["seed", "seed2"].map(|it| all.attributes.integer(it, 0));
        let numbers = CALLS.fetch_add(1, Relaxed) << MASK_BITS;
        random::mask_by(
            call,
            [one ^ other.rotate_left(32), numbers],
            kept,
            all.output(),
        )
    }),
    // Its inputs are a shape, the share that stays, two seeds and an offset.
    ("StatelessDropOutGenMask", |call, all| {
        let Some(kept) = all.number(1) else {
            return refuse("the share of elements that stay is missing");
        };
        let last = |index: usize| all.integers(index).last().copied().unwrap_or(0);
        let seed = last(2) ^ last(3).rotate_left(32);
        random::mask_from(call, [seed, last(4)], 1.0 - kept, all.output())
    }),
];
