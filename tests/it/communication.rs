//! `stats --communication` of programs with several ranks, judged by the log of the software runtime.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::merge::jobs::recorded_ranks;
use crate::support::files::files_below;
use crate::support::{Recording, Run, Tables, program, run, tool};

/// Bytes of a collective and of a message of the program.
const BYTES: f64 = 4096.0;

fn json(words: &[&str], file: &Path) -> Value {
    let mut command = tool();
    command.args(words).arg("--json").arg(file);
    serde_json::from_str(&run(&mut command).expect(0).out()).unwrap()
}

fn number(row: &Value, key: &str) -> i64 {
    row[key]
        .as_i64()
        .unwrap_or_else(|| panic!("{key} of {row}"))
}

fn row<'d>(document: &'d Value, name: &str) -> &'d Value {
    let rows = document["collectives"].as_array().unwrap().iter();
    let mut own = rows.filter(|it| it["name"] == name);
    own.next().unwrap_or_else(|| panic!("{name} in {document}"))
}

/// The begin and the end of each rank in one collective.
type TrueRound = BTreeMap<u64, (i64, i64)>;

/// The collectives of a function in truth, from the logs of all ranks.
fn truth(logs: &[PathBuf], ranks: &BTreeMap<i64, u64>, name: &str) -> Vec<TrueRound> {
    let mut rounds: Vec<TrueRound> = Vec::new();
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for log in logs {
        let text = fs::read_to_string(log).unwrap();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["name"] != name || line["kind"] == "call" {
                continue;
            }
            let rank = ranks[&number(&line, "pid")];
            let count = counts.entry(rank).or_default();
            rounds.resize_with(rounds.len().max(*count + 1), TrueRound::new);
            let times = (number(&line, "begin_ns"), number(&line, "end_ns"));
            rounds[*count].insert(rank, times);
            *count += 1;
        }
    }
    rounds
}

/// The ranks of the processes of a recording.
fn ranks(file: &Path) -> BTreeMap<i64, u64> {
    let info = json(&["info"], file);
    let processes = info["processes"].as_array().unwrap().iter();
    let ranks = processes.filter_map(|it| Some((number(it, "pid"), it["rank"].as_u64()?)));
    ranks.collect()
}

fn last(round: &TrueRound) -> (u64, i64) {
    let last = round.iter().max_by_key(|it| it.1.0).unwrap();
    (*last.0, last.1.0)
}

/// How long the others waited for a rank.
fn waited(round: &TrueRound) -> i64 {
    let (_, begin) = last(round);
    round.values().map(|it| begin - it.0).sum()
}

/// Waits, transfers, bandwidth and the last ranks agree with the log.
#[track_caller]
fn judge(row: &Value, truth: &[TrueRound], ranks: u64) {
    judge_with_bytes(row, truth, (ranks, BYTES));
}

/// The same of collectives with this number of bytes.
#[track_caller]
fn judge_with_bytes(row: &Value, truth: &[TrueRound], (ranks, bytes): (u64, f64)) {
    assert!(truth.iter().all(|it| it.len() as u64 == ranks));
    assert_eq!(number(row, "calls") as usize, truth.len() * ranks as usize);
    assert_eq!(number(row, "split"), number(row, "calls"), "{row}");
    let moved = judge_times(row, truth);
    if row["bandwidth_is_least"] == false {
        let rate = bytes * number(row, "calls") as f64 * 1e9 / moved as f64;
        let found = number(row, "algorithm_bandwidth") as f64;
        let error = number(row, "algorithm_bandwidth_error") as f64;
        assert!(
            (found - rate).abs() <= error + 1.0,
            "in truth {rate}: {row}"
        );
    }
    judge_last(row, truth);
}

