//! Folders as torch_npu's profiler writes them: by the rules of their readers, and against the recording.

use std::collections::BTreeMap;
use std::process::Command;

use ascend_trace_analysis::steps::{Report, StepDefinition as WantedSteps};
use ascend_trace_export::{Ascend, Exporter, OutputLayout, WantedPart, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;
use serde_json::Value;

use super::memory::{MemorySink, export, export_some};
use super::stream::file;
use super::tools::skip;

/// Two steps of a rank, with computing, a collective that is partly hidden, a copy, and a receive.
const STEPS: &str = "
    s1: MatMul[10us..30us] by t1[5us..6us] Add[40us..50us] by t1[7us..8us] MatMul[110us..150us] by t1[105us..106us]
    s2: HcclAllReduce(1,64)[25us..45us] by t1[9us..10us] HcclRecv(1,64,4,0)[160us..170us] by t1[107us..108us]
    s3: memcpy(4096)[60us..70us] by t1[20us..21us]";

fn recording() -> Vec<u8> {
    let timeline = Timeline::of(STEPS);
    let timeline = timeline.with_ranges(&[(0, 4, 100, "step 0"), (0, 104, 200, "step 1")]);
    file(&timeline.session, &timeline.tables, timeline.rows)
}

/// The export, as the command makes it: with the steps of the recording.
fn exported(file: &[u8], step: WindowSize) -> MemorySink {
    let mut recording = Recording::from_bytes(file.to_vec()).expect("a recording");
    let report = Report::of_recording(&mut recording, WindowSize::default(), WantedSteps::Any)
        .expect("steps");
    let wanted = WantedPart {
        steps: Some(report.steps.into()),
        ..WantedPart::default()
    };
    export_some(&Ascend::PLAIN, file, step, &wanted)
}

/// The files of the only folder, by the name in it.
fn files(memory: &MemorySink) -> BTreeMap<String, String> {
    let names = memory.names().into_iter();
    let files = names.map(|name| {
        let (folder, file) = name.split_once('/').expect("a folder");
        assert!(folder.ends_with("_ascend_pt"), "{folder}");
        // Readers order the folders of a rank by this part.
        let time = folder.rsplit('_').nth(2).expect("a time");
        assert!(
            time.len() == 17 && time.bytes().all(|it| it.is_ascii_digit()),
            "{folder}"
        );
        (file.to_owned(), memory.text(name).to_owned())
    });
    files.collect()
}

fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize();
    rows.map(|row| row.expect("a row")).collect()
}

/// Microseconds without decimals: the clocks of timelines run a little fast.
fn whole(cell: &str) -> f64 {
    cell.parse::<f64>().expect("a number").round()
}

#[test]
fn a_rank_has_the_files_that_readers_look_for() {
    let files = files(&exported(&recording(), WindowSize::default()));
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "ASCEND_PROFILER_OUTPUT/api_statistic.csv",
            "ASCEND_PROFILER_OUTPUT/communication.json",
            "ASCEND_PROFILER_OUTPUT/communication_matrix.json",
            "ASCEND_PROFILER_OUTPUT/kernel_details.csv",
            "ASCEND_PROFILER_OUTPUT/memory_record.csv",
            "ASCEND_PROFILER_OUTPUT/op_statistic.csv",
            "ASCEND_PROFILER_OUTPUT/operator_memory.csv",
            "ASCEND_PROFILER_OUTPUT/step_trace_time.csv",
            "ASCEND_PROFILER_OUTPUT/trace_view.json",
            "profiler_info_0.json",
            "profiler_metadata.json",
        ]
    );
    let info: Value = serde_json::from_str(&files["profiler_info_0.json"]).unwrap();
    assert_eq!(info["rank_id"], 0);
    assert_eq!(
        Ascend::PLAIN.layout(),
        OutputLayout::Folders {
            ending: "_ascend_pt"
        }
    );
}

