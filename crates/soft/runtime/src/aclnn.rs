//! Operators: the frame that programs put them into, and the few that every build has.
//!
//! An operator is called twice. The first phase (`aclnnXxxGetWorkspaceSize`) checks the arguments and
//! describes the work (`call`): tasks that refer to tensors and to the workspace (`operand`). The
//! second phase (`executor`) finds out where these lie and submits the tasks to a stream, where they
//! run like any other, once or with every replay of a captured graph.
//!
//! Other libraries bring further operators. They find this one by `softacl_base::runtime`.

pub(crate) mod executor;
mod exports;
mod kernels;
pub(crate) mod object;
mod operators;
mod provider;
#[cfg(test)]
mod tests;

pub(crate) use softacl_base::{
    call, data_type, elementwise, number, operand, status, tensor, view,
};
