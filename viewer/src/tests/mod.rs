//! Key scripts and pictures: what a user does and what a user sees.

mod harness;

mod actions;
mod edges;
mod graphs;
mod live;
mod long;
mod looks;
mod parts;
mod pictures;
mod speed;
