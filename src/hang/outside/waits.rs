//! Waits of a thread for other threads of its process, by the system call that it is in and by the memory there.
//!
//! The C library has the number of a thread in the memory on which `pthread_join` waits. A mutex has the number of its owner
//! behind the word on which a thread waits, and a read-write lock has that of its writer.

use std::collections::BTreeSet;

use ascend_trace_analysis::hang::OutsideWait;

use super::pipes::OtherPipes;
use super::system_calls::{Memory, SystemCall, numbers};

/// Parts of the second argument of `futex`.
const PRIVATE: u64 = 128;
const CLOCK: u64 = 256;
/// Operations that wait.
const WAIT: u64 = 0;
const WAIT_BITSET: u64 = 9;
const LOCK_PI: [u64; 2] = [6, 13];
/// Of a word with the number of an owner: others wait, and the number.
const OTHERS_WAIT: u32 = 1 << 31;
const OWNER: u32 = (1 << 30) - 1;
/// A mutex for which threads wait.
const CONTENDED: u32 = 2;
/// The largest kind of a mutex, with its flags.
const MOST_KIND: u32 = 1 << 10;

/// A wait without a limit in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ThreadWait {
    /// For a thread that is known.
    For(OutsideWait),
    /// For any thread of its process.
    ForItsProcess,
    /// For data of a pipe, or the like, that only its own process has.
    ForOwnPipe,
}

/// The threads of a process.
#[derive(Debug)]
pub(super) struct Threads {
    pub(super) pid: u32,
    pub(super) alive: BTreeSet<u32>,
    /// Those that made calls of AscendCL and have ended.
    pub(super) ended: BTreeSet<u32>,
    pub(super) others: OtherPipes,
}

impl ThreadWait {
    /// Nothing where the thread may go on without another thread of its process, or where that is not known.
    pub(super) fn of(call: &SystemCall, threads: &Threads, memory: &Memory) -> Option<Self> {
        let [first, operation, value, limit, ..] = call.arguments;
        if numbers::READS.contains(&call.number) {
            return threads.others.lack(first).then_some(Self::ForOwnPipe);
        }
        let operation = (call.number == numbers::FUTEX).then_some(operation)?;
        let is_private = operation & PRIVATE != 0;
        let word = u32::try_from(value & 0xffff_ffff).ok()?;
        if limit != 0 {
            return None;
        }
        match operation & !(PRIVATE | CLOCK) {
            WAIT | WAIT_BITSET => {
                let found = threads.joined(first, word, is_private, memory);
                let found = found.or_else(|| threads.owner(first, word, memory));
                let found = found.or_else(|| threads.writer(first, memory));
                let found = found.map(Self::For);
                found.or_else(|| is_private.then_some(Self::ForItsProcess))
            }
            it if LOCK_PI.contains(&it) => {
                let [word] = memory.words::<1>(first)?;
                threads.lock_of(word & OWNER).map(Self::For)
            }
            _ => None,
        }
    }
}

impl Threads {
    /// A lock of the thread with this number.
    fn lock_of(&self, owner: u32) -> Option<OutsideWait> {
        match owner {
            _ if self.alive.contains(&owner) => Some(OutsideWait::Lock(owner)),
            _ if self.ended.contains(&owner) => Some(OutsideWait::LeftLock(owner)),
            _ => None,
        }
    }

    /// The thread with this number is joined: the kernel clears the word when it ends, also for other processes.
    fn joined(
        &self,
        address: u64,
        value: u32,
        is_private: bool,
        memory: &Memory,
    ) -> Option<OutsideWait> {
        let [word] = memory.words::<1>(address)?;
        let is_number = word == value && self.alive.contains(&value);
        (is_number && !is_private).then_some(OutsideWait::End(value))
    }

