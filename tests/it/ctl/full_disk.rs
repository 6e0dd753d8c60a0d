//! Recordings on a disk that is full for some time. A limit on the size of the recorder's files has the same effect.

use rustix::process::{Resource, Rlimit, prlimit};

use super::*;

/// Lets the files of the recorder grow no more, or again.
fn fill_the_disk(program: &Asking, is_full: bool) {
    let limit = Rlimit {
        current: is_full.then_some(1),
        maximum: None,
    };
    prlimit(
        Some(Pid::from_child(&program.recorder)),
        Resource::Fsize,
        limit,
    )
    .unwrap();
}

/// Waits until records are in memory, or until they are in the file.
fn waits(program: &Asking, wanted: bool) {
    loop {
        let status = program.ctl(&["status", "--json"]).expect(0).out();
        let status: Value = serde_json::from_str(&status).unwrap();
        let status = &status["recordings"][0];
        assert!(status["unwritten"].is_null(), "{status}");
        if status["waiting"].is_object() == wanted {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Fills the disk from step 4 to step 7, or to the end of the recording.
fn recorded_on_a_full_disk(options: &[&str], is_freed: bool) -> (tempfile::TempDir, Tables, Value) {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.atrace");
    let mut program = Asking::start(folder.path(), options);
    program.reaches("4");
    fill_the_disk(&program, true);
    program.go_on();
    program.reaches("7");
    waits(&program, true);
    let shown = program.ctl(&["status"]).expect(0).out();
    assert!(shown.contains("WAITING: "), "{shown}");
    if is_freed {
        fill_the_disk(&program, false);
    }
    program.go_on();
    program.end();
    let outcome = run(tool().args(["info", "--json"]).arg(&trace));
    let info = serde_json::from_str(&outcome.out()).unwrap();
    let table = match is_freed {
        true => Tables::of_file(&trace, &folder.path().join("csv")),
        false => Tables::of_lost_file(&trace, &folder.path().join("csv")),
    };
    (folder, table, info)
}

#[test]
fn nothing_is_lost_while_a_disk_is_full_for_some_time() {
    for options in [&[][..], &["--ring", "60s"], &["--ring", "64M"]] {
        let (_folder, table, info) = recorded_on_a_full_disk(options, true);
        assert_eq!(steps(&table), (1..=9).collect::<Vec<_>>(), "{options:?}");
        assert_eq!(info["lost"]["calls"], 0, "{options:?}");
        assert_eq!(info["complete"], true, "{options:?}");
    }
}

#[test]
fn a_ring_that_cannot_be_written_to_the_end_has_what_it_had() {
    let (_folder, table, _) = recorded_on_a_full_disk(&["--ring", "60s"], false);
    let found = steps(&table);
    assert!(found.iter().all(|it| *it <= 3), "{found:?}");
}
