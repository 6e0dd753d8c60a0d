//! Operands of operators: tensors, scalars and lists, which a program makes one by one and passes by
//! handle to the call that plans an operator; a second call submits the planned operator.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};

use ascend_trace_format::api::{ArgKind, ArgPart, Fact, RetKind, part_in};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::entities::{Call, CallId, Function, ProcessId};
use crate::trace::Trace;

/// Suffix of the first of an operator's two calls, after the name of the second.
const PLANNING: &str = "GetWorkspaceSize";

/// Part of the name of an operator that writes its first tensor.
const IN_PLACE: &str = "Inplace";

/// Words at the end of a planning call that it returns: the size of the workspace, the executor.
const ANSWERS: usize = 2;

/// The noun that is left out in texts.
const TENSOR: &str = "Tensor";

/// The relation of a function to operands. The numbers are positions of arguments.
#[derive(Clone, Copy, Debug)]
enum OperandEffect {
    None,
    /// Makes an operand. Its handle is the result, or this argument.
    Makes(Option<u8>),
    Ends(u8),
    /// Returns an executor, which holds the operands.
    Plans(u8),
    /// The same, by a function with unknown arguments: handles may be among its words, and the last
    /// word is the executor.
    PlansUntyped,
    /// Submits the operator of an executor.
    Runs(u8),
}

/// A handle of a process.
type HandleKey = (ProcessId, u64);

/// What handles stood for, and from when on. They are used again.
#[derive(Clone, Debug, Default)]
struct HandleHistory {
    entries: FxHashMap<HandleKey, Vec<(i64, Option<CallId>)>>,
    /// Whose entries are not in order: those of another thread came later.
    unsorted: FxHashSet<HandleKey>,
}

/// The calls that made operands, and those that planned operators.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operands {
    /// By function.
    does: Vec<OperandEffect>,
    made: HandleHistory,
    planned: HandleHistory,
}

/// Something that an operator works on.
#[derive(Clone, Debug)]
pub struct Operand<'t> {
    /// Its name in the operator. For operators without a table entry, the position of the argument, as
    /// `arg 2`: from 0, without floating-point numbers.
    pub name: Cow<'t, str>,
    /// The call that made it.
    pub made: CallId,
    /// Its type, as in `aclCreateScalar`.
    noun: &'t str,
    data_type: Option<&'t str>,
    /// Dimensions of a tensor, or the numbers of an array, like `[4, 2]`; the value of a scalar.
    pub numbers: Option<&'t str>,
    count: Option<u64>,
    /// The operator writes it. Of an operator that no table has, this is known only where its name says so.
    pub is_written: bool,
}

impl Operands {
    pub(crate) fn set_functions(&mut self, functions: &[Function]) {
        self.does = functions.iter().map(does).collect();
    }

    /// Sorts the entries that arrived since the last time.
    pub(crate) fn settle(&mut self) {
        self.made.settle();
        self.planned.settle();
    }

    pub(crate) fn renumber(&mut self, new: impl Fn(CallId) -> Option<CallId>) {
        self.made.renumber(&new);
        self.planned.renumber(&new);
    }
}

fn does(function: &Function) -> OperandEffect {
    let operand = part_in(&function.parts, ArgPart::Operand);
    if function.is(Fact::MakesOperand) {
        return OperandEffect::Makes(operand);
    }
    if let (true, Some(operand)) = (function.is(Fact::EndsOperand), operand) {
        return OperandEffect::Ends(operand);
    }
    if function.args.is_empty() && function.name.ends_with(PLANNING) {
        return OperandEffect::PlansUntyped;
    }
    let executor = part_in(&function.parts, ArgPart::Executor);
    let is_answer = |at: u8| function.args.get(usize::from(at)).is_some_and(|it| it.out);
    match executor.map(|at| (at, is_answer(at))) {
        Some((at, true)) => OperandEffect::Plans(at),
        Some((at, false)) if function.stream.is_some() => OperandEffect::Runs(at),
        _ => OperandEffect::None,
    }
}

