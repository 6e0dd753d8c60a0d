//! `merge`: recordings of ranks on hosts with different clocks, as one.

mod aligned;
pub(crate) mod jobs;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use ascend_trace_testkit::cluster::ClusterJob;
use serde_json::Value;

use crate::support::{Outcome, run, tool};
use jobs::Recorded;

/// A job of two hosts.
pub(crate) const SMALL: ClusterJob = ClusterJob {
    hosts: 2,
    ranks: 2,
    steps: 60,
    seed: 1,
    slow_rank: None,
    slow_link: None,
    slow_step: None,
};

fn merge(files: &[PathBuf], to: &Path, options: &[&str]) -> Outcome {
    let mut command = tool();
    command.arg("merge").args(files).arg("-o").arg(to);
    run(command.args(options))
}

fn json(command: &str, file: &Path, options: &[&str]) -> Value {
    let mut tool = tool();
    tool.arg(command).arg(file).arg("--json").args(options);
    serde_json::from_str(&run(&mut tool).expect(0).out()).unwrap()
}

/// What `stats` prints of a file.
fn stats(file: &Path) -> String {
    run(tool().arg("stats").arg(file)).expect(0).out()
}

#[test]
fn hosts_are_on_one_clock_and_said() {
    let recorded = Recorded::new(SMALL);
    let merged = recorded.path("merged.atrace");
    let said = merge(&recorded.files, &merged, &[]).expect(0).err();
    assert!(said.contains("host node1: clock "), "{said}");
    let info = json("info", &merged, &[]);
    let hosts = info["session"]["hosts"].as_array().unwrap();
    assert_eq!(hosts[0]["aligned_by"], "reference");
    assert_eq!(hosts[1]["aligned_by"], "collectives");
    assert_eq!(hosts[1]["collectives"], 180);
    let off = hosts[1]["offset_ns"].as_i64().unwrap() - recorded.apart(2, 0);
    let bar = hosts[1]["bar_ns"].as_i64().unwrap();
    // In the middle of the recording, where the offset is said, the rates have moved the clocks by a little.
    assert!(off.abs() < bar + 200_000, "{off} {bar}");
    assert!((1_000..80_000).contains(&bar), "{bar}");
    let processes = info["processes"].as_array().unwrap();
    let of = |name: &str| {
        processes
            .iter()
            .map(|it| it[name].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("rank"), [0, 1, 2, 3]);
    assert_eq!(of("process"), [1, 2, 3, 4]);
    assert_eq!(of("host"), ["node0", "node0", "node1", "node1"]);
    let text = run(tool().arg("info").arg(&merged)).expect(0).out();
    assert!(text.contains("host node1: clock "), "{text}");
}

#[test]
fn one_file_merged_is_the_same_for_stats() {
    let recorded = Recorded::new(SMALL);
    let merged = recorded.path("merged.atrace");
    merge(&recorded.files[..1], &merged, &[]).expect(0);
    assert_eq!(stats(&merged), stats(&recorded.files[0]));
    let [own, there] = [&merged, &recorded.files[0]].map(|it| json("info", it, &[]));
    assert_eq!(own["session"], there["session"]);
    assert_eq!(own["processes"], there["processes"]);
}

/// A recording with everything that a file can hold.
#[test]
fn one_file_merged_exports_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let [own, merged] = ["own.atrace", "merged.atrace"].map(|it| folder.path().join(it));
    jobs::record_everything(&own);
    merge(std::slice::from_ref(&own), &merged, &[]).expect(0);
    let tables = [own, merged].map(|file| {
        let to = file.with_extension("csv");
        let mut command = tool();
        command.args(["export", "--format", "csv", "-o"]).arg(&to);
        run(command.arg(&file)).expect(0);
        to
    });
    for name in [
        "calls",
        "tasks",
        "stalls",
        "ranges",
        "graphs",
        "losses",
        "processes",
        "devices",
    ] {
        let [own, merged] =
            [0, 1].map(|it| fs::read_to_string(tables[it].join(format!("{name}.csv"))).unwrap());
        assert!(own == merged, "{name}");
    }
}

