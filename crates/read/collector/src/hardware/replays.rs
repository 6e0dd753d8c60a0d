//! Tasks that replay graphs: each runs from the begin of the first of its nodes to the end of the last.

use std::collections::BTreeMap;

use ascend_trace_format::time::HostNs;

use super::entry::LoggedSpan;

/// Replays that wait for nodes.
#[derive(Debug, Default)]
pub(super) struct Replays {
    /// By the stream's serial and the task's sequence.
    waiting: BTreeMap<(u32, u32), WaitingReplay>,
}

#[derive(Debug)]
struct WaitingReplay {
    /// It was submitted no earlier.
    submitted: HostNs,
    nodes: usize,
    span: Option<LoggedSpan>,
    /// Nothing is missing until now.
    is_whole: bool,
}

/// All that the log has of a replay is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplayState {
    /// When the replay ran.
    Whole(LoggedSpan),
    /// A time that precedes all of it, and the time of some of it.
    Part(HostNs, LoggedSpan),
    Unknown,
}

impl ReplayState {
    pub(super) const fn time(self) -> Option<LoggedSpan> {
        match self {
            Self::Whole(span) => Some(span),
            Self::Part(..) | Self::Unknown => None,
        }
    }
}

impl Replays {
    /// A replay that was submitted at a time has `nodes` nodes in the log. One that `is_complete` contains
    /// nothing else that takes time.
    pub(super) fn expect(
        &mut self,
        task: (u32, u32),
        submitted: HostNs,
        nodes: usize,
        is_complete: bool,
    ) {
        let waiting = WaitingReplay {
            submitted,
            nodes,
            span: None,
            is_whole: is_complete,
        };
        self.waiting.insert(task, waiting);
    }

    /// When a node of a replay ran, if that is known. Returns the last one.
    pub(super) fn node(
        &mut self,
        task: (u32, u32),
        span: Option<LoggedSpan>,
    ) -> Option<ReplayState> {
        let waiting = self.waiting.get_mut(&task)?;
        waiting.is_whole &= span.is_some();
        let spans = waiting.span.into_iter().chain(span);
        waiting.span = spans.reduce(LoggedSpan::and);
        waiting.nodes = waiting.nodes.saturating_sub(1);
        if waiting.nodes > 0 {
            return None;
        }
        let done = self.waiting.remove(&task)?;
        Some(match done.span {
            Some(span) if done.is_whole => ReplayState::Whole(span),
            Some(span) => ReplayState::Part(done.submitted, span),
            None => ReplayState::Unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_format::time::DeviceNs;

    use super::*;

    #[test]
    fn a_replay_has_a_time_when_all_its_nodes_have() {
        let span = |begin, end| {
            Some(LoggedSpan {
                begin: DeviceNs::new(begin),
                end: DeviceNs::new(end),
                seen: HostNs::new(99),
            })
        };
        let whole = |begin, end| span(begin, end).map(ReplayState::Whole);
        let mut replays = Replays::default();
        replays.expect((1, 5), HostNs::new(4), 3, true);
        assert_eq!(replays.node((1, 5), span(20, 30)), None);
        assert_eq!(replays.node((1, 5), span(10, 15)), None);
        assert_eq!(replays.node((1, 5), span(25, 28)), whole(10, 30));
        assert_eq!(replays.node((1, 5), span(1, 2)), None, "it is over");
        replays.expect((1, 6), HostNs::new(4), 2, true);
        assert_eq!(replays.node((1, 6), None), None);
        let part = span(1, 2).map(|span| ReplayState::Part(HostNs::new(4), span));
        assert_eq!(replays.node((1, 6), span(1, 2)), part);
        replays.expect((1, 7), HostNs::new(4), 1, false);
        assert_eq!(replays.node((1, 7), span(1, 2)), part);
        replays.expect((1, 8), HostNs::new(4), 1, true);
        assert_eq!(replays.node((1, 8), None), Some(ReplayState::Unknown));
    }
}