impl HandleHistory {
    fn note(&mut self, key: HandleKey, since: i64, call: Option<CallId>) {
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

    /// Gives the calls their new ids; objects of forgotten calls are not known any more.
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
            // An entry for an unknown handle needs no room.
            while entries.first().is_some_and(|(_, call)| call.is_none()) {
                entries.remove(0);
            }
            !entries.is_empty()
        });
    }

    /// The present calls of all handles.
    fn current(&self) -> impl Iterator<Item = CallId> {
        self.entries
            .values()
            .filter_map(|entries| entries.last()?.1)
    }

    fn find(&self, key: HandleKey, at: i64) -> Option<CallId> {
        let entries = self.entries.get(&key)?;
        let later = entries.partition_point(|(since, _)| *since <= at);
        entries.get(later.checked_sub(1)?)?.1
    }
}

impl Trace {
    /// Notes the objects that a new call made, ended or planned.
    pub(crate) fn note_operands(&mut self, process: ProcessId, id: CallId) {
        let call = *self.call(id);
        let part = self.operands.does.get(call.function.index());
        let (part, word) = match part {
            None | Some(OperandEffect::None | OperandEffect::Runs(_)) => return,
            Some(part @ OperandEffect::Makes(None)) => (*part, Some(call.ret.cast_unsigned())),
            Some(part @ OperandEffect::PlansUntyped) => (*part, self.args(&call).last().copied()),
            Some(
                part @ (OperandEffect::Makes(Some(at))
                | OperandEffect::Ends(at)
                | OperandEffect::Plans(at)),
            ) => (*part, self.args(&call).get(usize::from(*at)).copied()),
        };
        let by_code = self.function(call.function).ret == RetKind::Error;
        let Some(handle) = word.filter(|word| *word != 0 && !(by_code && call.ret != 0)) else {
            return;
        };
        let key = (process, handle);
        match part {
            OperandEffect::Makes(_) => self.operands.made.note(key, call.end, Some(id)),
            // Another thread may get the handle again before this call returns.
            OperandEffect::Ends(_) => self.operands.made.note(key, call.begin, None),
            _ => self.operands.planned.note(key, call.end, Some(id)),
        }
    }

    /// The calls that made the operands and planned the operators of the handles in use.
    pub fn operands_in_use(&self) -> impl Iterator<Item = CallId> {
        let operands = &self.operands;
        operands.made.current().chain(operands.planned.current())
    }

