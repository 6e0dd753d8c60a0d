//! Methods of a call for the tables of operators: formulas of elements, whole tensors, reductions and
//! moves.

use std::sync::Arc;

use super::call::{Call, Cost};
use super::data_type::{DataType, ScalarValue};
use super::dense::{count, dimension, load, store};
use super::formula::{self, Formula};
use super::number::Number;
use super::objects;
use super::operand::Operand;
use super::status::refuse;
use super::tensor::Tensor;
use super::view::View;
use crate::code::Outcome;

/// A number that the host gave, in both kinds.
#[derive(Debug, Clone, Copy)]
pub struct HostNumber {
    pub float: f64,
    pub integer: i64,
    /// It has a fraction, or could have one.
    pub is_float: bool,
}

impl From<ScalarValue> for HostNumber {
    fn from(value: ScalarValue) -> Self {
        Self {
            float: f64::of(value),
            integer: i64::of(value),
            is_float: !matches!(value, ScalarValue::Integer(_)),
        }
    }
}

impl Operand {
    pub fn shape(&self) -> &[usize] {
        &self.view.shape
    }

    pub fn rank(&self) -> usize {
        self.view.shape.len()
    }

    pub fn elements(&self) -> usize {
        self.view.elements()
    }

    pub fn is_float(&self) -> bool {
        self.view.kind.is_float()
    }

    /// The elements as integers of their size.
    pub fn bits(&self) -> Self {
        let mut bits = self.clone();
        bits.view.kind = bits.view.kind.bits();
        bits
    }

    /// The dimension along which rows lie, as a list that is empty for a tensor without dimensions, and the length of rows.
    pub fn rows_along(&self, along: i64) -> Outcome<(Vec<usize>, usize)> {
        let along = dimension(along, self.rank())?;
        Ok(match self.shape().get(along) {
            Some(length) => (vec![along], *length),
            None => (Vec::new(), 1),
        })
    }

    /// With some dimensions behind all others.
    pub fn with_last(&self, dimensions: &[usize]) -> Self {
        self.seen(self.view.with_last(dimensions))
    }
}

/// The type that the tensors meet in.
pub fn common(operands: &[&Operand]) -> DataType {
    let mut kinds = operands.iter().map(|it| it.view.kind);
    let first = kinds.next().unwrap_or(DataType::F32);
    kinds.fold(first, DataType::promote)
}

impl Call {
    /// A tensor that may be missing.
    pub fn optional(&mut self, tensor: usize) -> Outcome<Option<Operand>> {
        match tensor {
            0 => Ok(None),
            tensor => self.input(tensor).map(Some),
        }
    }

    /// An output that is not wanted when it is missing.
    pub fn wanted(&mut self, tensor: usize) -> Outcome<Option<Operand>> {
        match tensor {
            0 => Ok(None),
            tensor => self.output(tensor).map(Some),
        }
    }

    pub fn inputs(&mut self, list: usize) -> Outcome<Vec<Operand>> {
        let tensors = objects::tensors(list)?;
        tensors.into_iter().map(|it| self.input(it)).collect()
    }

    pub fn outputs(&mut self, list: usize) -> Outcome<Vec<Operand>> {
        let tensors = objects::tensors(list)?;
        tensors.into_iter().map(|it| self.output(it)).collect()
    }

    /// A scalar as the type of the computation has it: that of the tensors, in 32 bits if that is a smaller one.
    pub fn scalar_as_computed(&self, scalar: usize, with: &[&Operand]) -> Outcome<HostNumber> {
        let value = self.scalar(scalar)?;
        let kind = common(with).promote_with(value);
        let is_float = HostNumber::from(value).is_float;
        let given = HostNumber::from(kind.wide().round_value(value));
        Ok(HostNumber { is_float, ..given })
    }

    /// As `scalar_as_computed`, of several scalars.
    pub fn scalars_as_computed<const N: usize>(
        &self,
        scalars: [usize; N],
        with: &[&Operand],
    ) -> Outcome<[HostNumber; N]> {
        let mut found = [HostNumber::from(ScalarValue::Integer(0)); N];
        for (found, scalar) in found.iter_mut().zip(scalars) {
            *found = self.scalar_as_computed(scalar, with)?;
        }
        Ok(found)
    }

    /// As `scalar_as_computed`, of a scalar that may be missing.
    pub fn maybe(&self, scalar: usize, with: &[&Operand]) -> Outcome<Option<HostNumber>> {
        match scalar {
            0 => Ok(None),
            scalar => self.scalar_as_computed(scalar, with).map(Some),
        }
    }

    /// As `scalar_as_computed`, rounded to the tensors' own type: what elements are compared with.
    pub fn compared(&self, scalar: usize, with: &[&Operand]) -> Outcome<HostNumber> {
        let value = self.scalar(scalar)?;
        let is_float = HostNumber::from(value).is_float;
        let kind = common(with).promote_with(value);
        let given = HostNumber::from(kind.round_value(value));
        Ok(HostNumber { is_float, ..given })
    }

