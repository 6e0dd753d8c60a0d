//! Recordings of made-up jobs as files, and the ranks that the tool names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use ascend_trace_recording::file::Writer;
use ascend_trace_testkit::cluster::{self, ClusterJob};
use ascend_trace_testkit::workload::{self, Workload};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::process::finish;
use crate::support::{Run, program, run, tool};

/// The recordings of a job, one of each rank.
pub(crate) struct Recorded {
    pub(crate) folder: TempDir,
    pub(crate) files: Vec<PathBuf>,
    job: ClusterJob,
}

impl Recorded {
    pub(crate) fn new(job: ClusterJob) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tables = cluster::tables();
        let all = (0..job.all_ranks()).map(|rank| {
            let path = folder.path().join(format!("rank{rank}.atrace"));
            let file = File::create(&path).unwrap();
            (
                path,
                Writer::create(file, &job.session(rank), &tables).unwrap(),
            )
        });
        let (files, mut writers): (Vec<_>, Vec<_>) = all.unzip();
        let mut rows = vec![0_u32; writers.len()];
        cluster::run(&job, |rank, row| {
            writers[rank].push(row).unwrap();
            rows[rank] += 1;
            // As a recorder does now and then.
            if rows[rank].is_multiple_of(50) {
                writers[rank].flush().unwrap();
            }
        });
        Self { folder, files, job }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The reading of the clock of rank 0 at a reading of another rank's clock.
    pub(crate) fn on_reference(&self, rank: usize, reading: i64) -> i64 {
        self.job.on_reference(rank, reading)
    }

    /// How far the clock of rank 0 is ahead of that of another one at the begin.
    pub(crate) fn apart(&self, rank: usize, truth: i64) -> i64 {
        self.job.ahead(0, truth) - self.job.ahead(rank, truth)
    }
}

fn csv(file: &Path, folder: &Path, table: &str, options: &[&str]) -> Vec<BTreeMap<String, String>> {
    let to = folder.join("csv");
    let mut command = tool();
    command
        .args(["export", "--format", "csv", "--force", "-o"])
        .arg(&to);
    run(command.args(options).arg(file)).expect(0);
    let text = fs::read_to_string(to.join(table)).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    // Nothing that is made here has a comma.
    let row = |line: &str| {
        let cells = line.split(',').map(str::to_owned);
        head.iter().map(|it| (*it).to_owned()).zip(cells).collect()
    };
    lines.map(row).collect()
}

pub(super) fn record_everything(path: &Path) {
    let (session, tables) = workload::leading();
    let mut writer = Writer::create(File::create(path).unwrap(), &session, &tables).unwrap();
    let all = Workload {
        steps: 400,
        everything: true,
        ..Workload::default()
    };
    workload::run(all, |row| writer.push(row).unwrap());
}

/// Records two ranks of a program that run at the same time, of which one comes late.
pub(super) fn recorded_pair(steps: u32, late: usize) -> (TempDir, Vec<PathBuf>) {
    recorded_ranks(&[&steps.to_string(), &late.to_string()], &["", ""])
}

/// Records ranks of a program that run at the same time, each with a recorder and options of the software runtime. The words
/// come behind those for the rank.
pub(crate) fn recorded_ranks(words: &[&str], softs: &[&str]) -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("root").display().to_string();
    let start = |(rank, soft): (usize, &&str)| {
        let own = folder.path().join(format!("rank{rank}"));
        fs::create_dir(&own).unwrap();
        let rank = rank.to_string();
        let words = [&[rank.as_str(), known.as_str()], words].concat();
        let run = Run::new(&program("ranks")).words(&words).soft(soft);
        let run = run.variable("RANK", &rank);
        let mut command = run.command(&own);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        (command.spawn().unwrap(), own.join("t.atrace"))
    };
    let all: Vec<_> = softs.iter().enumerate().map(start).collect();
    let files = all.into_iter().map(|(child, file)| {
        match finish(child) {
            Ok(outcome) => outcome.expect(0),
            Err(outcome) => panic!("it does not end: {outcome}"),
        };
        file
    });
    let files = files.collect();
    (folder, files)
}

/// The rank with the largest share of a kind on the critical path.
pub(super) fn rank_of_path(file: &Path, kind: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let rows = csv(file, folder.path(), "critical.csv", &["--critical"]);
    let mut lengths: BTreeMap<u64, i64> = BTreeMap::new();
    for row in rows.iter().filter(|it| it["kind"] == kind) {
        let number = |name: &str| row[name].parse::<i64>().unwrap_or(0);
        let length = number("end_ns") - number("begin_ns");
        if let Ok(rank) = row["rank"].parse() {
            *lengths.entry(rank).or_default() += length;
        }
    }
    let longest = lengths.iter().max_by_key(|it| it.1);
    *longest.expect("there is a path").0
}

/// The identities of a recording's communicators.
pub(super) fn identities(file: &Path, folder: &Path) -> Vec<String> {
    let rows = csv(file, folder, "collectives.csv", &[]);
    let known = rows.iter().map(|row| row["communicator_identity"].clone());
    known.collect::<BTreeSet<_>>().into_iter().collect()
}

/// For how long collectives waited, by the rank that came last.
pub(super) fn waits_by_peer(file: &Path, folder: &Path) -> BTreeMap<u64, i64> {
    let rows = csv(file, folder, "stalls.csv", &[]);
    let mut waits = BTreeMap::new();
    for row in rows.iter().filter(|it| it["cause"] == "collective-peer") {
        let number = |name: &str| row[name].parse::<i64>().unwrap();
        // Processes are numbered by rank.
        let rank = row["culprit_process"].parse::<u64>().unwrap() - 1;
        *waits.entry(rank).or_default() += number("end_ns") - number("begin_ns");
    }
    waits
}

/// For each wait in a collective of two: the rank that is named as late, and the one with the part that
/// began last.
///
/// Left out where the error bars of both parts overlap.
pub(super) fn named_and_late(file: &Path, folder: &Path) -> Vec<(u64, u64)> {
    let stalls = csv(file, folder, "stalls.csv", &[]);
    let parts = csv(file, folder, "collectives.csv", &[]);
    let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<i64>().unwrap_or(0);
    let mut found = Vec::new();
    for row in stalls.iter().filter(|it| it["cause"] == "collective-peer") {
        let own = parts.iter().find(|part| {
            let around = number(part, "begin_ns") - number(part, "err_ns")..=number(part, "end_ns");
            part["process"] == row["process"] && around.contains(&number(row, "begin_ns"))
        });
        let own = own.expect("a wait is in a collective");
        let other = parts
            .iter()
            .find(|part| part["number"] == own["number"] && part["process"] != own["process"])
            .expect("the other rank has it as well");
        let error = number(own, "err_ns") + number(other, "err_ns");
        let lead = number(other, "begin_ns") - number(own, "begin_ns");
        let late = if lead > 0 { other } else { own };
        if lead.abs() > error {
            let named = number(row, "culprit_process") as u64 - 1;
            found.push((named, late["rank"].parse().unwrap()));
        }
    }
    found
}

/// The place among the steps of its process of the one that took longest.
pub(super) fn slowest_step(steps: &Value) -> usize {
    let steps = steps["steps"].as_array().unwrap();
    let number = |step: &Value, name: &str| step[name].as_i64().unwrap();
    let slowest = steps.iter().max_by_key(|it| number(it, "length_ns"));
    let slowest = slowest.expect("there are steps");
    let own = steps
        .iter()
        .filter(|it| it["process"] == slowest["process"]);
    let before = own.filter(|it| number(it, "begin_ns") < number(slowest, "begin_ns"));
    before.count()
}
