//! What sets the notifies and values that streams wait for.
//!
//! A notify holds one signal. A record sets it, and a wait takes it. A record that comes while it is set changes nothing: that
//! signal is lost. The order of streams is not known in general. A signal counts as lost only where two records were done
//! before the wait that takes the first one could begin.

use std::collections::{HashMap, VecDeque};

use ascend_trace_format::api::{ArgPart, Fact};
use ascend_trace_recording::{Call, ProcessId, StreamId, ThreadId, Trace};

use super::queues::StreamPosition;

/// Proofs of a stream that are kept from one part of the recording to the next.
const KEPT: usize = 64;

/// A notify by its handle, a value by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SignalKey {
    pub(super) process: ProcessId,
    object: u64,
    pub(super) is_notify: bool,
}

impl SignalKey {
    /// Of a call that sets one or submits a wait for it.
    pub(super) fn of(trace: &Trace, call: &Call) -> Option<Self> {
        let function = trace.function(call.function);
        let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
        let notify = word(ArgPart::Notify);
        let other = || word(ArgPart::Counter).or_else(|| word(ArgPart::Address));
        Some(Self {
            process: trace.thread(call.thread).process,
            object: notify.or_else(other)?,
            is_notify: notify.is_some(),
        })
    }
}

/// A task that sets a notify, or waits for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignalUse {
    pub(super) place: StreamPosition,
    /// When its call began.
    pub(super) begin: i64,
    /// Number of that call in the recording.
    pub(super) call: u32,
}

#[derive(Debug, Default)]
struct SignalState {
    /// Records that no wait has taken, in the order of submission.
    sets: VecDeque<SignalUse>,
    /// Waits without a record.
    waits: VecDeque<StreamPosition>,
    /// The last record that came while the notify was set.
    lost: Option<SignalUse>,
    /// Who set it last, and when.
    setter: Option<(ThreadId, i64)>,
}

/// Everything submitted to a stream before a time was done at another time.
#[derive(Clone, Copy, Debug)]
struct Proof {
    submitted_before: i64,
    known_at: i64,
}

#[derive(Debug, Default)]
pub(super) struct Signals {
    known: HashMap<SignalKey, SignalState>,
    /// By a wait for a notify or a value: what sets it.
    bound: HashMap<StreamPosition, StreamPosition>,
    /// By streams that set notifies: proofs of their progress.
    proofs: HashMap<StreamId, Vec<Proof>>,
    /// Uses that are not dealt with yet, in the order of submission, and whether they wait.
    uses: Vec<(SignalKey, SignalUse, bool)>,
}

impl Signals {
    /// A task was submitted that may set a notify or a value, or wait for one.
    pub(super) fn submitted(&mut self, trace: &Trace, call: &Call, used: SignalUse) {
        let function = trace.function(call.function);
        let (sets, waits) = (function.is(Fact::Sets), function.is(Fact::Awaits));
        let Some(key) = SignalKey::of(trace, call).filter(|_| sets || waits) else {
            return;
        };
        if sets {
            self.known.entry(key).or_default().setter = Some((call.thread, call.begin));
        }
        if key.is_notify {
            if sets {
                self.proofs.entry(used.place.stream).or_default();
            }
            self.uses.push((key, used, !sets));
        }
    }

    /// Everything submitted to a stream before a time is known to be done at another time.
    pub(super) fn proved(&mut self, stream: StreamId, submitted_before: i64, known_at: i64) {
        if let Some(proofs) = self.proofs.get_mut(&stream) {
            proofs.push(Proof {
                submitted_before,
                known_at,
            });
        }
    }

    /// Deals with the uses of a part of the recording. All that is proved in it is known.
    pub(super) fn settle(&mut self) {
        for proofs in self.proofs.values_mut() {
            proofs.sort_by_key(|it| it.known_at);
            let mut most = i64::MIN;
            for proof in proofs {
                most = most.max(proof.submitted_before);
                proof.submitted_before = most;
            }
        }
        for (key, used, is_wait) in std::mem::take(&mut self.uses) {
            match is_wait {
                true => self.wait(key, used),
                false => self.set(key, used),
            }
        }
        for proofs in self.proofs.values_mut() {
            let older = proofs.len().saturating_sub(KEPT);
            proofs.drain(..older);
        }
    }

    fn set(&mut self, key: SignalKey, used: SignalUse) {
        let state = self.known.entry(key).or_default();
        match state.waits.pop_front() {
            Some(wait) => {
                self.bound.insert(wait, used.place);
            }
            None => state.sets.push_back(used),
        }
    }

    fn wait(&mut self, key: SignalKey, used: SignalUse) {
        let proofs = &self.proofs;
        let done_before = |set: &SignalUse| {
            let (set_on, wait_on) = (set.place.stream, used.place.stream);
            let is_behind = set_on == wait_on && set.place.sequence < used.place.sequence;
            is_behind || {
                let proofs = proofs.get(&set_on).map_or(&[][..], Vec::as_slice);
                let known = proofs.partition_point(|it| it.known_at <= used.begin);
                let last = known.checked_sub(1).and_then(|at| proofs.get(at));
                last.is_some_and(|it| it.submitted_before > set.begin)
            }
        };
        let state = self.known.entry(key).or_default();
        let first = state.sets.iter().position(done_before).unwrap_or(0);
        match state.sets.remove(first) {
            None => state.waits.push_back(used.place),
            Some(set) => {
                self.bound.insert(used.place, set.place);
                if done_before(&set) {
                    let lost = state.sets.iter().rfind(|it| done_before(it)).copied();
                    state.lost = lost.or(state.lost);
                    state.sets.retain(|it| !done_before(it));
                }
            }
        }
    }

    /// What sets the notify or the value of a wait.
    pub(super) fn set_for(&self, wait: StreamPosition) -> Option<StreamPosition> {
        self.bound.get(&wait).copied()
    }

    /// The same for a wait for a value, by the dependencies.
    pub(super) fn bind(&mut self, wait: StreamPosition, set: StreamPosition) {
        self.bound.insert(wait, set);
    }

    /// The last record of a notify that came while the notify was set.
    pub(super) fn lost(&self, key: SignalKey) -> Option<SignalUse> {
        self.known.get(&key)?.lost
    }

    /// The thread that set a notify or a value last, and when.
    pub(super) fn setter(&self, key: SignalKey) -> Option<(ThreadId, i64)> {
        self.known.get(&key)?.setter
    }

    /// Forgets the waits that are done.
    pub(super) fn keep(&mut self, is_pending: impl Fn(StreamPosition) -> bool) {
        const MOST: usize = 16_384;
        if self.bound.len() > MOST {
            self.bound.retain(|wait, _| is_pending(*wait));
        }
    }
}
