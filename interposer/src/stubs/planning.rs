//! An operator's first function, `aclnn…GetWorkspaceSize`. Every operator has different arguments, but
//! all end with two pointers. Through them the call returns the size of the workspace for the second
//! function, and the executor that it needs.
//!
//! Looking at memory finds these words: the targets of the words are read before and after the call, in
//! a way that cannot fault. A supposed executor is confirmed when the operator's second function is
//! called with it; from then on the search ends.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use ascend_trace_format::record::Shape;

use super::frame::{Frame, INTEGERS};
use super::parameters::MOST_FLOATS;
use super::reach::{is_address, peek};
use super::table::{self, Stub};
use crate::simple::Simple;

/// Suffix of the name of such a function.
pub(super) const ENDING: &[u8] = b"GetWorkspaceSize";

/// Words that are looked at: registers, then the stack.
const WORDS: usize = INTEGERS + 40;
/// Words of a recorded call: arguments, those in floating-point registers, the workspace's size, the executor.
const REPORTED: usize = WORDS + MOST_FLOATS + 2;
/// Calls of one operator that are looked at before it is given up.
const MOST_GUESSES: u32 = 1000;
/// A position that means none.
const GIVEN_UP: u8 = u8::MAX;

/// A call under way.
pub(super) struct Plan {
    words: [u64; WORDS],
    count: usize,
    /// Bits of the arguments in floating-point registers, as many as the operator has.
    floats: [u64; MOST_FLOATS],
    look: Option<Look>,
}

/// The targets of the words before the call.
struct Look {
    before: [Option<u64>; WORDS],
    stack: u64,
}

/// The call is about to be made.
pub(super) fn before(stub: &Stub, frame: &Frame) -> Plan {
    let mut words = [0; WORDS];
    let mut count = 0;
    for (place, word) in words.iter_mut().zip(frame.words()) {
        *place = word;
        count += 1;
    }
    let mut floats = [0; MOST_FLOATS];
    for (place, [low, _]) in floats.iter_mut().zip(&frame.vectors).take(stub.floats()) {
        *place = *low;
    }
    let mut plan = Plan {
        words,
        count,
        floats,
        look: None,
    };
    if stub.position.load(Relaxed) == 0 {
        let mut before = [None; WORDS];
        if peek(plan.words(), &mut before).is_ok() {
            let stack = frame.stack as u64;
            plan.look = Some(Look { before, stack });
        } else {
            stub.position.store(GIVEN_UP, Relaxed);
        }
    }
    plan
}

/// The call has returned.
pub(super) fn after(plan: &Plan, index: usize, stub: &Stub, call: Simple, result: u64) {
    let code = i64::from(result as i32);
    let mut reported = [0; REPORTED];
    let mut used = 0;
    let answers = if code == 0 { plan.answers(stub) } else { None };
    let known = answers.map_or(INTEGERS, |answers| answers.position.saturating_sub(1));
    // Where the executor was not found, the number of the other words is open.
    let floats = answers.map_or(0, |_| stub.floats());
    let words = plan.words().iter().take(known);
    let words = words.chain(plan.floats.iter().take(floats));
    for (place, word) in reported.iter_mut().zip(words) {
        *place = *word;
        used += 1;
    }
    let (size, executor) = answers.map_or((0, 0), |answers| (answers.size, answers.executor));
    for (place, word) in reported.iter_mut().skip(used).zip([size, executor]) {
        *place = word;
    }
    let reported = reported.get(..used + 2).unwrap_or(&[]);
    call.leave_stub(index, reported, code as u64);
}

/// Values that the call has returned.
#[derive(Clone, Copy)]
struct Answers {
    /// The word that led to the executor; the one before led to the size.
    position: usize,
    size: u64,
    executor: u64,
}

impl Plan {
    fn words(&self) -> &[u64] {
        self.words.get(..self.count).unwrap_or(&[])
    }

    /// The values that a successful call has returned, as far as their places are known.
    fn answers(&self, stub: &Stub) -> Option<Answers> {
        match (stub.position.load(Acquire), &self.look) {
            (GIVEN_UP, _) | (0, None) => None,
            (0, Some(look)) => self.guess(stub, look),
            (position, _) => self.read(usize::from(position)),
        }
    }

    /// Reads where the second function has confirmed that the executor was.
    fn read(&self, position: usize) -> Option<Answers> {
        let size = *self.words().get(position.checked_sub(1)?)?;
        let executor = *self.words().get(position)?;
        if !is_address(size) || !is_address(executor) {
            return None;
        }
        // SAFETY: these are the call's last two arguments, and it has succeeded, so it has written a
        // number through each.
        let [size, executor] =
            [size, executor].map(|word| unsafe { core::ptr::read(word as usize as *const u64) });
        Some(Answers {
            position,
            size,
            executor,
        })
    }

    fn guess(&self, stub: &Stub, look: &Look) -> Option<Answers> {
        if stub.guesses.fetch_add(1, Relaxed) > MOST_GUESSES {
            stub.position.store(GIVEN_UP, Relaxed);
            return None;
        }
        let mut after = [None; WORDS];
        peek(self.words(), &mut after).ok()?;
        let targets = Targets {
            words: self.words(),
            before: &look.before,
            after: &after,
            stack: look.stack,
        };
        let position = targets.executor(stub.expected())?;
        let executor = (*after.get(position)?)?;
        stub.guess.store(executor << 8 | position as u64, Release);
        Some(Answers {
            position,
            size: (*after.get(position.checked_sub(1)?)?)?,
            executor,
        })
    }
}