/// Waits and transfers agree with the log. Returns the transfer.
#[track_caller]
fn judge_times(row: &Value, truth: &[TrueRound]) -> i64 {
    let wait: i64 = truth.iter().map(waited).sum();
    let whole: i64 = truth
        .iter()
        .flat_map(BTreeMap::values)
        .map(|(begin, end)| end - begin)
        .sum();
    for (key, expected) in [("time", whole), ("wait", wait), ("transfer", whole - wait)] {
        let found = number(row, &format!("{key}_ns"));
        let error = number(row, &format!("{key}_error_ns"));
        assert!(
            (found - expected).abs() <= error,
            "{key}: {found} ± {error}, in truth {expected}: {row}"
        );
    }
    whole - wait
}

fn judge_last(row: &Value, truth: &[TrueRound]) {
    let mut lasts: BTreeMap<u64, (usize, i64)> = BTreeMap::new();
    for round in truth {
        let count = lasts.entry(last(round).0).or_default();
        count.0 += 1;
        count.1 += waited(round);
    }
    let (rank, (count, _)) = lasts.iter().max_by_key(|it| it.1.1).unwrap();
    // The busy machine of a test may hold up any rank: the log says which one was late.
    if *count * 20 >= truth.len() * 19 {
        assert_eq!(number(row, "last_rank") as u64, *rank, "{lasts:?}: {row}");
        assert_eq!(row["late_rank"], *rank, "{lasts:?}: {row}");
    }
    if let Some(late) = row["late_rank"].as_u64() {
        assert_eq!(late, *rank, "{lasts:?}: {row}");
        assert!(*count * truth[0].len() > truth.len(), "{lasts:?}: {row}");
    }
    let most = lasts.values().map(|it| it.0).max().unwrap();
    assert!(number(row, "with_last") <= truth.len() as i64);
    assert!(row["last_count"].as_u64().unwrap_or(0) as usize <= most);
}

/// One recording of all ranks.
fn recorded(ranks: &str, late: &str) -> (crate::support::Recording, Value) {
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("root").display().to_string();
    let words = ["all", &known, "30", late, ranks];
    let run = Run::new(&program("ranks")).words(&words);
    let recording = run.options(&["--timing", "events"]).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let document = json(&["stats", "--communication"], &recording.trace());
    (recording, document)
}

fn judge_recorded(size: u64, late: &str) -> Value {
    let (recording, document) = recorded(&size.to_string(), late);
    let group = &document["groups"][0];
    assert_eq!(group["ranks"], size, "{document}");
    assert_eq!(group["unknown"], Value::Null, "{document}");
    let truth = truth(
        &[recording.truth()],
        &ranks(&recording.trace()),
        "HcclAllReduce",
    );
    let row = row(&document, "HcclAllReduce");
    judge(row, &truth, size);
    row.clone()
}

#[test]
fn of_two_ranks_the_late_one_is_the_one_that_the_log_has() {
    let row = judge_recorded(2, "1");
    // An all-reduce of two ranks moves its size over each link.
    let (algorithm, bus) = (
        number(&row, "algorithm_bandwidth"),
        number(&row, "bus_bandwidth"),
    );
    assert!((algorithm - bus).abs() <= 1, "{row}");
}

#[test]
fn of_four_ranks_the_late_one_is_the_one_that_the_log_has() {
    let row = judge_recorded(4, "2");
    let (algorithm, bus) = (
        number(&row, "algorithm_bandwidth") as f64,
        number(&row, "bus_bandwidth") as f64,
    );
    assert!((bus / algorithm - 1.5).abs() < 0.01, "{row}");
}

#[test]
fn even_ranks_have_no_late_one_that_the_log_does_not_have() {
    judge_recorded(2, "-1");
    judge_recorded(4, "-1");
}

/// The elements of all shares, of ranks with 64, 128, 192 elements and so on.
fn elements_of_shares(ranks: u64) -> u64 {
    (1..=ranks).map(|it| 64 * it).sum()
}

