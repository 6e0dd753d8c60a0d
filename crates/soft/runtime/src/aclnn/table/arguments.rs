//! Arguments of operators that are called by name.

use crate::aclop::attributes::Attributes;

/// Handles of an operator's tensors, those that the host holds as numbers, and attributes.
pub(super) struct Arguments<'a> {
    pub(super) inputs: Vec<usize>,
    /// The numbers of each input in host memory.
    pub(super) host: Vec<Vec<i64>>,
    pub(super) outputs: Vec<usize>,
    pub(super) attributes: &'a Attributes,
}

impl Arguments<'_> {
    /// An input's handle; 0 without one.
    pub(super) fn input(&self, index: usize) -> usize {
        self.inputs.get(index).copied().unwrap_or(0)
    }

    pub(super) fn output(&self) -> usize {
        self.outputs.first().copied().unwrap_or(0)
    }
}
