use ascend_trace_analysis::{Dependencies, Stalls};
use ascend_trace_model::{TraceBuilder, rows::Row};
use ascend_trace_testkit::Timeline;

use super::words;

const TEXT: &str = "
    s1: A[0..10us] rec(E) B[10us..30us] rec(F) C[40us..50us]
    s2: wait(E)[2us..10us] D[12us..20us] wait(F)[20us..30us] rec(E)
    s3: wait(E)[1us..20us] G[20us..25us]
    t1: sync(s2)[5us..35us] sync(s1)[42us..60us] sync()[61us..62us] sync(E)[63us..64us]
";

/// Feeds a timeline to both analyses, updating after every row, and compares the outcome with
/// that of the analyses of the whole.
fn follow(rows: &[Row], timeline: &Timeline) {
    let mut builder = TraceBuilder::new(timeline.session.clone(), timeline.tables.clone());
    let (mut dependencies, mut stalls) = (Dependencies::default(), Stalls::default());
    for row in rows {
        builder.apply(row.clone());
        builder.settle();
        dependencies.update(builder.trace());
        stalls.update(builder.trace(), &dependencies);
    }
    let trace = builder.trace();
    let whole = Dependencies::of(trace);
    assert_eq!(
        words::edges(trace, &dependencies),
        words::edges(trace, &whole)
    );
    assert!(!whole.edges().is_empty());
    let all = |stalls: &Stalls| -> Vec<_> { stalls.sorted().into_iter().copied().collect() };
    assert_eq!(all(&stalls), all(&Stalls::of(trace)));
    let window = |it: &Dependencies| {
        let mut edges = it.in_window(trace, 0, 100_000, 99).edges;
        edges.sort();
        edges
    };
    assert_eq!(window(&dependencies), window(&whole));
}

#[test]
fn following_a_trace_row_by_row_ends_where_the_whole_does() {
    let timeline = Timeline::parse(TEXT).unwrap();
    follow(&timeline.rows, &timeline);
}

#[test]
fn the_order_in_which_records_and_waits_arrive_does_not_matter() {
    // Calls of several threads arrive in any order: here every wait comes before its record.
    let text = TEXT.replace("s2:", "s2 by t2:").replace("s3:", "s3 by t3:");
    let timeline = Timeline::parse(&text).unwrap();
    let is_late = |row: &Row| match row {
        Row::Call(call) => timeline.tables.functions[usize::from(call.function)]
            .role
            .starts_with("record"),
        Row::End(_) => true,
        _ => false,
    };
    let (late, early): (Vec<_>, Vec<_>) = timeline.rows.iter().cloned().partition(is_late);
    let mut builder = TraceBuilder::new(timeline.session.clone(), timeline.tables.clone());
    let mut dependencies = Dependencies::default();
    for row in early.into_iter().chain(late) {
        builder.apply(row);
        builder.settle();
        dependencies.update(builder.trace());
    }
    let trace = builder.trace();
    let waits = |it: &Dependencies| -> Vec<_> {
        let edges = words::edges(trace, it).into_iter();
        edges.filter(|it| it.starts_with("record-wait")).collect()
    };
    assert_eq!(waits(&dependencies).len(), 3);
    assert_eq!(waits(&dependencies), waits(&Dependencies::of(trace)));
    assert!(dependencies.unresolved(trace).is_empty());
}

#[test]
fn a_stream_is_followed_up_to_the_first_time_that_is_missing() {
    let timeline = Timeline::parse("s1: A[0..1us] by t1[-5..-4] B[?] C[90us..91us]").unwrap();
    let trace = timeline.trace();
    let mut live = Stalls::default();
    live.update(&trace, &Dependencies::of(&trace));
    assert_eq!(live.iter().count(), 0);
    // When nothing more will come, what is known counts.
    assert_eq!(Stalls::of(&trace).iter().count(), 1);
}
