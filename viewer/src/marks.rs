//! Marks to measure between, and bookmarks that outlive the view.

/// A mark: the span of a task, a call or a stall, or a single timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

/// The distance between two marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MarkDistance {
    /// From the end of the earlier to the begin of the later one; negative when they overlap.
    pub(crate) gap: i64,
    pub(crate) between_begins: i64,
    pub(crate) between_ends: i64,
}

/// At most two marks: a third one takes the place of the older.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks(Vec<Mark>);

impl Marks {
    pub(crate) fn set(&mut self, mark: Mark) {
        if self.0.len() == 2 {
            self.0.remove(0);
        }
        self.0.push(mark);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn all(&self) -> &[Mark] {
        &self.0
    }

    /// Both marks by time.
    pub(crate) fn pair(&self) -> Option<(Mark, Mark)> {
        match self.0.as_slice() {
            [one, other] if (one.begin, one.end) <= (other.begin, other.end) => {
                Some((*one, *other))
            }
            [one, other] => Some((*other, *one)),
            _ => None,
        }
    }

    pub(crate) fn measure(&self) -> Option<MarkDistance> {
        let (early, late) = self.pair()?;
        Some(MarkDistance {
            gap: late.begin.saturating_sub(early.end),
            between_begins: late.begin.saturating_sub(early.begin),
            between_ends: late.end.saturating_sub(early.end),
        })
    }
}

/// A range of time that the user gave a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    pub name: String,
    /// The visible range, in the trace's time.
    pub begin: i64,
    pub end: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn mark(begin: i64, end: i64) -> Mark {
        Mark { begin, end }
    }

    #[test]
    fn two_marks_are_measured_in_any_order() {
        let mut marks = Marks::default();
        marks.set(mark(100, 130));
        assert_eq!(marks.measure(), None);
        marks.set(mark(10, 40));
        let expected = MarkDistance {
            gap: 60,
            between_begins: 90,
            between_ends: 90,
        };
        assert_eq!(marks.measure(), Some(expected));
    }

    #[test]
    fn a_third_mark_replaces_the_older_one() {
        let mut marks = Marks::default();
        for begin in [0, 50, 80] {
            marks.set(mark(begin, begin + 10));
        }
        assert_eq!(marks.measure().map(|it| it.gap), Some(20));
    }

    #[test]
    fn marks_that_overlap_have_a_negative_gap() {
        let mut marks = Marks::default();
        marks.set(mark(0, 100));
        marks.set(mark(30, 40));
        assert_eq!(marks.measure().map(|it| it.gap), Some(-70));
    }
}
