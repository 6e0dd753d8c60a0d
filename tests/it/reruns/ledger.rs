//! The narrower calls that the ledger of syncs names, made by the program.

use serde_json::Value;

use super::clocked::Clocked;
use super::judge::{Judge, number, what_if};
use super::pairs::looped;
use super::script::{Op, Script, narrower};

const CALLS: &str = "virtual_ns=1000";

/// A program with syncs of one letter that wait for more than necessary.
struct Case {
    script: Script,
    letter: char,
    function: &'static str,
    /// The wait that the ledger has to name, for this number of calls.
    narrower: &'static str,
    calls: i64,
    /// The program with these calls.
    changed: Script,
}

/// The host reads data that the last stream has copied to it; another stream works as well.
fn one_copy() -> Case {
    let round = "f 0 100;r 0 0;w 1 0;c 1 152;r 1 1;w 2 1;u 2 52;x 3 500;v;a 52";
    let script = looped("s 0;s 1;s 2;s 3;e 0;e 1", 8, round, "");
    Case {
        changed: script.with_syncs('v', narrower::stream),
        script,
        letter: 'v',
        function: "aclrtSynchronizeDevice",
        narrower: "stream",
        // After the last one, results may be used: it is needed.
        calls: 7,
    }
}

/// Two streams copy from and to the host.
fn two_copies() -> Case {
    let round = "f 0 40;i 0 80;r 0 0;w 1 0;c 1 120;r 1 1;w 2 1;u 2 48;r 2 2;x 3 400;v;a 48;p 40";
    let script = looped("s 0;s 1;s 2;s 3;e 0;e 1;e 2", 10, round, "");
    Case {
        changed: script.with_syncs('v', |_: &[Op]| Script::read("z 0;z 2").0),
        script,
        letter: 'v',
        function: "aclrtSynchronizeDevice",
        narrower: "event",
        // As with one copy.
        calls: 9,
    }
}

/// Nothing is read before the end.
fn no_copy() -> Case {
    let script = looped("s 0;s 1", 8, "f 0 100;c 0 60;x 1 200;v", "u 0 52;y 0;a 52");
    Case {
        changed: script.with_syncs('v', narrower::none),
        script,
        letter: 'v',
        function: "aclrtSynchronizeDevice",
        narrower: "none",
        calls: 8,
    }
}

/// As `no_copy`, on one stream.
fn no_copy_of_a_stream() -> Case {
    let script = looped("s 0", 8, "f 0 100;m 0 60;y 0", "u 0 52;v;a 52");
    Case {
        changed: script.with_syncs('y', narrower::none),
        script,
        letter: 'y',
        function: "aclrtSynchronizeStream",
        narrower: "none",
        calls: 8,
    }
}

/// The row of a function and of what would do.
#[track_caller]
fn row<'r>(report: &'r Value, case: &Case) -> &'r Value {
    let rows = report["syncs"].as_array().unwrap().iter();
    let mut rows =
        rows.filter(|it| it["function"] == case.function && it["narrower"] == case.narrower);
    let (Some(row), None) = (rows.next(), rows.next()) else {
        panic!(
            "one row for {} and {}: {report}",
            case.function, case.narrower
        );
    };
    row
}

#[track_caller]
fn check(judge: &mut Judge, case: &Case) {
    let original = Clocked::new(CALLS, &[&case.script]);
    let changed = Clocked::new(CALLS, &[&case.changed]);
    let (path, truth) = judge.recorded(&original);
    let report = what_if(path, &["--syncs"]);
    let row = row(&report, case);
    assert_eq!(number(row, "count"), case.calls, "{row}");
    let ran = changed.truth();
    let saved = truth.makespan() - ran.makespan();
    let predicted = number(row, "saved_ns");
    let bar = number(row, "error_ns").max(ran.makespan() / 50);
    let (letter, script) = (case.letter, case.script.text());
    assert!(
        (predicted - saved).abs() <= bar,
        "{letter}: predicted {predicted} ns, saved {saved} ns, {row}\n{script}"
    );
    assert!(
        saved > truth.makespan() / 100,
        "{letter}: it saves much: {saved} of {} ns",
        truth.makespan()
    );
    // The host reads right data only if it has waited for them: on the host's clock, tasks take their
    // time.
    let printed = original.printed();
    assert_eq!(changed.printed(), printed, "{letter}\n{script}");
    assert_ne!(printed, "sum 0\n");
}

#[test]
fn narrower_calls_save_the_time_of_the_ledger_and_change_no_result() {
    let mut judge = Judge::new();
    for case in [one_copy(), two_copies(), no_copy(), no_copy_of_a_stream()] {
        check(&mut judge, &case);
    }
}
