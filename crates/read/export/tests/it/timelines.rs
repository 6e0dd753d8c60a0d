//! What holds for both formats of timelines.

use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use super::checker::{ImportedSlice, ImportedTrace};
use super::chrome::is_mark;
use super::{chrome, perfetto};

/// Both exports of a timeline, checked against the recording.
#[track_caller]
fn check(text: &str) -> [ImportedTrace; 2] {
    [chrome::check(text), perfetto::check(text)]
}

#[test]
fn tasks_calls_and_dependencies_come_back_as_they_were() {
    check(
        "s1: A[1us..10us] rec(E) B[10us..30us] rec(F)
         s2@0: wait(E)[2us..10us] C[12us..20us] wait(F)[20us..30us]
         s3@1 by t2: memcpy(4096)[5us..9us] wait(E)
         t1: sync(s2)[31us..33us] sync(E)[34us..35us] sync()[36us..37us]
         p2.s1: D[1us..2us] rec(E)
         p2.t1: sync(s1)[3us..4us]",
    );
}

#[test]
fn an_arrow_to_what_began_before_it_was_released_arrives_at_a_mark_at_its_end() {
    let imported = check(
        "s1: A[3us..10us] by t1[0..1us] rec(E)[10us] by t1[2us..3us]
         s2: wait(E)[4us..10us] by t1[3us..4us] B[10us..11us]
         t1: sync(s2)[5us..12us]",
    );
    // Perfetto's importer keeps the order of the file at equal times; Chrome's does not.
    for (imported, last) in imported.iter().zip([11_999, 12_000]) {
        let marks = imported.slices.iter().filter(|it| is_mark(it));
        let found: Vec<_> = marks.map(|it| (&*it.track, it.begin)).collect();
        assert_eq!(found, [("stream 2 events", 10_000), ("t1", last)]);
    }
}

#[test]
fn untimed_tasks_are_connected_through_their_calls() {
    for imported in check(
        "s1: A[captured] rec(E)[captured] by t1[-9..-8]
         s2: wait(E)[captured] by t1[-5..-4]",
    ) {
        let call = imported.slices.iter().find(|it| it.name == "A");
        let call = call.expect("the call");
        assert_eq!(call.args["untimed"], "captured");
        assert_eq!(call.args["task_kind"], "kernel");
        assert_eq!(imported.other["untimed_tasks"], 3);
        // The three launches have nowhere to go.
        assert_eq!(imported.other["omitted_flows"], 3);
    }
}

#[test]
fn arguments_results_and_errors_are_named() {
    for imported in check("t1: aclrtMalloc(64)[0..10]=207001 | s1: memcpy(4096)[20..30]") {
        let slice = |name: &str, host: bool| {
            let mut slices = imported.slices.iter();
            let wanted =
                |it: &&ImportedSlice| it.name == name && it.args["err_ns"].is_null() == host;
            slices.find(wanted).expect("the slice")
        };
        let malloc = slice("aclrtMalloc", true);
        assert_eq!(malloc.args["size"], 64);
        assert_eq!(malloc.args["ret"], 207001);
        assert_eq!(malloc.args["ret_name"], "ACL_ERROR_RT_MEMORY_ALLOCATION");
        let copy = slice("aclrtMemcpyAsync", false);
        assert_eq!(copy.args["bytes"], 4096);
        assert_eq!(copy.category, "memcpy");
        assert!(copy.args["queue_ns"].as_i64().expect("a number") > 0);
        let launch = slice("aclrtMemcpyAsync", true);
        let stream = launch.args["stream_handle"].as_str().expect("a handle");
        assert!(stream.starts_with("0x"));
        assert_eq!(launch.args["ret"], 0);
        assert!(launch.args["ret_name"].is_null());
    }
}

/// Kernels of devices are found by their category, and lead to the calls that launched them.
#[test]
fn host_and_device_slices_differ_and_share_numbers() {
    for imported in check(
        "s3@1: A[10..20] by t1[0..1] B[20..30] by t1[2..3]
         t1: sync(s3)[4..30]",
    ) {
        let slices = || imported.slices.iter().filter(|it| !is_mark(it));
        let tasks: Vec<_> = slices().filter(|it| it.category == "kernel").collect();
        let calls: Vec<_> = slices()
            .filter(|it| it.category.starts_with("host"))
            .collect();
        assert_eq!((tasks.len(), calls.len()), (2, 3));
        for task in tasks {
            let number = |key: &str| task.args[key].as_u64().expect("a number");
            assert_eq!((number("device"), number("stream")), (1, 3));
            assert!(number("correlation") > 0);
            let same = |it: &&&ImportedSlice| it.args["correlation"] == task.args["correlation"];
            let call = calls.iter().find(same).expect("a launch");
            assert_eq!(call.name, task.name);
            assert_eq!(call.args["device"], 1);
            assert_eq!(call.args["stream"], 3);
        }
        let sync = calls.iter().find(|it| it.name == "aclrtSynchronizeStream");
        assert!(sync.expect("a call").args["correlation"].is_null());
    }
}

