//! Key scripts and pictures: what a user does and what a user sees.

mod harness;

mod actions;
mod arranging;
mod configured;
mod densities;
mod detail;
mod documented;
mod edges;
mod every_action;
mod exports;
mod finding;
mod graphs;
mod idle;
mod lines;
mod lists;
mod live;
mod long;
mod looks;
mod measuring;
mod meters;
mod monkey;
mod mouse;
mod named;
mod open;
mod operands;
mod parts;
mod pictures;
mod quests;
mod room;
mod scene;
mod screenshots;
mod speed;
mod standing_out;
mod svg;
mod wrong;
