//! The use of a training loop's time.

use ascend_trace_analysis::stats::{StallStats, StepStats, Verdict};
use ascend_trace_analysis::{
    Cause, Dependencies, EdgeKind, EdgeTimes, HostLateness, Node, PlannedRanges, Stalls, Stats,
};
use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

/// A timeline with ranges of the hook: place of the thread, begin and end in microseconds, kind, name.
fn traced(text: &str, ranges: &[(usize, i64, i64, RangeKind, &str)]) -> Trace {
    let reported: Vec<_> = ranges
        .iter()
        .map(|(thread, begin, end, kind, name)| (*thread, *begin, *end, Some(*kind), *name))
        .collect();
    reported_by_both(text, &reported)
}

/// The same with ranges that the program names.
fn reported_by_both(text: &str, ranges: &[(usize, i64, i64, Option<RangeKind>, &str)]) -> Trace {
    let plain: Vec<_> = ranges
        .iter()
        .map(|(thread, begin, end, _, name)| (*thread, *begin, *end, *name))
        .collect();
    let timeline = Timeline::of(text);
    let mut timeline = timeline.with_ranges(&plain);
    let mut kinds = ranges.iter().map(|it| it.3);
    for row in &mut timeline.rows {
        if let Row::Range(row) = row {
            let kind = kinds.next().expect("one for each");
            row.domain = kind.map_or(0, RangeKind::domain);
        }
    }
    timeline.trace()
}

fn only_step(trace: &Trace) -> StepStats {
    let mut steps = Stats::of(trace).steps;
    assert_eq!(steps.len(), 1, "{steps:?}");
    steps.remove(0)
}

/// The times of a step in microseconds: compute, communication and exposed, copies and exposed, idle; of that,
/// loading, before the planning, planning, queue, launch.
fn times(step: &StepStats) -> ([i64; 6], [i64; 5]) {
    let us = |time: i64| time / 1_000;
    let device = [
        step.compute_ns,
        step.communication_ns,
        step.exposed_communication_ns,
        step.copy_ns,
        step.exposed_copy_ns,
        step.idle_ns,
    ];
    let host = [
        step.loading_ns,
        step.python_ns,
        step.planning_ns,
        step.queue_ns,
        step.launch_ns,
    ];
    assert_eq!(
        step.length_ns,
        step.compute_ns + step.exposed_communication_ns + step.exposed_copy_ns + step.idle_ns
    );
    assert_eq!(host.iter().sum::<i64>(), step.idle_ns);
    (device.map(us), host.map(us))
}

#[test]
fn a_step_is_bound_by_what_took_most_of_it() {
    let cases = [
        ("MatMul[10us..90us]", "", 0, Verdict::DeviceBound),
        (
            "MatMul[10us..20us]",
            "s2: HcclAllReduce(1,1024)[15us..90us] by t1[14us..15us]",
            0,
            Verdict::CommunicationBound,
        ),
        ("MatMul[80us..90us]", "", 70, Verdict::DataBound),
        ("MatMul[80us..90us]", "", 10, Verdict::HostBound),
        ("memcpy(4096)[10us..90us]", "", 0, Verdict::DataBound),
    ];
    for (work, more, loading, expected) in cases {
        let text = format!("s1: {work} by t1[9us..10us]\n{more}");
        let ranges = [
            (0, 0, 100, RangeKind::Step, "step 4"),
            (0, 0, loading, RangeKind::Loader, "dataloader"),
        ];
        let step = only_step(&traced(&text, &ranges));
        assert_eq!(step.verdict, Some(expected), "{text}: {step:?}");
        assert_eq!(step.name, "step 4");
        times(&step);
    }
}

#[test]
fn idle_time_falls_to_loading_planning_the_queue_and_the_launch() {
    // Planned by the main thread, submitted by another; communication is half hidden.
    let text = "t1: aclnnAddGetWorkspaceSize(7)[40us..45us]
                s1: aclnnAdd(7)[60us..80us] by t2[52us..55us]
                s2: HcclAllReduce(1,1024)[70us..90us] by t1[66us..67us]";
    let ranges = [
        (0, 0, 100, RangeKind::Step, "step 0"),
        (0, 0, 30, RangeKind::Loader, "dataloader"),
    ];
    let trace = traced(text, &ranges);
    let step = only_step(&trace);
    let device = [20, 20, 10, 0, 0, 70];
    // 30 loading; then 10 until 40, and 10 at the end; 5; 7; 8.
    assert_eq!(times(&step), (device, [30, 20, 5, 7, 8]));
    assert_eq!((step.tasks, step.untimed), (2, 0));
}

