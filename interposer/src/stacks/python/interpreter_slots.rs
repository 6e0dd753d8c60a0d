//! The interpreters of the process, and how the one in use is found.

use core::ops::ControlFlow;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64};

use super::interpreter::{Interpreter, Types};
use crate::large_stack;
use crate::loader::walk;
use crate::thread::ThreadState;

/// Interpreters that a process can load one after another.
const MOST_INTERPRETERS: usize = 4;

/// The interpreters found until now, and the one in use.
pub(super) static PLACES: [InterpreterSlot; MOST_INTERPRETERS] =
    [const { InterpreterSlot::new() }; MOST_INTERPRETERS];
pub(super) static CURRENT: AtomicPtr<InterpreterSlot> = AtomicPtr::new(core::ptr::null_mut());
/// One more than the number of objects at the last look.
pub(super) static LOOKED: AtomicU64 = AtomicU64::new(0);

/// A place for an interpreter, written once.
pub(super) struct InterpreterSlot {
    pub(super) state: AtomicU8,
    pub(super) is_sound: AtomicBool,
    pub(super) failures: AtomicU8,
    pub(super) interpreter: core::cell::UnsafeCell<Option<Interpreter>>,
}

pub(super) const FREE: u8 = 0;
pub(super) const TAKEN: u8 = 1;
pub(super) const READY: u8 = 2;

// SAFETY: only the thread that has changed the state to `TAKEN` writes to the interpreter, and all
// others read it after the change to `READY`. Then no thread writes any more.
unsafe impl Sync for InterpreterSlot {}

impl InterpreterSlot {
    pub(super) const fn new() -> Self {
        Self {
            state: AtomicU8::new(FREE),
            is_sound: AtomicBool::new(false),
            failures: AtomicU8::new(0),
            interpreter: core::cell::UnsafeCell::new(None),
        }
    }

    pub(super) fn get(&'static self) -> Option<&'static Interpreter> {
        if self.state.load(Acquire) != READY {
            return None;
        }
        // SAFETY: no thread writes any more.
        unsafe { (*self.interpreter.get()).as_ref() }
    }

    /// Puts an interpreter here if the place is free. Returns it if not.
    fn put(&'static self, interpreter: Interpreter) -> Option<Interpreter> {
        match self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed) {
            Ok(_) => {
                // SAFETY: no other thread writes, and none reads yet.
                unsafe { *self.interpreter.get() = Some(interpreter) };
                self.state.store(READY, Release);
                None
            }
            Err(_) => Some(interpreter),
        }
    }
}

/// The interpreter of the process, if it has one.
#[inline]
pub(super) fn current(state: &ThreadState) -> Option<&'static InterpreterSlot> {
    let added = walk::added_if_known().wrapping_add(1);
    if LOOKED.load(Relaxed) != added {
        look(state, added);
    }
    // SAFETY: null or one of the places.
    unsafe { CURRENT.load(Acquire).as_ref() }
}

#[cold]
#[inline(never)]
fn look(state: &ThreadState, added: u64) {
    // SAFETY: null or one of the places.
    let known = unsafe { CURRENT.load(Acquire).as_ref() }.and_then(InterpreterSlot::get);
    if known.is_some_and(|it| it.is_from_start) {
        LOOKED.store(added, Relaxed);
        return;
    }
    state.at_work(|_| {
        large_stack::run(|| {
            let found = find();
            if let Some(interpreter) = found {
                keep(interpreter);
            }
            LOOKED.store(added, Relaxed);
        });
    });
}

fn keep(interpreter: Interpreter) {
    let mut left = Some(interpreter);
    for place in &PLACES {
        let Some(interpreter) = left.take() else {
            return;
        };
        let is_it = place
            .get()
            .is_some_and(|known| known.functions.thread == interpreter.functions.thread);
        if is_it {
            CURRENT.store(core::ptr::from_ref(place).cast_mut(), Release);
            return;
        }
        left = place.put(interpreter);
        if left.is_none() {
            CURRENT.store(core::ptr::from_ref(place).cast_mut(), Release);
        }
    }
}

fn find() -> Option<Interpreter> {
    let mut found = None;
    let mut types = Types::default();
    walk::each(|place| {
        types.add(&place.object);
        found = Interpreter::of(&place.object, place.is_from_start(), types);
        match found {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    found
}
