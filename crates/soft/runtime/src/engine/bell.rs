//! Wakes the engine for those who do not know its inbox.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;

use crate::per_process::PerProcess;
use crate::virtual_time;

static BELL: PerProcess<Bell> = PerProcess::new(Bell::new);

pub(crate) fn get() -> &'static Bell {
    BELL.get()
}

pub(crate) struct Bell {
    rang: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Bell {
    const fn new() -> Self {
        Self {
            rang: AtomicBool::new(false),
            thread: OnceLock::new(),
        }
    }

    /// The engine's thread hears it from now on.
    pub(super) fn hang(&self, thread: &Thread) {
        // Nobody else can have set it.
        let _ = self.thread.set(thread.clone());
    }

    /// Has the engine look at everything again.
    pub(crate) fn ring(&self) {
        self.rang.store(true, Ordering::SeqCst);
        // After the flag: the engine finds it when it has seen this.
        virtual_time::unseen().give();
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    pub(super) fn has_rung(&self) -> bool {
        self.rang.load(Ordering::SeqCst)
    }

    /// The engine looks.
    pub(super) fn clear(&self) {
        self.rang.store(false, Ordering::SeqCst);
    }
}
