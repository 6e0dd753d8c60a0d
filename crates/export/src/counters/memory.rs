//! Memory in use, from the calls that allocate and free it.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_format::api::ArgKind;
use ascend_trace_model::{Call, Function, ProcessId, Trace};

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Host,
    Device(u32),
}

/// Bytes in use of each process at each place, from each moment on at which they change.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) in_use: BTreeMap<(ProcessId, Place), Vec<(i64, i64)>>,
}

/// What a function does to memory, and which of its arguments say so.
#[derive(Clone, Copy, Debug)]
enum Effect {
    Allocates { pointer: usize, size: usize },
    Frees { pointer: usize },
}

/// An allocation or a release that succeeded.
struct Change {
    time: i64,
    process: ProcessId,
    place: Option<Place>,
    pointer: u64,
    /// `None`: it is freed.
    size: Option<u64>,
}

impl Memory {
    pub(super) fn of(trace: &Trace) -> Self {
        let effects: Vec<_> = trace.functions().iter().map(effect).collect();
        let mut changes: Vec<Change> = trace
            .calls()
            .iter()
            .filter(|call| call.ret == 0)
            .filter_map(|call| {
                let (is_host, effect) = (*effects.get(call.function.index())?)?;
                change(trace, call, is_host, effect)
            })
            .collect();
        changes.sort_by_key(|change| change.time);
        let mut memory = Self::default();
        // What is allocated: where, and how much.
        let mut live: HashMap<(ProcessId, u64), (Place, i64)> = HashMap::new();
        for change in changes {
            let key = (change.process, change.pointer);
            let new = change
                .place
                .zip(change.size)
                .map(|(place, size)| (place, i64::try_from(size).unwrap_or(i64::MAX)));
            // An inner call of an allocation tells of it as well.
            let old = match new {
                Some(new) => live.insert(key, new),
                None => live.remove(&key),
            };
            for ((place, size), sign) in old
                .map(|it| (it, -1))
                .into_iter()
                .chain(new.map(|it| (it, 1)))
            {
                memory.add((change.process, place), change.time, sign * size);
            }
        }
        memory
    }

    fn add(&mut self, at: (ProcessId, Place), time: i64, bytes: i64) {
        let values = self.in_use.entry(at).or_default();
        let value = values.last().map_or(0, |last| last.1);
        let value = value.saturating_add(bytes);
        match values.last_mut().filter(|last| last.0 == time) {
            Some(last) => last.1 = value,
            None => values.push((time, value)),
        }
        // What is replaced by as much is no change.
        if matches!(values.as_slice(), [.., (_, before), (_, now)] if before == now) {
            values.pop();
        }
    }
}

/// Functions are known by how their names begin and by the names of their arguments.
fn effect(function: &Function) -> Option<(bool, Effect)> {
    let place = |name: &str| function.args.iter().position(|arg| arg.name == name);
    let (is_host, pointer) = match place("devPtr") {
        Some(pointer) => (false, pointer),
        None => (true, place("hostPtr")?),
    };
    let argument = function.args.get(pointer)?;
    if function.name.starts_with("aclrtFree") {
        return Some((is_host, Effect::Frees { pointer }));
    }
    let is_answer = argument.out && argument.kind == ArgKind::Pointer;
    let allocates = function.name.starts_with("aclrtMalloc") && is_answer;
    let size = place("size").filter(|_| allocates)?;
    Some((is_host, Effect::Allocates { pointer, size }))
}

fn change(trace: &Trace, call: &Call, is_host: bool, effect: Effect) -> Option<Change> {
    let args = trace.args(call);
    let word = |place: usize| args.get(place).copied();
    let place = match call.device {
        _ if is_host => Some(Place::Host),
        device => device.map(|it| Place::Device(it.into())),
    };
    let (time, pointer, size) = match effect {
        Effect::Allocates { pointer, size } => (call.end, word(pointer)?, Some(word(size)?)),
        Effect::Frees { pointer } => (call.begin, word(pointer)?, None),
    };
    let process = trace.thread(call.thread).process;
    let is_complete = pointer != 0 && (size.is_none() || place.is_some());
    is_complete.then_some(Change {
        time,
        process,
        place,
        pointer,
        size,
    })
}
