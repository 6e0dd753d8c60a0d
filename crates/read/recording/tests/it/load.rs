use ascend_trace_format::api::Untimed;
use ascend_trace_recording::rows::*;
use ascend_trace_recording::{ProcessId, StreamId, ThreadId, TimeRange, Trace};
use ascend_trace_testkit::whole::{GrowingRecording, from_rows};

fn call(thread: u32, begin_ns: i64, end_ns: i64) -> CallRow {
    CallRow {
        thread,
        begin_ns,
        end_ns,
        ..CallRow::default()
    }
}

fn task(stream: u32, sequence: u32, untimed: Untimed) -> Row {
    let at = 1000 * i64::from(sequence);
    Row::Call(CallRow {
        stream: Some(stream),
        task: Some(TaskRow {
            sequence,
            kind: 3,
            untimed: untimed.code(),
        }),
        ..call(1, at, at + 10)
    })
}

fn time(stream: u32, sequence: u32, begin: i64, end: i64) -> Row {
    Row::TaskTime(TaskTimeRow {
        process: 0,
        stream,
        sequence,
        untimed: 0,
        begin_device_ns: begin,
        end_device_ns: end,
        seen_ns: end + 100_000,
        arming_ns: 0,
        submitting_ns: 0,
        record_ns: 0,
        record_open_ns: 0,
        run_tasks: 0,
    })
}

fn load(rows: impl IntoIterator<Item = Row>) -> Trace {
    from_rows(SessionRow::default(), TablesRow::default(), rows)
}

#[test]
fn calls_of_a_thread_are_sorted_by_begin_and_children_follow_their_parents() {
    let rows = [(5, 6), (4, 9), (4, 5), (1, 2), (1, 3)];
    let trace = load(rows.map(|(begin, end)| Row::Call(call(7, begin, end))));
    let lane = trace
        .thread_calls(ThreadId(0))
        .iter()
        .map(|id| trace.call(*id));
    let order: Vec<_> = lane.map(|call| (call.begin, call.end)).collect();
    assert_eq!(order, [(1, 3), (1, 2), (4, 9), (4, 5), (5, 6)]);
    assert_eq!(trace.span(), Some(TimeRange::new(1, 9)));
}

#[test]
fn tasks_of_a_stream_are_in_the_order_of_submission() {
    let rows = [3, 1, 2].map(|sequence| task(9, sequence, Untimed::Off));
    let trace = load(rows);
    let lane = trace
        .stream_tasks(StreamId(0))
        .iter()
        .map(|id| trace.task(*id));
    assert_eq!(
        lane.map(|task| task.sequence).collect::<Vec<_>>(),
        [1, 2, 3]
    );
}

#[test]
fn a_thing_may_be_mentioned_before_its_own_row_comes() {
    let stream = StreamRow {
        process: 4,
        serial: 9,
        context: 2,
        device: 1,
        handle: 0xab,
        acl_id: Some(33),
        flags: 1,
        priority: 2,
        is_default: false,
        manner: 0,
    };
    let thread = ThreadRow {
        thread: 1,
        process: 4,
        tid: 55,
        handle: 0,
        name: "main".into(),
    };
    let rows = [
        Row::Thread(thread),
        task(9, 0, Untimed::Off),
        Row::Stream(stream),
        task(9, 1, Untimed::Off),
    ];
    let trace = load(rows);
    assert_eq!(trace.streams().len(), 1);
    assert_eq!(trace.streams()[0].number(), 33);
    assert_eq!(trace.tasks()[0].stream, trace.tasks()[1].stream);
    assert_eq!(trace.processes().len(), 1);
    assert_eq!(
        trace.context(trace.streams()[0].context.unwrap()).process,
        ProcessId(0)
    );
}

#[test]
fn the_same_serial_in_two_processes_is_two_streams() {
    let thread = |thread, process| {
        Row::Thread(ThreadRow {
            thread,
            process,
            tid: 0,
            handle: 0,
            name: String::new(),
        })
    };
    let on = |thread| {
        Row::Call(CallRow {
            stream: Some(5),
            ..call(thread, 0, 1)
        })
    };
    let trace = load([thread(1, 10), thread(2, 20), on(1), on(2)]);
    assert_eq!(trace.streams().len(), 2);
    assert_ne!(trace.calls()[0].stream, trace.calls()[1].stream);
}

#[test]
fn a_time_may_come_before_its_task() {
    let trace = load([time(1, 0, 500, 900), task(1, 0, Untimed::Timed)]);
    let time = trace.tasks()[0].time.unwrap();
    assert_eq!(time.end - time.begin, 400);
}

#[test]
fn an_untimed_task_says_why_and_a_task_without_news_is_lost_at_the_end() {
    let rows = [
        task(1, 0, Untimed::Captured),
        task(1, 1, Untimed::Timed),
        task(1, 2, Untimed::Timed),
        Row::TaskTime(TaskTimeRow {
            process: 0,
            stream: 1,
            sequence: 1,
            untimed: Untimed::Unreadable.code(),
            begin_device_ns: 0,
            end_device_ns: 0,
            seen_ns: 0,
            arming_ns: 0,
            submitting_ns: 0,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        }),
    ];
    let mut builder = GrowingRecording::new(SessionRow::default(), TablesRow::default());
    rows.into_iter().for_each(|row| builder.apply(row));
    builder.settle();
    let why = |builder: &GrowingRecording| -> Vec<_> {
        builder
            .trace()
            .tasks()
            .iter()
            .map(|task| task.untimed)
            .collect()
    };
    let growing = [Untimed::Captured, Untimed::Unreadable, Untimed::Timed];
    assert_eq!(why(&builder), growing);
    builder.apply(Row::End(EndRow::default()));
    builder.settle();
    assert_eq!(
        why(&builder),
        [Untimed::Captured, Untimed::Unreadable, Untimed::Lost]
    );
}

#[test]
fn a_task_without_a_stream_still_has_a_lane() {
    let row = Row::Call(CallRow {
        task: Some(TaskRow {
            sequence: 0,
            kind: 3,
            untimed: Untimed::Unknown.code(),
        }),
        ..call(1, 0, 1)
    });
    let trace = load([row]);
    assert_eq!(trace.stream_tasks(trace.tasks()[0].stream).len(), 1);
}

#[test]
fn losses_add_up_and_counters_replace() {
    let loss = |calls| {
        Row::Loss(LossRow {
            thread: None,
            calls,
            others: 1,
            times: 0,
        })
    };
    let counter = |process, value| {
        Row::Counter(CounterRow {
            process,
            what: 1,
            value,
        })
    };
    let trace = load([
        loss(3),
        loss(4),
        counter(1, 5),
        counter(1, 8),
        counter(2, 10),
    ]);
    assert_eq!((trace.losses().calls, trace.losses().others), (7, 2));
    assert_eq!(trace.counter(1), 18);
    assert_eq!(trace.counter(2), 0);
}

#[test]
fn an_empty_trace_has_no_span() {
    assert_eq!(load([]).span(), None);
}

#[test]
fn of_several_ends_of_a_process_the_earliest_counts() {
    let end = |process, end_ns| Row::ProcessEnd(ProcessEndRow { process, end_ns });
    let trace = load([end(0, 9), end(1, 4), end(0, 7), end(1, 5)]);
    let ends = trace.processes().iter().map(|it| it.end_ns);
    assert_eq!(ends.collect::<Vec<_>>(), [Some(7), Some(4)]);
}
