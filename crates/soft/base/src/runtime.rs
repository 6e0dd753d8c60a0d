//! The interface between operators and the runtime. A process has one runtime.

use std::sync::Arc;

use crate::arguments::Arguments;
use crate::call::Call;
use crate::code::{Code, Outcome};
use crate::data_type::ScalarValue;
use crate::ffi::Out;
use crate::tensor::Tensor;

/// Describes the work of an operator: its tensors and its tasks.
pub type Describe<'a> = dyn FnMut(&mut Call) -> Outcome + 'a;

pub trait Runtime: Sync {
    fn tensor(&self, handle: usize) -> Outcome<Arc<Tensor>>;
    fn scalar(&self, handle: usize) -> Outcome<ScalarValue>;
    /// The numbers of an array; empty without one.
    fn integers(&self, handle: usize) -> Outcome<Vec<i64>>;
    fn bools(&self, handle: usize) -> Outcome<Vec<bool>>;
    /// The handles of a list of tensors, or of scalars.
    fn tensors(&self, handle: usize) -> Outcome<Vec<usize>>;
    fn scalars(&self, handle: usize) -> Outcome<Vec<usize>>;

    /// The first phase of an operator: checks the arguments and hands out an executor. The names are those of the two
    /// phases.
    fn first(
        &self,
        names: [&'static str; 2],
        workspace: &Out<u64>,
        executor: &Out<usize>,
        describe: &mut Describe<'_>,
    ) -> Code;

    /// The second phase: submits the tasks of an executor.
    fn second(&self, operator: &'static str, submission: Submission) -> Code;

    /// Notes a failure of the task that runs in this thread. Its stream reports the first note.
    fn note_trouble(&self, text: String);

    /// From now on these operators can be called by name.
    fn offer(&self, operators: &'static dyn NamedOperators);
}

/// The arguments of the second phase.
#[derive(Clone, Copy)]
pub struct Submission {
    pub workspace: usize,
    pub workspace_size: u64,
    pub executor: usize,
    pub stream: usize,
}

/// Operators that programs call by name (`aclopCompileAndExecute`).
pub trait NamedOperators: Sync {
    /// The name of an operator, if there is one of this name.
    fn known(&self, name: &str) -> Option<&'static str>;

    fn describe(&self, name: &str, call: &mut Call, arguments: &Arguments<'_>) -> Outcome;
}

unsafe extern "Rust" {
    /// The runtime defines it. Its name is that of the build: a library of another build is not loaded.
    #[link_name = env!("SOFTACL_RUNTIME")]
    safe fn of_this_build() -> &'static dyn Runtime;
}

pub fn runtime() -> &'static dyn Runtime {
    of_this_build()
}
