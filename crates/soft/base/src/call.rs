//! The description of a kernel from the first phase: its tensors, its workspace and its tasks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::complex::ComplexRows;
use super::data_type::{DataType, ScalarValue};
use super::elementwise::{self, ElementMap};
use super::objects;
use super::operand::{ExecutionFrame, Operand, OperandBase};
use super::phases::PANICKED;
use super::runtime::runtime;
use super::status::{refuse, require};
use super::tensor::{ComplexPart, Tensor};
use super::view::{View, broadcast_shape};
use crate::code::Outcome;

/// Temporaries in a workspace begin at multiples of this, and so must the workspace.
pub const WORKSPACE_ALIGN: u64 = 64;

/// The work of one operator: its tensors, the room that it needs, and its tasks.
#[derive(Default)]
pub struct Call {
    pub arguments: Vec<Argument>,
    /// The tensors that the program passed, with those that the work does not need, and NULL in the place of one.
    pub tensors: usize,
    pub workspace: u64,
    pub steps: Vec<OperatorStep>,
    /// Which numbers of complex tensors the work is about.
    pub part: Option<ComplexPart>,
    /// Whether numbers among the parameters have a value for each part.
    pub splits_numbers: bool,
    /// How rows of complex numbers are reduced. Tensors are taken by their real parts then.
    pub rows: Option<ComplexRows>,
    /// Whether there was a complex tensor or number that work on real numbers has no part of.
    pub met_complex: AtomicBool,
    /// Whether an output has its shape only when the work is done.
    pub finds_shapes: bool,
}

/// A tensor of an operator. Its layout is that of the first phase, its address that of the second.
pub struct Argument {
    pub tensor: Arc<Tensor>,
    pub operand: Operand,
    pub role: ArgumentRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentRole {
    Input,
    Output,
    InPlace,
}

/// One task of an operator.
pub struct OperatorStep {
    pub cost: Cost,
    pub effect: Arc<Effect>,
}

pub type Effect = dyn Fn(&ExecutionFrame) + Send + Sync;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Read and written.
    pub bytes: u64,
    /// Of arithmetic, as many as it would be in 16-bit floating point.
    pub operations: u64,
}

impl Call {
    pub fn input(&mut self, tensor: usize) -> Outcome<Operand> {
        self.argument(tensor, ArgumentRole::Input)
    }

    pub fn output(&mut self, tensor: usize) -> Outcome<Operand> {
        self.written(tensor, ArgumentRole::Output)
    }

    /// A tensor that is read and written.
    pub fn in_place(&mut self, tensor: usize) -> Outcome<Operand> {
        self.written(tensor, ArgumentRole::InPlace)
    }

    pub fn scalar(&self, scalar: usize) -> Outcome<ScalarValue> {
        let value = objects::scalar(scalar)?;
        if let (true, Some(part)) = (self.splits_numbers, self.part) {
            return Ok(value.part(part));
        }
        if matches!(value, ScalarValue::Complex(..)) {
            self.met_complex.store(true, Ordering::Relaxed);
            return refuse("the operator does not support complex numbers");
        }
        Ok(value)
    }

    /// Forgets all but the number of tensors.
    pub fn begin_again(&mut self) {
        *self = Self {
            tensors: self.tensors,
            ..Self::default()
        };
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
        let tensor = objects::tensor(handle)?;
        let layout = tensor.layout();
        let view = match (layout.is_complex(), self.part) {
            (true, None) => {
                self.met_complex.store(true, Ordering::Relaxed);
                return refuse("the operator does not support complex numbers");
            }
            (true, Some(part)) => layout.part(part).view()?,
            (false, _) => layout.view()?,
        };
        // Indices and masks are the same for both parts. Other real numbers have no imaginary ones.
        require(
            self.part != Some(ComplexPart::Imaginary)
                || layout.is_complex()
                || !view.kind.is_float(),
            "the operator does not support real and complex tensors together",
        )?;
        let operand = Operand {
            base: OperandBase::Tensor(self.arguments.len()),
            view,
        };
        self.arguments.push(Argument {
            tensor,
            operand: operand.clone(),
            role,
        });
        Ok(operand)
    }

    /// Room in the workspace for elements without gaps.
    pub fn temporary(&mut self, kind: DataType, shape: &[usize]) -> Operand {
        let view = View::contiguous(kind, self.workspace as usize, shape);
        self.workspace += view.bytes().next_multiple_of(WORKSPACE_ALIGN);
        Operand {
            base: OperandBase::Workspace,
            view,
        }
    }

    /// How many tasks there are: where tasks begin that `join` makes one.
    pub fn mark(&self) -> usize {
        self.steps.len()
    }

    /// Makes the tasks from a mark on one task, as a device does them.
    pub fn join(&mut self, mark: usize) {
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
    pub fn step(&mut self, cost: Cost, effect: impl Fn(&ExecutionFrame) + Send + Sync + 'static) {
        let contained = move |frame: &ExecutionFrame| {
            if catch_unwind(AssertUnwindSafe(|| effect(frame))).is_err() {
                runtime().note_trouble(PANICKED.to_owned());
            }
        };
        self.steps.push(OperatorStep {
            cost,
            effect: Arc::new(contained),
        });
    }

    /// Adds the task that computes each element of `out` from the elements of the inputs at the same
    /// place, in the type `kind`. The inputs broadcast to the shape of `out`, exactly.
    pub fn map<const N: usize>(
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
    pub fn convert<const N: usize>(
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
    pub fn spread<const N: usize>(
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
}
