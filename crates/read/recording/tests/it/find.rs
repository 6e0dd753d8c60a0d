use std::collections::HashSet;

use ascend_trace_recording::recording::{SearchDirection, SearchResult};
use ascend_trace_recording::{FunctionId, Recording, TimeRange, Trace};

use crate::windows::{chunks, files, open};

fn function(trace: &Trace, name: &str) -> FunctionId {
    let place = trace.functions().iter().position(|it| it.name == name);
    FunctionId(place.unwrap() as u32)
}

/// Begins of the calls of a function that begin in a range, in order.
fn begins(trace: &Trace, wanted: FunctionId, range: TimeRange) -> Vec<i64> {
    let calls = trace.calls().iter().filter(|it| it.function == wanted);
    let begins = calls.map(|call| call.begin);
    let mut begins: Vec<i64> = begins.filter(|begin| range.contains(*begin)).collect();
    begins.sort_unstable();
    begins
}

fn next(recording: &mut Recording, name: &str, from: i64, towards: SearchDirection) -> Option<i64> {
    let wanted = function(recording.entities(), name);
    let answer = recording.find(
        from,
        towards,
        |it| it == wanted,
        |_| true,
        |trace, range| {
            let found = begins(trace, wanted, range);
            match towards {
                SearchDirection::Later => found.first().copied(),
                SearchDirection::Earlier => found.last().copied(),
            }
        },
    );
    answer.unwrap().found()
}

#[test]
fn the_next_and_the_last_call_are_those_of_the_whole_trace() {
    let files = files();
    let mut recording = open(&files.path);
    let TimeRange { begin, end } = files.whole.span().unwrap();
    let wanted = function(&files.whole, "aclrtMalloc");
    let all = begins(&files.whole, wanted, TimeRange::EVERYTHING);
    for part in 0..=10 {
        let from = begin + (end - begin) / 10 * part;
        let later = all.iter().find(|it| **it >= from).copied();
        let earlier = all.iter().rfind(|it| **it <= from).copied();
        let mut found = |towards| next(&mut recording, "aclrtMalloc", from, towards);
        assert_eq!(found(SearchDirection::Later), later);
        assert_eq!(found(SearchDirection::Earlier), earlier);
    }
    // From each match on to the one after it, and back.
    for two in all.windows(2).step_by(197) {
        let later = next(
            &mut recording,
            "aclrtMalloc",
            two[0] + 1,
            SearchDirection::Later,
        );
        let earlier = next(
            &mut recording,
            "aclrtMalloc",
            two[1] - 1,
            SearchDirection::Earlier,
        );
        assert_eq!((later, earlier), (Some(two[1]), Some(two[0])));
    }
}

#[test]
fn every_task_begins_in_the_range_of_exactly_one_part() {
    let files = files();
    let mut recording = open(&files.path);
    for towards in [SearchDirection::Later, SearchDirection::Earlier] {
        let from = match towards {
            SearchDirection::Later => i64::MIN,
            SearchDirection::Earlier => i64::MAX,
        };
        let mut seen = HashSet::new();
        let mut ranges = Vec::new();
        let answer = recording.find(
            from,
            towards,
            |_| true,
            |_| true,
            |trace, range| {
                ranges.push(range);
                for task in trace.tasks() {
                    let begin = task.time.map(|time| time.begin);
                    if begin.is_some_and(|it| range.contains(it)) {
                        assert!(seen.insert((task.stream, task.sequence)));
                    }
                }
                None::<()>
            },
        );
        assert_eq!(answer.unwrap(), SearchResult::Nothing);
        assert_eq!(seen.len(), files.whole.tasks().len());
        ranges.sort_unstable();
        assert!(ranges.len() > 5);
        assert_eq!(
            (ranges[0].begin, ranges.last().unwrap().end),
            (i64::MIN, i64::MAX)
        );
        assert!(ranges.windows(2).all(|two| two[0].end + 1 == two[1].begin));
    }
}

#[test]
fn a_search_stops_on_request() {
    let mut recording = open(&files().path);
    let mut reached = Vec::new();
    let mut looked = 0;
    let answer = recording.find(
        i64::MIN,
        SearchDirection::Later,
        |_| true,
        |moment| {
            reached.push(moment);
            reached.len() < 4
        },
        |_, _| {
            looked += 1;
            None::<()>
        },
    );
    assert_eq!(answer.unwrap(), SearchResult::Stopped);
    assert_eq!((looked, reached.len()), (3, 4));
    assert!(reached.is_sorted());
}

#[test]
fn parts_without_a_match_are_not_read() {
    let mut bytes = files().bytes.clone();
    for (_, end, kind) in chunks(&files().bytes) {
        if kind == *b"CALL" {
            bytes[end - 1] ^= 1;
        }
    }
    let mut recording = Recording::from_bytes(bytes).unwrap();
    let look = |_: &Trace, _| None::<()>;
    let none = recording.find(i64::MIN, SearchDirection::Later, |_| false, |_| true, look);
    assert_eq!(none.unwrap(), SearchResult::Nothing);
    assert_eq!(recording.warnings(), []);
    let any = recording.find(i64::MIN, SearchDirection::Later, |_| true, |_| true, look);
    assert_eq!(any.unwrap(), SearchResult::Nothing);
    assert!(!recording.warnings().is_empty());
}
