//! One wrapper per function of the hook table, generated from the declarations.

#![cfg_attr(
    test,
    expect(dead_code, reason = "their names are not exported from tests")
)]
#![expect(
    non_snake_case,
    unreachable_pub,
    reason = "generated: the names and shapes are those of the C interface"
)]

use crate::engine::shape::{Shape, shape};
use crate::hook::hook;
use crate::variadic::variadic;
use crate::word::by_value;

include!(concat!(env!("OUT_DIR"), "/hooks.rs"));
include!(concat!(env!("OUT_DIR"), "/shapes.rs"));
