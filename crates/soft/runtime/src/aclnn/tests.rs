//! Operators against plain references: shapes, layouts, types, rounding.

mod elementwise;
mod layouts;
mod product;
mod softmax;

use std::sync::Arc;

use super::call::Call;
use super::data_type::{DataType, ScalarValue};
use super::number::{read, write};
use super::object::{self, Object};
use super::operand::ExecutionFrame;
use super::tensor::{Layout, Tensor};
use crate::code::{Code, Outcome};

const KINDS: [DataType; 7] = [
    DataType::I16,
    DataType::F32,
    DataType::F16,
    DataType::Bf16,
    DataType::I32,
    DataType::I64,
    DataType::F64,
];

const fn code(kind: DataType) -> i32 {
    match kind {
        DataType::F32 => 0,
        DataType::F16 => 1,
        DataType::I8 => 2,
        DataType::U8 => 4,
        DataType::I16 => 6,
        DataType::Bool => 12,
        DataType::I32 => 3,
        DataType::I64 => 9,
        DataType::F64 => 11,
        DataType::Bf16 => 27,
    }
}

/// A tensor over memory of the test.
struct Sample {
    handle: usize,
    kind: DataType,
    memory: Arc<Vec<u64>>,
    elements: usize,
}

impl Sample {
    fn new(kind: DataType, shape: &[i64], values: &[f64]) -> Self {
        let strides = Layout::packed(shape);
        Self::laid_out(kind, shape, &strides, 0, values)
    }

    /// `values` are all elements of the storage.
    fn laid_out(
        kind: DataType,
        shape: &[i64],
        strides: &[i64],
        offset: i64,
        values: &[f64],
    ) -> Self {
        let mut memory = vec![0_u64; values.len() + 1];
        let data = memory.as_mut_ptr() as usize;
        write(kind, data, kind.size(), values);
        Self::over(Arc::new(memory), kind, shape, strides, offset, values.len())
    }

    fn over(
        memory: Arc<Vec<u64>>,
        kind: DataType,
        shape: &[i64],
        strides: &[i64],
        offset: i64,
        elements: usize,
    ) -> Self {
        let layout = Layout {
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            offset,
            data_type: code(kind),
            format: 2,
            storage: vec![elements as i64],
            data: memory.as_ptr() as usize,
        };
        let tensor = Object::Tensor(Arc::new(Tensor::new(layout)));
        Self {
            handle: object::insert(tensor).unwrap(),
            kind,
            memory,
            elements,
        }
    }

    /// Another view of the same storage.
    fn view(&self, shape: &[i64], strides: &[i64], offset: i64) -> Self {
        let memory = Arc::clone(&self.memory);
        Self::over(memory, self.kind, shape, strides, offset, self.elements)
    }

    /// All elements of the storage.
    fn values(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.elements];
        let data = self.memory.as_ptr() as usize;
        read(self.kind, data, self.kind.size(), &mut values);
        values
    }
}

fn scalar(value: ScalarValue) -> usize {
    object::insert(Object::Scalar(value)).unwrap()
}

fn integer(value: i64) -> usize {
    scalar(ScalarValue::Integer(value))
}

fn float(value: f64) -> usize {
    scalar(ScalarValue::Float(value))
}

/// Runs both phases on the spot; returns the workspace that was asked for, and how many tasks.
fn compute(describe: impl FnOnce(&mut Call) -> Outcome) -> Result<(u64, usize), Code> {
    let mut call = Call::default();
    describe(&mut call).map_err(|failed| failed.code)?;
    let room = vec![0_u64; call.workspace as usize / 8 + 8];
    let frame = ExecutionFrame {
        tensors: call.arguments.iter().map(|it| it.tensor.data()).collect(),
        workspace: (room.as_ptr() as usize).next_multiple_of(64),
        room: Vec::new(),
    };
    call.steps.iter().for_each(|step| (step.effect)(&frame));
    Ok((call.workspace, call.steps.len()))
}

/// Numbers that look random and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn values(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.below(17) as f64 - 8.0).collect()
    }
}

/// Every index of a shape, the last dimension innermost.
fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![Vec::new()], |all, length| {
        let extended = all.iter().flat_map(|index| {
            (0..*length).map(move |it| index.iter().copied().chain([it]).collect())
        });
        extended.collect()
    })
}
