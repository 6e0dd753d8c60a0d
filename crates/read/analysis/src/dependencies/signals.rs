//! Which notify or value a wait on a stream was released by.
//!
//! A notify is one bit that its wait resets, so the n-th wait belongs to the n-th record. A value in
//! memory stays: a wait for a value belongs to the last write before it with the wanted value, or else
//! to the first one after it. All in the order of submission.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, Fact};
use ascend_trace_recording::{Call, CallId, ProcessId, TaskId, Trace};

use super::build::{CallDependency, took_effect};
use super::{Edge, EdgeKind, Node};

/// The object of a wait: a notify by its handle, a place in memory by its address.
type SignalObject = (ProcessId, u64);

/// All calls that set notifies and values until now, and the number of waits for each notify.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    places: HashMap<SignalObject, Signal>,
    /// Which wait for its notify a call submitted.
    ordinals: HashMap<CallId, usize>,
}

/// What set one notify or value, by the time of submission.
#[derive(Clone, Debug, Default)]
struct Signal {
    sets: Vec<(i64, u64, TaskId)>,
    waits: usize,
}

/// Use of a notify or a value by a call.
enum SignalUse {
    SetNotify(u64),
    AwaitNotify(u64),
    SetValue(u64, u64),
    AwaitValue(u64, ValueCondition),
}

/// Condition of a wait for a value.
#[derive(Clone, Copy)]
struct ValueCondition {
    value: u64,
    /// `aclrtValueWait`'s flag; `None` for a wait with an unrecorded condition.
    flag: Option<u64>,
}

impl ValueCondition {
    fn accepts(self, written: u64) -> bool {
        match self.flag {
            Some(0) => written.wrapping_sub(self.value).cast_signed() >= 0,
            Some(1) => written == self.value,
            Some(2) => written & self.value != 0,
            Some(3) => !(written | self.value) != 0,
            _ => true,
        }
    }
}

impl Signals {
    /// Notes the object that a call sets.
    pub(super) fn note(&mut self, trace: &Trace, call: &Call) {
        let (place, value) = match usage(trace, call) {
            Some(SignalUse::SetNotify(place)) => (place, 0),
            Some(SignalUse::SetValue(place, value)) => (place, value),
            _ => return,
        };
        if let Some(task) = call.task.filter(|task| trace.runs(trace.task(*task))) {
            let sets = &mut self.signal(trace, call, place).sets;
            let after = sets.partition_point(|set| set.0 <= call.begin);
            sets.insert(after, (call.begin, value, task));
        }
    }

    /// Finds what released the wait that a call submitted, if it is one.
    pub(super) fn resolve(&mut self, trace: &Trace, id: CallId, call: &Call) -> CallDependency {
        let Some(task) = call.task.filter(|task| trace.runs(trace.task(*task))) else {
            return CallDependency::Nothing;
        };
        if !took_effect(trace, call) {
            return CallDependency::Nothing;
        }
        let set = match usage(trace, call) {
            Some(SignalUse::AwaitNotify(place)) => {
                let ordinal = self.ordinal(trace, id, call, place);
                let sets = &self.signal(trace, call, place).sets;
                sets.get(ordinal).map(|set| set.2)
            }
            Some(SignalUse::AwaitValue(place, wanted)) => {
                let sets = &self.signal(trace, call, place).sets;
                let (before, after) = sets.split_at(sets.partition_point(|it| it.0 < call.begin));
                let wanted = |set: &&(i64, u64, TaskId)| wanted.accepts(set.1);
                let found = before.iter().rfind(wanted);
                found.or_else(|| after.iter().find(wanted)).map(|set| set.2)
            }
            _ => return CallDependency::Nothing,
        };
        set.map_or(CallDependency::NotYet, |set| {
            CallDependency::Edge(Edge {
                kind: EdgeKind::SignalToWait,
                from: Node::Task(set),
                to: Node::Task(task),
            })
        })
    }

    fn ordinal(&mut self, trace: &Trace, id: CallId, call: &Call, place: u64) -> usize {
        if let Some(ordinal) = self.ordinals.get(&id) {
            return *ordinal;
        }
        let waits = &mut self.signal(trace, call, place).waits;
        let ordinal = *waits;
        *waits += 1;
        self.ordinals.insert(id, ordinal);
        ordinal
    }

    fn signal(&mut self, trace: &Trace, call: &Call, place: u64) -> &mut Signal {
        let process = trace.thread(call.thread).process;
        self.places.entry((process, place)).or_default()
    }
}

fn usage(trace: &Trace, call: &Call) -> Option<SignalUse> {
    let function = trace.function(call.function);
    let arg = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    let (notify, counter) = (arg(ArgPart::Notify), arg(ArgPart::Counter));
    if function.is(Fact::Sets) {
        return Some(match (notify, counter) {
            (Some(notify), _) => SignalUse::SetNotify(notify),
            // The new value of a counting notify is in unrecorded memory.
            (None, Some(counter)) => SignalUse::SetValue(counter, 0),
            (None, None) => SignalUse::SetValue(arg(ArgPart::Address)?, arg(ArgPart::Value)?),
        });
    }
    if !function.is(Fact::Awaits) {
        return None;
    }
    let unknown = ValueCondition {
        value: 0,
        flag: None,
    };
    Some(match (notify, counter) {
        (Some(notify), _) => SignalUse::AwaitNotify(notify),
        (None, Some(counter)) => SignalUse::AwaitValue(counter, unknown),
        (None, None) => {
            let wanted = ValueCondition {
                value: arg(ArgPart::Value)?,
                flag: arg(ArgPart::Condition),
            };
            SignalUse::AwaitValue(arg(ArgPart::Address)?, wanted)
        }
    })
}