#[test]
fn any_order_gives_the_same_file() {
    let recorded = Recorded::new(SMALL);
    let [one, other] = ["one.atrace", "other.atrace"].map(|it| recorded.path(it));
    merge(&recorded.files, &one, &[]).expect(0);
    let backwards: Vec<PathBuf> = recorded.files.iter().rev().cloned().collect();
    merge(&backwards, &other, &[]).expect(0);
    assert!(fs::read(one).unwrap() == fs::read(other).unwrap());
}

/// Two jobs at a time, as the groups of tensor parallelism are: their communicators differ in nothing else.
#[test]
fn communicators_of_one_size_are_distinguished() {
    let pairs = [0, 1].map(|late| jobs::recorded_pair(4, late));
    let identities = pairs.each_ref().map(|(folder, files)| {
        let both = [0, 1].map(|rank| jobs::identities(&files[rank], folder.path()));
        assert_eq!(both[0], both[1]);
        let [identity] = both[0].as_slice() else {
            panic!("one communicator: {both:?}");
        };
        assert_eq!(identity.len(), 16, "{identity}");
        identity.clone()
    });
    assert_ne!(identities[0], identities[1]);
}

/// The collectives of all ranks together, and who came last to them.
#[test]
fn waits_name_the_late_rank() {
    let job = ClusterJob {
        slow_rank: Some(3),
        ..SMALL
    };
    let recorded = Recorded::new(job);
    let merged = recorded.path("merged.atrace");
    merge(&recorded.files, &merged, &[]).expect(0);
    assert_eq!(jobs::rank_of_path(&merged, "computing"), 3);
    let waited = jobs::waits_by_peer(&merged, recorded.folder.path());
    let (late, most) = waited.iter().max_by_key(|it| it.1).unwrap();
    assert_eq!(*late, 3, "{waited:?}");
    let all: i64 = waited.values().sum();
    // Others are late by chance now and then.
    assert!(most * 4 > all * 3, "{waited:?}");
}

/// Two programs that the software runtime lets reduce together, each with a recorder.
#[test]
fn of_two_recorded_programs_the_late_one_is_named() {
    let (_kept, files) = jobs::recorded_pair(30, 1);
    let folder = tempfile::tempdir().unwrap();
    let merged = folder.path().join("merged.atrace");
    merge(&files, &merged, &[]).expect(0);
    let info = json("info", &merged, &[]);
    assert_eq!(
        info["session"]["hosts"].as_array().unwrap().len(),
        1,
        "one boot"
    );
    let ranks = info["processes"].as_array().unwrap().iter();
    assert_eq!(
        ranks.map(|it| it["rank"].clone()).collect::<Vec<_>>(),
        [0, 1]
    );
    // It comes 4 ms late in each step. A busy machine may hold up the other one for longer: then that one is late.
    let found = jobs::named_and_late(&merged, folder.path());
    assert!(found.iter().all(|(named, late)| named == late), "{found:?}");
    let all = found.iter().filter(|(named, _)| *named == 1).count();
    assert!(all >= 5, "{found:?}");
}

#[test]
fn refusals_say_what_to_do() {
    let recorded = Recorded::new(ClusterJob { steps: 5, ..SMALL });
    let merged = recorded.path("merged.atrace");
    let [first, second] = [0, 1].map(|it| recorded.files[it].clone());
    let refused = |files: &[PathBuf], what: &str| {
        let said = merge(files, &merged, &[]).expect(2).err();
        assert!(said.contains(what), "{said}");
    };
    refused(&[], "required");
    refused(
        &[first.clone(), first.clone()],
        "are one file: name it once",
    );
    let copy = recorded.path("copy.atrace");
    fs::copy(&first, &copy).unwrap();
    refused(&[first.clone(), copy], "is the same recording as");
    refused(&[recorded.path("none.atrace")], "cannot open");
    refused(
        &[recorded.folder.path().to_owned()],
        "name the files of recordings",
    );
    assert!(!merged.exists());
    merge(&[first.clone(), second.clone()], &merged, &[]).expect(0);
    refused(
        &[first.clone(), second.clone()],
        "exists: --force replaces it",
    );
    refused(std::slice::from_ref(&merged), "is one of the recordings");
    let further = recorded.path("further.atrace");
    let said = merge(&[merged.clone(), first.clone()], &further, &[])
        .expect(2)
        .err();
    assert!(said.contains("is a merged file"), "{said}");
    merge(&[first.clone(), second], &merged, &["--force"]).expect(0);
    let lock = File::open(&merged).unwrap();
    lock.lock().unwrap();
    let said = merge(&[first], &merged, &["--force"]).expect(2).err();
    assert!(said.contains("is being recorded"), "{said}");
    drop(lock);
    // Nothing is left of attempts.
    let names = fs::read_dir(recorded.folder.path()).unwrap().flatten();
    let hidden = names.filter(|it| it.file_name().as_encoded_bytes().starts_with(b"."));
    assert_eq!(hidden.count(), 0);
}

