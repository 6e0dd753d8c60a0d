//! Operators by name, with their attributes: an older way than `aclnn`, which clients fall back to.

use crate::code::{API_NOT_SUPPORTED, Outcome, fault};
use crate::errors;
use crate::exports::tensor_desc::TensorDesc;
#[cfg(feature = "operators")]
use crate::ffi::In;
use crate::ffi::complain;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute {
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    Text(String),
}

/// What an operator is told besides its tensors, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes(Vec<(String, Attribute)>);

/// A tensor of an operator, and where its data lie.
#[cfg_attr(
    not(feature = "operators"),
    expect(dead_code, reason = "kept for operators, of which there are none")
)]
pub(crate) struct Operand {
    pub(crate) desc: TensorDesc,
    pub(crate) data: usize,
}

impl Attributes {
    pub(crate) fn set(&mut self, name: String, value: Attribute) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value));
    }

    #[cfg(feature = "operators")]
    fn get(&self, name: &str) -> Option<&Attribute> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Some integers, or none.
    #[cfg(feature = "operators")]
    pub(crate) fn integers(&self, name: &str) -> Vec<i64> {
        match self.get(name) {
            Some(Attribute::Integers(values)) => values.clone(),
            _ => Vec::new(),
        }
    }

    #[cfg(feature = "operators")]
    pub(crate) fn integer(&self, name: &str, otherwise: i64) -> i64 {
        self.integers(name).first().copied().unwrap_or(otherwise)
    }

    #[cfg(feature = "operators")]
    pub(crate) fn float(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Attribute::Floats(values)) => values.first().copied().unwrap_or(0.0).into(),
            _ => 0.0,
        }
    }

    /// A text, or none.
    #[cfg(feature = "operators")]
    pub(crate) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Attribute::Text(text)) => text,
            _ => "",
        }
    }
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

/// Says which operator is missing: the code alone does not, and clients show what is said here.
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
