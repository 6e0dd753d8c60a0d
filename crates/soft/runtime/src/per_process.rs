//! Values that exist once in a process. A forked child has none of its parent's threads and starts with
//! fresh values, so that neither its calls nor its exit can wait for work that no thread does.

use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// How many forks lie between the first process and this one.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Tells this process from those that it was forked from.
pub(crate) fn generation() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

fn watch_forks() {
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    static ONCE: Once = Once::new();
    // SAFETY: the handler only changes an atomic, which is allowed in a forked child.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// One value, made at first use. It is never freed: threads may use it until the process ends.
pub(crate) struct PerProcess<T> {
    current: AtomicPtr<MadeValue<T>>,
    make: fn() -> T,
}

struct MadeValue<T> {
    generation: u64,
    value: T,
}

impl<T: Send + Sync> PerProcess<T> {
    pub(crate) const fn new(make: fn() -> T) -> Self {
        Self {
            current: AtomicPtr::new(std::ptr::null_mut()),
            make,
        }
    }

    pub(crate) fn get(&self) -> &'static T {
        self.existing().unwrap_or_else(|| self.create())
    }

    /// The value, if it was made in this process.
    pub(crate) fn existing(&self) -> Option<&'static T> {
        Self::valid(self.current.load(Ordering::Acquire))
    }

    fn valid(made: *mut MadeValue<T>) -> Option<&'static T> {
        // SAFETY: values that are not null come from `Box::into_raw` in `create` and are never freed.
        let made = unsafe { made.as_ref() }?;
        (made.generation == generation()).then_some(&made.value)
    }

    #[cold]
    fn create(&self) -> &'static T {
        watch_forks();
        let before = self.current.load(Ordering::Acquire);
        if let Some(value) = Self::valid(before) {
            return value;
        }
        let made = Box::into_raw(Box::new(MadeValue {
            generation: generation(),
            value: (self.make)(),
        }));
        let swapped =
            self.current
                .compare_exchange(before, made, Ordering::AcqRel, Ordering::Acquire);
        match swapped {
            // SAFETY: `made` is a live allocation that is never freed from here on.
            Ok(_) => unsafe { &(*made).value },
            // SAFETY: `made` has no other user; `winner` was made in this process, and is never freed.
            Err(winner) => unsafe {
                drop(Box::from_raw(made));
                &(*winner).value
            },
        }
    }
}
