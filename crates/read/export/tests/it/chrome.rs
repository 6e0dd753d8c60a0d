use std::collections::{BTreeSet, HashMap};

use ascend_trace_analysis::{Dependencies, Edge, EdgeKind, Node};
use ascend_trace_export::{Chrome, ExportSource, Exporter, OutputLayout, SingleFile};
use ascend_trace_recording::{StreamId, Trace};
use ascend_trace_testkit::timeline;

use super::checker::{ImportedSlice, ImportedTrace, import};
use super::memory::export;

/// What both sides name a slice by: a task by its stream and place there, a call by its number.
pub(crate) type SliceKey = (Option<(u64, u64, u64, u64)>, Option<u64>);

pub(crate) fn chrome(trace: &Trace) -> ImportedTrace {
    import(export(&Chrome, trace).text(""))
}

/// Whether a slice is only where arrows arrive at the end of a waiter.
pub(crate) fn is_mark(slice: &ImportedSlice) -> bool {
    slice.category == "released"
}

/// The slice that a mark belongs to: the innermost one that holds it. Slices are in the order of
/// their begin.
#[track_caller]
pub(crate) fn waiter(imported: &ImportedTrace, place: usize) -> &ImportedSlice {
    let mark = &imported.slices[place];
    let same = |it: &&ImportedSlice| (&it.process, &it.track) == (&mark.process, &mark.track);
    let holds = |it: &&ImportedSlice| it.begin < mark.begin && mark.begin <= it.end;
    let before = imported.slices[..place].iter().rev();
    let mut before = before.filter(|it| !is_mark(it)).filter(same);
    before.find(holds).expect("a mark belongs to a slice")
}

fn slice_key(slice: &ImportedSlice) -> SliceKey {
    let number = |key: &str| slice.args[key].as_u64();
    // Only a task's slice has an error bar.
    if number("err_ns").is_none() {
        return (None, number("call"));
    }
    let after = |text: &str, word: &str| -> u64 {
        let (_, rest) = text.split_once(word).expect("the word");
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a number")
    };
    let pid = after(&slice.process, "(pid ");
    let device = after(&slice.process, " device ");
    let stream = after(&slice.track, "stream ");
    assert_eq!(number("stream"), Some(stream));
    assert_eq!(number("device"), Some(device));
    assert_eq!(number("correlation"), number("call").map(|call| call + 1));
    (
        Some((pid, device, stream, number("seq").expect("seq"))),
        None,
    )
}

fn node_key(trace: &Trace, node: Node) -> SliceKey {
    let Node::Task(id) = node else {
        let Node::Call(id) = node else { unreachable!() };
        return (None, Some(u64::from(id.0)));
    };
    let task = trace.task(id);
    if task.time.is_none() {
        return node_key(trace, Node::Call(task.call));
    }
    let stream = trace.stream(task.stream);
    let pid = u64::from(trace.process(stream.process).pid);
    let number = stream.number() as u64;
    (
        Some((
            pid,
            u64::from(stream.device),
            number,
            u64::from(task.sequence),
        )),
        None,
    )
}

/// Waits that seem over before what released them, within the error bars: until when they are drawn, and their ends.
fn late_releases(trace: &Trace) -> HashMap<(SliceKey, i64), i64> {
    let zero = trace.span().map_or(0, |span| span.begin);
    let mut late = HashMap::new();
    for edge in Dependencies::of(trace).edges() {
        let (Node::Task(from), Node::Task(to)) = (edge.from, edge.to) else {
            continue;
        };
        let times = trace.task(from).time.zip(trace.task(to).time);
        let Some((record, wait)) = times.filter(|(record, wait)| record.begin > wait.end) else {
            continue;
        };
        if record.begin - wait.end <= record.error + wait.error {
            let key = (node_key(trace, edge.to), record.begin - zero);
            late.insert(key, wait.end - zero);
        }
    }
    late
}