#[test]
fn a_full_disk_leaves_nothing() {
    let recorded = Recorded::new(SMALL);
    let merged = recorded.path("merged.atrace");
    let mut command = tool();
    let words = ["sh", "-c", "ulimit -f 4; trap '' XFSZ; exec \"$0\" \"$@\""];
    let program = command.get_program().to_owned();
    command = crate::support::process::clean(words[0]);
    command.args(&words[1..]).arg(program).arg("merge");
    command.args(&recorded.files).arg("-o").arg(&merged);
    let said = run(&mut command).expect(2).err();
    assert!(said.contains("cannot write"), "{said}");
    let mut names = fs::read_dir(recorded.folder.path()).unwrap().flatten();
    assert!(names.all(|it| it.path().extension().is_some_and(|it| it == "atrace")));
    assert!(!merged.exists());
}

#[test]
fn sound_parts_of_damaged_and_unfinished_files_are_merged() {
    let recorded = Recorded::new(SMALL);
    let merged = recorded.path("merged.atrace");
    let whole = fs::read(&recorded.files[1]).unwrap();
    fs::write(&recorded.files[1], &whole[..whole.len() * 2 / 3]).unwrap();
    let said = merge(&recorded.files, &merged, &[]).expect(3).err();
    assert!(said.contains("the recording has no end"), "{said}");
    merge(&recorded.files, &merged, &["--force", "--strict"]).expect(3);
    let mut bytes = fs::read(&recorded.files[2]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&recorded.files[2], bytes).unwrap();
    let said = merge(&recorded.files, &merged, &["--force"])
        .expect(3)
        .err();
    assert!(said.contains("damaged"), "{said}");
    let info = json("info", &merged, &[]);
    assert_eq!(info["processes"].as_array().unwrap().len(), 4);
    let empty = recorded.path("empty.atrace");
    fs::write(&empty, b"").unwrap();
    let said = merge(&[empty], &recorded.path("no.atrace"), &[])
        .expect(2)
        .err();
    assert!(said.contains("the file is empty"), "{said}");
}

/// The planted rank of a job comes out first. The full size takes a few minutes.
fn culprits_come_out_first(size: ClusterJob) {
    let job = |job: ClusterJob| {
        let recorded = Recorded::new(job);
        let merged = recorded.path("merged.atrace");
        merge(&recorded.files, &merged, &[]).expect(0);
        (recorded, merged)
    };
    let last = size.all_ranks() - 1;
    let (_kept, merged) = job(ClusterJob {
        slow_rank: Some(last),
        ..size
    });
    assert_eq!(jobs::rank_of_path(&merged, "computing"), last as u64);
    let (_kept, merged) = job(ClusterJob {
        slow_link: Some(1),
        ..size
    });
    let rank = jobs::rank_of_path(&merged, "communication") as usize;
    assert_eq!(size.host(rank), 1);
    let slow = size.steps / 2;
    let (_kept, merged) = job(ClusterJob {
        slow_step: Some(slow),
        ..size
    });
    let steps = json("steps", &merged, &[]);
    // Where a step begins in work that repeats is for the finder to say.
    let found = jobs::slowest_step(&steps);
    assert!(found.abs_diff(slow as usize) <= 1, "{found}");
}

#[test]
fn planted_faults_of_a_cluster_come_first() {
    culprits_come_out_first(ClusterJob {
        hosts: 4,
        ranks: 2,
        steps: 80,
        ..SMALL
    });
}

#[test]
#[ignore = "64 ranks on 8 hosts, 1,000 steps: minutes"]
fn planted_faults_of_a_large_cluster_come_first() {
    culprits_come_out_first(ClusterJob {
        hosts: 8,
        ranks: 8,
        steps: 1_000,
        ..SMALL
    });
}