#[test]
fn steps_have_their_times_in_microseconds() {
    let files = files(&exported(&recording(), WindowSize::default()));
    let steps = rows(&files["ASCEND_PROFILER_OUTPUT/step_trace_time.csv"]);
    assert_eq!(steps.len(), 2);
    let cell = |step: usize, name: &str| whole(&steps[step][name]);
    assert_eq!(steps[0]["Step"], "0");
    assert_eq!(cell(0, "Computing"), 30.0);
    assert_eq!(cell(0, "Communication"), 20.0);
    assert_eq!(cell(0, "Communication(Not Overlapped)"), 10.0);
    assert_eq!(cell(0, "Overlapped"), 10.0);
    assert_eq!(cell(0, "Free"), 56.0);
    assert_eq!(cell(0, "Bubble"), 0.0);
    assert_eq!(cell(0, "Preparing"), 6.0);
    assert_eq!(cell(1, "Bubble"), 10.0);
    assert_eq!(cell(1, "Stage"), 86.0);
    assert_eq!(
        cell(1, "Communication(Not Overlapped and Exclude Receive)"),
        0.0
    );
}

#[test]
fn kernels_have_their_step_and_the_wait_before_them() {
    let files = files(&exported(&recording(), WindowSize::default()));
    let kernels = rows(&files["ASCEND_PROFILER_OUTPUT/kernel_details.csv"]);
    let rows: Vec<(&str, &str, f64, f64, &str)> = kernels
        .iter()
        .map(|it| {
            let text = |name: &str| it[name].as_str();
            let (length, wait) = (whole(text("Duration(us)")), whole(text("Wait Time(us)")));
            (
                text("Step Id"),
                text("Name"),
                length,
                wait,
                text("Accelerator Core"),
            )
        })
        .collect();
    // No copies, and nothing that a recording does not know.
    assert_eq!(
        rows,
        [
            ("0", "MatMul", 20.0, 0.0, "N/A"),
            ("0", "Add", 10.0, 10.0, "N/A"),
            ("1", "MatMul", 40.0, 60.0, "N/A"),
            ("0", "HcclAllReduce", 20.0, 0.0, "COMMUNICATION"),
            ("1", "HcclRecv", 10.0, 115.0, "COMMUNICATION"),
        ]
    );
    assert!(kernels.iter().all(|it| it["Block Dim"] == "N/A"));
}

#[test]
fn collectives_are_listed_by_step_and_communicator() {
    let files = files(&exported(&recording(), WindowSize::default()));
    let text = &files["ASCEND_PROFILER_OUTPUT/communication.json"];
    let document: Value = serde_json::from_str(text).unwrap();
    let elapsed = |step: &str, kind: &str, name: &str| {
        let (_, entry) = named(&document[step][kind], name);
        let time = &entry["Communication Time Info"];
        let elapsed = time["Elapse Time(ms)"].as_f64();
        elapsed.map(|it| (it * 1e3).round())
    };
    let reduced = elapsed("step0", "collective", "hcom_allReduce__");
    assert_eq!(reduced, Some(20.0), "{document}");
    let received = elapsed("step1", "p2p", "hcom_receive__");
    assert_eq!(received, Some(10.0), "{document}");
    let total = elapsed("step0", "collective", "Total Op Info");
    assert_eq!(total, Some(20.0), "{document}");
    // Of a communicator that no call made, no wait is known, and no link.
    let (_, entry) = named(&document["step0"]["collective"], "hcom_allReduce__");
    let times = entry["Communication Time Info"].as_object().unwrap();
    assert!(!times.contains_key("Wait Time(ms)"), "{entry}");
    assert_eq!(entry["Communication Bandwidth Info"], serde_json::json!({}));
}

/// The entry with a name that begins like this.
fn named<'d>(entries: &'d Value, begin: &str) -> (&'d str, &'d Value) {
    let entries = entries.as_object().expect("an object");
    let mut found = entries.iter().filter(|(name, _)| name.starts_with(begin));
    let (name, entry) = found
        .next()
        .unwrap_or_else(|| panic!("{begin}: {entries:?}"));
    (name, entry)
}

