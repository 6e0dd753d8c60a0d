//! `cargo bench -p softacl`: tasks per second through the built library.
#![allow(
    clippy::unwrap_used,
    reason = "a measurement stops at the first surprise"
)]

#[path = "../tests/it/cases.rs"]
mod cases;
#[path = "../tests/it/support.rs"]
#[expect(dead_code, reason = "shared with the tests, which use all of it")]
mod support;

use support::{compile, library_dir, programs_dir, succeeds};

fn main() {
    let program = compile(&programs_dir().join("tools/throughput.c"));
    let mut command = std::process::Command::new(program);
    command
        .arg("4000000")
        .env("LD_LIBRARY_PATH", library_dir())
        .stdout(std::process::Stdio::inherit());
    succeeds(&mut command);
}
