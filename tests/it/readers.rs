//! The folders of `export --format ascend` of jobs with several ranks, compared with `stats` and `steps`; and what
//! msprof-analyze finds in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Recording, Run, program, run, tool};

/// Steps of the job. The rank 1 is late in each.
const STEPS: u64 = 4;

/// Nanoseconds by which sums of rounded values may be off.
const ROUNDED: f64 = 100.0;

/// A recorded job and its export.
struct Job {
    ranks: u64,
    recording: Recording,
    folder: PathBuf,
    stats: Value,
    communication: Value,
    steps: Value,
}

fn json(words: &[&str], file: &Path) -> Value {
    let mut command = tool();
    command.args(words).arg("--json").arg(file);
    serde_json::from_str(&run(&mut command).expect(0).out()).unwrap()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} of {row}"))
}

impl Job {
    fn new(ranks: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root").display().to_string();
        let (steps, all) = (STEPS.to_string(), ranks.to_string());
        let words = ["all", &root, &steps, "1", &all];
        let run_of_job = Run::new(&program("job")).words(&words);
        let recording = run_of_job.options(&["--timing", "events"]).traced();
        assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
        let trace = recording.trace();
        let exported = recording.beside("exported");
        let mut command = tool();
        command.args(["export", "--format", "ascend", "-o"]);
        run(command.arg(&exported).arg(&trace)).expect(0);
        Self {
            ranks,
            folder: exported,
            stats: json(&["stats"], &trace),
            communication: json(&["stats", "--communication"], &trace),
            steps: json(&["steps"], &trace),
            recording,
        }
    }

    /// The file of each rank.
    fn files(&self, name: &str) -> BTreeMap<u64, String> {
        let folders = fs::read_dir(&self.folder).unwrap();
        let files = folders.map(|folder| {
            let folder = folder.unwrap().path();
            let rank = (0..self.ranks).find(|rank| {
                let info = folder.join(format!("profiler_info_{rank}.json"));
                info.exists()
            });
            let path = folder.join("ASCEND_PROFILER_OUTPUT").join(name);
            (rank.unwrap(), fs::read_to_string(path).unwrap())
        });
        files.collect()
    }

    /// The row of a collective in `stats --communication`.
    fn collective(&self, name: &str) -> &Value {
        find(&self.communication["collectives"], &[("name", name.into())])
    }

    /// The row of a step of a rank in `steps`.
    fn step(&self, rank: u64, step: &str) -> &Value {
        let name = Value::from(format!("step {step}"));
        find(
            &self.steps["steps"],
            &[("rank", rank.into()), ("name", name)],
        )
    }
}

/// The only row with these values.
#[track_caller]
fn find<'d>(rows: &'d Value, wanted: &[(&str, Value)]) -> &'d Value {
    let all = rows.as_array().unwrap_or_else(|| panic!("rows: {rows}"));
    let mut found = all
        .iter()
        .filter(|row| wanted.iter().all(|(key, value)| row[*key] == *value));
    let row = found.next().unwrap_or_else(|| panic!("{wanted:?}: {rows}"));
    assert!(found.next().is_none(), "{wanted:?} twice: {rows}");
    row
}

#[track_caller]
fn close(found: f64, expected: f64, error: f64) {
    assert!(
        (found - expected).abs() <= error,
        "{found}, expected {expected} ± {error}"
    );
}

/// The rows of a table without commas in its cells.
fn csv_rows(text: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let row = |cells: Vec<_>| {
        assert_eq!(cells.len(), head.len(), "{text}");
        head.iter().copied().zip(cells).collect()
    };
    lines.map(row).collect()
}

