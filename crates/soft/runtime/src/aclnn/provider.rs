//! The runtime as operators use it, those of this library and of others.

use std::sync::Arc;

use softacl_base::runtime::{Describe, NamedOperators, Runtime, Submission};

use super::data_type::ScalarValue;
use super::object::ObjectKind;
use super::tensor::Tensor;
use super::{executor, object};
use crate::aclop;
use crate::code::{Code, Outcome};
use crate::engine::trouble;
use crate::ffi::Out;

struct Provider;

/// Where each library finds the runtime of the process.
// SAFETY: the name is that of the build; nothing else has it.
#[unsafe(export_name = env!("SOFTACL_RUNTIME"))]
fn runtime_of_this_build() -> &'static dyn Runtime {
    &Provider
}

impl Runtime for Provider {
    fn tensor(&self, handle: usize) -> Outcome<Arc<Tensor>> {
        object::tensor(handle)
    }

    fn scalar(&self, handle: usize) -> Outcome<ScalarValue> {
        object::scalar(handle)
    }

    fn integers(&self, handle: usize) -> Outcome<Vec<i64>> {
        object::integers(handle)
    }

    fn bools(&self, handle: usize) -> Outcome<Vec<bool>> {
        object::bools(handle)
    }

    fn tensors(&self, handle: usize) -> Outcome<Vec<usize>> {
        object::handles(handle, ObjectKind::Tensors)
    }

    fn scalars(&self, handle: usize) -> Outcome<Vec<usize>> {
        object::handles(handle, ObjectKind::Scalars)
    }

    fn first(
        &self,
        names: [&'static str; 2],
        workspace: &Out<u64>,
        made: &Out<usize>,
        describe: &mut Describe<'_>,
    ) -> Code {
        executor::first(names, workspace, made, describe)
    }

    fn second(&self, operator: &'static str, submission: Submission) -> Code {
        executor::second(operator, submission)
    }

    fn note_trouble(&self, text: String) {
        trouble::note(|| text);
    }

    fn offer(&self, operators: &'static dyn NamedOperators) {
        aclop::offer(operators);
    }
}