/// Also where what sets a notify or a value takes time, and ends when the wait does.
#[test]
fn arrows_of_notifies_and_values_lead_from_task_to_task() {
    for set in ["notify(7)", "value(64,5)"] {
        let wait = match set {
            "notify(7)" => "aclrtWaitAndResetNotify(7)",
            _ => "aclrtValueWait(64,5,1)",
        };
        let text = format!(
            "s1: A[0..10000] {set}[10000..10020]
             s2: {wait}[1000..10020] B[10020..20000]"
        );
        for imported in check(&text) {
            let waits =
                |it: &&ImportedSlice| it.name.contains("Wait") && !it.args["err_ns"].is_null();
            let wait = imported.slices.iter().find(waits).expect("a wait");
            assert_eq!(wait.track, "stream 2 events");
        }
    }
}

/// A wait that seems over before its record lasts until it, as far as the error bars allow.
#[test]
fn arrows_of_records_that_seem_late_start_at_the_record_within_the_bars() {
    for (late, open, end) in [(1, 30, 101), (39, 30, 139), (50, 0, 100), (500, 30, 100)] {
        let text = "s1: A[0..100] rec(E)[100]
                    s2: wait(E)[10..100] B[100..200]";
        let mut timeline = Timeline::of(text);
        for row in &mut timeline.rows {
            if let Row::TaskTime(time) = row {
                time.record_open_ns = open;
                if time.begin_device_ns == time.end_device_ns {
                    time.begin_device_ns += late;
                    time.end_device_ns += late;
                }
            }
        }
        let trace = timeline.trace();
        for imported in [chrome::chrome(&trace), perfetto::perfetto(&trace)] {
            let wait = imported.slices.iter().position(|it| it.category == "wait");
            let wait = &imported.slices[wait.expect("a wait")];
            let begin = trace.span().expect("a span").begin;
            assert_eq!(
                (wait.begin, wait.end),
                (10 - begin, end - begin),
                "{late} {open}"
            );
            let records = imported.flows.iter().filter(|(_, from, to)| {
                is_mark(&imported.slices[*to]) && imported.slices[*from].category == "record"
            });
            assert_eq!(records.count(), usize::from(end > 100), "{late} {open}");
        }
    }
}

#[test]
fn a_collective_has_its_group_its_data_and_its_least_bandwidth() {
    let text = "t1: HcclCommInitRootInfo(4,1,77)[0..5us]
         s1: HcclAllGather(77,1000,4)[20us..60us] by t1[10us..11us] HcclRecv(77,500,3,2)[60us..70us] by t1[12us..13us]
         s1: HcclBroadcast(78,1000,4,3)[70us..80us] by t1[14us..15us]";
    for imported in check(text) {
        let slice = |name: &str| {
            let mut slices = imported.slices.iter();
            let wanted = |it: &&ImportedSlice| it.name == name && !it.args["err_ns"].is_null();
            slices.find(wanted).expect("the slice")
        };
        let gather = &slice("HcclAllGather").args;
        assert_eq!(
            (&gather["ranks"], &gather["elements"]),
            (&4.into(), &1000.into())
        );
        assert_eq!(gather["data_type"], "HCCL_DATA_TYPE_FP32");
        // The shares of all four ranks.
        assert_eq!(gather["size"], 16_000);
        let [algorithm, bus] = ["least_algorithm_bandwidth", "least_bus_bandwidth"]
            .map(|it| gather[it].as_i64().expect("a number"));
        assert!((1..=400_000_000).contains(&algorithm), "{algorithm}");
        assert!((bus - algorithm * 3 / 4).abs() <= 1, "{bus}");
        let receive = &slice("HcclRecv").args;
        assert_eq!(
            (&receive["from_rank"], &receive["size"]),
            (&2.into(), &1000.into())
        );
        assert!(receive["root"].is_null() && receive["to_rank"].is_null());
        // No call made its communicator.
        let broadcast = &slice("HcclBroadcast").args;
        assert_eq!(
            (&broadcast["root"], &broadcast["size"]),
            (&3.into(), &4000.into())
        );
        assert!(broadcast["ranks"].is_null());
    }
}
