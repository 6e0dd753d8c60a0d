//! The rules of Kineto's readers, checked without them, and against the Chrome export of the same trace.

use std::collections::{BTreeMap, HashMap, HashSet};

use ascend_trace_export::{
    ArgDetail, ExportSource, Exporter, Kineto, OutputLayout, WantedPart, WindowSize, is_rank_file,
};
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::whole::from_rows;
use ascend_trace_testkit::workload::{self, Workload};
use ascend_trace_testkit::{Timeline, timeline};

use super::checker::{ImportedSlice, ImportedTrace, import};
use super::chrome::{chrome, is_mark};
use super::memory::{MemorySink, export, export_some, export_source};
use super::random::{RandomNumbers, random_text};
use super::stream::{SMALL, workload_file};
use super::{allocations, graphs, ranges, tools};

/// Work of devices, as readers know it.
const WORK: [&str; 3] = ["kernel", "gpu_memcpy", "gpu_memset"];
const CALL: &str = "cuda_runtime";

fn file(rank: u64) -> String {
    format!("rank-{rank}.pt.trace.json")
}

/// The files of all ranks.
fn imported(files: &MemorySink) -> BTreeMap<u64, ImportedTrace> {
    let read = |name: &str| {
        assert!(is_rank_file(name, ".pt.trace.json"), "{name}");
        let rank = name.trim_start_matches("rank-").split('.').next();
        let rank: u64 = rank.and_then(|it| it.parse().ok()).expect("a rank");
        let text = files.text(name);
        // Readers look for the rank line by line, and take the first that they find.
        let first = text.lines().next().expect("a line");
        assert!(first.contains(&format!("\"rank\": {rank}}}")), "{first}");
        let mut imported = import(text);
        check_rules(&imported);
        count_from_begin(&mut imported, text);
        (rank, imported)
    };
    files.names().into_iter().map(read).collect()
}

/// Makes times count from the begin of the recording, as in the other formats.
fn count_from_begin(imported: &mut ImportedTrace, text: &str) {
    let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let base = document["baseTimeNanoseconds"].as_i64();
    // A number that some readers would round is a text.
    let begin = imported.other["begin_realtime_ns"].as_str();
    let begin = begin.map(|it| it.parse::<i64>().expect("a number"));
    assert_eq!(base.is_some(), begin.is_some(), "both are known or neither");
    let first = begin.zip(base).map_or(0, |(begin, base)| begin - base);
    for slice in imported.slices.iter_mut().chain(&mut imported.recording) {
        slice.begin -= first;
        slice.end -= first;
    }
}

fn number(slice: &ImportedSlice, key: &str) -> Option<u64> {
    slice.args[key].as_u64()
}

/// Operators of the host.
const OPERATOR: &str = "cpu_op";

/// Whether a slice covers the whole recording.
fn is_of_recording(slice: &ImportedSlice) -> bool {
    slice.category == OPERATOR && slice.name == "recording"
}

/// An operator is around the call that submits its work.
#[track_caller]
fn check_operator(imported: &ImportedTrace, slice: &ImportedSlice, launches: &HashMap<u64, usize>) {
    assert_eq!(number(slice, "correlation"), None, "{slice:?}");
    if !is_of_recording(slice) {
        let launch = launches[&number(slice, "External id").expect("a number")];
        let call = &imported.slices[launch];
        let place = |it: &ImportedSlice| (it.process.clone(), it.track.clone(), it.begin, it.end);
        assert_eq!(place(slice), place(call));
    }
}