/// The texts without a reader.
#[track_caller]
fn check_texts(job: &Job) {
    let times = job.files("step_trace_time.csv");
    assert_eq!(times.len() as u64, job.ranks);
    for (rank, text) in &times {
        let rows = csv_rows(text);
        assert_eq!(rows.len() as u64, STEPS, "{text}");
        for row in rows {
            let step = job.step(*rank, row["Step"]);
            for (column, key) in [
                ("Computing", "compute_ns"),
                ("Communication", "communication_ns"),
                ("Communication(Not Overlapped)", "exposed_communication_ns"),
            ] {
                let found: f64 = row[column].parse().unwrap();
                close(found * 1e3, number(step, key), 1.0);
            }
        }
    }
    let mut sums = BTreeMap::<&str, f64>::new();
    for text in job.files("communication.json").values() {
        let document: Value = serde_json::from_str(text).unwrap();
        for (_, step) in document.as_object().unwrap() {
            let collectives = step["collective"].as_object().unwrap();
            let own = collectives
                .iter()
                .filter(|(name, _)| name.starts_with("hcom_allReduce__"));
            for (_, entry) in own {
                let times = &entry["Communication Time Info"];
                for key in ["Elapse Time(ms)", "Wait Time(ms)", "Transit Time(ms)"] {
                    *sums.entry(key).or_default() += number(times, key) * 1e6;
                }
            }
        }
    }
    let row = job.collective("HcclAllReduce");
    close(sums["Elapse Time(ms)"], number(row, "time_ns"), ROUNDED);
    close(sums["Wait Time(ms)"], number(row, "wait_ns"), ROUNDED);
    close(
        sums["Transit Time(ms)"],
        number(row, "transfer_ns"),
        ROUNDED,
    );
}

#[test]
fn texts_of_two_and_four_ranks_agree_with_the_reports() {
    check_texts(&Job::new(2));
    check_texts(&Job::new(4));
}

