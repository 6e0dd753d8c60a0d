//! What operators work on: tensors, scalars and lists, which a program makes one by one and passes
//! by handle to the call that plans an operator; a second call submits what was planned.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display, Formatter};

use ascend_trace_format::api::{ArgKind, RetKind};

use crate::trace::{Argument, Call, CallId, Function, ProcessId, Trace};

/// What the first of an operator's two calls is called, after the name of the second.
const PLANNING: &str = "GetWorkspaceSize";

/// Words at the end of a planning call that are answers: the size of the workspace, the executor.
const ANSWERS: usize = 2;

/// What needs no word for what it is.
const TENSOR: &str = "Tensor";

/// What a function has to do with operands. The numbers are positions of arguments.
#[derive(Clone, Copy, Debug)]
enum Part {
    None,
    /// Makes an operand, whose handle it returns, or is passed.
    Makes(Option<u8>),
    Ends(u8),
    /// Answers with an executor, which holds the operands.
    Plans(u8),
    /// The same, by a function whose arguments are not known: handles may be among its words, the
    /// last of which is the executor.
    PlansUntyped,
    /// Submits what an executor holds.
    Runs(u8),
}

/// A handle of a process.
type Key = (ProcessId, u64);

/// What handles stood for, and from when on. They are used again.
#[derive(Clone, Debug, Default)]
struct History {
    entries: HashMap<Key, Vec<(i64, Option<CallId>)>>,
    /// Whose entries are not in order: those of another thread came later.
    unsorted: HashSet<Key>,
}

/// The calls that made operands, and those that planned operators.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operands {
    /// By function.
    parts: Vec<Part>,
    made: History,
    planned: History,
}

/// Something that an operator works on.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'t> {
    /// What the operator calls it; empty where that is not known.
    pub name: &'t str,
    /// The call that made it.
    pub made: CallId,
    /// What it is, as in `aclCreateScalar`.
    noun: &'t str,
    data_type: Option<&'t str>,
    /// Dimensions of a tensor, or the numbers of an array, like `[4, 2]`.
    pub numbers: Option<&'t str>,
    count: Option<u64>,
}

impl Operands {
    pub(crate) fn set_functions(&mut self, functions: &[Function]) {
        self.parts = functions.iter().map(part_of).collect();
    }

    /// Puts what has come since the last time in order.
    pub(crate) fn settle(&mut self) {
        self.made.settle();
        self.planned.settle();
    }

    pub(crate) fn renumber(&mut self, new: impl Fn(CallId) -> Option<CallId>) {
        self.made.renumber(&new);
        self.planned.renumber(&new);
    }
}

fn part_of(function: &Function) -> Part {
    let name = function.name.as_str();
    let executor = || {
        let is_it = |arg: &Argument| arg.kind == ArgKind::Handle && arg.name == "executor";
        let position = function.args.iter().position(is_it)?;
        let arg = function.args.get(position)?;
        Some((u8::try_from(position).ok()?, arg.out))
    };
    if function.category == "aclnn_framework" {
        return match name {
            // As `aclCreateTensor`, in the place of another one.
            "aclInitTensor" => Part::Makes(Some(0)),
            _ if name.starts_with("aclCreate") => Part::Makes(None),
            _ if name.starts_with("aclDestroy") => Part::Ends(0),
            _ => Part::None,
        };
    }
    if function.args.is_empty() && name.ends_with(PLANNING) {
        return Part::PlansUntyped;
    }
    match executor() {
        Some((position, true)) if name.ends_with(PLANNING) => Part::Plans(position),
        Some((position, false)) if function.stream.is_some() => Part::Runs(position),
        _ => Part::None,
    }
}

impl History {
    fn note(&mut self, key: Key, since: i64, call: Option<CallId>) {
        let entries = self.entries.entry(key).or_default();
        if entries.last().is_some_and(|(last, _)| *last > since) {
            self.unsorted.insert(key);
        }
        entries.push((since, call));
    }

    fn settle(&mut self) {
        for key in self.unsorted.drain() {
            if let Some(entries) = self.entries.get_mut(&key) {
                entries.sort_by_key(|(since, _)| *since);
            }
        }
    }

    /// Gives the calls their new ids; what a call made that is gone is not known any more.
    fn renumber(&mut self, new: &impl Fn(CallId) -> Option<CallId>) {
        self.entries.retain(|_, entries| {
            entries.retain_mut(|(_, call)| match call.map(new) {
                Some(None) => false,
                Some(id) => {
                    *call = id;
                    true
                }
                None => true,
            });
            // That a handle stands for nothing goes without saying.
            while entries.first().is_some_and(|(_, call)| call.is_none()) {
                entries.remove(0);
            }
            !entries.is_empty()
        });
    }

    /// What the handles stand for now.
    fn current(&self) -> impl Iterator<Item = CallId> {
        self.entries
            .values()
            .filter_map(|entries| entries.last()?.1)
    }

    fn find(&self, key: Key, at: i64) -> Option<CallId> {
        let entries = self.entries.get(&key)?;
        let later = entries.partition_point(|(since, _)| *since <= at);
        entries.get(later.checked_sub(1)?)?.1
    }
}

