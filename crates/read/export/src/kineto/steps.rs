//! Steps of a training loop, which readers know by the name `ProfilerStep#` and a number.

use std::borrow::Cow;

use ascend_trace_recording::{Range, ThreadId};

/// What programs call the ranges of their steps, in small letters.
const WORDS: [&str; 4] = ["profilerstep", "step", "iteration", "iter"];

/// Allowed characters between the word and the number.
const BETWEEN: [char; 7] = [' ', '#', ':', '_', '-', '=', '.'];

/// How readers know a step.
const STEP: &str = "ProfilerStep";

/// Which ranges are steps: those of one thread, by one word. Several threads can report the same steps,
/// and a range inside a step can have a number, too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepRanges(Option<(ThreadId, &'static str)>);

impl StepRanges {
    /// Of ranges in the order of their begins, longer ones first: the first one defines the steps.
    pub(super) fn of<'r>(mut ranges: impl Iterator<Item = &'r Range>) -> Self {
        Self(ranges.find_map(|range| Some((range.thread, numbered(range)?.0))))
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_none()
    }

    /// The name of a range: only a step keeps a name like a step's.
    pub(super) fn name(self, range: &Range) -> Cow<'_, str> {
        if let Some((word, number)) = numbered(range)
            && self.0 == Some((range.thread, word))
        {
            return format!("{STEP}#{number}").into();
        }
        match range.name.contains(STEP) {
            true => range.name.replace(STEP, "profiler step").into(),
            false => range.name.as_str().into(),
        }
    }
}

/// The word and the number of a range that may be a step.
fn numbered(range: &Range) -> Option<(&'static str, u64)> {
    let name = range.name.to_ascii_lowercase();
    let words = WORDS.into_iter().filter(|_| range.begin < range.end);
    let mut found = words.filter_map(|word| {
        let number = name.strip_prefix(word)?.trim_start_matches(BETWEEN);
        Some((word, number.trim_end().parse().ok()?))
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ranges: &[(u32, &str, i64)]) -> Vec<String> {
        let ranges = ranges.iter().map(|(thread, name, length)| Range {
            thread: ThreadId(*thread),
            begin: 0,
            end: *length,
            domain: 0,
            name: (*name).to_owned(),
            message: None,
        });
        let ranges: Vec<_> = ranges.collect();
        let steps = StepRanges::of(ranges.iter());
        ranges
            .iter()
            .map(|it| steps.name(it).into_owned())
            .collect()
    }

    #[test]
    fn steps_are_those_of_one_thread_by_one_word() {
        let ranges = [
            (1, "forward", 9),
            (1, "step 7", 0),
            (1, "Step 7", 9),
            (1, "iteration 1", 9),
            (2, "step 7", 9),
            (1, "step_8", 9),
            (1, "stepping 9", 9),
        ];
        let expected = [
            "forward",
            "step 7",
            "ProfilerStep#7",
            "iteration 1",
            "step 7",
            "ProfilerStep#8",
            "stepping 9",
        ];
        assert_eq!(names(&ranges), expected);
    }

    #[test]
    fn nothing_else_is_called_like_a_step() {
        let ranges = [
            (1, "ProfilerStep#x", 9),
            (1, "ProfilerStep#12", 9),
            (2, "ProfilerStep#12", 9),
        ];
        let expected = ["profiler step#x", "ProfilerStep#12", "profiler step#12"];
        assert_eq!(names(&ranges), expected);
    }
}