/// The command that reads such folders, and the interpreter next to it.
pub(crate) fn msprof_analyze() -> Option<(PathBuf, PathBuf)> {
    let variable = "ASCEND_TRACE_MSPROF_ANALYZE";
    let named = std::env::var_os(variable).map(PathBuf::from);
    let found = named.clone().or_else(|| {
        let path = std::env::var_os("PATH")?;
        let mut places = std::env::split_paths(&path).map(|it| it.join("msprof-analyze"));
        places.find(|it| it.exists())
    });
    let command = found.and_then(|it| it.canonicalize().ok());
    let python = command.as_ref().map(|it| it.with_file_name("python"));
    if let Some((command, python)) = command.zip(python.filter(|it| it.exists())) {
        return Some((command, python));
    }
    assert_eq!(named, None, "{variable} names no msprof-analyze");
    skip(&format!(
        "there is no msprof-analyze; {variable} can name one"
    ));
    None
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says why")]
pub(crate) fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// Everything that msprof-analyze finds.
fn read(job: &Job, (command, python): &(PathBuf, PathBuf)) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/ascend_readers.py");
    let output = job.recording.beside("read");
    fs::create_dir(&output).unwrap();
    let mut reader = Command::new(python);
    reader.arg(script).arg(command).arg(&job.folder).arg(output);
    let done = reader.output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{errors}");
    serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

/// Steps, as two modes have them.
fn check_steps(job: &Job, cluster: &Value) {
    let table = cluster["all"]["ClusterStepTraceTime"].as_array().unwrap();
    let ranks: Vec<&Value> = table.iter().filter(|it| it["type"] == "rank").collect();
    assert_eq!(ranks.len() as u64, STEPS * job.ranks);
    for row in ranks {
        let rank: u64 = row["index"].as_str().unwrap().parse().unwrap();
        let step = job.step(rank, row["step"].as_str().unwrap());
        for (column, key) in [
            ("computing", "compute_ns"),
            ("communication", "communication_ns"),
            ("communication_not_overlapped", "exposed_communication_ns"),
        ] {
            close(number(row, column) * 1e3, number(step, key), 1.0);
        }
    }
    let table = cluster["cluster_time_summary"]["ClusterTimeSummary"]
        .as_array()
        .unwrap();
    assert_eq!(table.len() as u64, STEPS * job.ranks);
    for row in table {
        let step = row["step"].as_i64().unwrap().to_string();
        let step = job.step(row["rank"].as_u64().unwrap(), &step);
        close(
            number(row, "stepTime") * 1e3,
            number(step, "length_ns"),
            1.0,
        );
        close(
            number(row, "computation") * 1e3,
            number(step, "compute_ns"),
            1.0,
        );
    }
}

/// The summary of the job compared with itself.
fn check_summaries(job: &Job, cluster: &Value) {
    let table = &cluster["cluster_time_compare_summary"]["ClusterTimeCompareSummary"];
    let table = table.as_array().unwrap();
    assert_eq!(table.len() as u64, STEPS * job.ranks);
    for row in table {
        for name in ["stepTime", "computation", "communicationWaitStageTime"] {
            let [own, base, difference] =
                ["", "Base", "Diff"].map(|end| number(row, &format!("{name}{end}")));
            assert_eq!((own, difference), (base, 0.0), "{row}");
        }
    }
}

/// Collectives, as several modes have them.
fn check_collectives(job: &Job, cluster: &Value) {
    let all = job.collective("HcclAllReduce");
    for mode in ["all", "communication_time", "communication_time_sum"] {
        let table = cluster[mode]["ClusterCommunicationTime"]
            .as_array()
            .unwrap();
        let own = table.iter().filter(|it| {
            let name = it["hccl_op_name"].as_str().unwrap();
            name.starts_with("hcom_allReduce__")
        });
        let (mut elapsed, mut wait, mut transit) = (0.0, 0.0, 0.0);
        for row in own {
            elapsed += number(row, "elapsed_time") * 1e6;
            wait += number(row, "wait_time") * 1e6;
            transit += number(row, "transit_time") * 1e6;
        }
        close(elapsed, number(all, "time_ns"), ROUNDED);
        close(wait, number(all, "wait_ns"), ROUNDED);
        close(transit, number(all, "transfer_ns"), ROUNDED);
    }
    let sums = &cluster["hccl_sum"]["HcclAllRankStats"];
    for (operation, name) in [
        ("hcom_allReduce_", "HcclAllReduce"),
        ("hcom_send_", "HcclSend"),
        ("hcom_receive_", "HcclRecv"),
    ] {
        let row = find(sums, &[("OpType", operation.into())]);
        let own = job.collective(name);
        close(number(row, "SumNs"), number(own, "time_ns"), ROUNDED);
        assert_eq!(row["Count"], own["calls"], "{row}");
    }
    let groups = &cluster["communication_group_map"]["CommunicationGroupMapping"];
    let row = find(groups, &[("type", "collective".into())]);
    let ranks: Vec<String> = (0..job.ranks).map(|it| it.to_string()).collect();
    assert_eq!(row["rank_set"], format!("({})", ranks.join(",")));
    let slowest = cluster["communication_bottleneck"]["CommunicationBottleneck"]
        .as_array()
        .unwrap();
    let late = slowest.iter().filter(|it| {
        let name = it["communicationOp"].as_str().unwrap();
        name.starts_with("hcom_allReduce__") && it["slowRankId"] == 1.0
    });
    let last = all["last_rank"] == 1 && all["last_count"] == STEPS;
    assert!(!last || late.count() as u64 == STEPS, "{slowest:?}");
}

/// Kernels and calls.
fn check_operators(job: &Job, cluster: &Value) {
    let operators = &cluster["compute_op_sum"]["ComputeOpAllRankStats"];
    let row = find(operators, &[("OpType", "Relu".into())]);
    let own = find(&job.stats["operations"], &[("name", "aclnnRelu".into())]);
    assert_eq!(row["Count"], own["count"]);
    assert_eq!(number(row, "SumNs"), number(&own["time"], "total_ns"));
    let shapes = cluster["compute_op_sum"]["ComputeOpPerRankStatsByOpName"]
        .as_array()
        .unwrap();
    assert!(shapes.iter().all(|it| it["InputShapes"] == "262144"));
    let calls = &cluster["cann_api_sum"]["CannApiSum"];
    for api in job.stats["apis"].as_array().unwrap() {
        let row = find(calls, &[("name", api["name"].clone())]);
        assert_eq!(row["totalCount"], api["count"], "{row}");
        assert_eq!(
            number(row, "totalTimeNs"),
            number(&api["time"], "total_ns"),
            "{row}"
        );
    }
    assert!(
        !cluster["free_analysis"]["FreeAnalysis"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let devices = &cluster["all"]["RankDeviceMap"];
    assert_eq!(devices.as_array().unwrap().len() as u64, job.ranks);
}

/// The comparison of the ranks 0 and 1: milliseconds of the row with this name.
fn compared(sheets: &Value, name: &str) -> [f64; 2] {
    let rows = sheets["OverallMetrics"].as_array().unwrap();
    let mut own = rows
        .iter()
        .filter(|it| it[0].as_str().is_some_and(|it| it.trim() == name));
    let row = own.next().unwrap_or_else(|| panic!("{name}: {rows:?}"));
    // The second rank is the base.
    [4, 1].map(|column| row[column].as_str().unwrap().parse().unwrap())
}

fn check_comparison(job: &Job, sheets: &Value) {
    let computing = compared(sheets, "Computing Time");
    let exposed = compared(sheets, "Uncovered Communication Time");
    let waits = compared(sheets, "Wait");
    for rank in [0, 1] {
        let own = job.steps["steps"].as_array().unwrap().iter();
        let own: Vec<&Value> = own.filter(|it| it["rank"] == rank as u64).collect();
        let sum = |key: &str| own.iter().map(|it| number(it, key)).sum::<f64>();
        // The reports have estimates, which may be off by their errors.
        let error = sum("error_ns") + ROUNDED;
        close(computing[rank] * 1e6, sum("compute_ns"), error);
        close(exposed[rank] * 1e6, sum("exposed_communication_ns"), error);
        let row = find(
            &job.communication["ranks"],
            &[("rank", (rank as u64).into())],
        );
        // Some of the wait may be hidden by computing.
        assert!(
            waits[rank] * 1e6 <= number(row, "wait_ns") + ROUNDED,
            "{row}"
        );
        let hidden = sum("compute_ns") + error;
        assert!(
            waits[rank] * 1e6 >= number(row, "wait_ns") - hidden,
            "{row}"
        );
    }
}

/// The advisor's sentence about the slowest rank.
fn check_advice(job: &Job, text: &str) {
    let steps = job.steps["steps"].as_array().unwrap().iter();
    let exposed = steps.map(|it| number(it, "exposed_communication_ns"));
    let exposed: Vec<f64> = exposed.collect();
    let most = exposed.iter().copied().fold(f64::MIN, f64::max);
    let least = exposed.iter().copied().fold(f64::MAX, f64::min);
    let words: String = text
        .lines()
        .flat_map(|line| line.split('|').nth(3).into_iter().chain([" "]))
        .collect();
    let words: Vec<&str> = words.split_whitespace().collect();
    let sentence = ["Communication", "time", "has", "reached"];
    let place = words.windows(4).position(|it| it == sentence);
    let said = place.and_then(|at| words.get(at + 4)?.strip_suffix("ms."));
    let said: f64 = said.unwrap_or_else(|| panic!("{text}")).parse().unwrap();
    close(said, (most - least) / 1e6, 0.001);
}

#[test]
fn msprof_analyze_finds_the_numbers_of_the_reports_for_two_and_four_ranks() {
    let Some(reader) = msprof_analyze() else {
        return;
    };
    for ranks in [2, 4] {
        let job = Job::new(ranks);
        let found = read(&job, &reader);
        check_steps(&job, &found["cluster"]);
        check_summaries(&job, &found["cluster"]);
        check_collectives(&job, &found["cluster"]);
        check_operators(&job, &found["cluster"]);
        check_comparison(&job, &found["compare"]);
        check_comparison(&job, &found["compare_texts"]);
        check_advice(&job, found["advisor"].as_str().unwrap());
    }
}