#[test]
fn steps_without_times_get_no_verdict() {
    let text =
        "s1: MatMul[10us..20us] Add[contended] by t1[30us..31us] Sub[contended] by t1[40us..41us]";
    let ranges = [(0, 0, 100, RangeKind::Step, "step 0")];
    let step = only_step(&traced(text, &ranges));
    assert_eq!((step.tasks, step.untimed, step.verdict), (1, 2, None));
}

#[test]
fn the_queue_between_threads_is_a_dependency() {
    let text = "t1: aclnnAddGetWorkspaceSize(7)[0..5us] aclnnAddGetWorkspaceSize(8)[30us..35us]
                s1: aclnnAdd(7)[20us..25us] by t2[10us..12us] aclnnAdd(8)[40us..45us] by t1[36us..37us]";
    let trace = traced(text, &[]);
    let dependencies = Dependencies::of(&trace);
    let plans: Vec<_> = dependencies
        .edges()
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Plan)
        .collect();
    let [plan] = plans[..] else {
        panic!("one crosses threads: {plans:?}");
    };
    let name = |node: Node| match node {
        Node::Call(call) => trace.function(trace.call(call).function).name.as_str(),
        Node::Task(_) => "a task",
    };
    assert_eq!(name(plan.from), "aclnnAddGetWorkspaceSize");
    assert_eq!(name(plan.to), "aclnnAdd");
    assert_eq!(
        plan.times(&trace),
        Some(EdgeTimes {
            leave: 5_000,
            arrive: 10_000
        })
    );
    assert_eq!(dependencies.incoming(&trace, plan.to), [*plan]);
}

#[test]
fn a_late_host_is_followed_to_the_range_of_the_planning_thread() {
    let text = "t1: aclnnAddGetWorkspaceSize(7)[0..1us] aclnnAddGetWorkspaceSize(8)[190us..193us]
                s1: aclnnAdd(7)[5us..10us] by t2[2us..3us] aclnnAdd(8)[205us..215us] by t2[200us..201us]";
    let ranges = [
        (0, 0, 300, RangeKind::Step, "step 0"),
        (0, 20, 180, RangeKind::Loader, "dataloader"),
        (0, 21, 170, RangeKind::Fetch, "fetch"),
        (0, 181, 220, RangeKind::Phase, "forward"),
    ];
    let trace = traced(text, &ranges);
    let dependencies = Dependencies::of(&trace);
    let stalls = Stalls::of(&trace);
    let late = |stall: &&ascend_trace_analysis::Stall| stall.cause == Cause::HostLate;
    let stall = stalls.iter().find(late).expect("the loader took long");
    let known = StallStats::of(&trace, &dependencies, &stalls, stall);
    assert_eq!(known.late, None);
    let known = known.with_late(&trace, &PlannedRanges::of(&trace), stall);
    let expected = HostLateness {
        tid: trace.threads()[0].tid,
        thread: trace.threads()[0].name.clone(),
        is_main: trace.threads()[0].tid == trace.processes()[0].pid,
        range: Some("dataloader > fetch".to_owned()),
        range_ns: 149_000,
        python_ns: 180_000,
        planning_ns: 3_000,
        queue_ns: 7_000,
        launch_ns: 5_000,
        host_word: "program",
    };
    assert_eq!(known.late, Some(expected));
    let near = PlannedRanges::within(&trace, (stall.begin, stall.end));
    assert_eq!(HostLateness::of(&trace, &near, stall), known.late);
}

#[test]
fn ranges_and_modules_are_summed_up_by_who_planned_a_task() {
    let text = "t1: aclnnAddGetWorkspaceSize(7)[11us..12us] aclnnAddGetWorkspaceSize(8)[21us..22us]
                t3: aclnnAddGetWorkspaceSize(9)[51us..52us]
                s1: aclnnAdd(7)[30us..35us] by t2[29us..30us] aclnnAdd(8)[40us..47us] by t2[39us..40us]
                s1: aclnnAdd(9)[60us..68us] by t2[59us..60us]";
    let ranges = [
        (0, 0, 100, RangeKind::Step, "step 0"),
        (0, 10, 30, RangeKind::Phase, "forward"),
        (0, 10, 30, RangeKind::Module, "Model"),
        (0, 20, 25, RangeKind::Module, "0 (Linear)"),
        (0, 50, 70, RangeKind::Phase, "backward"),
    ];
    let stats = Stats::of(&traced(text, &ranges));
    let reported = stats.module_operations.iter().map(|row| {
        let (phase, module) = (row.phase.as_deref(), row.module.as_deref());
        (phase, module, row.operation.as_str(), row.time.total_ns)
    });
    assert_eq!(
        reported.collect::<Vec<_>>(),
        [
            (Some("backward"), None, "aclnnAdd", 8_000),
            (Some("forward"), Some("0 (Linear)"), "aclnnAdd", 7_000),
            (Some("forward"), Some("Model"), "aclnnAdd", 5_000),
        ]
    );
    let reported = stats.ranges.iter().map(|row| {
        let own = row.self_ns / 1_000;
        (
            row.kind.as_str(),
            row.name.as_str(),
            own,
            row.tasks,
            row.device_ns,
        )
    });
    assert_eq!(
        reported.collect::<Vec<_>>(),
        [
            ("step", "step #", 60, 3, 20_000),
            ("module", "Model", 15, 2, 12_000),
            ("phase", "backward", 20, 1, 8_000),
            ("phase", "forward", 0, 2, 12_000),
            ("module", "0 (Linear)", 5, 1, 7_000),
        ]
    );
}

