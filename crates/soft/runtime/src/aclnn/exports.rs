//! The frame around operators: tensors, scalars, arrays, lists and executors.

use std::sync::Arc;

use super::call::ArgumentRole;
use super::executor;
use super::object::{self, Object, ObjectKind};
use super::status::{null, refuse};
use super::tensor::{self, Layout, Tensor};
use crate::code::{Outcome, RT_OUT_OF_MEMORY, fault};
use crate::exports::acl;
use crate::ffi::{In, Out, Text};

/// No shape has more dimensions.
const MOST_DIMENSIONS: u64 = 25;

/// Declares exported functions with bodies that yield a handle; failures give NULL.
macro_rules! made {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        // SAFETY: the name is AscendCL's; nothing else in this library defines it.
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name($($arg: $type),*) -> usize {
            let mut made = 0;
            $crate::boundary::call(stringify!($name), || {
                made = object::insert($body?)?;
                Ok(())
            });
            made
        }
    )*};
}

made! {
    fn aclCreateTensor(
        shape: In<i64>,
        rank: u64,
        data_type: i32,
        strides: In<i64>,
        offset: i64,
        format: i32,
        storage: In<i64>,
        storage_rank: u64,
        data: usize,
    ) {
        let layout = layout(&shape, rank, &strides, &storage, storage_rank);
        layout
            .and_then(|layout| Layout { data_type, offset, format, data, ..layout }.checked())
            .map(|layout| Object::Tensor(Arc::new(Tensor::new(layout))))
    }

    fn aclCreateScalar(value: usize, data_type: i32) {
        tensor::scalar(value, data_type).map(Object::Scalar)
    }

    fn aclCreateIntArray(values: In<i64>, size: u64) { items(&values, size).map(Object::Integers) }

    fn aclCreateFloatArray(values: In<f32>, size: u64) { items(&values, size).map(Object::Floats) }

    fn aclCreateBoolArray(values: In<u8>, size: u64) { items(&values, size).map(Object::Bools) }

    fn aclCreateTensorList(values: In<usize>, size: u64) {
        items(&values, size).map(Object::Tensors)
    }

    fn aclCreateScalarList(values: In<usize>, size: u64) {
        items(&values, size).map(Object::Scalars)
    }
}

acl! {
    fn aclnnInit(_configuration: Text) { Ok(()) }

    fn aclnnFinalize() { Ok(()) }

    fn aclInitTensor(
        tensor: usize,
        shape: In<i64>,
        rank: u64,
        data_type: i32,
        strides: In<i64>,
        offset: i64,
        format: i32,
        storage: In<i64>,
        storage_rank: u64,
        data: usize,
    ) {
        let tensor = object::tensor(tensor)?;
        let layout = layout(&shape, rank, &strides, &storage, storage_rank)?;
        tensor.replace(Layout { data_type, offset, format, data, ..layout }.checked()?);
        Ok(())
    }

    fn aclDestroyTensor(tensor: usize) { object::destroy(tensor, ObjectKind::Tensor) }

    fn aclDestroyScalar(scalar: usize) { object::destroy(scalar, ObjectKind::Scalar) }

    fn aclDestroyIntArray(array: usize) { object::destroy(array, ObjectKind::Integers) }

    fn aclDestroyFloatArray(array: usize) { object::destroy(array, ObjectKind::Floats) }

    fn aclDestroyBoolArray(array: usize) { object::destroy(array, ObjectKind::Bools) }

    fn aclDestroyTensorList(list: usize) { object::destroy(list, ObjectKind::Tensors) }

    fn aclDestroyScalarList(list: usize) { object::destroy(list, ObjectKind::Scalars) }

    fn aclGetViewShape(tensor: usize, shape: Out<usize>, rank: Out<u64>) {
        numbers(tensor, &shape, &rank, |layout| &layout.shape)
    }

    fn aclGetViewStrides(tensor: usize, strides: Out<usize>, count: Out<u64>) {
        numbers(tensor, &strides, &count, |layout| &layout.strides)
    }

    fn aclGetStorageShape(tensor: usize, shape: Out<usize>, rank: Out<u64>) {
        numbers(tensor, &shape, &rank, |layout| &layout.storage)
    }

    fn aclGetViewOffset(tensor: usize, offset: Out<i64>) {
        put_result(&offset, || Ok(object::tensor(tensor)?.layout().offset))
    }

    fn aclGetFormat(tensor: usize, format: Out<i32>) {
        put_result(&format, || Ok(object::tensor(tensor)?.layout().format))
    }

    fn aclGetDataType(tensor: usize, data_type: Out<i32>) {
        put_result(&data_type, || Ok(object::tensor(tensor)?.layout().data_type))
    }

    fn aclGetRawTensorAddr(tensor: usize, address: Out<usize>) {
        put_result(&address, || Ok(object::tensor(tensor)?.data()))
    }

    fn aclSetRawTensorAddr(tensor: usize, address: usize) {
        object::tensor(tensor)?.set_data(address);
        Ok(())
    }

    fn aclGetIntArraySize(array: usize, size: Out<u64>) {
        put_result(&size, || object::length(array, ObjectKind::Integers))
    }

    fn aclGetFloatArraySize(array: usize, size: Out<u64>) {
        put_result(&size, || object::length(array, ObjectKind::Floats))
    }

    fn aclGetBoolArraySize(array: usize, size: Out<u64>) {
        put_result(&size, || object::length(array, ObjectKind::Bools))
    }

    fn aclGetTensorListSize(list: usize, size: Out<u64>) {
        put_result(&size, || object::length(list, ObjectKind::Tensors))
    }

    fn aclGetScalarListSize(list: usize, size: Out<u64>) {
        put_result(&size, || object::length(list, ObjectKind::Scalars))
    }

    fn aclSetAclOpExecutorRepeatable(made: usize) { executor::set_repeatable(made) }

    fn aclDestroyAclOpExecutor(made: usize) { executor::destroy(made) }

    fn [aclSetTensorAddr, AclSetTensorAddr](
        made: usize, index: usize, tensor: usize, address: usize,
    ) {
        executor::set_address(made, index, ANY, tensor, address)
    }

    fn [aclSetInputTensorAddr, AclSetInputTensorAddr](
        made: usize, index: usize, tensor: usize, address: usize,
    ) {
        executor::set_address(made, index, READ, tensor, address)
    }

    fn [aclSetOutputTensorAddr, AclSetOutputTensorAddr](
        made: usize, index: usize, tensor: usize, address: usize,
    ) {
        executor::set_address(made, index, WRITTEN, tensor, address)
    }

    fn [aclSetDynamicTensorAddr, AclSetDynamicTensorAddr, aclSetDynamicInputTensorAddr,
       AclSetDynamicInputTensorAddr, aclSetDynamicOutputTensorAddr,
       AclSetDynamicOutputTensorAddr](
        made: usize, _parameter: usize, index: usize, list: usize, address: usize,
    ) {
        executor::set_member_address(made, index, list, address)
    }
}

