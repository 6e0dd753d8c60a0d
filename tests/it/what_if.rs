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
