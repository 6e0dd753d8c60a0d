//! Failures while a task computes: on a card an exception of the core that runs it.

use crate::runtime::runtime;

/// Notes an index that names no element. The task goes on without it, and its stream reports it then.
pub fn outside(index: i64, length: usize) {
    runtime().note_trouble(format!("the index {index} is not within {length} elements"));
}