    /// Operands of an operator, by either of its two calls. Objects from outside the trace are left
    /// out.
    pub fn operands(&self, call: &Call) -> Vec<Operand<'_>> {
        if self.operands.made.entries.is_empty() {
            return Vec::new();
        }
        let Some(planned) = self.planning_of(call) else {
            return Vec::new();
        };
        let process = self.thread(planned.thread).process;
        if let Some(OperandEffect::PlansUntyped) = self.operands.does.get(planned.function.index())
        {
            return self.operands_among(process, planned);
        }
        let function = self.function(planned.function);
        let written = function.part(ArgPart::Writes);
        let arguments = function.args.iter().zip(self.args(planned)).enumerate();
        let handles = arguments.filter(|(_, (arg, _))| arg.kind == ArgKind::Handle && !arg.out);
        let known = handles.filter_map(|(place, (arg, word))| {
            let made = self.operands.made.find((process, *word), planned.begin)?;
            let is_written = arg.is_written || written == Some(place);
            Some(self.operand(&*arg.name, made, is_written))
        });
        known.collect()
    }

    /// The operands among the words of a call without declared arguments.
    fn operands_among(&self, process: ProcessId, planned: &Call) -> Vec<Operand<'_>> {
        let words = self.args(planned).iter().rev().skip(ANSWERS).rev();
        let is_in_place = self.function(planned.function).name.contains(IN_PLACE);
        let made = words.enumerate().filter_map(|(place, word)| {
            let made = self.operands.made.find((process, *word), planned.begin)?;
            Some(self.operand(format!("arg {place}"), made, place == 0 && is_in_place))
        });
        made.collect()
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

    /// Hashes the types and dimensions of the operands of an operator. It takes less time than [`Trace::shapes`]. Values
    /// of scalars are left out.
    pub fn hash_operands(&self, call: &Call, hasher: &mut impl Hasher) {
        if self.operands.made.entries.is_empty() {
            return;
        }
        let Some(planned) = self.planning_of(call) else {
            return;
        };
        let process = self.thread(planned.thread).process;
        for word in self.args(planned) {
            let Some(made) = self.operands.made.find((process, *word), planned.begin) else {
                continue;
            };
            let call = self.call(made);
            let function = self.function(call.function);
            call.function.hash(hasher);
            let args = self.args(call);
            let word = |part: ArgPart| args.get(function.part(part)?);
            word(ArgPart::DataType).hash(hasher);
            word(ArgPart::Size).hash(hasher);
            let mut kinds = function.args.iter().map(|arg| arg.kind);
            if kinds.any(|kind| kind == ArgKind::Integers) {
                self.strings(call).first().hash(hasher);
            }
        }
    }

    /// The call that planned an operator: this one, or the one with the executor that it submits.
    fn planning_of<'t>(&'t self, call: &'t Call) -> Option<&'t Call> {
        match self.operands.does.get(call.function.index())? {
            OperandEffect::Plans(_) | OperandEffect::PlansUntyped => Some(call),
            _ => Some(self.call(self.planned(call)?)),
        }
    }

    /// The call that planned the operator which this one submits: another thread may have made it.
    pub fn planned(&self, call: &Call) -> Option<CallId> {
        let Some(OperandEffect::Runs(position)) = self.operands.does.get(call.function.index())
        else {
            return None;
        };
        let position = *position;
        let executor = *self.args(call).get(usize::from(position))?;
        let process = self.thread(call.thread).process;
        let id = self
            .operands
            .planned
            .find((process, executor), call.begin)?;
        let planned = self.call(id);
        // The executor of a call that was not seen may have had the handle since.
        let name = self.function(planned.function).name.as_str();
        let is_its = name.strip_suffix(PLANNING) == Some(&self.function(call.function).name);
        is_its.then_some(id)
    }

    fn operand<'t>(
        &'t self,
        name: impl Into<Cow<'t, str>>,
        made: CallId,
        is_written: bool,
    ) -> Operand<'t> {
        let call = self.call(made);
        let function = self.function(call.function);
        let noun = function.name.strip_prefix("aclCreate").unwrap_or(TENSOR);
        let arguments = || function.args.iter().zip(self.args(call));
        let part = |part: ArgPart| arguments().nth(function.part(part)?);
        let data_type = part(ArgPart::DataType)
            .and_then(|(arg, word)| self.constant(&arg.enumeration, word.cast_signed()));
        let count = part(ArgPart::Size);
        let has_numbers = function
            .args
            .iter()
            .any(|arg| matches!(arg.kind, ArgKind::Integers | ArgKind::Scalar));
        let numbers = self.strings(call).first().filter(|_| has_numbers);
        Operand {
            name: name.into(),
            made,
            noun,
            data_type,
            numbers: numbers.and_then(Option::as_deref),
            count: count.map(|(_, word)| *word),
            is_written,
        }
    }
}

impl<'t> Operand<'t> {
    /// Whether it is a tensor.
    pub fn is_tensor(&self) -> bool {
        self.noun == TENSOR
    }

    /// The runtime's name of the type of its elements, such as `FLOAT16`.
    pub fn type_name(&self) -> Option<&'t str> {
        let name = self.data_type?;
        Some(name.strip_prefix("ACL_").unwrap_or(name))
    }

    /// The type of its elements, such as `float16`.
    pub fn data_type(&self) -> Option<String> {
        Some(match self.type_name()? {
            "FLOAT" => "float32".to_owned(),
            "DOUBLE" => "float64".to_owned(),
            "BF16" => "bfloat16".to_owned(),
            name => name.to_ascii_lowercase(),
        })
    }
}

/// `self float32 [4, 2]`, `alpha Scalar int64 1`, `dim IntArray [0, 1]`, `tensors TensorList of 3`.
impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let data_type = self.data_type();
        let count = self.count.filter(|_| self.numbers.is_none());
        let count = count.map(|count| format!("of {count}"));
        let noun = Some(self.noun).filter(|noun| *noun != TENSOR);
        let words = [
            Some(&*self.name),
            noun,
            data_type.as_deref(),
            self.numbers,
            count.as_deref(),
        ];
        let words: Vec<_> = words.into_iter().flatten().collect();
        f.write_str(&words.join(" "))
    }
}
