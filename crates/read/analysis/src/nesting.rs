//! The named range of a thread at a time.

use std::borrow::Cow;

use ascend_trace_recording::{Range, ThreadId, TimeRange, Trace};

use crate::duplicate_ranges::Repeated;

/// The ranges of each thread by begin, each with the one around it.
#[derive(Clone, Debug, Default)]
pub struct Nesting {
    threads: Vec<Vec<Nested>>,
}

#[derive(Clone, Copy, Debug)]
struct Nested {
    begin: i64,
    end: i64,
    /// Its place in the trace.
    range: usize,
    /// The innermost one that began before it and had not ended.
    around: Option<usize>,
}

impl Nesting {
    pub fn of(trace: &Trace) -> Self {
        Self::within(trace, TimeRange::EVERYTHING)
    }

    /// The same of the ranges that have a part in an interval.
    pub fn within(trace: &Trace, interval: impl Into<TimeRange>) -> Self {
        let interval = interval.into();
        let mut threads: Vec<Vec<Nested>> = vec![Vec::new(); trace.threads().len()];
        let repeated = Repeated::of(trace);
        let long = (0..)
            .zip(trace.ranges())
            .filter(|(_, it)| !it.time().is_empty() && it.time().shares_time(interval))
            .filter(|(_, it)| !repeated.has(trace, it));
        for (place, range) in long {
            let Range { begin, end, .. } = *range;
            threads[range.thread.index()].push(Nested {
                begin,
                end,
                range: place,
                around: None,
            });
        }
        for thread in &mut threads {
            thread.sort_by_key(|it| (it.begin, -it.end, it.range));
            link(thread);
        }
        Self { threads }
    }

    /// The innermost range that a thread was in.
    pub fn innermost<'t>(
        &self,
        trace: &'t Trace,
        thread: ThreadId,
        moment: i64,
    ) -> Option<&'t Range> {
        self.around(trace, thread, moment).next()
    }

    /// The ranges that a thread was in, from the inside out.
    pub fn around<'t>(
        &self,
        trace: &'t Trace,
        thread: ThreadId,
        moment: i64,
    ) -> impl Iterator<Item = &'t Range> {
        let all = self.threads.get(thread.index()).map_or(&[][..], |it| it);
        let last = all.partition_point(|it| it.begin <= moment).checked_sub(1);
        let outwards = std::iter::successors(last, |place| all[*place].around);
        let around = outwards.filter(move |place| all[*place].end > moment);
        around.filter_map(|place| trace.ranges().get(all[place].range))
    }

    /// The times in an interval at which the innermost range of a thread changes, the begin included.
    pub fn cuts(&self, thread: ThreadId, interval: TimeRange) -> Vec<i64> {
        let all = self.threads.get(thread.index()).map_or(&[][..], |it| it);
        let upto = all.partition_point(|it| it.begin < interval.end);
        let moments = all[..upto].iter().flat_map(|it| [it.begin, it.end]);
        let mut cuts: Vec<i64> = moments.filter(|it| interval.owns(*it)).collect();
        cuts.push(interval.begin);
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }
}

/// What ranges of a name have in common: a number at its end, apart from the rest, only counts them. `step 15`
/// is one of `step #`; `conv2` and `layers.3` are names.
pub fn counted(name: &str) -> Cow<'_, str> {
    let word = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '/');
    let number = &name[word.len()..];
    let is_number = number.starts_with(|it: char| it.is_ascii_digit());
    let is_apart = word.ends_with([' ', '_', '-', ':', '=', '#']);
    match is_number && is_apart && word.len() > 1 {
        true => format!("{}#", word.trim_end_matches('#')).into(),
        false => name.into(),
    }
}

fn link(ranges: &mut [Nested]) {
    let mut open: Vec<usize> = Vec::new();
    for place in 0..ranges.len() {
        let begin = ranges[place].begin;
        // Ranges that overlap without one being in the other stay open as long as they last.
        open.retain(|it| ranges[*it].end > begin);
        ranges[place].around = open.last().copied();
        open.push(place);
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_testkit::Timeline;

    use super::*;

    #[test]
    fn numbers_that_only_count_are_left_out() {
        for (name, expected) in [
            ("step 15", "step #"),
            ("step #15", "step #"),
            ("iter_3", "iter_#"),
            ("epoch=2/10", "epoch=#"),
            ("conv2", "conv2"),
            ("layers.3", "layers.3"),
            ("15", "15"),
            ("步骤 7", "步骤 #"),
            ("", ""),
        ] {
            assert_eq!(counted(name), expected, "{name}");
        }
    }

    #[test]
    fn the_innermost_range_is_the_last_one_that_has_not_ended() {
        let text = "t1: aclrtMalloc(64)[0..100us]\nt2: aclrtMalloc(64)[0..100us]";
        let timeline = Timeline::of(text);
        let ranges = [
            (0, 15, 20, "decode"),
            (0, 0, 100, "step"),
            (0, 10, 30, "load"),
            (0, 40, 90, "run"),
            (0, 50, 50, "mark"),
            (1, 0, 5, "other"),
        ];
        let trace = timeline.with_ranges(&ranges).trace();
        let nesting = Nesting::of(&trace);
        let at = |moment: i64| {
            let found = nesting.innermost(&trace, ThreadId(0), moment * 1_000);
            found.map(|range| range.name.clone()).unwrap_or_default()
        };
        assert_eq!(at(5), "step");
        assert_eq!(at(12), "load");
        assert_eq!(at(17), "decode");
        assert_eq!(at(25), "load");
        assert_eq!(at(35), "step");
        assert_eq!(at(89), "run");
        assert_eq!(at(100), "");
        let other = nesting.innermost(&trace, ThreadId(1), 3_000);
        assert_eq!(other.map(|range| range.name.as_str()), Some("other"));
    }
}
