//! Reads the parts of a long recording that the view looks at, on a thread of its own.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;

use ascend_trace_model::{OpenError, Trace};
use ascend_trace_viewer::{Derived, News, Overview, Quest};

use super::reader::Reader;

/// How often a file that may grow is looked at.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// The same when it will not: only wishes matter then.
pub(super) const IDLE_TICK: Duration = Duration::from_secs(1);

/// What the reading thread has to say.
pub(super) enum Update {
    /// So many bytes of so many have been read to open the file.
    Opening(u64, u64),
    Overview(Overview),
    Part(Box<Part>),
    /// The wish with this number has been answered.
    Answered(u64),
    Complete,
    News(News),
    Failed(OpenError),
}

/// A part of the recording, ready to be shown.
pub(super) struct Part {
    pub(super) trace: Trace,
    pub(super) derived: Derived,
    /// Where the trace holds everything.
    pub(super) range: Option<(i64, i64)>,
}

/// What the view wants to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) range: Option<(i64, i64)>,
    /// Counts the wishes.
    pub(super) number: u64,
    /// Counts what was asked for or given up.
    pub(super) quest: u64,
    pub(super) stop: bool,
}

/// Where the view leaves its wish.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    wish: Mutex<Wish>,
    quest: Mutex<Option<Box<Quest>>>,
    changed: Condvar,
}

impl Wishes {
    pub(super) fn now(&self) -> Wish {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is another wish than this, or the time is over.
    pub(super) fn wait(&self, known: Wish, time: Duration) -> Wish {
        let wish = self.wish.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(wish, time, |wish| *wish == known);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// What is looked for, if that has not been taken yet.
    pub(super) fn take_quest(&self) -> Option<Box<Quest>> {
        let mut quest = self.quest.lock().unwrap_or_else(PoisonError::into_inner);
        quest.take()
    }

    fn ask(&self, quest: Option<Box<Quest>>) {
        *self.quest.lock().unwrap_or_else(PoisonError::into_inner) = quest;
        self.change(|wish| wish.quest += 1);
    }

    fn change(&self, change: impl FnOnce(&mut Wish)) {
        change(&mut self.wish.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

/// The view's end of the reading thread.
pub(super) struct Loader {
    wishes: Arc<Wishes>,
    updates: Receiver<Update>,
    thread: Option<JoinHandle<()>>,
    trace: Trace,
    overview: Overview,
    next: Option<Part>,
    answered: u64,
    complete: bool,
    news: VecDeque<News>,
}

impl Loader {
    pub(super) fn start(path: PathBuf) -> anyhow::Result<Self> {
        let wishes = Arc::<Wishes>::default();
        let (sender, updates): (Sender<Update>, _) = channel();
        let reader = Reader::new(path, Arc::clone(&wishes), sender);
        let thread = std::thread::Builder::new()
            .name("reader".into())
            .spawn(move || reader.run())
            .context("cannot read the file in the background")?;
        let overview = Overview {
            opening: Some(0),
            ..Overview::default()
        };
        Ok(Self {
            wishes,
            updates,
            thread: Some(thread),
            trace: Trace::default(),
            overview,
            next: None,
            answered: 0,
            complete: false,
            news: VecDeque::new(),
        })
    }

    /// Takes in what the thread has to say. Tells whether that was anything to see.
    pub(super) fn poll(&mut self) -> Result<bool, OpenError> {
        let mut changed = false;
        loop {
            match self.updates.try_recv() {
                Ok(Update::Opening(done, all)) => {
                    let percent = done.saturating_mul(100) / all.max(1);
                    self.overview.opening = Some(percent.min(100) as u8);
                }
                Ok(Update::Overview(overview)) => {
                    let loaded = self.overview.loaded;
                    self.overview = Overview { loaded, ..overview };
                }
                Ok(Update::Part(part)) => self.next = Some(*part),
                Ok(Update::Answered(number)) => {
                    self.answered = number;
                    continue;
                }
                Ok(Update::Complete) => self.complete = true,
                Ok(Update::News(news)) => {
                    self.news.push_back(news);
                    continue;
                }
                Ok(Update::Failed(error)) => return Err(error),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return Ok(changed),
            }
            changed = true;
        }
    }

    pub(super) fn look_at(&mut self, range: (i64, i64)) {
        if self.overview.opening.is_none() && self.wishes.now().range != Some(range) {
            self.wishes.change(|wish| {
                wish.range = Some(range);
                wish.number += 1;
            });
        }
    }

    pub(super) fn ask(&mut self, quest: Option<Box<Quest>>) {
        self.news.clear();
        self.wishes.ask(quest);
    }

    pub(super) fn news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    pub(super) fn is_loading(&self) -> bool {
        self.overview.opening.is_some()
            || self.next.is_some()
            || self.wishes.now().number > self.answered
    }

    pub(super) fn next_part(&mut self) -> Option<Derived> {
        let part = self.next.take()?;
        self.trace = part.trace;
        self.overview.loaded = part.range;
        Some(part.derived)
    }

    pub(super) fn trace(&self) -> &Trace {
        &self.trace
    }

    pub(super) fn overview(&self) -> &Overview {
        &self.overview
    }

    /// Whether the recording has ended and all of it is known.
    pub(super) fn complete(&self) -> bool {
        self.complete
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        self.wishes.change(|wish| wish.stop = true);
        if let Some(thread) = self.thread.take() {
            // A reader that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}
