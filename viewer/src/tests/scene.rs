//! A recording of which every kind of lane has something: what pictures and the manual show.

use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{CostRow, LossRow, RangeRow, Row};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::whole::GrowingRecording;

use super::harness::{PIPELINE, Player};

/// Work of a step in addition to [`PIPELINE`]: a graph of two operators that is replayed twice, a
/// reduction among eight ranks, a callback.
const OTHER_ROWS: &str = "
s5: Scale[captured] by t2[102us..104us] of g1 Add[captured] by t2[110us..112us] of g1
t2: capture(s5)[90us..100us] of g1 end(s5)[120us..140us] of g1
s5: graph[240us..400us] by t2[200us..206us] of g1 graph[480us..640us] by t2[420us..426us] of g1
t1: HcclCommInitRootInfo(8,3,77)[30us..52us]
s6: HcclAllReduce(77,262144)[1710us..1990us] by t2[1705us..1709us]
s6: hostfunc[1990us..2040us] by t2[1711us..1714us]
";

/// The ranges of the first thread: begin and end in microseconds, and the name.
const RANGES: [(i64, i64, &str); 3] = [
    (2, 2_110, "step 1"),
    (60, 690, "forward"),
    (695, 1_615, "backward"),
];

/// The tracer overhead of the first thread: time in microseconds, and sums of calls and nanoseconds.
const COSTS: [(i64, u64, u64); 4] = [
    (0, 0, 0),
    (700, 14, 9_000),
    (1_400, 30, 48_000),
    (2_110, 44, 57_000),
];

/// Two copies feed two compute streams, one of which waits for the other; another device waits for
/// them; a graph is replayed, ranks reduce, two threads block, a few calls are lost.
pub(super) fn scene() -> Trace {
    build(true)
}

/// The same while its program runs.
pub(super) fn running_scene() -> Trace {
    build(false)
}

fn build(ended: bool) -> Trace {
    let timeline = Timeline::of(&format!("{PIPELINE}{OTHER_ROWS}"));
    let mut builder = GrowingRecording::new(timeline.session, timeline.tables);
    let (ends, rows): (Vec<Row>, Vec<Row>) =
        (timeline.rows.into_iter()).partition(|row| matches!(row, Row::End(_)));
    let thread = rows.iter().find_map(|row| match row {
        Row::Thread(thread) => Some((thread.process, thread.thread)),
        _ => None,
    });
    let thread = thread.expect("a thread");
    let half = rows.len() / 2;
    for (place, row) in rows.into_iter().enumerate() {
        if place == half {
            builder.apply(Row::Loss(LossRow {
                thread: Some(thread.1),
                calls: 17,
                others: 2,
                times: 1,
            }));
        }
        builder.apply(row);
    }
    rows_other_than_calls(thread).for_each(|row| builder.apply(row));
    if ended {
        ends.into_iter().for_each(|row| builder.apply(row));
        return builder.finish();
    }
    builder.settle();
    builder.trace().clone()
}

fn rows_other_than_calls((process, thread): (u32, u32)) -> impl Iterator<Item = Row> {
    let ranges = RANGES.into_iter().map(move |(begin, end, name)| {
        Row::Range(RangeRow {
            process,
            thread,
            begin_ns: begin * 1_000,
            end_ns: end * 1_000,
            domain: 0,
            name: name.to_owned(),
        })
    });
    let costs = COSTS.into_iter().map(move |(at, calls, recording_ns)| {
        Row::Cost(CostRow {
            thread,
            at_ns: at * 1_000,
            calls,
            recording_ns,
            ..CostRow::default()
        })
    });
    ranges.chain(costs)
}

#[test]
fn every_kind_of_lane_exists() {
    let player = Player::of(scene(), super::harness::LARGE);
    let picture = player.picture();
    let wanted = [
        "device 0",
        "device 1",
        "stream 5",
        "└ nodes",
        "└ callbacks",
        "HCCL 004d",
        "ranges",
        "thread 1001",
        "overhead",
        "losses",
    ];
    for lane in wanted {
        assert!(picture.contains(lane), "no {lane} in\n{picture}");
    }
}
