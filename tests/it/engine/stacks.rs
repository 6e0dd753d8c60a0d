//! Threads and signal handlers with small stacks.
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use super::{host_library, patched};
use crate::support::compile::built;
use crate::support::{Run, Tables};

/// Stacks with room for the program itself; the kernel takes some 3.5 KiB of a handler's for registers.
const STACKS: [[&str; 2]; 3] = [["thread", "16384"], ["signal", "12288"], ["signal", "8192"]];

fn check(engine: fn(&Run) -> Run, calls: usize) {
    let library = host_library();
    let options = ["-std=gnu11", "-O1", "-pthread", "-ldl"];
    let program = built("engine_stacks", "engine_stacks.c", &options);
    for [place, bytes] in STACKS {
        let words = [library.to_str().unwrap(), place, bytes];
        let run = engine(&Run::new(&program).words(&words));
        if run.bare().status != 0 {
            eprintln!("skipped: {bytes} bytes are too few on this system");
            continue;
        }
        let tables = Tables::of(&run.compared());
        assert_eq!(tables.count_calls("aclrtGetDevice"), calls, "{words:?}");
    }
}

#[test]
fn a_function_can_be_fetched_first_on_a_small_stack() {
    check(Run::clone, 1);
}

#[test]
fn functions_are_patched_from_a_small_stack() {
    check(patched, 2);
}