/// Every timed task and every call is one slice with the recording's name and times.
#[track_caller]
pub(crate) fn check_slices(trace: &Trace, imported: &ImportedTrace) {
    let begin = trace.span().map_or(0, |span| span.begin);
    let mut expected = BTreeSet::new();
    for (index, call) in trace.calls().iter().enumerate() {
        let name = trace.function(call.function).name.as_str();
        let key = (None, Some(index as u64));
        expected.insert((key, name, call.begin - begin, call.end - begin));
    }
    for (index, task) in trace.tasks().iter().enumerate() {
        if let Some(time) = task.time {
            let id = ascend_trace_recording::TaskId(index as u32);
            let key = node_key(trace, Node::Task(id));
            let name = trace.task_name(task);
            expected.insert((key, name, time.begin - begin, time.end - begin));
        }
    }
    let slices = imported.slices.iter().filter(|it| !is_mark(it));
    let slices: Vec<_> = slices.filter(|it| it.category != "stall").collect();
    let late = late_releases(trace);
    let found: BTreeSet<_> = slices
        .iter()
        .map(|it| {
            let key = slice_key(it);
            let end = late.get(&(key, it.end)).copied().unwrap_or(it.end);
            (key, it.name.as_str(), it.begin, end)
        })
        .collect();
    assert_eq!(found.len(), slices.len(), "a slice occurs twice");
    assert_eq!(found, expected);
    let reached: BTreeSet<_> = imported.flows.iter().map(|(_, _, to)| *to).collect();
    for (index, slice) in imported.slices.iter().enumerate() {
        assert!(!is_mark(slice) || reached.contains(&index), "{slice:?}");
    }
}

/// Flows by category and ends.
pub(crate) fn flows(imported: &ImportedTrace) -> BTreeSet<(String, SliceKey, SliceKey)> {
    let key = |index: usize| match &imported.slices[index] {
        mark if is_mark(mark) => slice_key(waiter(imported, index)),
        slice => slice_key(slice),
    };
    let flows = imported.flows.iter();
    flows
        .map(|(kind, from, to)| (kind.clone(), key(*from), key(*to)))
        .collect()
}

/// The flows that a trace's dependencies should give, launches of untimed tasks apart.
pub(crate) fn expected_flows(trace: &Trace) -> BTreeSet<(String, SliceKey, SliceKey)> {
    let dependencies = Dependencies::of(trace);
    let drawn = |edge: &Edge| match (edge.kind, edge.to) {
        (EdgeKind::LaunchToTask, Node::Task(id)) => trace.task(id).time.is_some(),
        _ => true,
    };
    let edges = dependencies.all(trace).filter(drawn);
    edges
        .map(|it| {
            let kind = it.kind.name().to_owned();
            (kind, node_key(trace, it.from), node_key(trace, it.to))
        })
        .collect()
}

#[track_caller]
pub(crate) fn check(text: &str) -> ImportedTrace {
    let trace = timeline(text);
    let imported = chrome(&trace);
    check_slices(&trace, &imported);
    assert_eq!(flows(&imported), expected_flows(&trace), "{text}");
    assert_eq!(imported.flows.len(), expected_flows(&trace).len());
    imported
}

#[test]
fn an_arrow_from_a_record_between_tasks_without_a_gap_starts_at_the_record() {
    check(
        "s1: A[0..10] rec(E)[10] rec(F)[10] B[10..20] rec(G)[20] C[20..21]
         s2: wait(E)[0..10] wait(F)[10..10] wait(G)[10..20] D[20..30]",
    );
}

#[test]
fn arrows_of_slices_one_nanosecond_long_bind() {
    check(
        "s1: A[0..1] B[1..2] rec(E)[2] C[2..3]
         s2: wait(E)[1..2] D[2..3]
         t2: sync(s2)[2..4]",
    );
}

