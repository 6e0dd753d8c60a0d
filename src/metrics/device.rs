//! When streams worked, and what for.

use std::collections::BTreeMap;

use ascend_trace_analysis::{Class, Intervals, Lane, Node, Window};
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{StreamId, Task, TimeRange};

/// What a device was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    Compute,
    Communication,
    Copy,
}

impl Use {
    pub(super) const ALL: [Self; 3] = [Self::Compute, Self::Communication, Self::Copy];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communication => "communication",
            Self::Copy => "copy",
        }
    }

    fn of(task: &Task) -> Self {
        match task.kind {
            TaskKind::Collective => Self::Communication,
            TaskKind::Memcpy | TaskKind::Memset => Self::Copy,
            _ => Self::Compute,
        }
    }
}

/// A time in which a stream worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) range: TimeRange,
    pub(super) used: Use,
}

/// The work of a stream in a range. What a task waited for is none of it, and no moment counts twice.
pub(super) fn pieces(window: &Window<'_>, stream: StreamId, range: TimeRange) -> Vec<Piece> {
    let trace = window.trace;
    let mut held = BTreeMap::new();
    for stall in window.stalls.lane(Lane::Stream(stream)) {
        if let (Node::Task(task), false) = (stall.node, stall.is_gap()) {
            held.insert(task, stall.end);
        }
    }
    let mut pieces = Vec::new();
    let mut until = i64::MIN;
    for id in trace.stream_tasks(stream) {
        let task = trace.task(*id);
        let (Some(time), class) = (task.time, Class::of(trace, task)) else {
            continue;
        };
        let held_until = held.get(id).copied();
        let begin = time.begin.max(until).max(held_until.unwrap_or(i64::MIN));
        until = match class {
            Class::Work | Class::Callback => until.max(time.end),
            Class::EventWait | Class::SignalWait => until.max(held_until.unwrap_or(until)),
            Class::Mark => until,
        };
        let inside = TimeRange::new(begin, time.end).intersection(range);
        if class == Class::Work && begin < time.end && !inside.is_empty() {
            pieces.push(Piece {
                range: inside,
                used: Use::of(task),
            });
        }
    }
    pieces
}

/// How long a device was used, with any of its streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) busy: i64,
    /// By [`Use::ALL`].
    pub(super) by_use: [i64; 3],
    /// It communicated and did not compute.
    pub(super) exposed: i64,
}

impl Used {
    /// Adds the work of all streams in a range.
    pub(super) fn add(&mut self, pieces: &[Piece], range: TimeRange) {
        let of = |wanted: &dyn Fn(Use) -> bool| {
            let own = pieces.iter().filter(|it| wanted(it.used));
            Intervals::union_of(own.map(|it| it.range.intersection(range)))
        };
        let of_use = Use::ALL.map(|used| of(&|it| it == used));
        self.busy += of(&|_| true).total();
        for (sum, intervals) in self.by_use.iter_mut().zip(&of_use) {
            *sum += intervals.total();
        }
        let [compute, communication, _] = &of_use;
        self.exposed += communication.difference(compute).total();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_several_streams_are_united() {
        let piece = |begin, end, used| Piece {
            range: TimeRange::new(begin, end),
            used,
        };
        let pieces = [
            piece(0, 10, Use::Compute),
            piece(5, 15, Use::Communication),
            piece(12, 20, Use::Communication),
            piece(30, 40, Use::Copy),
        ];
        let mut used = Used::default();
        used.add(&pieces, TimeRange::new(0, 35));
        let expected = Used {
            busy: 25,
            by_use: [10, 15, 5],
            exposed: 10,
        };
        assert_eq!(used, expected);
        // The rest of it, wherever time is cut.
        used.add(&pieces, TimeRange::new(35, 100));
        assert_eq!(used.busy, 30);
    }
}