    /// Adds the task that computes each element of `out` of those at the same place; inputs broadcast.
    pub fn each<const N: usize>(
        &mut self,
        formula: Formula<N>,
        inputs: [&Operand; N],
        out: &Operand,
    ) -> Outcome {
        let has_fractions = out.is_float() || inputs.iter().any(|it| it.is_float());
        match formula.integer {
            Some(integer) if !has_fractions => self.spread(inputs, out, move |inputs, out| {
                formula::run(&*integer, inputs, out);
            }),
            _ => {
                let float = formula.float;
                self.spread(inputs, out, move |inputs, out| {
                    formula::run(&*float, inputs, out);
                })
            }
        }
    }

    /// Adds the task that reads tensors as a whole, computes, and writes tensors as a whole.
    pub fn dense<C: Number>(
        &mut self,
        inputs: Vec<Operand>,
        outputs: Vec<Operand>,
        operations: u64,
        compute: impl Fn(&[Vec<C>]) -> Vec<Vec<C>> + Send + Sync + 'static,
    ) -> Outcome {
        let bytes = inputs
            .iter()
            .chain(&outputs)
            .map(|it| it.view.bytes())
            .sum();
        if outputs.iter().all(|it| it.view.is_empty()) {
            return Ok(());
        }
        self.step(Cost { bytes, operations }, move |frame| {
            let values: Vec<Vec<C>> = inputs.iter().map(|it| load(&frame.view(it))).collect();
            let results = compute(&values);
            for (out, result) in outputs.iter().zip(&results) {
                store(&frame.view(out), result);
            }
        });
        Ok(())
    }

    /// Adds the task that computes, for each place of the other dimensions, one element of each output of the row along
    /// `dimensions`.
    pub fn reduce<C: Number>(
        &mut self,
        input: &Operand,
        dimensions: &[usize],
        outputs: Vec<Operand>,
        compute: impl Fn(&[C], &mut [C]) + Send + Sync + 'static,
    ) -> Outcome {
        let length = count(
            &dimensions
                .iter()
                .map(|it| input.shape()[*it])
                .collect::<Vec<_>>(),
        );
        let places = outputs.first().map_or(0, Operand::elements);
        if outputs.iter().any(|it| it.elements() != places) || places * length != input.elements() {
            return refuse("the output's shape is not that of the result");
        }
        let operations = input.elements() as u64;
        let number = outputs.len();
        let input = input.with_last(dimensions);
        if let Some(way) = self.rows {
            return self.reduce_complex(way, &input, length, &outputs, compute);
        }
        self.dense(
            vec![input],
            outputs,
            operations,
            move |values: &[Vec<C>]| {
                let mut results = vec![vec![C::default(); places]; number];
                let mut found = vec![C::default(); number];
                for place in 0..places {
                    compute(&values[0][place * length..][..length], &mut found);
                    for (result, found) in results.iter_mut().zip(&found) {
                        result[place] = *found;
                    }
                }
                results
            },
        )
    }

    /// Adds the task that gives each element of `out` the element of `input` with the number from
    /// `from`, and zero without one.
    pub fn moved(
        &mut self,
        input: &Operand,
        out: &Operand,
        from: impl Fn(usize) -> Option<usize> + Send + Sync + 'static,
    ) -> Outcome {
        if input.view.kind != out.view.kind {
            return refuse("the data types are not the same");
        }
        let elements = out.elements();
        self.dense(
            vec![input.bits()],
            vec![out.bits()],
            0,
            move |values: &[Vec<i64>]| {
                let element = |index: usize| values[0].get(index).copied();
                let each = |index: usize| from(index).and_then(element).unwrap_or(0);
                vec![(0..elements).map(each).collect()]
            },
        )
    }

    /// Adds a task with an output shape that is known only after its run: the tensor has it then, and
    /// the elements are at its beginning without gaps.
    pub fn found<C: Number>(
        &mut self,
        inputs: Vec<Operand>,
        out: Operand,
        tensor: Arc<Tensor>,
        compute: impl Fn(&[Vec<C>]) -> (Vec<C>, Vec<usize>) + Send + Sync + 'static,
    ) -> Outcome {
        self.finds_shapes = true;
        let bytes = inputs.iter().map(|it| it.view.bytes()).sum();
        let cost = Cost {
            bytes,
            operations: 0,
        };
        self.step(cost, move |frame| {
            let values: Vec<Vec<C>> = inputs.iter().map(|it| load(&frame.view(it))).collect();
            let (result, shape) = compute(&values);
            let room = frame.view(&out);
            if count(&shape) <= room.elements() {
                store(&View::contiguous(room.kind, room.address, &shape), &result);
                tensor.reshape(&shape);
            }
        });
        Ok(())
    }
}

/// The same code for one of two types of elements: `C` is `f64` if the condition holds, else `i64`.
#[macro_export]
macro_rules! by_kind {
    ($is_float:expr, $kind:ident => $code:expr) => {
        if $is_float {
            type $kind = f64;
            $code
        } else {
            type $kind = i64;
            $code
        }
    };
}