#[test]
fn an_arrow_to_a_sync_leaves_the_task_that_ended_and_not_its_successor() {
    check(
        "s1: A[3us..10us] by t1[0..1us] B[10us..20us] by t2[4us..5us]
         t1: sync(s1)[2us..12us]",
    );
}

#[test]
fn nested_calls_nest_unless_they_end_with_their_sync() {
    let imported = check(
        "t1: outer(1)[0..100] inner(2)[10..90] innermost(3)[20..30] same(4)[20..25]
         s1: A[120..150] by t1[110..111]
         t1: sync(s1)[115..160] helper(5)[120..150] last(6)[151..159]",
    );
    let track = |name: &str| {
        let slice = imported.slices.iter().find(|it| it.name == name);
        slice.expect("the slice").track.clone()
    };
    assert_eq!(track("outer"), "t1");
    assert_eq!(track("innermost"), "t1");
    assert_eq!(track("same"), "t1 (2)");
    assert_eq!(track("helper"), "t1");
    assert_eq!(track("last"), "t1 (2)");
}

#[test]
fn processes_devices_and_streams_are_named() {
    let imported = check("s0@0: A[0..10] | s7@1: B[0..10]");
    let tracks: BTreeSet<_> = imported
        .slices
        .iter()
        .map(|it| (it.process.as_str(), it.track.as_str()))
        .collect();
    let expected = [
        ("app1", "t1"),
        ("app1 device 0 (pid 1000)", "stream 0 (default)"),
        ("app1 device 1 (pid 1000)", "stream 7"),
    ];
    assert_eq!(tracks, BTreeSet::from(expected));
}

#[test]
fn counters_have_the_queue_and_the_busy_streams() {
    let imported = check(
        "s1: A[10..20] by t1[0..1] B[20..30] by t1[2..3]
         s2: C[15..40] by t1[4..5]",
    );
    let device = "app1 device 0 (pid 1000)".to_owned();
    let counter = |name: &str| &imported.counters[&(device.clone(), name.to_owned())];
    assert_eq!(
        counter("queued on stream 1 tasks"),
        &[(0, 1), (2, 2), (20, 1), (30, 0)]
    );
    assert_eq!(
        counter("busy streams"),
        &[(10, 1), (15, 2), (30, 1), (40, 0)]
    );
}

#[test]
fn counters_have_the_memory_in_use() {
    let trace = super::allocations::trace();
    let imported = chrome(&trace);
    let counter = |process: &str, name: &str| {
        let key = (process.to_owned(), name.to_owned());
        imported.counters.get(&key).cloned().unwrap_or_default()
    };
    assert_eq!(
        counter("app", "memory in use on device 0 bytes"),
        [(10, 100), (28, 350), (40, 250), (60, 0)]
    );
    assert_eq!(counter("app", "pinned memory in use bytes"), [(50, 8)]);
}

#[test]
fn the_recording_is_described() {
    let imported = check("s1: A[5..10] by t1[3..4]");
    assert_eq!(imported.other["tool"], "ascend-trace");
    assert_eq!(imported.other["begin_ns"], 3);
    assert_eq!(imported.other["complete"], true);
    assert_eq!(imported.other["lost_calls"], 0);
    assert_eq!(imported.other["omitted_flows"], 0);
}

#[test]
fn an_empty_trace_is_a_valid_file() {
    let imported = chrome(&Trace::default());
    assert!(imported.slices.is_empty() && imported.flows.is_empty());
}

#[test]
fn a_single_writer_takes_the_whole_file() {
    assert_eq!(Chrome.layout(), OutputLayout::File { extension: "json" });
    let trace = timeline("s1: A[0..10]");
    assert_eq!(trace.stream_tasks(StreamId(0)).len(), 1);
    let mut bytes = Vec::new();
    Chrome
        .export(&ExportSource::new(&trace), &mut SingleFile::new(&mut bytes))
        .expect("memory takes everything");
    assert_eq!(bytes, export(&Chrome, &trace).text("").as_bytes());
}
