//! The `ascend-trace` command.

fn main() {}
