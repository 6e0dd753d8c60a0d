//! The window of the recording in this process: the conditions of `--start-at` and `--stop-at`, and how far they are met.
//! [`crate::window_borders`] looks at them.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

use ascend_trace_format::window::{Condition, Window};

use crate::function_facts;

/// A border that waits for its condition.
pub(crate) struct Border {
    words: [AtomicU64; 2],
    /// Calls or replays of the condition until now.
    count: AtomicU32,
}

pub(crate) static START: Border = Border::new();
pub(crate) static STOP: Border = Border::new();

/// Count of the steps so far that have no number in their names.
static STEPS: AtomicU32 = AtomicU32::new(0);

/// Bits of the watched conditions.
static WATCHED: AtomicU32 = AtomicU32::new(0);
/// Calls or replays.
const CALLS: u32 = 1;
/// Names of ranges.
const NAMES: u32 = 2;

/// The range that ends the window is running.
static LAST_RUNS: AtomicBool = AtomicBool::new(false);

/// The thread in the call that ends the window; 0 for none.
pub(crate) static STOPPING: AtomicUsize = AtomicUsize::new(0);

impl Border {
    const fn new() -> Self {
        Self {
            words: [const { AtomicU64::new(0) }; 2],
            count: AtomicU32::new(0),
        }
    }

    pub(crate) fn condition(&self) -> Condition {
        let words = self.words.each_ref().map(|word| word.load(Relaxed));
        Condition::from_words(words).unwrap_or_default()
    }

    fn set(&self, condition: Condition) {
        let [first, key] = &self.words;
        let words = condition.words();
        // An earlier session may have counted.
        self.count.store(0, Relaxed);
        key.store(words[1], Relaxed);
        first.store(words[0], SeqCst);
    }

    /// The condition is met: only the first caller gets true.
    pub(crate) fn take(&self) -> bool {
        let [first, _] = &self.words;
        let is_first = first.swap(0, SeqCst) != 0;
        watch();
        is_first
    }

    /// A call of the function with this id begins, which may be a replay. Returns whether it meets the condition: once its number is
    /// reached, each does.
    pub(crate) fn is_met_by_call(&self, id: usize, is_replay: bool) -> bool {
        let wanted = match self.condition() {
            Condition::Call { function, count } if usize::from(function) == id => count,
            Condition::Replay { count } if is_replay => count,
            _ => return false,
        };
        self.count.fetch_add(1, Relaxed) + 1 >= wanted
    }
}

/// Takes over the window of the session, before the first call is recorded.
pub(crate) fn arm(window: Window) {
    START.set(window.start);
    STOP.set(window.stop);
    watch();
}

/// Stores the watched conditions.
fn watch() {
    let of = |condition| match condition {
        Condition::None => 0,
        Condition::Call { .. } | Condition::Replay { .. } => CALLS,
        Condition::Range { .. } | Condition::Step { .. } => NAMES,
    };
    let last = match LAST_RUNS.load(SeqCst) {
        true => NAMES,
        false => 0,
    };
    WATCHED.store(of(START.condition()) | of(STOP.condition()) | last, SeqCst);
}

/// The range that ends the window begins, or has ended.
pub(crate) fn set_last(runs: bool) {
    LAST_RUNS.store(runs, SeqCst);
    watch();
}

/// Whether a call of this kind on the fast path could meet a condition.
pub(crate) fn watches_simple_calls() -> bool {
    [&START, &STOP]
        .into_iter()
        .any(|border| match border.condition() {
            Condition::Call { function, .. } => {
                function_facts::of(function.into()).is_some_and(|it| !it.has_role)
            }
            _ => false,
        })
}

/// Whether a call could meet a condition.
#[inline]
pub(crate) fn watches_calls() -> bool {
    WATCHED.load(Relaxed) & CALLS != 0
}

/// Whether a range could meet a condition.
#[inline]
pub(crate) fn watches_names() -> bool {
    WATCHED.load(Relaxed) & NAMES != 0
}

/// One more step of the process without a number in its name. Returns their number.
pub(crate) fn count_step() -> u32 {
    STEPS.fetch_add(1, Relaxed) + 1
}