impl Trace {
    /// Remembers what a call that has just come made, ended or planned.
    pub(crate) fn note_operands(&mut self, process: ProcessId, id: CallId) {
        let call = *self.call(id);
        let part = self.operands.parts.get(call.function.index());
        let (part, word) = match part {
            None | Some(Part::None | Part::Runs(_)) => return,
            Some(part @ Part::Makes(None)) => (*part, Some(call.ret.cast_unsigned())),
            Some(part @ Part::PlansUntyped) => (*part, self.args(&call).last().copied()),
            Some(part @ (Part::Makes(Some(at)) | Part::Ends(at) | Part::Plans(at))) => {
                (*part, self.args(&call).get(usize::from(*at)).copied())
            }
        };
        let by_code = self.function(call.function).ret == RetKind::Error;
        let Some(handle) = word.filter(|word| *word != 0 && !(by_code && call.ret != 0)) else {
            return;
        };
        let key = (process, handle);
        match part {
            Part::Makes(_) => self.operands.made.note(key, call.end, Some(id)),
            // Another thread may get the handle again before this call returns.
            Part::Ends(_) => self.operands.made.note(key, call.begin, None),
            _ => self.operands.planned.note(key, call.end, Some(id)),
        }
    }

    /// The calls that made the operands and planned the operators whose handles are in use.
    pub fn operands_in_use(&self) -> impl Iterator<Item = CallId> {
        let operands = &self.operands;
        operands.made.current().chain(operands.planned.current())
    }

    /// What an operator works on, by either of its two calls. What was made outside of the trace
    /// is not told.
    pub fn operands(&self, call: &Call) -> Vec<Operand<'_>> {
        if self.operands.made.entries.is_empty() {
            return Vec::new();
        }
        let Some(planned) = self.planning_of(call) else {
            return Vec::new();
        };
        let process = self.thread(planned.thread).process;
        if let Some(Part::PlansUntyped) = self.operands.parts.get(planned.function.index()) {
            return self.operands_among(process, planned);
        }
        let function = self.function(planned.function);
        let arguments = function.args.iter().zip(self.args(planned));
        let handles = arguments.filter(|(arg, _)| arg.kind == ArgKind::Handle && !arg.out);
        let known = handles.filter_map(|(arg, word)| {
            let made = self.operands.made.find((process, *word), planned.begin)?;
            Some(self.operand(&arg.name, made))
        });
        known.collect()
    }

    /// What the words of a call stand for that works on things which are not declared.
    fn operands_among(&self, process: ProcessId, planned: &Call) -> Vec<Operand<'_>> {
        let words = self.args(planned).iter().rev().skip(ANSWERS).rev();
        let made =
            words.filter_map(|word| self.operands.made.find((process, *word), planned.begin));
        made.map(|made| self.operand("", made)).collect()
    }

    /// The same as one text: `self float32 [4, 2]; out float32 [4, 2]`.
    pub fn shapes(&self, call: &Call) -> Option<String> {
        let operands = self.operands(call);
        if operands.is_empty() {
            return None;
        }
        let texts: Vec<_> = operands.iter().map(Operand::to_string).collect();
        Some(texts.join("; ")).filter(|text| !text.is_empty())
    }

    /// The call that planned an operator: this one, or the one whose executor it submits.
    fn planning_of<'t>(&'t self, call: &'t Call) -> Option<&'t Call> {
        let position = match self.operands.parts.get(call.function.index())? {
            Part::Plans(_) | Part::PlansUntyped => return Some(call),
            Part::Runs(position) => *position,
            _ => return None,
        };
        let executor = *self.args(call).get(usize::from(position))?;
        let process = self.thread(call.thread).process;
        let planned = self
            .operands
            .planned
            .find((process, executor), call.begin)?;
        let planned = self.call(planned);
        // The executor of a call that was not seen may have had the handle since.
        let name = self.function(planned.function).name.as_str();
        let is_its = name.strip_suffix(PLANNING) == Some(&self.function(call.function).name);
        is_its.then_some(planned)
    }

    fn operand<'t>(&'t self, name: &'t str, made: CallId) -> Operand<'t> {
        let call = self.call(made);
        let function = self.function(call.function);
        let noun = function.name.strip_prefix("aclCreate").unwrap_or(TENSOR);
        let arguments = || function.args.iter().zip(self.args(call));
        let data_type = arguments().find(|(arg, _)| arg.enumeration == "aclDataType");
        let data_type =
            data_type.and_then(|(arg, word)| self.constant(&arg.enumeration, word.cast_signed()));
        let count = arguments().find(|(arg, _)| arg.name == "size");
        let has_numbers = function
            .args
            .iter()
            .any(|arg| arg.kind == ArgKind::Integers);
        let numbers = self.strings(call).first().filter(|_| has_numbers);
        Operand {
            name,
            made,
            noun,
            data_type,
            numbers: numbers.and_then(Option::as_deref),
            count: count.map(|(_, word)| *word),
        }
    }
}

impl Operand<'_> {
    /// The type of its elements, such as `float16`.
    pub fn data_type(&self) -> Option<String> {
        let name = self.data_type?;
        let name = name.strip_prefix("ACL_").unwrap_or(name);
        Some(match name {
            "FLOAT" => "float32".to_owned(),
            "DOUBLE" => "float64".to_owned(),
            "BF16" => "bfloat16".to_owned(),
            _ => name.to_ascii_lowercase(),
        })
    }
}

/// `self float32 [4, 2]`, `alpha Scalar int64`, `dim IntArray [0, 1]`, `tensors TensorList of 3`.
impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let data_type = self.data_type();
        let count = self.count.filter(|_| self.numbers.is_none());
        let count = count.map(|count| format!("of {count}"));
        let noun = Some(self.noun).filter(|noun| *noun != TENSOR);
        let words = [
            Some(self.name).filter(|name| !name.is_empty()),
            noun,
            data_type.as_deref(),
            self.numbers,
            count.as_deref(),
        ];
        let words: Vec<_> = words.into_iter().flatten().collect();
        f.write_str(&words.join(" "))
    }
}
