//! The stacks that calls are made with, for `--stacks`.
//!
//! At the entry of a call the stack is walked by the unwind tables of the objects of its frames. The
//! tables' entry for an address is kept as a [`rule`], so that a step is a look into a table and two
//! reads. A stack is recorded once, with the numbers of its objects, and has a number: a hash of its
//! frames. Where the thread runs Python, its Python frames are among them ([`python`]).
//!
//! Nothing here makes a system call or takes a lock once the addresses are known. New addresses take
//! the lock that exceptions take as well (`dl_iterate_phdr`). In doubt the walk ends, with the frames
//! until there.

mod bounds;
mod cache;
mod cfi_program;
mod cursor;
mod memory;
mod merge;
mod objects;
mod python;
mod unwind_rule;
mod unwind_tables;
mod walk;

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::{MAX_LONG_TEXT, Text, kinds};

use crate::errno::Errno;
use crate::first_records::tell;
use crate::loader;
use crate::thread::ThreadState;
use crate::{large_stack, session};
use cache::{NUMBERS, REPORTED, RULES};
use memory::Stack;
use merge::{FrameAddresses, Merged};
use python::Chain;
pub(crate) use unwind_rule::Registers;
use unwind_rule::{Base, Rule, Step};
use walk::MOST_FRAMES;

/// Words of a stack that one record has room for.
const MOST_WORDS: usize = MAX_LONG_TEXT / 8;

/// Frames that are enough to see whether a signal's handler makes the call.
const LEAST_WALKED: usize = 16;

/// Largest number of recorded frames of a stack; 0 for none.
static MOST: AtomicU32 = AtomicU32::new(0);

/// Sets the number of recorded frames of each call's stack.
pub(crate) fn set(most: u32) {
    MOST.store(most.min(MOST_FRAMES as u32), Relaxed);
}

/// Another session has none of the objects that stacks lead to.
pub(crate) fn begin_again() {
    objects::begin_again();
}

/// Whether stacks are recorded.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    MOST.load(Relaxed) != 0
}

/// Notes the stack of a call that is about to begin within `depth` others. Before its begin is taken: what
/// this takes is no part of the call.
#[inline(never)]
pub(crate) fn note(state: &ThreadState, depth: u8) {
    let errno = Errno::save();
    let number = number(state);
    drop(errno);
    state.note_stack(depth, number);
}

/// The number of the present stack; 0 without one.
fn number(state: &ThreadState) -> u64 {
    let most = MOST.load(Relaxed) as usize;
    let registers = walk::here();
    let stack = Stack::at(state, registers.sp);
    let process = session::process_key();
    // Rules of addresses may be wrong once an object was added.
    let seed = process ^ loader::walk::added_if_known().wrapping_mul(0xd6e8_feb8_6659_fd93);
    let seeds = (seed, process);
    let mut frames = walk::walk(
        registers,
        &stack,
        most.max(LEAST_WALKED),
        loader::walk::is_own_address,
        |registers| rule(state, registers, seeds),
        |_| {},
    );
    if frames.words().is_empty() {
        return 0;
    }
    frames.cut(most);
    let number = frames.hash();
    if let Some(chain) = python::chain(state, &stack, &frames, most) {
        // The number of a stack is that of its content. This is by where that lies.
        let key = walk::hash(&[number, chain.hash, seed]);
        let known = NUMBERS.get(key);
        if known != 0 && REPORTED.has(known ^ process) {
            return known;
        }
        if let Some(number) = tell_with(state, registers, &chain, seeds) {
            NUMBERS.put(key, number);
            return number;
        }
    }
    if !REPORTED.has(number ^ process) && tell_of(state, number, frames.words()) {
        REPORTED.add(number ^ process);
    }
    number
}

/// Records a stack with frames of Python; returns its number.
#[cold]
#[inline(never)]
fn tell_with(
    state: &ThreadState,
    registers: Registers,
    chain: &Chain,
    seeds: (u64, u64),
) -> Option<u64> {
    let most = MOST.load(Relaxed) as usize;
    // Found ahead: on another stack it would not be this one.
    let stack = Stack::at(state, registers.sp);
    large_stack::run(|| {
        // Rules with keys that share a place in the table replace each other: missing ones are found
        // again, which is not possible while the tracer is at work.
        let mut places = FrameAddresses::new();
        let frames = walk::walk(
            registers,
            &stack,
            most,
            loader::walk::is_own_address,
            |registers| rule(state, registers, seeds),
            |place| places.push(place),
        );
        state.at_work(|state| {
            let mut merged = Merged::new();
            let are_reported = merged.fill(&frames, &places, chain, |part| {
                chain.tell(state, most, part)
            });
            let number = walk::hash(merged.words());
            let is_new = !REPORTED.has(number ^ seeds.1);
            if is_new && put(state, number, merged.words()) && are_reported {
                REPORTED.add(number ^ seeds.1);
            }
            number
        })
    })
}

#[inline]
fn rule(state: &ThreadState, registers: &Registers, seeds: (u64, u64)) -> Option<Rule> {
    let key = rule_key(registers, seeds.0);
    match RULES.get(key) {
        0 => find_rule(state, registers, key, seeds.1),
        known => Some(Rule::decode(known)),
    }
}

/// The registers right here.
#[inline(always)]
pub(crate) fn registers() -> Registers {
    walk::here()
}