#[test]
fn collectives_of_shares_that_differ_have_sizes_and_waits() {
    for (size, late) in [(2, "1"), (4, "2")] {
        let folder = tempfile::tempdir().unwrap();
        let known = folder.path().join("root").display().to_string();
        let ranks_word = size.to_string();
        let words = ["all", &known, "20", late, &ranks_word, "shares"];
        let run = Run::new(&program("ranks")).words(&words);
        let recording = run.options(&["--timing", "events"]).traced();
        assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
        let document = json(&["stats", "--communication"], &recording.trace());
        let bytes = 4 * elements_of_shares(size);
        for name in ["HcclAllGatherV", "HcclReduceScatterV"] {
            let row = row(&document, name);
            let truth = truth(&[recording.truth()], &ranks(&recording.trace()), name);
            judge_with_bytes(row, &truth, (size, bytes as f64));
            assert_eq!(number(row, "bytes") as u64, bytes * 20 * size, "{row}");
            assert_eq!(number(row, "without_size"), 0, "{row}");
        }
        // Counts in arrays are not recorded, so neither the size nor the ranks that take part are known.
        let exchange = row(&document, "HcclAlltoAllV");
        assert_eq!(number(exchange, "calls") as u64, 20 * size, "{exchange}");
        assert_eq!(
            (number(exchange, "split"), &exchange["bytes"]),
            (0, &Value::Null),
            "{exchange}"
        );
    }
}

#[test]
fn slow_links_come_first() {
    let fast = "hccl_mbps=1000";
    let slow = "hccl_mbps=20";
    let words = ["30", "-1", "4", "pairs"];
    let (folder, files) = recorded_ranks(&words, &[fast, fast, slow, slow]);
    let merged = folder.path().join("merged.atrace");
    let mut command = tool();
    command.arg("merge").args(&files).arg("-o").arg(&merged);
    run(&mut command).expect(0);
    let document = json(&["stats", "--communication"], &merged);
    let logs: Vec<PathBuf> = files
        .iter()
        .map(|it| it.with_file_name("truth.jsonl"))
        .collect();
    let reduced = truth(&logs, &ranks(&merged), "HcclAllReduce");
    judge(row(&document, "HcclAllReduce"), &reduced, 4);
    let links = document["links"].as_array().unwrap();
    let ends = |it: &Value| (number(it, "from_rank"), number(it, "to_rank"));
    let mut slowest: Vec<_> = links[..2].iter().map(ends).collect();
    slowest.sort_unstable();
    assert_eq!(slowest, [(2, 3), (3, 2)], "{document}");
    assert_eq!(links.len(), 4);
    for (place, link) in links.iter().enumerate() {
        // Short messages may have taken no time, within the errors: then nothing is said of them.
        let of_usual = link["of_usual"].as_f64().unwrap_or(1.0);
        assert_eq!(of_usual < 0.5, place < 2, "{link}");
        assert_eq!(number(link, "bytes"), 60 * BYTES as i64);
    }
}

#[test]
fn one_rank_says_what_cannot_be_known() {
    let (_folder, files) = recorded_ranks(&["10", "-1"], &["", ""]);
    let document = json(&["stats", "--communication"], &files[1]);
    let group = &document["groups"][0];
    assert_eq!(group["unknown"], "not all ranks are in the recording");
    let row = row(&document, "HcclAllReduce");
    assert_eq!(row["bandwidth_is_least"], true);
    assert_eq!(
        (&row["wait_ns"], &row["late_rank"]),
        (&Value::Null, &Value::Null)
    );
    let mut command = tool();
    command.args(["stats", "--communication"]).arg(&files[1]);
    let text = run(&mut command).expect(0).out();
    assert!(
        text.contains("not all ranks are in the recording"),
        "{text}"
    );
    assert!(text.contains("≥ "), "{text}");
}

#[test]
fn a_program_without_collectives_has_no_tables() {
    let recording = Run::new(&program("default_stream")).traced();
    let mut command = tool();
    command
        .args(["stats", "--communication"])
        .arg(recording.trace());
    assert_eq!(run(&mut command).expect(0).out(), "no collective ran\n");
}

