//! Decides which calls of this process the rules of `--only` and `--skip` leave out.
//!
//! Data that later records need is followed and recorded as in a pause: creation and end of objects, memory, captures and the
//! program's marks. Where the hardware log is read, tasks stay in the recording, as in a pause.

use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::filter::{Filters, Subject};
use ascend_trace_format::record::STUB;

use crate::first_records::{self, until_nul};
use crate::function_facts::Traits;
use crate::functions::FUNCTIONS;
use crate::session;
use crate::stubs::{self, STUBS};
use crate::thread::ThreadState;

/// Why a call leaves no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// It is recorded.
    No,
    Paused,
    Filtered,
}

impl LeftOut {
    #[inline]
    pub(crate) fn is_so(self) -> bool {
        self != Self::No
    }
}

/// Whether the rank of this process is left out: decided at its first call.
static RANK: AtomicU8 = AtomicU8::new(0);

/// Decisions about functions and stubs by their names: each is made at the first call.
static DECISIONS: [AtomicU8; FUNCTIONS.len() + STUBS] =
    [const { AtomicU8::new(0) }; FUNCTIONS.len() + STUBS];
const ADMITTED: u8 = 1;
const LEFT_OUT: u8 = 2;

/// Whether a call of the function with this id, which begins now, is left out. Its stream is not known yet.
#[cold]
pub(crate) fn leaves_out(state: &ThreadState, id: usize, traits: &Traits) -> bool {
    can_leave_out(traits)
        && session::rules().is_some_and(|rules| {
            decided(&RANK, || is_rank_admitted(rules))
                || is_function_left_out(rules, id)
                || is_device_left_out(rules, state)
                || is_thread_left_out(rules)
        })
}

/// Whether the filters may leave out a call of a function with these traits.
pub(crate) fn can_leave_out(traits: &Traits) -> bool {
    !(traits.is_lasting || traits.submits && session::wants_log())
}

/// A decision that is made once. Returns whether something is left out.
fn decided(decision: &AtomicU8, is_admitted: impl FnOnce() -> bool) -> bool {
    match decision.load(Relaxed) {
        ADMITTED => false,
        LEFT_OUT => true,
        _ => {
            let is_admitted = is_admitted();
            decision.store(if is_admitted { ADMITTED } else { LEFT_OUT }, Relaxed);
            !is_admitted
        }
    }
}

fn is_rank_admitted(rules: &Filters) -> bool {
    let rank = first_records::rank().and_then(|it| core::str::from_utf8(it).ok()?.parse().ok());
    rules.admits_number(Subject::Rank, rank)
}

fn is_function_left_out(rules: &Filters, id: usize) -> bool {
    let stub = id.checked_sub(usize::from(STUB));
    let place = stub.map_or(id, |index| FUNCTIONS.len().saturating_add(index));
    DECISIONS.get(place).is_some_and(|decision| {
        decided(decision, || {
            let name = match stub {
                Some(index) => stubs::known(index).map(|(name, _)| name),
                None => FUNCTIONS.get(id).map(|function| function.name.as_bytes()),
            };
            name.is_none_or(|name| rules.admits_name(Subject::Call, name))
        })
    })
}

/// A thread without a device belongs to none.
fn is_device_left_out(rules: &Filters, state: &ThreadState) -> bool {
    let admits = |device: u8| rules.admits_number(Subject::Device, Some(device.into()));
    session::filters_by(Subject::Device) && state.device().is_some_and(|device| !admits(device))
}

/// The program may rename a thread at any time, so its name is read for each call.
fn is_thread_left_out(rules: &Filters) -> bool {
    session::filters_by(Subject::Thread)
        && !rules.admits_name(Subject::Thread, until_nul(&first_records::own_name()))
}
