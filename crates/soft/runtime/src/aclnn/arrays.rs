//! What arrays and lists hold.

use super::object::{Object, ObjectKind, get};
use super::status::refuse;
use crate::code::Outcome;

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

/// The handles of a list of tensors.
pub(crate) fn tensors(handle: usize) -> Outcome<Vec<usize>> {
    match &*get(handle, ObjectKind::Tensors)? {
        Object::Tensors(items) => Ok(items.clone()),
        _ => refuse("this is no list of tensors"),
    }
}

/// The handles of a list of scalars.
pub(crate) fn scalars(handle: usize) -> Outcome<Vec<usize>> {
    match &*get(handle, ObjectKind::Scalars)? {
        Object::Scalars(items) => Ok(items.clone()),
        _ => refuse("this is no list of scalars"),
    }
}