/// The messages of a group have no times by themselves: the end of the group is a task with the time of them all.
#[test]
fn the_end_of_a_group_has_the_time_of_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("root").display().to_string();
    let words = ["all", &known, "10", "1", "2", "grouped"];
    let run = Run::new(&program("ranks")).words(&words);
    let recording = run.options(&["--timing", "events"]).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let tables = Tables::of(&recording);
    let reasons = tables.tasks.iter().map(|task| {
        let untimed = task.text("untimed").to_owned();
        (task.text("name").to_owned(), untimed)
    });
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let of = |name: &str, reason: &str| counts.get(&(name.to_owned(), reason.to_owned())).copied();
    assert_eq!(of("HcclSend", "in-group"), Some(20), "{counts:?}");
    assert_eq!(of("HcclRecv", "in-group"), Some(20), "{counts:?}");
    for name in ["HcclGroupEnd", "HcclAllReduce", "aclrtMemsetAsync"] {
        assert_eq!(of(name, ""), Some(20), "{counts:?}");
    }
    let document = json(&["stats", "--communication"], &recording.trace());
    let truth = truth(
        &[recording.truth()],
        &ranks(&recording.trace()),
        "HcclBatchSendRecv",
    );
    let row = row(&document, "HcclGroupEnd");
    assert_eq!(
        (number(row, "calls"), number(row, "split")),
        (20, 20),
        "{row}"
    );
    assert_eq!(number(row, "bytes"), 20 * 2 * BYTES as i64, "{row}");
    judge_times(row, &truth);
    let links = document["links"].as_array().unwrap();
    assert_eq!(links.len(), 2, "{document}");
    for link in links {
        // Each message is counted at both ends.
        assert_eq!(number(link, "bytes"), 20 * BYTES as i64, "{link}");
        // The end of a group may wait for its other message.
        let (transfer, error) = (
            number(link, "transfer_ns"),
            number(link, "transfer_error_ns"),
        );
        assert!(error >= transfer, "{link}");
    }
    judge_exported(row, &recording);
}

/// The files for readers of Ascend's profiles have the ends of groups, with the times and waits of the report.
fn judge_exported(row: &Value, recording: &Recording) {
    let folder = recording.beside("exported");
    let mut export = tool();
    export.args(["export", "--format", "ascend", "-o"]);
    run(export.arg(&folder).arg(recording.trace())).expect(0);
    let files = files_below(&folder).into_iter();
    let documents = files.filter(|(name, _)| name.ends_with("/communication.json"));
    let (mut calls, mut time, mut wait) = (0, 0.0, 0.0);
    for (_, bytes) in documents {
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let steps = document.as_object().unwrap().values();
        let all = steps.filter_map(|step| step["collective"].as_object());
        let own = all
            .flatten()
            .filter(|(name, _)| name.starts_with("hcom_groupEnd__"));
        for (_, entry) in own {
            let of = |key: &str| entry["Communication Time Info"][key].as_f64().unwrap() * 1e6;
            calls += 1;
            time += of("Elapse Time(ms)");
            wait += of("Wait Time(ms)");
        }
    }
    assert_eq!(calls, number(row, "calls"));
    // Sums of rounded values.
    for (found, key) in [(time, "time_ns"), (wait, "wait_ns")] {
        let expected = number(row, key) as f64;
        assert!((found - expected).abs() < 100.0, "{key}: {found}: {row}");
    }
}

/// The ranks that each message of a call goes from and to.
type Messages = Vec<(i64, i64)>;

/// The messages of the calls of a rank in `pipeline_ranks.c`.
fn schedule(rank: i64, ranks: i64, micro_batches: i64) -> Vec<Messages> {
    let mut calls = Vec::new();
    let mut pass = |sends: i64, receives: i64| {
        let sent = (sends != 0).then_some((rank, rank + sends));
        let received = (receives != 0).then_some((rank - receives, rank));
        let is_inside = |it: &(i64, i64)| (0..ranks).contains(&it.0) && (0..ranks).contains(&it.1);
        let messages = sent.into_iter().chain(received).filter(is_inside);
        let messages: Messages = messages.collect();
        if !messages.is_empty() {
            calls.push(messages);
        }
    };
    let ahead = (ranks - 1 - rank).min(micro_batches);
    let rest = micro_batches - ahead;
    for _ in 0..ahead {
        pass(0, 1);
        pass(1, 0);
    }
    if rest > 0 {
        pass(0, 1);
    }
    for turn in 0..rest {
        pass(1, -1);
        pass(-1, i64::from(turn + 1 < rest));
    }
    for _ in 0..ahead {
        pass(0, -1);
        pass(-1, 0);
    }
    calls
}

