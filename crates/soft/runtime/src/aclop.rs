//! Operators by name, with their attributes: an older way than `aclnn`, which clients fall back to.

use std::ffi::CStr;
use std::sync::{Arc, OnceLock};

use softacl_base::arguments::Arguments;
use softacl_base::attributes::Attributes;
use softacl_base::runtime::NamedOperators;

use crate::aclnn::executor;
use crate::aclnn::object::{self, Object, ObjectKind};
use crate::aclnn::tensor::{Layout, PLAIN_FORMATS, Tensor};
use crate::code::{API_NOT_SUPPORTED, Outcome, fault};
use crate::errors;
use crate::exports::tensor_desc::TensorDesc;
use crate::ffi::{In, complain};

const ND: i32 = 2;
/// The data type of a tensor that is not there.
const UNDEFINED: i32 = -1;
/// The library that has operators by name.
const LIBRARY: &CStr = c"libopapi.so";

static OFFERED: OnceLock<&'static dyn NamedOperators> = OnceLock::new();

/// From now on these operators are known.
pub(crate) fn offer(operators: &'static dyn NamedOperators) {
    // There is one such library in a process.
    let _ = OFFERED.set(operators);
}

/// A tensor of an operator, and where its data lie.
pub(crate) struct Operand {
    pub(crate) desc: TensorDesc,
    pub(crate) data: usize,
}

impl Operand {
    /// The integers of a tensor in the host's memory.
    fn numbers(&self) -> Vec<i64> {
        let lengths = self.desc.shape.iter();
        let count = lengths.map(|length| (*length).max(0) as usize).product();
        match self.desc.data_type {
            9 => In::<i64>::at(self.data).array(count).unwrap_or_default(),
            3 => {
                let small = In::<i32>::at(self.data).array(count).unwrap_or_default();
                small.into_iter().map(i64::from).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A device's private layouts are this library's choice: elements are in order at the beginning of the
    /// storage, which is never smaller.
    fn tensor(&self) -> Outcome<usize> {
        let is_plain = PLAIN_FORMATS.contains(&self.desc.format);
        let storage = self.desc.storage.clone().filter(|_| is_plain);
        let shape = storage.unwrap_or_else(|| self.desc.shape.clone());
        let layout = Layout {
            strides: Layout::packed(&shape),
            storage: shape.clone(),
            shape,
            offset: 0,
            data_type: self.desc.data_type,
            format: ND,
            data: self.data,
        };
        object::insert(Object::Tensor(Arc::new(Tensor::new(layout.checked()?))))
    }
}

/// Computes an operator in its turn of the stream.
pub(crate) fn execute(
    operator: &str,
    inputs: &[Operand],
    outputs: &[Operand],
    attributes: &Attributes,
    stream: usize,
) -> Outcome {
    let Some((operators, name)) = known(operator) else {
        return refuse(operator);
    };
    let mut arguments = Arguments {
        inputs: Vec::new(),
        host: Vec::new(),
        outputs: Vec::new(),
        attributes,
    };
    let filled = fill(&mut arguments, inputs, outputs);
    let outcome = filled.and_then(|()| {
        executor::run(name, stream, |call| {
            operators.describe(name, call, &arguments)
        })
    });
    for handle in arguments.inputs.iter().chain(&arguments.outputs) {
        // 0 is fine.
        object::destroy(*handle, ObjectKind::Tensor)?;
    }
    outcome
}

/// The operators that know a name. Their library is loaded for the first name.
fn known(operator: &str) -> Option<(&'static dyn NamedOperators, &'static str)> {
    if OFFERED.get().is_none() {
        // SAFETY: the code that runs when the library is loaded only calls `offer`.
        unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    }
    let operators = *OFFERED.get()?;
    operators.known(operator).map(|name| (operators, name))
}

/// Makes tensors of the operands for as long as the operator is described.
fn fill(arguments: &mut Arguments<'_>, inputs: &[Operand], outputs: &[Operand]) -> Outcome {
    for input in inputs {
        let is_on_host = input.desc.is_on_host;
        if is_on_host {
            arguments.host.push(input.numbers());
        }
        let is_missing = input.desc.data_type == UNDEFINED;
        arguments.inputs.push(match is_on_host || is_missing {
            true => 0,
            false => input.tensor()?,
        });
    }
    for output in outputs {
        arguments.outputs.push(output.tensor()?);
    }
    Ok(())
}

/// Names the missing operator: the code alone does not, and clients show this text.
fn refuse(operator: &str) -> Outcome {
    let text = format!("softacl has no operator {operator}");
    complain(&text);
    errors::adopt(&format!(
        "EZ3003: [aclopCompileAndExecute] {text} (docs/SOFTACL.md lists those there are)\n"
    ));
    fault(
        API_NOT_SUPPORTED,
        "the software runtime does not have this operator",
    )
}
