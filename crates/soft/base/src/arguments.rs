//! Arguments of operators that are called by name.

use crate::attributes::Attributes;
use crate::call::Call;
use crate::code::Outcome;
use crate::operand::Operand;

/// Handles of an operator's tensors, those that the host holds as numbers, and attributes.
pub struct Arguments<'a> {
    pub inputs: Vec<usize>,
    /// The numbers of each input in host memory.
    pub host: Vec<Vec<i64>>,
    pub outputs: Vec<usize>,
    pub attributes: &'a Attributes,
}

impl Arguments<'_> {
    /// An input's handle; 0 without one.
    pub fn input(&self, index: usize) -> usize {
        self.inputs.get(index).copied().unwrap_or(0)
    }

    pub fn output(&self) -> usize {
        self.outputs.first().copied().unwrap_or(0)
    }

    /// Some of the inputs.
    pub fn read(
        &self,
        call: &mut Call,
        inputs: impl IntoIterator<Item = usize>,
    ) -> Outcome<Vec<Operand>> {
        let inputs = inputs.into_iter();
        inputs.map(|it| call.input(self.input(it))).collect()
    }

    /// All outputs.
    pub fn written(&self, call: &mut Call) -> Outcome<Vec<Operand>> {
        self.outputs.iter().map(|it| call.output(*it)).collect()
    }
}
