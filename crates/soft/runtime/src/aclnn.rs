//! Operators: the frame that programs put them into, and CPU arithmetic behind the common ones.
//!
//! An operator is called twice. The first phase (`aclnnXxxGetWorkspaceSize`) checks the arguments and
//! describes the work (`call`): tasks that refer to tensors and to the workspace (`operand`). The
//! second phase (`executor`) finds out where these lie and submits the tasks to a stream, where they
//! run like any other, once or with every replay of a captured graph.
//!
//! A further operator is a row of a table in `table`: a name, parameters, and the computation, by the
//! loops in `call`. Those of the feature `operators` are in `table`, the few that every build has in
//! `operators`.

#[cfg(feature = "operators")]
mod arrays;
mod call;
#[cfg(feature = "operators")]
mod call_wide;
mod data_type;
#[cfg(feature = "operators")]
mod dense;
mod elementwise;
pub(crate) mod executor;
mod exports;
#[cfg(feature = "operators")]
mod formula;
mod kernels;
mod number;
pub(crate) mod object;
mod operand;
#[macro_use]
mod operators;
mod status;
#[cfg(feature = "operators")]
pub(crate) mod table;
mod tensor;
#[cfg(test)]
mod tests;
mod view;
