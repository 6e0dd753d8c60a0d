//! The streams that the engine has to look at.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;

use super::bell;
use crate::code::{Outcome, RT_INTERNAL, fault};
use crate::per_process::PerProcess;
use crate::stream::Stream;
use crate::sync::{Mutex, lock};
use crate::{threads, virtual_time};

static ENGINE: PerProcess<EngineInbox> = PerProcess::new(EngineInbox::new);

pub(crate) fn get() -> &'static EngineInbox {
    ENGINE.get()
}

/// The engine as the other threads see it.
pub(crate) struct EngineInbox {
    due: Mutex<DueStreams>,
    /// How many are due, readable without the lock.
    waiting: AtomicUsize,
    thread: OnceLock<Thread>,
    /// Held by who starts the thread.
    starting: Mutex<()>,
}

struct DueStreams {
    streams: Vec<Arc<Stream>>,
    woken: Vec<usize>,
}

impl DueStreams {
    const fn new() -> Self {
        Self {
            streams: Vec::new(),
            woken: Vec::new(),
        }
    }

    const fn count(&self) -> usize {
        self.streams.len() + self.woken.len()
    }
}

impl EngineInbox {
    const fn new() -> Self {
        Self {
            due: Mutex::new(DueStreams::new()),
            waiting: AtomicUsize::new(0),
            thread: OnceLock::new(),
            starting: Mutex::new(()),
        }
    }

    /// Has the stream looked at. While the engine is awake this makes no system call.
    pub(crate) fn enqueue(&self, stream: &Arc<Stream>) {
        self.add_due(|due| due.streams.push(Arc::clone(stream)));
    }

    /// The same for streams that wait for something, by their handles.
    pub(crate) fn wake(&self, streams: &[usize]) {
        self.add_due(|due| due.woken.extend(streams));
    }

    fn add_due(&self, add: impl FnOnce(&mut DueStreams)) {
        let mut due = lock(&self.due);
        add(&mut due);
        self.waiting.store(due.count(), Ordering::SeqCst);
        // After the length: the engine finds the stream in the inbox when it has seen this.
        virtual_time::unseen().give();
        drop(due);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    pub(super) fn is_empty(&self, order: Ordering) -> bool {
        self.waiting.load(order) == 0
    }

    /// Moves the streams out, and returns the handles of those that were woken. Called by the engine
    /// only.
    pub(super) fn take(&self, streams: &mut Vec<Arc<Stream>>) -> Vec<usize> {
        let mut due = lock(&self.due);
        streams.append(&mut due.streams);
        self.waiting.store(0, Ordering::Release);
        std::mem::take(&mut due.woken)
    }

    /// Starts the thread unless it runs already. It comes before every submission: where there can be no
    /// thread, as under a limit or a filter, the program gets an error and no task that never ends.
    pub(crate) fn begin(&self, play: fn()) -> Outcome {
        if self.thread.get().is_some() {
            return Ok(());
        }
        let _starting = lock(&self.starting);
        if self.thread.get().is_none() {
            let thread = threads::spawn("softacl-engine", play);
            let Some(thread) = thread else {
                return fault(RT_INTERNAL, "the thread that runs tasks cannot be started");
            };
            bell::get().hang(&thread);
            // Nobody else can have set it.
            let _ = self.thread.set(thread);
        }
        Ok(())
    }
}