/// How long each rank waited for the others in truth.
fn true_waits(truth: &[TrueRound], ranks: i64, micro_batches: i64) -> Vec<i64> {
    let begins = |rank: i64| {
        let own = truth
            .iter()
            .filter_map(move |it| it.get(&rank.cast_unsigned()));
        own.map(|it| it.0)
    };
    let calls = (0..ranks).map(|rank| schedule(rank, ranks, micro_batches));
    let calls: Vec<Vec<(Messages, i64)>> = (0..ranks)
        .zip(calls)
        .map(|(rank, calls)| {
            assert_eq!(calls.len(), begins(rank).count(), "calls of rank {rank}");
            calls.into_iter().zip(begins(rank)).collect()
        })
        .collect();
    // The begins of both ends of each message.
    let mut ends: BTreeMap<(i64, i64), BTreeMap<i64, Vec<i64>>> = BTreeMap::new();
    for (rank, calls) in (0..).zip(&calls) {
        for (messages, begin) in calls {
            for message in messages {
                let link = ends.entry(*message).or_default();
                link.entry(rank).or_default().push(*begin);
            }
        }
    }
    let mut numbers: BTreeMap<(i64, (i64, i64)), usize> = BTreeMap::new();
    let waits = (0..).zip(&calls).map(|(rank, calls)| {
        let waits = calls.iter().map(|(messages, begin)| {
            let others = messages.iter().map(|message| {
                let number = numbers.entry((rank, *message)).or_default();
                let other = message.0 + message.1 - rank;
                let begin = ends[message][&other][*number];
                *number += 1;
                begin
            });
            others.max().map_or(0, |last| (last - begin).max(0))
        });
        waits.sum()
    });
    waits.collect()
}

#[test]
fn stages_of_a_pipeline_wait_as_the_log_has_it() {
    const RANKS: i64 = 3;
    const MICRO_BATCHES: i64 = 8;
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("root").display().to_string();
    let words = ["all", &known, "8", "1", "3"];
    let run = Run::new(&program("pipeline_ranks"))
        .words(&words)
        .soft("memset_ns=0,memset_mbps=1000");
    let recording = run.options(&["--timing", "events"]).traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let document = json(&["stats", "--communication"], &recording.trace());
    let stages = document["stages"].as_array().unwrap();
    let numbers = stages
        .iter()
        .map(|it| (number(it, "stage"), number(it, "rank")));
    assert_eq!(
        numbers.collect::<Vec<_>>(),
        [(0, 0), (1, 1), (2, 2)],
        "{document}"
    );
    let truth = truth(
        &[recording.truth()],
        &ranks(&recording.trace()),
        "HcclBatchSendRecv",
    );
    for (stage, expected) in stages.iter().zip(true_waits(&truth, RANKS, MICRO_BATCHES)) {
        assert_eq!(number(stage, "split"), number(stage, "calls"), "{stage}");
        let found = number(stage, "waiting_ns");
        let error = number(stage, "waiting_error_ns");
        assert!(
            (found - expected).abs() <= error,
            "{found} ± {error}, in truth {expected}: {stage}"
        );
    }
    // A message has a kilobyte of floats, and each is counted at both ends.
    let messages = 2 * (RANKS - 1) * MICRO_BATCHES;
    let bytes = number(row(&document, "HcclBatchSendRecv"), "bytes");
    assert_eq!(bytes, 2 * messages * 4096, "{document}");
    let calls = Tables::of(&recording).calls;
    let mut own = calls
        .iter()
        .filter(|it| it.text("name") == "HcclBatchSendRecv");
    let has_message = |text: &str| {
        let words = ["send", "receive"].map(|verb| format!("{verb} 1024 HCCL_DATA_TYPE_FP32 "));
        words.iter().any(|it| text.contains(it))
    };
    assert!(own.all(|it| has_message(it.text("args"))));
}
