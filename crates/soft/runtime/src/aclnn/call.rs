//! The description of a kernel from the first phase: its tensors, its workspace and its tasks.

use std::sync::Arc;

use super::data_type::{DataType, ScalarValue};
use super::elementwise::{self, ElementMap};
use super::executor::{Argument, ArgumentRole, Cost, Executor, OperatorStep, WORKSPACE_ALIGN};
use super::object;
use super::operand::{ExecutionFrame, Operand, OperandBase};
use super::status::{refuse, require};
use super::view::{View, broadcast_shape};
use crate::code::Outcome;

#[derive(Default)]
pub(crate) struct Call {
    arguments: Vec<Argument>,
    workspace: u64,
    steps: Vec<OperatorStep>,
}

impl Call {
    pub(crate) fn input(&mut self, tensor: usize) -> Outcome<Operand> {
        self.argument(tensor, ArgumentRole::Input)
    }

    pub(crate) fn output(&mut self, tensor: usize) -> Outcome<Operand> {
        self.written(tensor, ArgumentRole::Output)
    }

    /// A tensor that is read and written.
    pub(crate) fn in_place(&mut self, tensor: usize) -> Outcome<Operand> {
        self.written(tensor, ArgumentRole::InPlace)
    }

    pub(crate) fn scalar(&self, scalar: usize) -> Outcome<ScalarValue> {
        object::scalar(scalar)
    }

    fn written(&mut self, tensor: usize, role: ArgumentRole) -> Outcome<Operand> {
        let operand = self.argument(tensor, role)?;
        require(
            !operand.view.overlaps_itself(),
            "elements of an output share memory",
        )?;
        Ok(operand)
    }

    fn argument(&mut self, handle: usize, role: ArgumentRole) -> Outcome<Operand> {
        let tensor = object::tensor(handle)?;
        let operand = Operand {
            base: OperandBase::Tensor(self.arguments.len()),
            view: tensor.layout().view()?,
        };
        self.arguments.push(Argument {
            tensor,
            operand: operand.clone(),
            role,
        });
        Ok(operand)
    }

    /// Room in the workspace for elements without gaps.
    pub(crate) fn temporary(&mut self, kind: DataType, shape: &[usize]) -> Operand {
        let view = View::contiguous(kind, self.workspace as usize, shape);
        self.workspace += view.bytes().next_multiple_of(WORKSPACE_ALIGN);
        Operand {
            base: OperandBase::Workspace,
            view,
        }
    }

    /// How many tasks there are: where tasks begin that `join` makes one.
    #[cfg(feature = "operators")]
    pub(crate) fn mark(&self) -> usize {
        self.steps.len()
    }

    /// Makes the tasks from a mark on one task, as a device does them.
    #[cfg(feature = "operators")]
    pub(crate) fn join(&mut self, mark: usize) {
        let parts = self.steps.split_off(mark);
        if parts.is_empty() {
            return;
        }
        let add = |sum: Cost, step: &OperatorStep| Cost {
            bytes: sum.bytes.saturating_add(step.cost.bytes),
            operations: sum.operations.saturating_add(step.cost.operations),
        };
        let nothing = Cost {
            bytes: 0,
            operations: 0,
        };
        let cost = parts.iter().fold(nothing, add);
        self.step(cost, move |frame| {
            parts.iter().for_each(|part| (part.effect)(frame));
        });
    }

    /// Adds a task.
    pub(crate) fn step(
        &mut self,
        cost: Cost,
        effect: impl Fn(&ExecutionFrame) + Send + Sync + 'static,
    ) {
        self.steps.push(OperatorStep {
            cost,
            effect: Arc::new(effect),
        });
    }

    /// Adds the task that computes each element of `out` from the elements of the inputs at the same
    /// place, in the type `kind`. The inputs broadcast to the shape of `out`, exactly.
    pub(crate) fn map<const N: usize>(
        &mut self,
        map: impl ElementMap<N>,
        kind: DataType,
        inputs: [&Operand; N],
        out: &Operand,
    ) -> Outcome {
        require(
            kind.converts_to(out.view.kind),
            "the result cannot be stored in the output's data type",
        )?;
        let mut shape = Some(Vec::new());
        for input in inputs {
            shape = shape.and_then(|shape| broadcast_shape(&shape, &input.view.shape));
        }
        require(
            N == 0 || shape.as_ref() == Some(&out.view.shape),
            "the output's shape is not that of the result",
        )?;
        self.convert(map, kind, inputs, out)
    }

    /// As `map`, but the inputs need not determine the shape, and fractions may become integers.
    pub(crate) fn convert<const N: usize>(
        &mut self,
        map: impl ElementMap<N>,
        kind: DataType,
        inputs: [&Operand; N],
        out: &Operand,
    ) -> Outcome {
        self.spread(inputs, out, move |inputs, out| {
            elementwise::run(&map, kind, inputs, out);
        })
    }

    /// Adds the task that has the inputs stretched to the shape of `out`.
    pub(super) fn spread<const N: usize>(
        &mut self,
        inputs: [&Operand; N],
        out: &Operand,
        run: impl Fn([View; N], &View) + Send + Sync + 'static,
    ) -> Outcome {
        let mut bytes = out.view.bytes();
        let mut stretched = Vec::with_capacity(N);
        for input in inputs {
            bytes = bytes.saturating_add(input.view.bytes());
            let Some(view) = input.view.clone().broadcast(&out.view.shape) else {
                return refuse("the shapes do not broadcast to the output's");
            };
            stretched.push(input.seen(view));
        }
        if out.view.is_empty() {
            return Ok(());
        }
        let Ok(inputs) = <[Operand; N]>::try_from(stretched) else {
            return refuse("an input is missing");
        };
        let out = out.clone();
        let cost = Cost {
            bytes,
            operations: 0,
        };
        self.step(cost, move |frame| {
            let inputs = inputs.each_ref().map(|input| frame.view(input));
            run(inputs, &frame.view(&out));
        });
        Ok(())
    }

    pub(super) fn executor(self, operator: &'static str) -> Executor {
        Executor::new(operator, self.arguments, self.workspace, self.steps)
    }
}
