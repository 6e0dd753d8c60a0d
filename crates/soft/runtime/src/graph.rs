//! Graphs (`aclmdlRI`): tasks that are kept instead of executed, and replayed as one task.
//!
//! A graph comes from a capture (`capture`, `events`) or is built by hand (`build`). A stream that
//! takes part hands its tasks to its seat in the graph (`route`). Once complete, the graph's body
//! is fixed; a replay is one task of the executing stream, which the engine plays lane by lane.
//!
//! Lock order: a graph's state, then an event's state; the lists of contexts are leaves.
//!
//! What graphs and their nodes are (`activity`, `body`, `update`, `state`, `route`) is known to streams. The others
//! are what calls do with them.

pub(crate) mod activity;
pub(crate) mod body;
pub(crate) mod build;
pub(crate) mod capture;
pub(crate) mod debug;
pub(crate) mod events;
pub(crate) mod execute;
pub(crate) mod group;
pub(crate) mod introspect;
pub(crate) mod jump;
pub(crate) mod lifetime;
pub(crate) mod modes;
pub(crate) mod params;
pub(crate) mod route;
pub(crate) mod state;
mod update;
