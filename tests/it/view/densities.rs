//! The cells of recordings show the activity in their time, at any zoom.

use ascend_trace_recording::{TaskTime, TimeRange, Trace};
use ascend_trace_testkit::whole::opened;
use ascend_trace_viewer::shares::{LaneShares, STEPS, ShownSlices};

use super::demos;

const WIDTHS: [u16; 2] = [53, 172];

/// Times in which a lane has any slice, with the time in all of them up to each.
///
/// Tasks of a stream may overlap by the errors of their times.
struct Spans {
    spans: Vec<(i64, i64)>,
    before: Vec<i64>,
}

impl Spans {
    fn of(trace: &Trace, shown: ShownSlices) -> Self {
        let task = |time: TaskTime| (time.begin, time.end);
        Self::covering(match shown {
            ShownSlices::Tasks(stream) => {
                let tasks = trace.tasks().iter().filter(|it| it.stream == stream);
                tasks.filter_map(|it| it.time.map(task)).collect()
            }
            ShownSlices::Calls(thread, depth) => {
                let calls = trace.calls().iter();
                let calls = calls.filter(|it| it.thread == thread && it.depth == depth);
                calls.map(|it| (it.begin, it.end)).collect()
            }
        })
    }

    fn covering(mut slices: Vec<(i64, i64)>) -> Self {
        slices.sort_unstable();
        let mut spans: Vec<(i64, i64)> = Vec::with_capacity(slices.len());
        for (begin, end) in slices {
            match spans.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => spans.push((begin, end)),
            }
        }
        let lengths = spans.iter().map(|(begin, end)| end - begin);
        let sums = lengths.scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        });
        let before = std::iter::once(0).chain(sums).collect();
        Self { spans, before }
    }

    /// Nanoseconds in slices up to a time.
    fn until(&self, moment: i64) -> i64 {
        let place = self.spans.partition_point(|span| span.0 < moment);
        let beyond = match place.checked_sub(1) {
            Some(last) => (self.spans[last].1 - moment).max(0),
            None => 0,
        };
        self.before[place] - beyond
    }

    fn inside(&self, begin: i64, end: i64) -> i64 {
        self.until(end) - self.until(begin)
    }
}

/// Ranges from more than all of it down to some nanoseconds, at several places.
fn ranges(TimeRange { begin, end }: TimeRange) -> Vec<TimeRange> {
    let mut ranges = Vec::new();
    let mut length = (end - begin).max(1) * 3;
    while length > 2_000 {
        for part in 0..4 {
            let from = begin - length / 7 + (end - begin) / 4 * part;
            ranges.push(TimeRange::new(from, from + length));
        }
        length = length * 2 / 3;
    }
    ranges
}

/// Nonempty cells, all within one step of the right value.
#[track_caller]
fn check(name: &str, trace: &Trace) -> usize {
    let shares = LaneShares::of(trace);
    let span = trace.span().expect("something to see");
    let mut known: Vec<(ShownSlices, Spans)> = Vec::new();
    let mut checked = 0;
    for (range, width) in ranges(span)
        .into_iter()
        .flat_map(|range| WIDTHS.map(|width| (range, width)))
    {
        for (shown, cells) in shares.in_range(range, width) {
            let place = known.iter().position(|it| it.0 == shown);
            let place = place.unwrap_or_else(|| {
                known.push((shown, Spans::of(trace, shown)));
                known.len() - 1
            });
            let spans = &known[place].1;
            for cell in cells {
                let Some(drawn) = cell.drawn else { continue };
                let length = cell.end - cell.begin;
                let exact = spans.inside(cell.begin, cell.end).min(length) * i64::from(STEPS);
                let off = (i64::from(drawn) * length - exact).abs();
                assert!(
                    off <= length,
                    "{name}: {shown:?} {cell:?}: {} steps",
                    exact as f64 / length as f64
                );
                checked += usize::from(drawn > 0);
            }
        }
    }
    checked
}

#[test]
fn every_cell_of_every_demo_is_as_full_as_its_time_at_every_zoom_level() {
    for (name, path) in demos() {
        let (trace, warnings) = opened(path).unwrap();
        assert!(warnings.is_empty(), "{name}: {warnings:?}");
        let checked = check(name, &trace);
        assert!(checked > 5_000, "{name}: {checked}");
    }
}

#[test]
fn slices_inside_others_count_once() {
    let spans = Spans::covering(vec![(0, 100), (10, 10), (50, 120), (200, 210)]);
    assert_eq!([spans.inside(20, 60), spans.inside(90, 205)], [40, 30 + 5]);
}
