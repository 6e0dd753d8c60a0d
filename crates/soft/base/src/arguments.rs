//! Arguments of operators that are called by name.

use crate::attributes::Attributes;
use crate::by_kind;
use crate::call::Call;
use crate::code::Outcome;
use crate::data_type::{DataType, ScalarValue};
use crate::number::Number;
use crate::operand::Operand;

/// Handles of an operator's tensors, those that the host holds as numbers, and attributes.
pub struct Arguments<'a> {
    /// 0 for an input that is missing or in host memory.
    pub inputs: Vec<usize>,
    /// The inputs in host memory.
    pub host: Vec<HostTensor>,
    pub outputs: Vec<usize>,
    pub attributes: &'a Attributes,
}

/// An input in host memory. Its numbers are those at the time of the call.
pub struct HostTensor {
    /// Its index among the inputs.
    pub index: usize,
    pub kind: DataType,
    pub shape: Vec<usize>,
    pub values: Vec<ScalarValue>,
}

impl HostTensor {
    pub fn integers(&self) -> Vec<i64> {
        self.values.iter().map(|it| i64::of(*it)).collect()
    }
}

impl Arguments<'_> {
    /// An input's handle; 0 without one.
    pub fn input(&self, index: usize) -> usize {
        self.inputs.get(index).copied().unwrap_or(0)
    }

    pub fn output(&self) -> usize {
        self.written_at(0)
    }

    /// An output's handle; 0 without one.
    pub fn written_at(&self, index: usize) -> usize {
        self.outputs.get(index).copied().unwrap_or(0)
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

    fn on_host(&self, index: usize) -> Option<&HostTensor> {
        self.host.iter().find(|it| it.index == index)
    }

    /// The integers of an input in host memory; none without one.
    pub fn integers(&self, index: usize) -> Vec<i64> {
        self.on_host(index).map_or(Vec::new(), HostTensor::integers)
    }

    /// The first number of an input in host memory.
    pub fn number(&self, index: usize) -> Option<f64> {
        let first = self.on_host(index)?.values.first()?;
        Some(f64::of(*first))
    }

    /// An input, in device memory or in host memory.
    pub fn operand(&self, call: &mut Call, index: usize) -> Outcome<Operand> {
        let Some(given) = self.on_host(index) else {
            return call.input(self.input(index));
        };
        let made = call.temporary(given.kind, &given.shape);
        by_kind!(given.kind.is_float(), C => {
            let values: Vec<C> = given.values.iter().map(|it| C::of(*it)).collect();
            call.dense(Vec::new(), vec![made.clone()], 0, move |_: &[Vec<C>]| vec![values.clone()])
        })?;
        Ok(made)
    }

    /// As `operand`, of an input that may be missing.
    pub fn optional(&self, call: &mut Call, index: usize) -> Outcome<Option<Operand>> {
        match self.on_host(index).is_none() && self.input(index) == 0 {
            true => Ok(None),
            false => self.operand(call, index).map(Some),
        }
    }
}