/// Two ranks that make a communicator, gather a million floats, and send as many: when each begins, and when both end.
fn job() -> String {
    let ranks = [(20, 300), (50, 310)].into_iter().enumerate();
    let lines = ranks.map(|(rank, (begin, message))| {
        let (p, call) = (rank + 1, begin - 5);
        let (function, peer) = [("HcclSend", 1), ("HcclRecv", 0)][rank];
        format!(
            "p{p}.t1: HcclCommInitRootInfo(2,{rank},7)[0..10us]
            p{p}.s1@{rank}: HcclAllGather(7,1000000,4)[{begin}us..250us] by t1[{call}us..{}us] {function}(7,1000000,4,{peer})[{message}us..410us] by t1[280us..281us]
            p{p}.s2@{rank}: MatMul[30us..60us] by t1[12us..13us]",
            call + 1
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The folders of the job, by rank: their files by name.
fn job_files() -> Vec<BTreeMap<String, String>> {
    let trace = super::kineto::ranked(&job(), &["0", "1"]);
    let memory = export(&Ascend::PLAIN, &trace);
    let mut folders: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for name in memory.names() {
        let (folder, file) = name.split_once('/').expect("a folder");
        let files = folders.entry(folder.to_owned()).or_default();
        files.insert(file.to_owned(), memory.text(name).to_owned());
    }
    let mut folders: Vec<_> = folders.into_values().collect();
    folders.sort_by_key(|files| files.contains_key("profiler_info_1.json"));
    folders
}

#[test]
fn ranks_of_one_recording_have_waits_and_bandwidth() {
    let folders = job_files();
    assert_eq!(folders.len(), 2);
    let documents = folders.iter().map(|files| {
        let text = &files["ASCEND_PROFILER_OUTPUT/communication.json"];
        serde_json::from_str::<Value>(text).unwrap()
    });
    let documents: Vec<Value> = documents.collect();
    let [first, second] = [0, 1].map(|it| named(&documents[it]["step"]["collective"], "hcom_"));
    assert_eq!(
        first.0, second.0,
        "all ranks have one name for a collective"
    );
    let number = |entry: &Value, part: &str, key: &str| {
        let value = entry[part][key].as_f64();
        value.unwrap_or_else(|| panic!("{key}: {entry}"))
    };
    let wait = |entry: &Value| number(entry, "Communication Time Info", "Wait Time(ms)");
    assert!((wait(first.1) - 0.030).abs() < 1e-4, "{}", first.1);
    assert_eq!(wait(second.1), 0.0);
    for (_, entry) in [first, second] {
        let part = "Communication Time Info";
        let [all, wait, transit] = ["Elapse Time(ms)", "Wait Time(ms)", "Transit Time(ms)"]
            .map(|key| number(entry, part, key));
        assert!((all - wait - transit).abs() < 1e-9, "{entry}");
        // 8 MB in 200 microseconds: of two ranks, each moves half of it over its links.
        let link = &entry["Communication Bandwidth Info"]["SDMA"];
        assert_eq!(link["Transit Size(MB)"], 4.0, "{entry}");
        let bandwidth = link["Bandwidth(GB/s)"].as_f64().expect("a number");
        assert!((bandwidth - 20.0).abs() < 0.1, "{entry}");
        assert!(entry["ascend_trace"]["wait_error_ns"].is_i64(), "{entry}");
    }
    let matrix = &folders[0]["ASCEND_PROFILER_OUTPUT/communication_matrix.json"];
    let matrix: Value = serde_json::from_str(matrix).unwrap();
    let (name, links) = named(&matrix["step"]["p2p"], "hcom_send-total@");
    let metadata: Value = serde_json::from_str(&folders[0]["profiler_metadata.json"]).unwrap();
    let groups = metadata["parallel_group_info"].as_object().unwrap();
    assert_eq!(groups.len(), 1);
    let group = groups.values().next().unwrap();
    assert_eq!(group["global_ranks"], serde_json::json!([0, 1]));
    assert_eq!(group["group_rank"], 0);
    let link = &links["0-1"];
    assert!(
        link["Bandwidth(GB/s)"].as_f64().is_some_and(|it| it > 0.0),
        "{name}: {links}"
    );
}

#[test]
fn the_timeline_shows_when_a_rank_computed_and_communicated() {
    let folders = job_files();
    let text = &folders[1]["ASCEND_PROFILER_OUTPUT/trace_view.json"];
    let events: Value = serde_json::from_str(text).unwrap();
    let events = events.as_array().unwrap();
    let process = |name: &str| {
        let mut named = events
            .iter()
            .filter(|it| it["name"] == "process_name" && it["args"]["name"] == name);
        named.next().unwrap_or_else(|| panic!("no process {name}"))["pid"].clone()
    };
    let total = |process: &Value, name: &str| -> i64 {
        let slices = events.iter().filter(|it| {
            it["ph"] == "X"
                && it["pid"] == *process
                && it["name"].as_str().unwrap().starts_with(name)
        });
        let total: f64 = slices.map(|it| it["dur"].as_f64().unwrap()).sum();
        total.round() as i64
    };
    let overlap = process("Overlap Analysis");
    assert_eq!(total(&overlap, "Computing"), 30);
    assert_eq!(total(&overlap, "Communication(Not Overlapped)"), 290);
    assert_eq!(total(&overlap, "Free"), 60);
    // Both kinds of communication begin with this word: 300 of all, and 290 without computing.
    assert_eq!(total(&overlap, "Communication"), 590);
    let communication = process("Communication");
    assert_eq!(total(&communication, "hcom_allGather__"), 200);
    assert_eq!(total(&communication, "hcom_receive__"), 100);
    let calls = events.iter().filter(|it| it["cat"] == "acl");
    let mut names = calls.map(|it| it["name"].as_str().unwrap());
    assert!(names.all(|it| it.starts_with("AscendCL@")));
}

#[test]
fn times_of_texts_survive_being_read_as_floating_point_numbers() {
    let mut timeline = Timeline::of(STEPS);
    timeline.session.start_realtime_ns = 1_795_985_558_000_000_123;
    let file = file(&timeline.session, &timeline.tables, timeline.rows);
    let files = files(&exported(&file, WindowSize::default()));
    let info: Value = serde_json::from_str(&files["profiler_info_0.json"]).unwrap();
    let base = info["ascend_trace"]["base_time_ns"]
        .as_i64()
        .expect("a time");
    assert!(base > 0 && base <= timeline.session.start_realtime_ns);
    let kernels = rows(&files["ASCEND_PROFILER_OUTPUT/kernel_details.csv"]);
    for row in kernels {
        let text = &row["Start Time(us)"];
        let (whole, part) = text.split_once('.').expect("decimals");
        let exact = whole.parse::<i64>().unwrap() * 1000 + part.parse::<i64>().unwrap();
        let read = text.parse::<f64>().unwrap() * 1000.0;
        assert_eq!(read.round() as i64, exact, "{text}");
    }
}

#[test]
fn memory_is_listed_by_allocation_and_as_a_sum() {
    let text = "t1: aclrtMalloc(4096,1000)[1us..2us] aclrtMalloc(1048576,90000)[3us..4us]
        s1: MatMul[10us..20us] by t1[5us..6us]";
    let timeline = Timeline::of(text);
    let file = file(&timeline.session, &timeline.tables, timeline.rows);
    let files = files(&exported(&file, WindowSize::default()));
    let allocations = rows(&files["ASCEND_PROFILER_OUTPUT/operator_memory.csv"]);
    let sizes: Vec<&str> = allocations
        .iter()
        .map(|it| it["Size(KB)"].as_str())
        .collect();
    assert_eq!(sizes, ["4", "1024"]);
    assert!(
        allocations
            .iter()
            .all(|it| it["Release Time(us)"].is_empty())
    );
    let records = rows(&files["ASCEND_PROFILER_OUTPUT/memory_record.csv"]);
    let last = records.last().expect("a record");
    assert_eq!(last["Total Reserved(MB)"], "1.00390625");
    let calls = rows(&files["ASCEND_PROFILER_OUTPUT/api_statistic.csv"]);
    let malloc = calls.iter().find(|it| it["API Name"] == "aclrtMalloc");
    let malloc = malloc.expect("a row");
    assert_eq!(
        (malloc["Count"].as_str(), malloc["Level"].as_str()),
        ("2", "AscendCL")
    );
    let operators = rows(&files["ASCEND_PROFILER_OUTPUT/op_statistic.csv"]);
    assert_eq!(operators[0]["OP Type"], "MatMul");
    assert_eq!(operators[0]["Ratio(%)"], "100.000");
}

#[test]
fn the_timeline_is_a_list_of_events_with_texts_as_timestamps() {
    let files = files(&exported(&recording(), WindowSize::default()));
    let events: Value =
        serde_json::from_str(&files["ASCEND_PROFILER_OUTPUT/trace_view.json"]).unwrap();
    let events = events.as_array().expect("a list");
    let slices = events.iter().filter(|it| it["ph"] == "X");
    let mut works = 0;
    for slice in slices {
        let ts = slice["ts"].as_str().expect("a text");
        assert!(ts.parse::<f64>().is_ok(), "{slice}");
        works += usize::from(slice["name"] == "MatMul" && slice["cat"] == "kernel");
    }
    assert_eq!(works, 2);
    let named = |name: &str| {
        events
            .iter()
            .any(|it| it["name"] == "process_name" && it["args"]["name"] == name)
    };
    assert!(named("CANN") && named("Ascend Hardware"));
    assert!(
        events
            .iter()
            .any(|it| it["ph"] == "s" && it["name"] == "HostToDevice")
    );
}

#[test]
fn cuts_of_the_recording_do_not_change_the_export() {
    let file = recording();
    let whole = files(&exported(&file, WindowSize::default()));
    let cut = files(&exported(&file, super::stream::SMALL));
    for (name, text) in &whole {
        if name.ends_with("trace_view.json") {
            continue;
        }
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(text), sorted(&cut[name]), "{name}");
    }
}

#[test]
fn cuts_do_not_change_the_waits_of_collectives() {
    let mut timeline = Timeline::of(&job());
    let mut ranks = ["0", "1"].into_iter();
    for row in &mut timeline.rows {
        if let Row::Process(process) = row {
            process.rank = ranks.next().expect("a rank").to_owned();
        }
    }
    let file = file(&timeline.session, &timeline.tables, timeline.rows);
    let [whole, cut] =
        [WindowSize::default(), super::stream::SMALL].map(|step| exported(&file, step));
    let mut compared = 0;
    for name in whole.names() {
        if name.ends_with("communication.json") || name.ends_with("communication_matrix.json") {
            assert_eq!(whole.text(name), cut.text(name), "{name}");
            compared += usize::from(whole.text(name).contains("Transit Time(ms)"));
        }
    }
    assert_eq!(compared, 4);
}

/// The command that reads such folders: the one that the variable names, else the one in the path.
fn msprof_analyze() -> Option<Command> {
    let variable = "ASCEND_TRACE_MSPROF_ANALYZE";
    let named = std::env::var_os(variable);
    let command = named.clone().unwrap_or_else(|| "msprof-analyze".into());
    let found = Command::new(&command).arg("--help").output();
    if found.is_ok_and(|it| it.status.success()) {
        return Some(Command::new(command));
    }
    assert_eq!(named, None, "{variable} names no msprof-analyze");
    skip(&format!(
        "there is no msprof-analyze; {variable} can name one"
    ));
    None
}

#[test]
fn msprof_analyze_reads_the_folders() {
    let Some(mut reader) = msprof_analyze() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let memory = exported(&recording(), WindowSize::default());
    for name in memory.names() {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, memory.text(name)).unwrap();
    }
    reader.args(["cluster", "-m", "all", "--force", "-d"]);
    let said = reader.arg(folder.path()).output().unwrap();
    let said =
        String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    let result = folder.path().join("cluster_analysis_output");
    let steps = std::fs::read_to_string(result.join("cluster_step_trace_time.csv"));
    let steps = rows(&steps.unwrap_or_else(|error| panic!("{error}: {said}")));
    assert_eq!(steps.len(), 2, "{said}");
    assert_eq!(whole(&steps[0]["Computing"]), 30.0);
    let collectives = std::fs::read_to_string(result.join("cluster_communication.json"));
    assert!(collectives.unwrap().contains("hcom_allReduce__"));
}
