//! The tests again, on every card that the software runtime imitates.

use std::process::Command;

use crate::support::run::CHIP;

/// Tests with a subject that differs by card, or that judge this machine alone.
const LEFT_OUT: [&str; 3] = ["chips::", "aarch64", "cost::"];

#[test]
#[ignore = "the whole suite, five times"]
fn the_tests_hold_on_every_card() {
    let mut failed = String::new();
    for chip in ["910_93", "950", "310p", "910a", "310b"] {
        let mut tests = Command::new(std::env::current_exe().unwrap());
        for part in LEFT_OUT {
            tests.args(["--skip", part]);
        }
        let output = tests.env(CHIP, chip).output().unwrap();
        if !output.status.success() {
            let out = String::from_utf8_lossy(&output.stdout);
            let names = out.lines().filter(|line| line.ends_with(" ... FAILED"));
            failed.extend(names.map(|name| format!("\n{chip}: {name}")));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