    /// The owner of a mutex: its words are the state, a count, the owner, the users, and the kind.
    fn owner(&self, address: u64, value: u32, memory: &Memory) -> Option<OutsideWait> {
        let [state, _, owner, users, kind] = memory.words::<5>(address)?;
        if state & OTHERS_WAIT != 0 && state == value {
            // A robust mutex has its owner in the first word.
            return self.lock_of(state & OWNER);
        }
        let is_mutex = state == CONTENDED && value == CONTENDED && users > 0 && kind < MOST_KIND;
        is_mutex.then(|| self.lock_of(owner)).flatten()
    }

    /// The writer of a read-write lock. Readers wait at its third word, and writers at the fourth.
    fn writer(&self, address: u64, memory: &Memory) -> Option<OutsideWait> {
        [8, 12].into_iter().find_map(|place| {
            let words = memory.words::<8>(address.checked_sub(place)?)?;
            let [readers, _, _, _, free, also_free, writer, _] = words;
            let is_written = readers & 1 != 0 && free == 0 && also_free == 0;
            is_written.then(|| self.lock_of(writer)).flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The target of a wait on these words. Threads 70 and 71 live, 72 has ended.
    fn found(
        words: &[u32],
        at: usize,
        operation: u64,
        value: u32,
        limit: u64,
    ) -> Option<ThreadWait> {
        let threads = Threads {
            pid: std::process::id(),
            alive: [70, 71].into(),
            ended: [72].into(),
            others: OtherPipes::than(std::process::id()),
        };
        let address = words.as_ptr() as u64 + 4 * at as u64;
        let call = SystemCall {
            number: numbers::FUTEX,
            arguments: [address, operation, value.into(), limit, 0, 0],
            stack: 0,
        };
        ThreadWait::of(&call, &threads, &Memory::of(threads.pid).unwrap())
    }

    #[test]
    fn owners_of_locks_are_found_by_their_words() {
        let lock = |owner| Some(ThreadWait::For(OutsideWait::Lock(owner)));
        let left = Some(ThreadWait::For(OutsideWait::LeftLock(72)));
        let any = Some(ThreadWait::ForItsProcess);
        let mutex = |owner| [2, 0, owner, 2, 0, 0, 0, 0, 0, 0];
        assert_eq!(found(&mutex(71), 0, PRIVATE, 2, 0), lock(71));
        assert_eq!(found(&mutex(72), 0, PRIVATE, 2, 0), left);
        // Another word is no owner, and a wait with a limit may end by itself.
        assert_eq!(found(&mutex(9), 0, PRIVATE, 2, 0), any);
        assert_eq!(found(&mutex(71), 0, PRIVATE, 2, 0x1000), None);
        assert_eq!(
            found(&[2, 0, 71, 0, 0, 0, 0, 0, 0, 0], 0, PRIVATE, 2, 0),
            any
        );
        let inherits = [71 | OTHERS_WAIT, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(found(&inherits, 0, LOCK_PI[0] | PRIVATE, 0, 0), lock(71));
        let robust = [70 | OTHERS_WAIT, 0, 70, 1, 16, 0, 0, 0];
        assert_eq!(found(&robust, 0, PRIVATE, 70 | OTHERS_WAIT, 0), lock(70));
        let written = [1, 0, 3, 2, 0, 0, 70, 0, 0, 0, 0, 0];
        assert_eq!(found(&written, 2, PRIVATE, 3, 0), lock(70));
        assert_eq!(found(&written, 3, PRIVATE, 2, 0), lock(70));
    }

    #[test]
    fn the_end_of_a_thread_is_its_number_for_all_processes() {
        let end = Some(ThreadWait::For(OutsideWait::End(70)));
        let words = [70, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(found(&words, 0, WAIT_BITSET | CLOCK, 70, 0), end);
        // A value that only looks like it.
        let any = Some(ThreadWait::ForItsProcess);
        assert_eq!(found(&words, 0, WAIT | PRIVATE, 70, 0), any);
        // Another process may wake it.
        assert_eq!(found(&[5, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0, WAIT, 5, 0), None);
    }
}