/// Rules of readers: only work of devices has a stream, it is on its device, and launched work has the
/// number of its launch.
#[track_caller]
fn check_rules(imported: &ImportedTrace) {
    let mut launches = HashMap::new();
    for (place, slice) in imported.slices.iter().enumerate() {
        if let Some(own) = number(slice, "correlation").filter(|_| slice.category == CALL) {
            assert!(
                own > 0 && launches.insert(own, place).is_none(),
                "{slice:?}"
            );
        }
    }
    let (mut launched, mut operators) = (HashSet::new(), HashSet::new());
    for slice in &imported.slices {
        let is_work = WORK.contains(&slice.category.as_str());
        assert_eq!(number(slice, "stream").is_some(), is_work, "{slice:?}");
        let (own, external) = (number(slice, "correlation"), number(slice, "External id"));
        if slice.category == OPERATOR {
            check_operator(imported, slice, &launches);
            operators.extend(external);
            continue;
        }
        assert_eq!(own, external, "{slice:?}");
        if is_work {
            let device = number(slice, "device").expect("a device");
            assert_eq!(slice.process, format!("NPU {device}"));
            let own = own.expect("a number");
            assert!(
                launched.insert(own) && launches.contains_key(&own),
                "{slice:?}"
            );
        }
        let speed = slice.args["memory bandwidth (GB/s)"].as_f64();
        let moves = WORK[1..].contains(&slice.category.as_str()) && slice.begin < slice.end;
        match number(slice, "bytes").filter(|_| moves) {
            Some(bytes) => {
                let expected = bytes as f64 / (slice.end - slice.begin) as f64;
                let found = speed.expect("a bandwidth");
                assert!((found - expected).abs() <= expected * 1e-9, "{slice:?}");
            }
            None => assert_eq!(speed, None, "{slice:?}"),
        }
    }
    for (kind, from, to) in imported.flows.iter().filter(|flow| flow.0 == "ac2g") {
        let [from, to] = [from, to].map(|place| &imported.slices[*place]);
        assert_eq!(from.category, CALL, "{kind}");
        assert_eq!(from.args["correlation"], to.args["correlation"], "{kind}");
    }
    // All work has an operator.
    assert!(launched.is_subset(&operators), "{launched:?} {operators:?}");
    let whole = imported.slices.iter().filter(|it| is_of_recording(it));
    let has_steps = imported
        .slices
        .iter()
        .any(|it| it.name.starts_with("ProfilerStep#"));
    assert_eq!(
        whole.count(),
        usize::from(!has_steps && imported.recording.is_some())
    );
}

/// A call or a task in either format.
type ComparedItem = (bool, u64, i64, i64, String);

fn compared_items(imported: &ImportedTrace) -> Vec<ComparedItem> {
    let slices = imported.slices.iter().filter(|it| !is_mark(it));
    let slices = slices.filter(|it| {
        !matches!(
            &*it.category,
            "stall" | "cpu_op" | "user_annotation" | "mstx"
        )
    });
    let mut all: Vec<ComparedItem> = slices
        .filter_map(|it| {
            let is_task = !it.args["err_ns"].is_null();
            Some((
                is_task,
                number(it, "call")?,
                it.begin,
                it.end,
                it.track.clone(),
            ))
        })
        .collect();
    all.sort();
    all
}

fn flows(imported: &ImportedTrace) -> Vec<(String, String, String)> {
    let end = |place: usize| {
        let slice = &imported.slices[place];
        format!(
            "{:?} {}..{} {}",
            number(slice, "call"),
            slice.begin,
            slice.end,
            slice.track
        )
    };
    let flows = imported.flows.iter();
    let mut flows: Vec<_> = flows
        .map(|(kind, from, to)| {
            let kind = if kind == "ac2g" { "launch" } else { kind };
            (kind.to_owned(), end(*from), end(*to))
        })
        .collect();
    flows.sort();
    flows
}

/// Both kinds of names, compared with the Chrome export; returns the one with CUDA's.
#[track_caller]
fn check(trace: &Trace, text: &str) -> ImportedTrace {
    let expected = chrome(trace);
    let mut last = None;
    for exporter in [Kineto::OWN, Kineto::CUDA] {
        let mut files = imported(&export(&exporter, trace));
        assert_eq!(files.len(), 1, "{text}");
        let own = files.remove(&0).expect("the first rank");
        assert_eq!(compared_items(&own), compared_items(&expected), "{text}");
        assert_eq!(flows(&own), flows(&expected), "{text}");
        assert!(own.counters.is_empty());
        for fact in ["calls", "tasks", "left_out_calls", "omitted_flows"] {
            assert_eq!(own.other[fact], expected.other[fact], "{fact}: {text}");
        }
        last = Some(own);
    }
    last.expect("two")
}

