//! The engine's two hand-made protocols under every interleaving: tasks are never left behind
//! without a call, and sleepers are never left asleep. The files under test are the library's own,
//! compiled here with loom's types.

mod primitives {
    pub(crate) use loom::sync::atomic::{
        AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering, fence,
    };
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn sleep<'a, T>(
        changed: &Condvar,
        guard: MutexGuard<'a, T>,
        limit: std::time::Duration,
    ) -> MutexGuard<'a, T> {
        let woken = changed.wait_timeout(guard, limit);
        woken.unwrap_or_else(std::sync::PoisonError::into_inner).0
    }
}

#[path = "../../src/inlet.rs"]
mod inlet;
#[path = "../../src/progress.rs"]
mod progress;

use std::collections::VecDeque;
use std::time::Duration;

use inlet::Inlet;
use loom::sync::Arc;
use loom::thread;
use primitives::{Mutex, lock};
use progress::{Progress, WaitResult};

#[test]
fn a_pushed_task_is_taken_or_the_engine_is_called() {
    loom::model(|| {
        let inlet = Arc::new(Inlet::new());
        // As in the engine, the call itself goes through a lock.
        let called = Arc::new(Mutex::new(false));
        let submitters: Vec<_> = (0..2)
            .map(|number| {
                let (inlet, called) = (Arc::clone(&inlet), Arc::clone(&called));
                thread::spawn(move || {
                    let mut queue = inlet.lock();
                    queue.items.push_back(number);
                    queue.pushed += 1;
                    assert!(!queue.closed);
                    drop(queue);
                    if inlet.must_call() {
                        *lock(&called) = true;
                    }
                })
            })
            .collect();
        let mut taken = VecDeque::new();
        // The engine looks while the submitters run, and again after them if it was called.
        if std::mem::take(&mut *lock(&called)) {
            while inlet.take(&mut taken) {}
        }
        for submitter in submitters {
            submitter.join().unwrap();
        }
        if std::mem::take(&mut *lock(&called)) {
            while inlet.take(&mut taken) {}
        }
        assert_eq!(taken.len(), 2, "a task was left behind");
    });
}

#[test]
fn a_sleeper_is_woken_by_the_task_it_waits_for() {
    loom::model(|| {
        let progress = Arc::new(Progress::new());
        let sleeper = {
            let progress = Arc::clone(&progress);
            thread::spawn(move || progress.sleep(2, 0, || Some(Duration::MAX)))
        };
        progress.complete(1);
        progress.complete(2);
        progress.wake();
        assert_eq!(sleeper.join().unwrap(), WaitResult::Done);
        assert_eq!(progress.completed(), 2);
    });
}

#[test]
fn an_interrupted_sleeper_gets_the_code_though_its_task_is_completed_by_force() {
    loom::model(|| {
        let progress = Arc::new(Progress::new());
        let before = progress.interrupts();
        let sleeper = {
            let progress = Arc::clone(&progress);
            thread::spawn(move || progress.sleep(1, before, || Some(Duration::MAX)))
        };
        progress.interrupt(7);
        progress.complete(1);
        progress.wake();
        assert_eq!(sleeper.join().unwrap(), WaitResult::Aborted(7));
    });
}
