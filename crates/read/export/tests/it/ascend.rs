//! Folders as torch_npu's profiler writes them: by the rules of their readers, and against the recording.

use std::collections::BTreeMap;
use std::process::Command;

use ascend_trace_analysis::steps::{Report, StepDefinition as WantedSteps};
use ascend_trace_export::{Ascend, Exporter, OutputLayout, WantedPart, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_testkit::Timeline;
use serde_json::Value;

use super::memory::{MemorySink, export_some};
use super::stream::file;
use super::tools::skip;

/// Two steps of a rank, with computing, a collective that is partly hidden, a copy, and a receive.
const STEPS: &str = "
    s1: MatMul[10us..30us] by t1[5us..6us] Add[40us..50us] by t1[7us..8us] MatMul[110us..150us] by t1[105us..106us]
    s2: HcclAllReduce(1,64)[25us..45us] by t1[9us..10us] HcclRecv(1,64,4,0)[160us..170us] by t1[107us..108us]
    s3: memcpy(4096)[60us..70us] by t1[20us..21us]";

fn recording() -> Vec<u8> {
    let timeline = Timeline::parse(STEPS).expect("a timeline");
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
    export_some(&Ascend, file, step, &wanted)
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
            "ASCEND_PROFILER_OUTPUT/communication.json",
            "ASCEND_PROFILER_OUTPUT/kernel_details.csv",
            "ASCEND_PROFILER_OUTPUT/step_trace_time.csv",
            "ASCEND_PROFILER_OUTPUT/trace_view.json",
            "profiler_info_0.json",
        ]
    );
    let info: Value = serde_json::from_str(&files["profiler_info_0.json"]).unwrap();
    assert_eq!(info["rank_id"], 0);
    assert_eq!(
        Ascend.layout(),
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
        let time = &document[step][kind][name]["Communication Time Info"];
        let elapsed = time["Elapse Time(ms)"].as_f64();
        elapsed.map(|it| (it * 1e3).round())
    };
    let reduced = elapsed("step0", "collective", "HcclAllReduce_0@group_0");
    assert_eq!(reduced, Some(20.0), "{document}");
    let received = elapsed("step1", "p2p", "HcclRecv_1@group_0");
    assert_eq!(received, Some(10.0), "{document}");
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
    assert!(collectives.unwrap().contains("HcclAllReduce_0@group_0"));
}