/// The words of a call, and their targets before and after it.
struct Targets<'t> {
    words: &'t [u64],
    before: &'t [Option<u64>],
    after: &'t [Option<u64>],
    stack: u64,
}

impl Targets<'_> {
    /// The word that led to the executor: the table's, if its target has changed, or if none has. An executor may be where
    /// the one before it was.
    fn executor(&self, expected: Option<usize>) -> Option<usize> {
        let changed = expected.filter(|at| self.is_it(*at));
        let unchanged = || expected.filter(|at| self.leads_to_address(*at));
        changed.or_else(|| self.likeliest()).or_else(unchanged)
    }

    /// Variables of the caller are likelier than the targets of handles. The first is likelier than values that happen to
    /// follow the arguments.
    fn likeliest(&self) -> Option<usize> {
        let mut all = (1..self.words.len()).filter(|at| self.is_it(*at));
        let mut near = (1..self.words.len()).filter(|at| self.is_it(*at) && self.is_near(*at));
        let first = near.next().or_else(|| all.next())?;
        // A size may look like an address.
        let next = first + 1;
        let is_next = self.is_it(next) && (self.is_near(next) || !self.is_near(first));
        Some(if is_next { next } else { first })
    }

    fn is_it(&self, at: usize) -> bool {
        let has_changed = target(self.after, at) != target(self.before, at);
        has_changed && self.leads_to_address(at) && self.is_new(at)
    }

    /// Whether the target of a word may be an address itself, and the word before leads somewhere, too.
    fn leads_to_address(&self, at: usize) -> bool {
        let size = at.checked_sub(1).and_then(|at| target(self.after, at));
        target(self.after, at).is_some_and(is_address) && size.is_some()
    }

    fn is_new(&self, at: usize) -> bool {
        let word = self.words.get(at);
        !self.words.iter().take(at).any(|other| Some(other) == word)
    }

    fn is_near(&self, at: usize) -> bool {
        let word = self.words.get(at).copied().unwrap_or(0);
        word.wrapping_sub(self.stack.wrapping_sub(NEAR)) < 2 * NEAR
    }
}

fn target(targets: &[Option<u64>], at: usize) -> Option<u64> {
    targets.get(at).copied().flatten()
}

/// How far away a caller's variables are on the stack.
const NEAR: u64 = 1 << 16;

/// The operator's second function is called with an executor.
pub(super) fn submitted(stub: &Stub, executor: u64) {
    let Some(planning) = partner(stub) else {
        return;
    };
    if planning.position.load(Relaxed) == 0 {
        let guess = planning.guess.load(Acquire);
        if guess >> 8 == executor && executor != 0 {
            planning.position.store(guess as u8, Release);
        }
    }
}

/// The planning function of the same operator, if it has a stub already.
fn partner(stub: &Stub) -> Option<&'static Stub> {
    /// Set when none was found among this number.
    const MISSING: u32 = 1 << 31;
    let known = stub.partner.load(Relaxed);
    let used = table::used() as u32;
    if known & MISSING == 0 && known != 0 {
        return table::get(known as usize - 1);
    }
    if known == used | MISSING {
        return None;
    }
    let operator = stub.operator.load(Relaxed);
    let is_it = |other: &&Stub| {
        other.shape() == Shape::Planning && other.operator.load(Relaxed) == operator
    };
    let found = (0..table::used()).find(|index| table::get(*index).filter(is_it).is_some());
    let number = found.map_or(used | MISSING, |index| index as u32 + 1);
    stub.partner.store(number, Relaxed);
    table::get(found?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAP: u64 = 0x5555_0000_0000;
    const STACK: u64 = 0x7fff_0000_8000;

    #[test]
    fn the_executor_is_the_last_output() {
        // Two tensors, a number, size and executor, then the rest of the stack.
        let words = [HEAP, HEAP + 64, 7, STACK + 16, STACK + 24, STACK + 16, HEAP];
        let before = [Some(1), Some(2), None, Some(0), Some(0), Some(0), Some(1)];
        let executor = |after: &[Option<u64>], expected| {
            let targets = Targets {
                words: &words,
                before: &before,
                after,
                stack: STACK,
            };
            targets.executor(expected)
        };
        let mut after = before;
        after[4] = Some(HEAP + 4096);
        assert_eq!(executor(&after, None), Some(4));
        // A workspace that looks like an address.
        after[3] = Some(1 << 20);
        after[5] = after[3];
        assert_eq!(executor(&after, None), Some(4));
        // A tensor that was written to.
        after[1] = Some(HEAP + 128);
        assert_eq!(executor(&after, None), Some(4));
        // A number of words that the call does not have, and one that it may have.
        assert_eq!(executor(&after, Some(6)), Some(4));
        assert_eq!(executor(&after, Some(3)), Some(4));
        assert_eq!(executor(&before, None), None);
        assert_eq!(executor(&before, Some(4)), None);
    }

    #[test]
    fn words_behind_the_arguments_are_no_outputs() {
        // The tracer's own data, which changes with each call.
        let words = [HEAP, 7, STACK + 16, STACK + 24, HEAP + 64];
        let before = [Some(1), None, Some(0), Some(0), Some(HEAP)];
        let after = [Some(1), None, Some(0), Some(HEAP + 4096), Some(HEAP + 8)];
        let targets = Targets {
            words: &words,
            before: &before,
            after: &after,
            stack: STACK,
        };
        assert_eq!(targets.executor(None), Some(3));
        assert_eq!(targets.executor(Some(3)), Some(3));
        let same = Targets {
            before: &after,
            ..targets
        };
        assert_eq!(same.executor(None), None);
        assert_eq!(same.executor(Some(3)), Some(3));
    }
}
