//! What distinguishes tasks of one operation: how many bytes they move, which way, and the shapes of their operands.

use std::hash::{Hash, Hasher};

use ascend_trace_format::api::{ArgKind, TaskKind};
use ascend_trace_recording::{Call, Category, Function, Trace};
use rustc_hash::FxHasher;

/// Hashes of shapes. It keeps where functions have the arguments that say which way a copy goes.
#[derive(Clone, Debug, Default)]
pub(super) struct Shapes {
    /// By function; `None` before its first task.
    ways: Vec<Option<Box<[u8]>>>,
}

impl Shapes {
    /// Two tasks of the same number are alike.
    pub(super) fn of(&mut self, trace: &Trace, call: &Call) -> u64 {
        let place = call.function.index();
        if self.ways.len() <= place {
            self.ways.resize(place + 1, None);
        }
        let ways = self.ways[place].get_or_insert_with(|| ways(trace.function(call.function)));
        hash(trace, call, ways)
    }

    /// The same of a function that had a task before.
    pub(super) fn find(&self, trace: &Trace, call: &Call) -> Option<u64> {
        let ways = self.ways.get(call.function.index())?.as_ref()?;
        Some(hash(trace, call, ways))
    }
}

fn hash(trace: &Trace, call: &Call, ways: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    trace.bytes(call).hash(&mut hasher);
    let args = trace.args(call);
    for way in ways {
        args.get(usize::from(*way)).hash(&mut hasher);
    }
    trace.hash_operands(call, &mut hasher);
    hasher.finish()
}

/// The arguments of a function that may say which way it copies.
fn ways(function: &Function) -> Box<[u8]> {
    let copies = function.task == Some(TaskKind::Memcpy)
        || Category::of_call(function, false) == Category::Copy;
    let args = (0..=u8::MAX).zip(&function.args);
    let ways = args.filter(|(_, arg)| copies && arg.kind == ArgKind::Enum);
    ways.map(|(place, _)| place).collect()
}
