//! What `what-if` says of recordings. `reruns` has its predictions against programs that run with the change.

use serde_json::Value;

use crate::support::{Recording, Run, program, run, tool};

/// A byte copied takes a microsecond, and the queue has room for all that these programs submit.
const SOFT: &str = "d2d_mbps=1,copy_ns=0,queue=256";

fn played(script: &str) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    std::fs::write(&path, script).unwrap();
    let run = Run::new(&program("script"));
    run.words(&[path.to_str().unwrap()]).soft(SOFT).traced()
}

/// Two streams, of which the second waits for the first in each round; the host waits for the second.
const ROUND: &str = "c 0 2000\nr 0 0\nw 1 0\nc 1 2000\nr 1 1\nc 1 2000\ny 1\n";

#[test]
fn changes_that_match_nothing_are_refused() {
    let rounds = ROUND.repeat(6);
    let recorded = played(&format!("s 0\ns 1\ne 0\ne 1\n{rounds}x 0\nx 1\n"));
    let refuse = |change: &str| {
        let mut command = tool();
        command.arg("what-if").arg(recorded.trace()).arg(change);
        run(&mut command).expect(2).err()
    };
    for (change, why) in [
        ("op=MatMul x0", "no operation has this name"),
        ("stream=77 wait=none", "there is no such stream"),
        ("sync=DeviceSync->none", "no call of this function waited"),
        ("copy 0.5", "0.5 is no factor"),
        ("faster", "a change is 'op=NAME xFACTOR'"),
    ] {
        let said = refuse(change);
        assert!(said.contains(why), "{change}: {said}");
    }
    let mut command = tool();
    let text = run(command.arg("what-if").arg(recorded.trace()))
        .expect(0)
        .out();
    assert!(
        text.contains("Each change alone") && text.contains("op=aclrtMemcpyAsync x0.5"),
        "{text}"
    );
}

/// The demo waits for its compute stream, then copies on another one and waits for the device.
#[test]
fn blocking_calls_say_what_would_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stall.atrace");
    let mut command = tool();
    command.args(["demo", "--no-tui", "stall", "-o"]).arg(&path);
    run(&mut command).expect(0);
    let mut command = tool();
    command.args(["what-if", "--syncs", "--json"]).arg(&path);
    let found: Value = serde_json::from_str(&run(&mut command).expect(0).out()).unwrap();
    let rows = found["syncs"].as_array().unwrap();
    let narrower = |function: &str| {
        let own = rows
            .iter()
            .filter(|it| it["function"] == function && it["count"].as_i64() > Some(9));
        own.map(|it| it["narrower"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(narrower("aclrtSynchronizeStream"), ["none"], "{found}");
    assert_eq!(narrower("aclrtSynchronizeDevice"), ["stream"], "{found}");
}

/// A program of `tests/programs/reruns.c` on the host's clock.
fn rerun(script: &str) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    std::fs::write(&path, script.replace(';', "\n") + "\n").unwrap();
    let run = Run::new(&program("reruns"));
    let soft = format!("{SOFT},memset_ns=0,h2d_mbps=1,d2h_mbps=1,memset_mbps=1");
    run.words(&[path.to_str().unwrap()]).soft(&soft).traced()
}

/// The suggestions for a recording, and its ledger.
fn suggested(recorded: &Recording) -> (Vec<Value>, Vec<Value>) {
    let rows = |words: &[&str], field: &str| {
        let mut command = tool();
        command
            .args(["what-if", "--json"])
            .arg(recorded.trace())
            .args(words);
        let report: Value = serde_json::from_str(&run(&mut command).expect(0).out()).unwrap();
        report[field].as_array().unwrap().clone()
    };
    (rows(&[], "predictions"), rows(&["--syncs"], "syncs"))
}

/// The suggested changes that begin like this.
fn changes<'v>(suggested: &'v [Value], begin: &str) -> Vec<&'v Value> {
    let own = suggested.iter().filter(|it| {
        let change = it["changes"][0].as_str();
        change.is_some_and(|it| it.starts_with(begin))
    });
    own.collect()
}

const STREAMS: &str = "s 0;s 1;e 0;e 1;";

#[test]
fn a_wait_that_orders_nothing_is_suggested_with_what_must_hold() {
    // Each stream fills its own memory.
    let round = "f 0 2000;r 0 0;w 1 0;x 1 2000;";
    let (found, _) = suggested(&rerun(&format!("{STREAMS}{}v;y 0;y 1", round.repeat(6))));
    let waits = changes(&found, "stream=");
    let [wait] = waits.as_slice() else {
        panic!("one stream: {found:?}");
    };
    assert_eq!(wait["is_checked"], true, "{wait}");
    let holds = wait["holds"].as_str().unwrap();
    assert!(
        holds.starts_with("its tasks use no memory that streams 0:"),
        "{holds}"
    );
}

#[test]
fn a_wait_that_orders_uses_of_memory_is_not_suggested() {
    let round = "f 0 2000;r 0 0;w 1 0;c 1 2000;";
    let (found, _) = suggested(&rerun(&format!("{STREAMS}{}v;y 0;y 1", round.repeat(6))));
    assert!(!found.is_empty());
    assert!(changes(&found, "stream=").is_empty(), "{found:?}");
}

#[test]
fn streams_that_wait_for_each_other_keep_their_waits() {
    // The memory is apart, but the events are used again in each round.
    let round = "f 0 1000;r 0 0;w 1 0;x 1 2000;r 1 1;w 0 1;";
    let (found, _) = suggested(&rerun(&format!("{STREAMS}{}v;y 0;y 1", round.repeat(6))));
    assert!(!found.is_empty());
    assert!(changes(&found, "stream=").is_empty(), "{found:?}");
}

#[test]
fn the_last_wait_of_a_program_is_needed() {
    let (found, syncs) = suggested(&rerun("s 0;f 0 2000;f 0 2000;f 0 2000;v"));
    assert!(changes(&found, "sync=").is_empty(), "{found:?}");
    assert_eq!(syncs[0]["narrower"], Value::Null, "{syncs:?}");
}

/// Suggestions are made from the ledger: calls that it lists as needed are not suggested.
#[test]
fn suggestions_and_the_ledger_agree() {
    // A wait that nothing needs, and one before the host reads a copy.
    let round = "f 0 1000;y 0;x 1 1000;u 1 1000;y 1;a 1000;";
    let (found, syncs) = suggested(&rerun(&format!("{STREAMS}{}v", round.repeat(6))));
    let needed = syncs.iter().filter(|it| it["narrower"].is_null());
    assert!(needed.count() > 0, "{syncs:?}");
    for change in changes(&found, "sync=aclrtSynchronizeStream") {
        let text = change["changes"][0].as_str().unwrap();
        assert!(text.contains(" of 12 calls, after "), "{text}");
        assert!(change["holds"].is_string(), "{change}");
    }
}
