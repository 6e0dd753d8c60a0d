//! Operators by name, with their attributes: an older way than `aclnn`, which clients fall back to.

pub(crate) mod attributes;

use attributes::Attributes;

use crate::code::{API_NOT_SUPPORTED, Outcome, fault};
use crate::errors;
use crate::exports::tensor_desc::TensorDesc;
#[cfg(feature = "operators")]
use crate::ffi::In;
use crate::ffi::complain;

/// A tensor of an operator, and where its data lie.
#[cfg_attr(
    not(feature = "operators"),
    expect(dead_code, reason = "kept for operators, of which there are none")
)]
pub(crate) struct Operand {
    pub(crate) desc: TensorDesc,
    pub(crate) data: usize,
}

#[cfg(feature = "operators")]
impl Operand {
    /// The integers of a tensor in the host's memory.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        let count = self
            .desc
            .shape
            .iter()
            .map(|length| (*length).max(0) as usize)
            .product();
        match self.desc.data_type {
            9 => In::<i64>::at(self.data).array(count).unwrap_or_default(),
            3 => {
                let small = In::<i32>::at(self.data).array(count).unwrap_or_default();
                small.into_iter().map(i64::from).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Computes an operator in its turn of the stream.
pub(crate) fn execute(
    operator: &str,
    inputs: Vec<Operand>,
    outputs: Vec<Operand>,
    attributes: &Attributes,
    stream: usize,
) -> Outcome {
    #[cfg(feature = "operators")]
    if let Some(outcome) =
        crate::aclnn::table::named::execute(operator, &inputs, &outputs, attributes, stream)
    {
        return outcome;
    }
    #[cfg(not(feature = "operators"))]
    let _ = (inputs, outputs, attributes, stream);
    refuse(operator)
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
