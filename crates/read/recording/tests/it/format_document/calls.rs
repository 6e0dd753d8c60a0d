//! Chunks that hold differences to earlier values.

use ascend_trace_format::record::CpuTime;
use ascend_trace_recording::rows::*;
use ascend_trace_testkit::bytes::Column;

use super::{numbers, rows};

#[test]
fn calls() {
    let columns = [
        numbers(&[1, 65, 1]),                          // thread: 1 and 65 share a slot
        numbers(&[0, 0, 512]),                         // function: 0 and 512 share a slot
        Column::signed(&[1000, -50, 7]),               // begin: 1000, 1050, 1067
        Column::signed(&[100, 10, 0]),                 // end: 1100, 1060, 1067
        Column::signed(&[0, -1, 507000]),              // return value
        numbers(&[0, 1, 0]),                           // depth
        Column::optional(&[Some(0), None, Some(255)]), // device
        Column::optional(&[Some(4), None, Some(260)]), // stream: 4 and 260 share a slot
        Column::optional(&[Some(1), None, None]),      // context
        Column::optional(&[Some(2), Some(2), None]),   // event
        Column::signed(&[3, 1]),                       // generation: 3, 4
        numbers(&[2, 0, 7]),                           // task: memcpy, none, wait
        numbers(&[0, 2]),                              // untimed
        Column::signed(&[10, -4]),                     // sequence: 10, 6
        numbers(&[2, 0, 1]),                           // arguments
        Column::signed(&[4096, -1, 4]),                // 4096 and 2^64-1; 4100
        numbers(&[2, 1, 3]),                           // strings
        numbers(&[1, 0, 2, 1, 2, 3]),                  // a, NULL; a; bc, a, bc
        Column::texts(&["a", "bc"]),
        // graphs: 0 calls before it, serial 3, index 5; 1 call before it, serial 2, index 0
        numbers(&[0, 6, 10, 1, 1, 9]),
        numbers(&[1, 1, 1]), // every argument is in its column
        numbers(&[1, 1]),    // 1 call before it, left
        // stacks: 0 calls before it, stack 7; 1 call before it, stack 5
        numbers(&[0, 14, 1, 3]),
        // processor times: 1 call before it, 10 us of 30, 2 blocks
        numbers(&[1, 10, 20, 2]),
    ];
    let text = |text: &str| Some(text.into());
    let first = CallRow {
        thread: 1,
        function: 0,
        begin_ns: 1000,
        end_ns: 1100,
        ret: 0,
        depth: 0,
        device: Some(0),
        stream: Some(4),
        context: Some(1),
        event: Some((2, 3)),
        task: Some(TaskRow {
            sequence: 10,
            kind: 1,
            untimed: 0,
        }),
        graph: Some(GraphRef {
            serial: 3,
            index: 5,
        }),
        args: vec![4096, u64::MAX],
        strings: vec![text("a"), None],
        ending: Ending::Returned,
        stack: Some(7),
        cpu: None,
    };
    let second = CallRow {
        thread: 65,
        begin_ns: 1050,
        end_ns: 1060,
        ret: -1,
        depth: 1,
        event: Some((2, 4)),
        strings: vec![text("a")],
        ending: Ending::Left,
        cpu: CpuTime::new(10_000, 30_000, 2),
        ..CallRow::default()
    };
    let third = CallRow {
        thread: 1,
        function: 512,
        begin_ns: 1067,
        end_ns: 1067,
        ret: 507000,
        device: Some(255),
        stream: Some(260),
        task: Some(TaskRow {
            sequence: 6,
            kind: 6,
            untimed: 2,
        }),
        graph: Some(GraphRef {
            serial: 2,
            index: 0,
        }),
        args: vec![4100],
        strings: vec![text("bc"), text("a"), text("bc")],
        stack: Some(5),
        ..CallRow::default()
    };
    let expected = [Row::Call(first), Row::Call(second), Row::Call(third)];
    assert_eq!(rows(b"CALL", 3, &columns), expected);
}

/// Numbers that would share a slot if there were half as many.
#[test]
fn there_are_as_many_slots_as_the_document_says() {
    let twice = |value: u64| numbers(&[value, value]);
    let columns = [
        numbers(&[1, 33]),
        numbers(&[0, 256]),
        Column::signed(&[1000, 1000]),
        Column::signed(&[1, 1]),
        Column::signed(&[0, 0]),
        twice(0),
        twice(0),
        Column::optional(&[Some(4), Some(132)]),
        twice(0),
        Column::optional(&[Some(2), Some(130)]),
        Column::signed(&[7, 7]),
        twice(1),
        twice(0),
        Column::signed(&[9, 9]),
        numbers(&[9, 1]),
        Column::signed(&[10, 0, 0, 0, 3, 0, 0, 0, 1, 10]), // the ninth argument is the first plus 1
        twice(0),
        numbers(&[]),
        Column::texts(&[]),
        numbers(&[]),
        numbers(&[1; 10]),
        numbers(&[]),
        numbers(&[]),
    ];
    for (row, thread) in rows(b"CALL", 2, &columns).into_iter().zip([1, 33]) {
        let Row::Call(row) = row else {
            panic!("{row:?}")
        };
        let task = row.task.map(|task| task.sequence);
        let event = row.event.map(|(_, generation)| generation);
        assert_eq!(
            (row.thread, row.begin_ns, event, task),
            (thread, 1000, Some(7), Some(9))
        );
        let args: &[u64] = if thread == 1 {
            &[10, 0, 0, 0, 3, 0, 0, 0, 11]
        } else {
            &[10]
        };
        assert_eq!(row.args, args);
    }

    let columns = [
        twice(1),
        numbers(&[3, 131]),
        Column::signed(&[5, 5]),
        twice(1),
        Column::signed(&[9000, 9000]),
        Column::signed(&[50, 50]),
        Column::signed(&[500, 0]),
        twice(0),
        twice(0),
        twice(0),
        twice(0),
    ];
    for row in rows(b"TIME", 2, &columns) {
        let Row::TaskTime(row) = row else {
            panic!("{row:?}")
        };
        assert_eq!(
            (row.sequence, row.begin_device_ns, row.seen_ns),
            (5, 9000, 500)
        );
    }

    let columns = [
        numbers(&[1, 1, 1]),
        numbers(&[0, 128, 256]),
        Column::signed(&[100, 100, 1]),
        Column::signed(&[1, 1, 1]),
        Column::signed(&[7, 7, 0]),
        numbers(&[0, 0, 0]),
    ];
    let times = rows(b"ANCH", 3, &columns).into_iter().map(|row| match row {
        Row::Anchor(row) => (row.before_ns, row.device_ns),
        _ => panic!("{row:?}"),
    });
    assert_eq!(
        times.collect::<Vec<_>>(),
        [(100, 107), (100, 107), (101, 108)]
    );
}
