//! The frames of CPython that the calling thread is in, read from the interpreter's own memory.
//!
//! A thread inside a call has a chain of frames that only it can change, so no other thread has to
//! wait. Three queries to the interpreter need no lock and change nothing: the thread's state, whether
//! further interpreters exist, and whether it ends. The layout is known by version ([`layout`]). It is
//! checked once with reads that cannot fault ([`Interpreter::is_sound`]), before anything is read
//! directly. In doubt the result has no frames.
//!
//! When an interpreter ends, it frees the data of the remaining threads. So only the process's first
//! thread, which ends it, and the thread with the interpreter's lock read all of it directly. All
//! others let the kernel read their frames for them ([`memory_readers::GuardedReader`]).

mod interpreter;
mod interpreter_slots;
mod layout;
mod lines;
mod memory_readers;
mod names;
mod text;

use core::sync::atomic::Ordering::Relaxed;

use super::memory::Stack;
use super::walk::Frames;
use crate::thread::ThreadState;
use crate::{large_stack, syscall_policy};
use interpreter::{FrameChainItem, Interpreter, ask};
use interpreter_slots::{InterpreterSlot, current};
use memory_readers::{DirectReader, GuardedReader, KernelReader, WordReader};
use names::{CODE_BITS, Names, is_reported, mixed};

/// So often an interpreter may be of no sense before it is left alone.
const MOST_FAILURES: u8 = 8;
/// Distinguishes a frame of Python from an address in the words of a stack.
const IS_PYTHON: u64 = 1 << 63;
const LINE_BITS: u32 = 24;
const _: () = assert!(1 + CODE_BITS + LINE_BITS == u64::BITS);

/// The frames of a thread that is in Python.
pub(super) struct Chain {
    interpreter: &'static Interpreter,
    thread: usize,
    is_direct: bool,
    /// The used part of the thread's stack.
    stack: (usize, usize),
    /// Tells them apart from others.
    pub(super) hash: u64,
}

/// The Python frames of the calling thread, for its known native ones. `None` when it is not in Python,
/// or in none that can be read.
pub(super) fn chain(
    state: &ThreadState,
    stack: &Stack,
    native: &Frames,
    most: usize,
) -> Option<Chain> {
    let place = current(state)?;
    let interpreter = place.get()?;
    // A handler may have interrupted the interpreter while it changed its frames.
    if place.failures.load(Relaxed) >= MOST_FAILURES
        || native.is_interrupted()
        || !(interpreter.is_from_start || interpreter.is_on(native))
    {
        return None;
    }
    let thread = interpreter.thread()?;
    let mut chain = Chain {
        interpreter,
        thread,
        is_direct: state.is_first() || interpreter.is_held_by(thread),
        stack: stack.own_in_use(),
        hash: 0,
    };
    if !place.is_sound.load(Relaxed) && !chain.look_at(state, place) {
        return None;
    }
    let hash = match chain.is_direct {
        true => chain.hash_by(&DirectReader, most),
        false => chain.hash_by(&chain.guarded(), most),
    };
    chain.hash = hash?;
    Some(chain)
}

impl Chain {
    fn guarded(&self) -> GuardedReader<impl Fn() -> bool> {
        let ends = self.interpreter.functions.ends;
        // SAFETY: as in `Interpreter::thread`.
        GuardedReader::new(self.stack, move || unsafe { ask(ends) as u32 != 0 })
    }

    #[cold]
    #[inline(never)]
    fn look_at(&self, state: &ThreadState, place: &InterpreterSlot) -> bool {
        let mut is_sound = false;
        state.at_work(|_| {
            is_sound = large_stack::run(|| self.interpreter.is_sound(self.thread));
            if !is_sound && !self.is_outside() {
                place.failures.fetch_add(1, Relaxed);
            }
        });
        place.is_sound.fetch_or(is_sound, Relaxed);
        is_sound
    }

    /// The thread has a state but no frames: that says nothing.
    fn is_outside(&self) -> bool {
        let mut count = 0;
        let reads = KernelReader::new();
        let end = self.interpreter.each(&reads, self.thread, 1, |_| {
            count += 1;
            Some(())
        });
        end.is_some() && count == 0
    }

    /// `None` when there are no frames.
    #[inline]
    fn hash_by<R: WordReader>(&self, reads: &R, most: usize) -> Option<u64> {
        let mut hash = 0;
        let mut count = 0;
        // What there is up to something of no sense is as good as ever.
        let _ = self.interpreter.each(reads, self.thread, most, |item| {
            if let FrameChainItem::Frame(frame) = item {
                hash = mixed(hash, self.interpreter.identity(reads, frame)?);
                count += 1;
            }
            Some(())
        });
        (count > 0).then_some(hash)
    }

    /// Whether an address after a call is of the function that runs Python code.
    pub(super) fn is_eval(&self, address: usize) -> bool {
        self.interpreter.is_eval(address)
    }

    /// Calls `item` with the words of the frames, and with their places on the stack. New names are
    /// recorded; returns whether all of them were.
    pub(super) fn tell(
        &self,
        state: &ThreadState,
        most: usize,
        mut item: impl FnMut(FramePart),
    ) -> bool {
        match self.is_direct {
            true => self.tell_by(&DirectReader, state, most, &mut item),
            false => self.tell_by(&self.guarded(), state, most, &mut item),
        }
    }

    fn tell_by<R: WordReader>(
        &self,
        reads: &R,
        state: &ThreadState,
        most: usize,
        item: &mut dyn FnMut(FramePart),
    ) -> bool {
        let mut names = Names::new();
        let mut are_reported = true;
        let interpreter = self.interpreter;
        let _ = interpreter.each(reads, self.thread, most, |part| {
            let frame = match part {
                FrameChainItem::Frame(frame) => frame,
                FrameChainItem::Entry(place) => {
                    item(FramePart::Entry(place));
                    return Some(());
                }
            };
            // As in the hash.
            interpreter.identity(reads, frame)?;
            interpreter.names(reads, frame.code, &mut names)?;
            let number = names.number();
            are_reported &= is_reported(state, number, &names);
            let line = interpreter.line(reads, frame).unwrap_or(0);
            let line = u64::from(line).min((1 << LINE_BITS) - 1);
            item(FramePart::Frame(IS_PYTHON | number << LINE_BITS | line));
            Some(())
        });
        are_reported
    }
}

/// A part of a chain of frames: a word for a frame, or see [`FrameChainItem::Entry`].
pub(super) enum FramePart {
    Frame(u64),
    Entry(Option<usize>),
}

impl ThreadState {
    /// Whether this is the process's first thread.
    fn is_first(&self) -> bool {
        match self.is_first.get() {
            Some(is_first) => is_first,
            None => {
                let tid = syscall_policy::tid();
                let is_first = tid != 0 && tid == syscall_policy::pid();
                self.is_first.set(Some(is_first));
                is_first
            }
        }
    }
}
