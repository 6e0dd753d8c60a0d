//! The objects that programs make for operators, by their handles.

use std::sync::Arc;

use super::data_type::ScalarValue;
use super::executor::Executor;
use super::status::{null, refuse, require};
use super::tensor::Tensor;
use crate::code::{Fault, Outcome, RT_OUT_OF_MEMORY};
use crate::handles::{HandleKind, Registry};
use crate::per_process::PerProcess;

static OPERANDS: PerProcess<Registry<Object>> =
    PerProcess::new(|| Registry::new(HandleKind::Operand));

pub(crate) enum Object {
    Tensor(Arc<Tensor>),
    Scalar(ScalarValue),
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    Bools(Vec<u8>),
    Tensors(Vec<usize>),
    Scalars(Vec<usize>),
    Executor(Arc<Executor>),
}

/// A kind of object, for objects without further data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Tensor,
    Scalar,
    Integers,
    Floats,
    Bools,
    Tensors,
    Scalars,
    Executor,
}

impl Object {
    const fn sort(&self) -> ObjectKind {
        match self {
            Self::Tensor(_) => ObjectKind::Tensor,
            Self::Scalar(_) => ObjectKind::Scalar,
            Self::Integers(_) => ObjectKind::Integers,
            Self::Floats(_) => ObjectKind::Floats,
            Self::Bools(_) => ObjectKind::Bools,
            Self::Tensors(_) => ObjectKind::Tensors,
            Self::Scalars(_) => ObjectKind::Scalars,
            Self::Executor(_) => ObjectKind::Executor,
        }
    }

    /// How many elements an array or list has.
    fn length(&self) -> usize {
        match self {
            Self::Integers(items) => items.len(),
            Self::Floats(items) => items.len(),
            Self::Bools(items) => items.len(),
            Self::Tensors(items) | Self::Scalars(items) => items.len(),
            Self::Tensor(_) | Self::Scalar(_) | Self::Executor(_) => 1,
        }
    }
}

pub(crate) fn insert(object: Object) -> Outcome<usize> {
    const FULL: Fault = Fault {
        code: RT_OUT_OF_MEMORY,
        why: "there are too many tensors, scalars, arrays and executors",
    };
    let mut made = 0;
    let inserted = OPERANDS.get().insert_with(|handle| {
        made = handle;
        object
    });
    inserted.map(|_| made).ok_or(FULL)
}

pub(crate) fn get(handle: usize, sort: ObjectKind) -> Outcome<Arc<Object>> {
    if handle == 0 {
        return null("a pointer is NULL");
    }
    match OPERANDS.get().get(handle) {
        Some(object) if object.sort() == sort => Ok(object),
        _ => refuse(
            "a pointer does not lead to an object of the parameter's type, or no longer does",
        ),
    }
}

pub(crate) fn tensor(handle: usize) -> Outcome<Arc<Tensor>> {
    match &*get(handle, ObjectKind::Tensor)? {
        Object::Tensor(tensor) => Ok(Arc::clone(tensor)),
        _ => refuse("this is no tensor"),
    }
}

pub(crate) fn scalar(handle: usize) -> Outcome<ScalarValue> {
    match &*get(handle, ObjectKind::Scalar)? {
        Object::Scalar(value) => Ok(*value),
        _ => refuse("this is no scalar"),
    }
}

pub(crate) fn executor(handle: usize) -> Outcome<Arc<Executor>> {
    match &*get(handle, ObjectKind::Executor)? {
        Object::Executor(executor) => Ok(Arc::clone(executor)),
        _ => refuse("this is no executor"),
    }
}

/// The tensor at a place of a list.
pub(crate) fn member(list: usize, index: usize) -> Outcome<Arc<Tensor>> {
    let list = get(list, ObjectKind::Tensors)?;
    match &*list {
        Object::Tensors(tensors) if index < tensors.len() => tensor(tensors[index]),
        _ => refuse("the list is shorter"),
    }
}

pub(crate) fn length(handle: usize, sort: ObjectKind) -> Outcome<u64> {
    Ok(get(handle, sort)?.length() as u64)
}

/// The numbers of an array; empty without one.
pub(crate) fn integers(handle: usize) -> Outcome<Vec<i64>> {
    if handle == 0 {
        return Ok(Vec::new());
    }
    match &*get(handle, ObjectKind::Integers)? {
        Object::Integers(items) => Ok(items.clone()),
        _ => refuse("this is no array of integers"),
    }
}

/// The truth values of an array.
pub(crate) fn bools(handle: usize) -> Outcome<Vec<bool>> {
    match &*get(handle, ObjectKind::Bools)? {
        Object::Bools(items) => Ok(items.iter().map(|item| *item != 0).collect()),
        _ => refuse("this is no array of truth values"),
    }
}

/// The handles of a list of tensors, or of scalars.
pub(crate) fn handles(list: usize, sort: ObjectKind) -> Outcome<Vec<usize>> {
    match &*get(list, sort)? {
        Object::Tensors(items) | Object::Scalars(items) => Ok(items.clone()),
        _ => refuse("this is no list"),
    }
}

/// Ends the life of an object, and with a list that of its members; NULL is fine.
pub(crate) fn destroy(handle: usize, sort: ObjectKind) -> Outcome {
    if handle == 0 {
        return Ok(());
    }
    let object = get(handle, sort)?;
    let removed = OPERANDS.get().remove(handle).is_some();
    require(removed, "it was destroyed before")?;
    let (members, sort) = match &*object {
        Object::Tensors(items) => (items.as_slice(), ObjectKind::Tensor),
        Object::Scalars(items) => (items.as_slice(), ObjectKind::Scalar),
        _ => return Ok(()),
    };
    for member in members {
        // It may have been destroyed by itself.
        let _ = destroy(*member, sort);
    }
    Ok(())
}
