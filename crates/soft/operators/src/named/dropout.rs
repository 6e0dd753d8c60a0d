//! Random numbers, and dropout in two parts: a mask of bits, and its use.

use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

use super::NamedOperator;
use crate::random;
use softacl_base::arguments::Arguments;
use softacl_base::status::refuse;

/// Room for the random numbers of a mask: two masks share none.
const MASK_BITS: u32 = 32;

/// The numbers of the seeds that no call before has used.
fn next_numbers(all: &Arguments<'_>) -> [i64; 2] {
    static CALLS: AtomicI64 = AtomicI64::new(0);
    let [one, other] = ["seed", "seed2"].map(|it| all.attributes.integer(it, 0));
    let numbers = CALLS.fetch_add(1, Relaxed) << MASK_BITS;
    [one ^ other.rotate_left(32), numbers]
}

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("DropOutDoMask", |call, all| {
        let kept = all.operand(call, 2)?;
        let handles = [all.input(0), all.input(1), all.output()];
        random::masked_by(call, handles, kept)
    }),
    // Its inputs are a shape and the share that stays. Each call goes on with the numbers of the seeds.
    ("DropOutGenMask", |call, all| {
        let kept = all.operand(call, 1)?;
        random::mask_by(call, next_numbers(all), kept, all.output())
    }),
    // The first input of these is a shape.
    ("RandomStandardNormal", |call, all| {
        let out = call.output(all.output())?;
        random::normal_from(call, next_numbers(all), out)
    }),
    ("RandomUniform", |call, all| {
        let out = call.output(all.output())?;
        random::uniform_from(call, next_numbers(all), out)
    }),
    ("RandomUniformInt", |call, all| {
        let bounds = [all.operand(call, 1)?, all.operand(call, 2)?];
        let out = call.output(all.output())?;
        random::integers_from(call, next_numbers(all), bounds, out)
    }),
    ("TruncatedNormal", |call, all| {
        let out = call.output(all.output())?;
        random::short_normal_from(call, next_numbers(all), out)
    }),
    // The inputs are the count, a seed and an offset.
    ("StatelessRandperm", |call, all| {
        let last = |index: usize| all.integers(index).last().copied().unwrap_or(0);
        random::order_from(call, [last(1), last(2)], all.output())
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
