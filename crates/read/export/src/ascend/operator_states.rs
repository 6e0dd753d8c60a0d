//! Whether an operator was compiled for the shapes of its tensors alone, as far as the recording has it.
//!
//! Operators of `aclnn` run kernels for any shape. The graph engine compiles an operator that is called by its name. It does that by
//! options of the process: for any shape with `ACL_OP_COMPILE_FUZZ`, else for these shapes with `ACL_OP_JIT_COMPILE`.

use ascend_trace_format::api::{ArgKind, TaskKind};
use ascend_trace_recording::{Call, Function, ProcessId, Task, ThreadId, Trace};
use rustc_hash::FxHashMap;

use super::operands::UNKNOWN;
use crate::ExportSource;

/// The constants of AscendCL: the option 0, and others; flags; and types of compilation.
const FIRST_OPTION: &str = "ACL_PRECISION_MODE";
const JIT_OPTION: &str = "ACL_OP_JIT_COMPILE";
const ANY_SHAPE: &str = "ACL_OP_COMPILE_FUZZ";
const COMPILE_FLAGS: &str = "ACL_OP_COMPILE_";
const COMPILE_TYPES: &str = "ACL_COMPILE_";
const ENABLED: &str = "enable";

/// The begin of the names of operators that have kernels for any shape.
const ANY_SHAPE_INTERFACE: &str = "aclnn";

/// The state of an operator, in the readers' words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperatorState {
    Static,
    Dynamic,
    Unknown,
}

impl OperatorState {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Dynamic => "dynamic",
            Self::Unknown => UNKNOWN,
        }
    }
}

/// The values of a setting, by the time from which on they hold.
#[derive(Debug, Default)]
struct SettingValues(Vec<(i64, bool)>);

impl SettingValues {
    fn set(&mut self, at: i64, value: bool) {
        let place = self.0.partition_point(|it| it.0 <= at);
        self.0.insert(place, (at, value));
    }

    fn at(&self, time: i64) -> Option<bool> {
        let place = self.0.partition_point(|it| it.0 <= time);
        let last = place.checked_sub(1).and_then(|it| self.0.get(it));
        last.map(|it| it.1)
    }
}

/// The options of a process.
#[derive(Debug, Default)]
struct CompileOptions {
    is_jit: SettingValues,
    is_any_shape: SettingValues,
}

/// Follows the options of the processes of a recording.
#[derive(Debug, Default)]
pub(super) struct OperatorStates {
    processes: FxHashMap<ProcessId, CompileOptions>,
    /// By function: whether it may set an option.
    setters: Vec<bool>,
}

/// The value of the first argument that is a constant.
fn constant<'t>(trace: &'t Trace, call: &Call) -> Option<&'t str> {
    let arguments = trace.function(call.function).args.iter();
    let mut constants = arguments
        .zip(trace.args(call))
        .filter(|(argument, _)| argument.kind == ArgKind::Enum);
    let (argument, word) = constants.next()?;
    trace.constant(&argument.enumeration, word.cast_signed())
}

/// Whether a function has an argument with such constants.
fn has_constants(trace: &Trace, function: &Function, begin: &str) -> bool {
    let mut constants = function.args.iter().filter(|it| it.kind == ArgKind::Enum);
    constants.any(|it| {
        let first = trace.constant(&it.enumeration, 0);
        first.is_some_and(|it| it.starts_with(begin))
    })
}

impl OperatorStates {
    /// Takes the options that calls of a part set.
    pub(super) fn take(&mut self, source: &ExportSource<'_>) {
        let trace = source.trace;
        for function in trace.functions().iter().skip(self.setters.len()) {
            let sets = function.task.is_none()
                && (has_constants(trace, function, FIRST_OPTION)
                    || has_constants(trace, function, COMPILE_FLAGS));
            self.setters.push(sets);
        }
        if !self.setters.contains(&true) {
            return;
        }
        let threads = (0..trace.threads().len() as u32).map(ThreadId);
        let is_own = |it: &ThreadId| source.selection.process(trace.thread(*it).process);
        for thread in threads.filter(is_own) {
            for id in source.thread_calls(thread) {
                let call = trace.call(id);
                if self.setters.get(call.function.index()) == Some(&true) {
                    self.set(trace, call);
                }
            }
        }
    }

    fn set(&mut self, trace: &Trace, call: &Call) {
        if call.result() != Some(0) {
            return;
        }
        let process = trace.thread(call.thread).process;
        let options = self.processes.entry(process).or_default();
        match constant(trace, call) {
            Some(JIT_OPTION) => {
                // A call that asks for the option passes no text.
                if let Some(value) = trace.strings(call).iter().flatten().next() {
                    options.is_jit.set(call.end, &**value == ENABLED);
                }
            }
            Some(flag) if flag.starts_with(COMPILE_FLAGS) => {
                options.is_any_shape.set(call.end, flag == ANY_SHAPE);
            }
            _ => {}
        }
    }

    pub(super) fn of(&self, trace: &Trace, task: &Task) -> OperatorState {
        let call = trace.call(task.call);
        let function = trace.function(call.function);
        if task.kind != TaskKind::Kernel {
            return OperatorState::Unknown;
        }
        if function.name.starts_with(ANY_SHAPE_INTERFACE) {
            return OperatorState::Dynamic;
        }
        if !has_constants(trace, function, COMPILE_TYPES) {
            return OperatorState::Unknown;
        }
        let process = trace.thread(call.thread).process;
        let Some(options) = self.processes.get(&process) else {
            return OperatorState::Unknown;
        };
        let is_any_shape = options.is_any_shape.at(call.begin);
        match (options.is_jit.at(call.begin), is_any_shape) {
            (_, Some(true)) => OperatorState::Dynamic,
            (Some(true), _) => OperatorState::Static,
            _ => OperatorState::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_holds_until_the_next_one() {
        let mut values = SettingValues::default();
        for (at, value) in [(20, false), (10, true), (30, false), (40, true)] {
            values.set(at, value);
        }
        let found = [5, 10, 19, 20, 35, 40].map(|it| values.at(it));
        let expected = [
            None,
            Some(true),
            Some(true),
            Some(false),
            Some(false),
            Some(true),
        ];
        assert_eq!(found, expected);
    }
}
