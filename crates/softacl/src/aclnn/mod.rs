//! Operators: the frame that programs put them into, and CPU arithmetic behind the common ones.
//!
//! An operator is called twice. The first phase (`aclnnXxxGetWorkspaceSize`) checks the arguments and
//! describes the work (`call`): tasks that refer to tensors and to the workspace (`operand`). The
//! second phase (`executor`) finds out where these lie and submits the tasks to a stream, where they
//! run like any other, once or with every replay of a captured graph.
//!
//! A further operator is a row in `operators` and a function in `kernels`.

mod call;
mod data_type;
mod elementwise;
pub(crate) mod executor;
mod exports;
mod kernels;
mod number;
pub(crate) mod object;
mod operand;
mod operators;
mod status;
mod tensor;
#[cfg(test)]
mod tests;
mod view;
