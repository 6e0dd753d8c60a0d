//! Operators by name: their attributes, and the call that compiles and executes one.

use softacl_base::attributes::{Attribute, Attributes};

use super::acl;
use super::base::DataBuffer;
use super::tensor_desc::TensorDesc;
use crate::aclop;
use crate::aclop::Operand;
use crate::code::{INVALID_PARAM, Outcome, fault};
use crate::ffi::{In, Out, Text};

// SAFETY: the name is AscendCL's; nothing else in this library defines it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclopCreateAttr() -> *mut Attributes {
    Box::into_raw(Box::default())
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclopDestroyAttr(attributes: Out<Attributes>) {
    // NULL is fine.
    let _ = attributes.free();
}

fn set(attributes: &Out<Attributes>, name: &Text, value: Attribute) -> Outcome {
    attributes.check()?;
    let name = name.get()?;
    attributes.with(|all| all.set(name, value));
    Ok(())
}

fn values<T: Copy>(values: &In<T>, count: i32) -> Outcome<Vec<T>> {
    match usize::try_from(count) {
        Ok(0) => Ok(Vec::new()),
        Ok(count) => values.array(count),
        Err(_) => fault(INVALID_PARAM, "the number of values is negative"),
    }
}

/// The tensors of an operator, from two arrays of pointers.
fn operands(count: i32, descs: &In<usize>, buffers: &In<usize>) -> Outcome<Vec<Operand>> {
    let (descs, buffers) = (values(descs, count)?, values(buffers, count)?);
    let each = descs.into_iter().zip(buffers);
    each.map(|(desc, buffer)| {
        let buffer = In::<DataBuffer>::at(buffer).optional();
        let Some(desc) = Out::<TensorDesc>::at(desc).with(|desc| desc.clone()) else {
            return fault(INVALID_PARAM, "a description of a tensor is NULL");
        };
        Ok(Operand {
            desc,
            data: buffer.map_or(0, |buffer| buffer.data),
        })
    })
    .collect()
}

acl! {
    fn aclopSetAttrBool(all: Out<Attributes>, name: Text, value: u8) { set(&all, &name, Attribute::Integers(vec![(value != 0).into()])) }

    fn aclopSetAttrInt(all: Out<Attributes>, name: Text, value: i64) { set(&all, &name, Attribute::Integers(vec![value])) }

    fn aclopSetAttrFloat(all: Out<Attributes>, name: Text, value: f32) { set(&all, &name, Attribute::Floats(vec![value])) }

    fn aclopSetAttrString(all: Out<Attributes>, name: Text, value: Text) {
        let value = value.get()?;
        set(&all, &name, Attribute::Text(value))
    }

    fn aclopSetAttrDataType(all: Out<Attributes>, name: Text, value: i32) {
        set(&all, &name, Attribute::Integers(vec![value.into()]))
    }

    fn aclopSetAttrListInt(all: Out<Attributes>, name: Text, count: i32, list: In<i64>) {
        set(&all, &name, Attribute::Integers(values(&list, count)?))
    }

    fn aclopSetAttrListFloat(all: Out<Attributes>, name: Text, count: i32, list: In<f32>) {
        set(&all, &name, Attribute::Floats(values(&list, count)?))
    }

    fn aclopSetAttrListBool(all: Out<Attributes>, name: Text, count: i32, list: In<u8>) {
        let list = values(&list, count)?.into_iter().map(i64::from).collect();
        set(&all, &name, Attribute::Integers(list))
    }

    fn aclopCompileAndExecute(
        operator: Text,
        inputs: i32,
        input_descs: In<usize>,
        input_buffers: In<usize>,
        outputs: i32,
        output_descs: In<usize>,
        output_buffers: In<usize>,
        attributes: Out<Attributes>,
        _engine: i32,
        _flag: i32,
        _path: Text,
        stream: usize,
    ) {
        let inputs = operands(inputs, &input_descs, &input_buffers)?;
        let outputs = operands(outputs, &output_descs, &output_buffers)?;
        let attributes = attributes.with(|all| all.clone()).unwrap_or_default();
        aclop::execute(&operator.get()?, &inputs, &outputs, &attributes, stream).map(drop)
    }

    // For operators with output shapes that depend on the data: the descriptions of the outputs have them afterwards.
    fn aclopCompileAndExecuteV2(
        operator: Text,
        inputs: i32,
        input_descs: In<usize>,
        input_buffers: In<usize>,
        outputs: i32,
        output_descs: In<usize>,
        output_buffers: In<usize>,
        attributes: Out<Attributes>,
        _engine: i32,
        _flag: i32,
        _path: Text,
        stream: usize,
    ) {
        let inputs = operands(inputs, &input_descs, &input_buffers)?;
        let descs = values(&output_descs, outputs)?;
        let outputs = operands(outputs, &output_descs, &output_buffers)?;
        let attributes = attributes.with(|all| all.clone()).unwrap_or_default();
        let found = aclop::execute(&operator.get()?, &inputs, &outputs, &attributes, stream)?;
        for ((desc, output), shape) in descs.into_iter().zip(&outputs).zip(found) {
            let given = output.desc.storage.as_ref().unwrap_or(&output.desc.shape);
            if *given != shape {
                Out::<TensorDesc>::at(desc).with(|desc| desc.shape = shape);
            }
        }
        Ok(())
    }
}