const ANY: &[ArgumentRole] = &[
    ArgumentRole::Input,
    ArgumentRole::Output,
    ArgumentRole::InPlace,
];
const READ: &[ArgumentRole] = &[ArgumentRole::Input, ArgumentRole::InPlace];
const WRITTEN: &[ArgumentRole] = &[ArgumentRole::Output, ArgumentRole::InPlace];

/// Shape, strides and storage; without strides the elements lie without gaps.
fn layout(
    shape: &In<i64>,
    rank: u64,
    strides: &In<i64>,
    storage: &In<i64>,
    storage_rank: u64,
) -> Outcome<Layout> {
    if rank > MOST_DIMENSIONS || storage_rank > MOST_DIMENSIONS {
        return refuse("there are more than 25 dimensions");
    }
    let shape = items(shape, rank)?;
    let strides = match strides.optional() {
        Some(_) if rank > 0 => items(strides, rank)?,
        _ => Layout::packed(&shape),
    };
    Ok(Layout {
        shape,
        strides,
        offset: 0,
        data_type: 0,
        format: 0,
        storage: items(storage, storage_rank)?,
        data: 0,
    })
}

/// An array, which may be NULL when it is empty.
fn items<T: Copy>(values: &In<T>, size: u64) -> Outcome<Vec<T>> {
    if size == 0 {
        return Ok(Vec::new());
    }
    values
        .array(size as usize)
        .or_else(|_| null("an array is NULL"))
}

/// Stores a result; nothing is computed without a place for it.
fn put_result<T>(to: &Out<T>, result: impl FnOnce() -> Outcome<T>) -> Outcome {
    if to.is_null() {
        return null("an output pointer is NULL");
    }
    to.put(result()?)
}

/// Hands out an array that the program frees.
fn numbers(
    tensor: usize,
    to: &Out<usize>,
    count: &Out<u64>,
    which: impl FnOnce(&Layout) -> &Vec<i64>,
) -> Outcome {
    if to.is_null() || count.is_null() {
        return null("an output pointer is NULL");
    }
    let layout = object::tensor(tensor)?.layout();
    let values = which(&layout);
    let bytes = size_of_val(values.as_slice()).max(1);
    // SAFETY: a plain allocation, also for `delete[]` and `free` in the program.
    let copy = unsafe { libc::malloc(bytes) };
    if copy.is_null() {
        return fault(RT_OUT_OF_MEMORY, "no memory is left");
    }
    // SAFETY: the new block has room for all values.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), copy.cast(), values.len()) };
    to.put(copy as usize)?;
    count.put(values.len() as u64)
}