#[test]
fn gradients_belong_to_the_module_of_the_planning_thread() {
    let text = "t1: aclnnAddGetWorkspaceSize(7)[11us..12us]
                t2: aclnnMmGetWorkspaceSize(8)[51us..52us] aclnnSumGetWorkspaceSize(9)[56us..57us]
                s1: aclnnAdd(7)[30us..35us] by t1[29us..30us]
                s1: aclnnMm(8)[60us..68us] by t2[53us..54us] aclnnSum(9)[70us..72us] by t2[58us..59us]";
    let ranges = [
        (0, 0, 100, RangeKind::Step, "step 0"),
        (0, 10, 30, RangeKind::Phase, "forward"),
        (0, 10, 30, RangeKind::Module, "0 (Linear)"),
        (0, 36, 70, RangeKind::Phase, "backward"),
        (1, 50, 55, RangeKind::Backward, "0 (Linear)"),
    ];
    let trace = traced(text, &ranges);
    let stats = Stats::of(&trace);
    let reported = stats.module_operations.iter().map(|row| {
        let (phase, module) = (row.phase.as_deref(), row.module.as_deref());
        (phase, module, row.operation.as_str(), row.time.total_ns)
    });
    assert_eq!(
        reported.collect::<Vec<_>>(),
        [
            (Some("backward"), Some("0 (Linear)"), "aclnnMm", 8_000),
            (Some("forward"), Some("0 (Linear)"), "aclnnAdd", 5_000),
            (Some("backward"), None, "aclnnSum", 2_000),
        ]
    );
    let step = stats.ranges.iter().find(|row| row.kind == "step");
    assert_eq!(step.map(|row| row.tasks), Some(3));
    // The gap before the first of them is the main thread's.
    let stalls = Stalls::of(&trace);
    let stall = stalls
        .iter()
        .find(|it| it.cause == Cause::HostLate && it.end == 60_000);
    let late = HostLateness::of(&trace, &PlannedRanges::of(&trace), stall.expect("a gap"));
    assert_eq!(late.and_then(|it| it.range), Some("backward".to_owned()));
}

/// torch_npu leaves a loader's range open where there is no further batch.
#[test]
fn a_wait_for_a_loader_is_reported_by_the_hook_where_both_report_it() {
    let text = "t1: aclnnAddGetWorkspaceSize(7)[0..1us] aclnnAddGetWorkspaceSize(8)[190us..193us]
                s1: aclnnAdd(7)[5us..10us] by t2[2us..3us] aclnnAdd(8)[205us..215us] by t2[200us..201us]";
    let own = [
        (0, 2, 12, None, "dataloader"),
        (0, 13, 300, None, "dataloader"),
    ];
    let hooked = [
        (0, 1, 16, Some(RangeKind::Loader), "dataloader"),
        (0, 30, 185, Some(RangeKind::Function), "sampling"),
    ];
    let reported = |ranges: &[_]| {
        let trace = reported_by_both(text, ranges);
        let late = |stall: &&ascend_trace_analysis::Stall| stall.cause == Cause::HostLate;
        let stalls = Stalls::of(&trace);
        let stall = *stalls
            .iter()
            .filter(late)
            .collect::<Vec<_>>()
            .last()
            .expect("a gap");
        let late =
            HostLateness::of(&trace, &PlannedRanges::of(&trace), stall).expect("a late host");
        let rows = Stats::of(&trace).ranges.into_iter();
        let rows = rows.filter(|row| row.name == "dataloader");
        let rows = rows.map(|row| (row.kind, row.time.count, row.self_ns / 1_000));
        (late.range, rows.collect::<Vec<_>>())
    };
    let both = [&own[..], &hooked].concat();
    let loader = ("loader".to_owned(), 1, 15);
    assert_eq!(reported(&both), (Some("sampling".to_owned()), vec![loader]));
    let alone = ("mstx".to_owned(), 2, 297);
    assert_eq!(reported(&own), (Some("dataloader".to_owned()), vec![alone]));
}
