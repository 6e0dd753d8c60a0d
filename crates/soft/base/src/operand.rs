//! Views with memory that is known only when the operator runs.

use super::view::View;

/// Elements of a tensor or of the workspace; the view's address counts from where that begins.
#[derive(Debug, Clone)]
pub struct Operand {
    pub base: OperandBase,
    pub view: View,
}

#[derive(Debug, Clone, Copy)]
pub enum OperandBase {
    Tensor(usize),
    Workspace,
}

impl Operand {
    /// The same memory, seen in another way.
    pub fn seen(&self, view: View) -> Self {
        Self {
            base: self.base,
            view,
        }
    }

    /// The same number of elements in another shape: they are in order, and may have other coordinates.
    pub fn shaped(&self, shape: &[usize]) -> crate::code::Outcome<Self> {
        let count: usize = shape.iter().product();
        super::status::require(
            count == self.elements(),
            "the output's shape is not the input's",
        )?;
        let view = View::contiguous(self.view.kind, self.view.address, shape);
        Ok(self.seen(view))
    }
}

/// Where the tensors and the workspace of one execution lie.
#[derive(Debug)]
pub struct ExecutionFrame {
    pub tensors: Vec<usize>,
    pub workspace: usize,
    /// Keeps a workspace that is not the program's.
    pub room: Vec<u64>,
}

impl ExecutionFrame {
    pub fn view(&self, operand: &Operand) -> View {
        let base = match operand.base {
            OperandBase::Tensor(index) => self.tensors[index],
            OperandBase::Workspace => self.workspace,
        };
        let mut view = operand.view.clone();
        view.address += base;
        view
    }
}