/// Bytes from the stack pointer to the begin of the frame, for registers of this library's own code. `None` if the tracer is
/// at work, or the tables do not show it.
pub(crate) fn frame_size(state: &ThreadState, registers: Registers) -> Option<usize> {
    let step = state.at_work(|_| large_stack::run(|| objects::step_at(registers.pc)))??;
    let begin = match step {
        Step::Frame {
            base: Base::Sp(bytes),
            ..
        } => registers.sp.checked_add_signed(bytes as isize),
        Step::Frame {
            base: Base::Fp(bytes),
            ..
        } => registers.fp.checked_add_signed(bytes as isize),
        _ => None,
    };
    begin?.checked_sub(registers.sp)
}

#[inline]
fn rule_key(registers: &Registers, seed: u64) -> u64 {
    ((registers.pc as u64) << 1 | u64::from(registers.is_exact)) ^ seed
}

#[cold]
#[inline(never)]
fn find_rule(state: &ThreadState, registers: &Registers, key: u64, process: u64) -> Option<Rule> {
    // A return address may be after the end of its function.
    let address = registers.pc.wrapping_sub((!registers.is_exact).into());
    let rule =
        state.at_work(|state| large_stack::run(|| objects::rule(state, address, process)))??;
    RULES.put(key, rule.encode());
    // As others will read it.
    Some(Rule::decode(rule.encode()))
}

#[cold]
#[inline(never)]
fn tell_of(state: &ThreadState, number: u64, words: &[u64]) -> bool {
    let is_reported = state.at_work(|state| put(state, number, words));
    is_reported.unwrap_or(false)
}

/// To be called while the tracer is at work.
fn put(state: &ThreadState, number: u64, words: &[u64]) -> bool {
    let mut room = [[0; 8]; MOST_WORDS];
    for (place, word) in room.iter_mut().zip(words) {
        *place = word.to_ne_bytes();
    }
    let bytes = room.as_flattened().get(..size_of_val(words));
    let stack = kinds::Stack {
        id: number,
        frames: Text::new(bytes.unwrap_or(&[])),
    };
    let mut is_reported = false;
    state.record(|producer| is_reported = tell(producer, &stack));
    is_reported
}

#[cfg(test)]
mod tests {
    use core::hint::black_box;

    use super::*;
    use crate::thread;

    /// The addresses behind the calls of this stack, by our walk and by the C library's.
    #[inline(never)]
    fn both() -> (Vec<usize>, Vec<usize>) {
        let registers = walk::here();
        let ours = thread::with(|state| {
            let stack = Stack::at(state, registers.sp);
            let rule = |registers: &Registers| {
                let address = registers.pc.wrapping_sub((!registers.is_exact).into());
                objects::step_at(address).map(|step| Rule { step, object: 1 })
            };
            let frames = walk::walk(registers, &stack, MOST_FRAMES, |_| false, rule, |_| {});
            let words = frames.words().iter();
            let addresses = words.map(|word| (word & ((1 << 48) - 1)) as usize);
            addresses.skip(1).collect()
        });
        let mut reported = [core::ptr::null_mut(); MOST_FRAMES];
        // SAFETY: the room is large enough for the passed number.
        let count = unsafe { libc::backtrace(reported.as_mut_ptr(), MOST_FRAMES as i32) };
        let reported = reported.iter().take(count as usize).skip(1);
        (ours, reported.map(|it| *it as usize).collect())
    }

    #[inline(never)]
    fn deep(left: usize) -> (Vec<usize>, Vec<usize>) {
        let room = black_box([left; 40]);
        match left {
            0 => black_box(both()),
            _ => {
                let found = deep(left - 1);
                black_box(room);
                found
            }
        }
    }

    #[test]
    fn the_walk_is_that_of_the_c_library() {
        for depth in [0, 3, 12] {
            let (ours, reported) = deep(depth);
            assert!(ours.len() > depth + 3, "{ours:x?} {reported:x?}");
            assert_eq!(ours[..], reported[..ours.len()]);
        }
    }

    #[test]
    fn stacks_are_distinguished_and_each_has_one_number() {
        let number = |words: &[u64]| {
            let mut left = words.iter();
            let rule = |_: &Registers| {
                let object = *left.next()? as u16;
                Some(Rule {
                    step: unwind_rule::Step::End,
                    object,
                })
            };
            thread::with(|state| {
                let stack = Stack::at(state, thread::stack());
                let registers = Registers {
                    pc: 1 << 20,
                    ..Registers::default()
                };
                walk::walk(registers, &stack, 100, |_| false, rule, |_| {}).hash()
            })
        };
        assert_eq!(number(&[1]), number(&[1]));
        assert_ne!(number(&[1]), number(&[2]));
        assert_ne!(number(&[]), 0);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_handler_is_followed_to_the_interrupted_code() {
        use core::sync::atomic::AtomicUsize;
        static FOUND: AtomicUsize = AtomicUsize::new(0);
        extern "C" fn handler(_: i32) {
            let (ours, reported) = both();
            let same = ours
                .iter()
                .zip(&reported)
                .take_while(|(a, b)| a == b || **a == **b + 1);
            FOUND.store(same.count(), Relaxed);
        }
        // SAFETY: a handler that only looks, for a signal that this thread sends to itself.
        unsafe {
            libc::signal(libc::SIGURG, handler as extern "C" fn(i32) as usize);
            libc::raise(libc::SIGURG);
            libc::signal(libc::SIGURG, libc::SIG_DFL);
        }
        // The handler, the kernel's frame, and some of the frames around.
        assert!(FOUND.load(Relaxed) > 5, "{}", FOUND.load(Relaxed));
    }
}
