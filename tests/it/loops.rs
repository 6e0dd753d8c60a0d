//! `steps` on real programs with loops that are hard to find (`loops.c`).

use serde_json::Value;

use crate::support::{Run, program, run, tool};

/// Copies and operators that take much longer than a call, so that the host can be ahead.
const SOFT: &str = "devices=1,d2d_mbps=2000";

/// A case, and the number of steps of each loop.
const CASES: [(&str, &[u64]); 10] = [
    ("ahead", &[40]),
    ("evaluation", &[40]),
    ("layers", &[30]),
    ("replays", &[25]),
    ("replays_ahead", &[25]),
    ("replays_read", &[30]),
    ("epochs", &[36]),
    ("in_turn", &[10, 10]),
    ("in_turn_alike", &[20]),
    ("threads", &[10, 10]),
];

#[track_caller]
fn steps(case: &str, options: &[&str]) -> Value {
    let run_of_case = Run::new(&program("loops")).words(&[case]).options(options);
    let recording = run_of_case.soft(SOFT).budgeted().traced();
    let outcome = &recording.outcome;
    assert_eq!(outcome.status, 0, "{case}: {outcome}");
    assert_eq!(outcome.out().trim(), case, "{outcome}");
    let out = run(tool().arg("steps").arg(recording.trace()).arg("--json"));
    serde_json::from_str(&out.expect(0).out()).unwrap()
}

fn counts(found: &Value) -> Vec<u64> {
    let loops = found["processes"].as_array().unwrap().iter();
    loops.map(|it| it["count"].as_u64().unwrap()).collect()
}

#[test]
fn all_steps_of_all_loops_are_found() {
    for (case, expected) in CASES {
        let found = steps(case, &[]);
        assert_eq!(counts(&found), expected, "{case}: {found:#}");
        for own in found["processes"].as_array().unwrap() {
            assert_eq!(own["clock"], "device", "{case}: {own}");
        }
    }
}

/// Where no step waits for the one before, the host submits all of them at once: on the device they take as long as their tasks.
#[test]
fn a_step_of_a_loop_that_is_ahead_lasts_as_long_as_its_work() {
    let found = steps("ahead", &[]);
    for step in found["steps"].as_array().unwrap() {
        let of = |field: &str| step[field].as_i64().unwrap();
        // Eight operators of 131 µs and more.
        assert!(
            of("length_ns") > 500_000 && of("compute_ns") > 500_000,
            "{step}"
        );
        assert!(of("length_ns") >= of("compute_ns"), "{step}");
    }
}

/// The process ends while the last steps run. The others keep their times.
#[test]
fn an_early_end_does_not_change_the_steps_before() {
    let found = steps("left", &[]);
    let own = &found["processes"][0];
    assert_eq!(own["clock"], "device", "{own}");
    assert!(own["count"].as_u64().unwrap() >= 32, "{own}");
}

#[test]
fn steps_of_tasks_without_times_are_times_of_the_host() {
    let found = steps("evaluation", &["--timing", "off"]);
    assert_eq!(counts(&found), [40]);
    assert_eq!(found["processes"][0]["clock"], "host");
}

/// The time of a program before it submits work has the name of the kind of process.
#[test]
fn time_of_the_host_is_called_python_only_in_python() {
    let run_of_case = Run::new(&program("loops")).words(&["evaluation"]);
    let recording = run_of_case.soft(SOFT).budgeted().traced();
    let text = run(tool().arg("steps").arg(recording.trace()))
        .expect(0)
        .out();
    assert!(
        text.contains(" program ") && !text.contains("python"),
        "{text}"
    );
}
