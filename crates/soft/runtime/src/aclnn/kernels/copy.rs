//! Copies, conversions and fills.

use crate::aclnn::call::Call;
use crate::aclnn::data_type::{DataType, ScalarValue};
use crate::aclnn::elementwise::{CopyMap, ElementMap};
use crate::aclnn::number::Number;
use crate::aclnn::status::{refuse, require};
use crate::code::Outcome;

struct FillMap {
    value: ScalarValue,
}

impl ElementMap<0> for FillMap {
    fn map<C: Number>(&self, []: [&[C]; 0], out: &mut [C]) {
        out.fill(C::of(self.value));
    }
}

pub(crate) fn copy_in_place(call: &mut Call, this: usize, source: usize) -> Outcome {
    let (out, source) = (call.output(this)?, call.input(source)?);
    call.convert(CopyMap, source.view.kind, [&source], &out)
}

pub(crate) fn cast(call: &mut Call, this: usize, data_type: i32, out: usize) -> Outcome {
    let (source, out) = (call.input(this)?, call.output(out)?);
    let Some(kind) = DataType::from_code(data_type) else {
        return refuse("the operator does not support this data type");
    };
    require(
        kind == out.view.kind,
        "the output's data type is not the one to convert to",
    )?;
    require(
        source.view.shape == out.view.shape,
        "the output's shape is not the input's",
    )?;
    call.convert(CopyMap, source.view.kind, [&source], &out)
}

pub(crate) fn zero(call: &mut Call, this: usize) -> Outcome {
    fill(call, this, |_| Ok(ScalarValue::Integer(0)))
}

pub(crate) fn one(call: &mut Call, this: usize) -> Outcome {
    fill(call, this, |_| Ok(ScalarValue::Integer(1)))
}

pub(crate) fn fill_scalar(call: &mut Call, this: usize, value: usize) -> Outcome {
    fill(call, this, |call| call.scalar(value))
}

fn fill(
    call: &mut Call,
    this: usize,
    value: impl FnOnce(&Call) -> Outcome<ScalarValue>,
) -> Outcome {
    let out = call.output(this)?;
    let kind = out.view.kind;
    let value = kind.round_value(value(call)?);
    call.convert(FillMap { value }, kind, [], &out)
}