#[test]
fn every_example_keeps_the_rules_of_readers() {
    for text in [tools::EXAMPLE, graphs::EXAMPLE, READERS] {
        check(&timeline(text), text);
    }
    check(&allocations::trace(), "allocations");
    check(&Trace::default(), "nothing");
    let (session, tables) = workload::leading();
    let mut rows = Vec::new();
    let workload = Workload {
        steps: 12,
        ..Workload::default()
    };
    workload::run(workload, |row| rows.push(row));
    check(&from_rows(session, tables, rows), "a training loop");
}

#[test]
fn random_traces_keep_the_rules_of_readers() {
    let mut dice = RandomNumbers(11);
    for _ in 0..100 {
        let items = dice.roll(40);
        let text = random_text(&mut dice, items);
        check(&timeline(&text), &text);
    }
}

#[test]
fn readers_find_the_names_that_they_look_for() {
    let text = "s1: memcpy(4096)[10..20] A[20..30] memset(64)[30..40] rec(E)[40]
                s2: wait(E)[15..40] HcclAllReduce(1,64)[40..90]
                t1: sync(s1)[50..91] aclrtMalloc(64)[91..92]";
    let trace = timeline(text);
    let imported = check(&trace, text);
    let of = |category: &str| {
        let slices = imported.slices.iter().filter(|it| it.category == category);
        let mut names: Vec<&str> = slices.map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(of("gpu_memcpy"), ["Memcpy"]);
    assert_eq!(of("gpu_memset"), ["Memset (Device)"]);
    assert_eq!(of("kernel"), ["A", "ncclKernel_AllReduce"]);
    assert_eq!((of("wait").len(), of("record").len()), (1, 1));
    let calls = [
        "cudaEventRecord",
        "cudaLaunchKernel",
        "cudaLaunchKernel",
        "cudaMalloc",
        "cudaMemcpyAsync",
        "cudaMemsetAsync",
        "cudaStreamSynchronize",
        "cudaStreamWaitEvent",
    ];
    assert_eq!(of(CALL), calls);
    let malloc = imported.slices.iter().find(|it| it.name == "cudaMalloc");
    assert_eq!(malloc.expect("a call").args["function"], "aclrtMalloc");
}

#[test]
fn steps_are_ranges_of_the_profiler() {
    let trace = ranges::trace(&[("step 4", 0, 40), ("part", 10, 20), ("step 5", 50, 90)]);
    let files = imported(&export(&Kineto::OWN, &trace));
    let ranges = files[&0]
        .slices
        .iter()
        .filter(|it| it.category == "user_annotation");
    let found: Vec<_> = ranges.map(|it| (&*it.name, it.begin, it.end)).collect();
    let expected = [
        ("ProfilerStep#4", 0, 40),
        ("part", 10, 20),
        ("ProfilerStep#5", 50, 90),
    ];
    assert_eq!(found, expected);
}

/// A timeline with processes of these ranks.
pub(crate) fn ranked(text: &str, ranks: &[&str]) -> Trace {
    let mut timeline = Timeline::of(text);
    let mut ranks = ranks.iter();
    for row in &mut timeline.rows {
        if let Row::Process(process) = row {
            process.rank = (*ranks.next().expect("a rank for each process")).to_owned();
        }
    }
    assert_eq!(ranks.next(), None, "a process for each rank");
    timeline.trace()
}

/// The times of files of separate recordings are comparable.
#[test]
fn files_of_several_recordings_count_from_one_time() {
    let begin_of = |start_ns: i64, start_realtime_ns: i64, rank: &str| {
        let mut timeline = Timeline::of("s1: A[1000..2000]");
        timeline.session.start_ns = start_ns;
        timeline.session.start_realtime_ns = start_realtime_ns;
        for row in &mut timeline.rows {
            if let Row::Process(process) = row {
                process.rank = rank.to_owned();
            }
        }
        let files = export(&Kineto::OWN, &timeline.trace());
        let text = files.text(&file(rank.parse().expect("a rank")));
        let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let slices = import(text).slices;
        let kernel = slices.iter().find(|it| it.category == "kernel");
        let base = document["baseTimeNanoseconds"].as_i64();
        (base, kernel.expect("a kernel").begin)
    };
    let day = 1_764_300_000_000_000_000;
    // The clocks of the hosts began at different times.
    let (base, first) = begin_of(0, day, "0");
    let (other_base, second) = begin_of(-500, day + 2_429_000_000, "1");
    assert_eq!(base, other_base);
    assert_eq!(base.expect("a base") + first, day + 1000);
    assert_eq!(second - first, 2_429_000_500);
    // Without the time of day, times count from the begin of the recording.
    assert_eq!(begin_of(0, 0, "0").0, None);
}

/// A file for each rank, and what knows of none in the first.
#[test]
fn each_rank_has_a_file() {
    let text = "s1@1: A[10..20] by t1[0..1]
                p2.s1@0: B[12..22] by t2[2..3]
                p3.s1@0: C[14..24] by t3[4..5]
                p4.t4: work(1)[6..7]";
    let trace = ranked(text, &["3", "0", "3", ""]);
    let files = export(&Kineto::OWN, &trace);
    assert_eq!(files.names(), [file(0), file(3)]);
    let files = imported(&files);
    let work = |rank: u64| {
        let slices = files[&rank].slices.iter();
        let kernels = slices.filter(|it| it.category == "kernel");
        let mut kernels: Vec<_> = kernels
            .map(|it| (it.name.as_str(), number(it, "device")))
            .collect();
        kernels.sort_unstable();
        kernels
    };
    assert_eq!(work(0), [("B", Some(0))]);
    assert_eq!(work(3), [("A", Some(1)), ("C", Some(0))]);
    let all = chrome(&trace);
    let mut both: Vec<ComparedItem> = files.values().flat_map(compared_items).collect();
    both.sort();
    assert_eq!(both, compared_items(&all));
    let calls: u64 = files
        .values()
        .filter_map(|it| it.other["calls"].as_u64())
        .sum();
    assert_eq!(calls, trace.calls().len() as u64);
    for imported in files.values() {
        assert_eq!(imported.other["left_out_calls"], 0);
    }
}

/// Nothing but one rank, of a selection, and as little as can be said.
#[test]
fn a_selection_has_the_files_of_its_ranks() {
    let text = "s1: A[10..20] by t1[0..1] | p2.s1: B[12..22] by t2[2..3]";
    let trace = ranked(text, &["0", "1"]);
    let mut wanted = WantedPart {
        args: ArgDetail::None,
        ..WantedPart::default()
    };
    wanted.only.add("name=B").expect("a condition");
    let files = export_source(&Kineto::CUDA, &ExportSource::of(&trace, &wanted));
    assert_eq!(files.names(), [file(1)]);
    let files = imported(&files);
    assert_eq!(files[&1].flows.len(), 1);
    let kernel = files[&1].slices.iter().find(|it| it.category == "kernel");
    assert_eq!(kernel.expect("a kernel").name, "B");
}

#[test]
fn a_file_that_is_read_in_parts_gives_the_same() {
    let file = workload_file(60);
    let read = |step| {
        let files = export_some(&Kineto::CUDA, &file, step, &WantedPart::default());
        let files = imported(&files);
        assert_eq!(files.len(), 1);
        compared_items(&files[&0])
    };
    let (whole, parts) = (read(WindowSize::WHOLE), read(SMALL));
    assert!(whole.len() > 500);
    assert_eq!(whole, parts);
}

#[test]
fn its_layout_is_a_folder_of_ranks() {
    let ending = ".pt.trace.json";
    assert_eq!(Kineto::OWN.layout(), OutputLayout::Ranks { ending });
    for (name, is_one) in [
        ("rank-0.pt.trace.json", true),
        ("rank-12.pt.trace.json", true),
        ("rank-.pt.trace.json", false),
        ("rank-x.pt.trace.json", false),
        ("rank-1.json", false),
        ("my-rank-1.pt.trace.json", false),
    ] {
        assert_eq!(is_rank_file(name, ending), is_one, "{name}");
    }
}

/// What readers are asked about: copies, kernels and a collective on two streams, in steps of a loop.
pub(crate) const READERS: &str =
    "s1: memcpy(4096)[10us..14us] by t1[0..1us] A[20us..40us] by t1[2us..3us]
     s1: B[50us..60us] by t1[4us..5us] memset(1024)[60us..62us] by t1[6us..7us]
     s2: HcclAllReduce(1,64)[30us..45us] by t1[8us..9us] rec(E)[45us] by t1[10us..11us]
     s1: wait(E)[62us..63us] by t1[12us..13us] C[70us..75us] by t1[14us..15us]
     t1: sync(s1)[16us..80us]";
