//! Operators by name, with their attributes: an older way than `aclnn`, which clients fall back to.

use std::ffi::CStr;
use std::sync::{Arc, OnceLock};

use softacl_base::arguments::{Arguments, HostTensor};
use softacl_base::attributes::Attributes;
use softacl_base::runtime::NamedOperators;

use crate::aclnn::data_type::DataType;
use crate::aclnn::executor;
use crate::aclnn::object::{self, Object, ObjectKind};
use crate::aclnn::tensor::{Layout, PLAIN_FORMATS, Tensor, scalar};
use crate::code::{API_NOT_SUPPORTED, Outcome, fault};
use crate::errors;
use crate::exports::tensor_desc::TensorDesc;
use crate::ffi::complain;

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
    /// The numbers of a tensor in the host's memory. One of a type that operators do not compute with has none.
    fn on_host(&self, index: usize) -> Outcome<Option<HostTensor>> {
        let Some(kind) = DataType::from_code(self.desc.data_type) else {
            return Ok(None);
        };
        let lengths = self.desc.shape.iter();
        let shape: Vec<usize> = lengths.map(|it| (*it).max(0) as usize).collect();
        let addresses = (0..shape.iter().product()).map(|it: usize| match self.data {
            0 => 0,
            data => data + it * kind.size(),
        });
        let values = addresses.map(|it| scalar(it, self.desc.data_type));
        let values = values.collect::<Outcome<_>>()?;
        Ok(Some(HostTensor {
            index,
            kind,
            shape,
            values,
        }))
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

/// Computes an operator in its turn of the stream. Returns the shapes of its outputs.
pub(crate) fn execute(
    operator: &str,
    inputs: &[Operand],
    outputs: &[Operand],
    attributes: &Attributes,
    stream: usize,
) -> Outcome<Vec<Vec<i64>>> {
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
    let outcome = outcome.and_then(|()| {
        let outputs = arguments.outputs.iter();
        let shapes = outputs.map(|it| Ok(object::tensor(*it)?.layout().shape));
        shapes.collect()
    });
    for handle in arguments.inputs.iter().chain(&arguments.outputs) {
        // 0 is fine.
        object::destroy(*handle, ObjectKind::Tensor)?;
    }
    outcome
}

/// Whether there is an operator of this name.
pub(crate) fn exists(operator: &str) -> bool {
    known(operator).is_some()
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
    for (index, input) in inputs.iter().enumerate() {
        let is_on_host = input.desc.is_on_host;
        if is_on_host {
            arguments.host.extend(input.on_host(index)?);
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
fn refuse<T>(operator: &str) -> Outcome<T> {
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
