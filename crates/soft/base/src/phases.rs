//! The two phases of an operator, as its exported functions call them (`rows.rs`).

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::call::Call;
use crate::code::{Code, Outcome, RT_INTERNAL, fault};
use crate::ffi::Out;
use crate::runtime::{Describe, Submission, runtime};

pub const PANICKED: &str = "softacl panicked; please report it";

/// Runs code that must not unwind into the other library, which could not catch it.
pub fn contained(body: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| fault(RT_INTERNAL, PANICKED))
}

pub fn first(
    names: [&'static str; 2],
    workspace: &Out<u64>,
    executor: &Out<usize>,
    describe: &mut Describe<'_>,
) -> Code {
    let mut describe = |call: &mut Call| contained(|| describe(call));
    runtime().first(names, workspace, executor, &mut describe)
}

pub fn second(operator: &'static str, submission: Submission) -> Code {
    runtime().second(operator, submission)
}

/// A row as a test of the tables sees it: the operator, and the types of its parameters as they are written.
#[derive(Debug)]
pub struct OperatorRow {
    pub name: &'static str,
    pub parameters: &'static [&'static str],
}
