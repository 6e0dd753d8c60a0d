//! Key scripts and pictures: what a user does and what a user sees.

mod harness;

mod actions;
mod edges;
mod graphs;
mod live;
mod looks;
mod pictures;
mod speed;
