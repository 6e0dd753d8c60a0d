//! Dropout in two parts: a mask of bits, and its use.

use super::NamedOperator;
use crate::random;
use softacl_base::status::refuse;

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("DropOutDoMask", |call, all| {
        let Some(kept) = all.number(2) else {
            return refuse("the share of elements that stay is missing");
        };
        let handles = [all.input(0), all.input(1), all.output()];
        random::masked(call, handles, 1.0 - kept)
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
