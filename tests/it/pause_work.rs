//! How long threads used a processor in their pauses outside AscendCL, against the clock of the program.

use serde_json::Value;

use crate::support::{Run, Tables, program, run, tool};

/// A part of the time that the readings themselves may take, and all between them and the program's.
const BESIDES: f64 = 0.05;

#[test]
fn the_processor_time_of_pauses_is_that_of_the_program() {
    let recorded = Run::new(&program("pause_work")).traced();
    let truth: f64 = recorded.outcome.out().trim().parse().unwrap();
    for call in Tables::of(&recorded).calls {
        let Some(used) = call.maybe("cpu_ns") else {
            continue;
        };
        assert!(used <= call.number("cpu_over_ns"), "{call:?}");
        assert_eq!(call.number("depth"), 0, "{call:?}");
    }
    let mut command = tool();
    let stats = command.args(["stats", "--json"]).arg(recorded.trace());
    let document: Value = serde_json::from_str(&run(stats).expect(0).out()).unwrap();
    let threads = document["threads"].as_array().unwrap();
    let [thread] = threads.as_slice() else {
        panic!("one thread: {threads:?}");
    };
    let figure = |name: &str| thread[name].as_f64().unwrap();
    let (work, error) = (figure("outside_work_ns"), figure("outside_work_error_ns"));
    let off = (work - truth).abs();
    assert!(
        off <= error + truth * BESIDES,
        "{work} ± {error}, in truth {truth}"
    );
    // The pauses that are known have 4 ms in three of two kinds, at least; and the error is a small part of the time.
    let known = figure("outside_known_ns");
    assert!(known >= 230e6 && known <= figure("outside_ns"), "{thread}");
    assert!(error <= truth * BESIDES, "{work} ± {error}");
}
