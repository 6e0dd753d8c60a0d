//! Tasks that replay graphs: each runs from the begin of the first of its nodes to the end of the last.

use std::collections::BTreeMap;

use super::lane::Span;

/// Replays that wait for nodes.
#[derive(Debug, Default)]
pub(super) struct Replays {
    /// By the stream's serial and the task's sequence.
    waiting: BTreeMap<(u32, u32), Waiting>,
}

#[derive(Debug)]
struct Waiting {
    nodes: usize,
    span: Option<Span>,
    /// Nothing is missing so far.
    is_whole: bool,
}

impl Replays {
    /// A replay has so many nodes in the log. One that `is_told` does nothing else that takes time.
    pub(super) fn expect(&mut self, task: (u32, u32), nodes: usize, is_told: bool) {
        let waiting = Waiting {
            nodes,
            span: None,
            is_whole: is_told,
        };
        self.waiting.insert(task, waiting);
    }

    /// When a node of a replay ran, if that is known. With the last one, when the replay did, or that nobody knows.
    pub(super) fn node(&mut self, task: (u32, u32), span: Option<Span>) -> Option<Option<Span>> {
        let waiting = self.waiting.get_mut(&task)?;
        waiting.is_whole &= span.is_some();
        let spans = waiting.span.into_iter().chain(span);
        waiting.span = spans.reduce(Span::and);
        waiting.nodes = waiting.nodes.saturating_sub(1);
        if waiting.nodes > 0 {
            return None;
        }
        let done = self.waiting.remove(&task)?;
        Some(done.span.filter(|_| done.is_whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_has_a_time_when_all_its_nodes_have() {
        let span = |begin, end| {
            Some(Span {
                begin,
                end,
                seen: 99,
            })
        };
        let mut replays = Replays::default();
        replays.expect((1, 5), 3, true);
        assert_eq!(replays.node((1, 5), span(20, 30)), None);
        assert_eq!(replays.node((1, 5), span(10, 15)), None);
        assert_eq!(replays.node((1, 5), span(25, 28)), Some(span(10, 30)));
        assert_eq!(replays.node((1, 5), span(1, 2)), None, "it is over");
        replays.expect((1, 6), 2, true);
        assert_eq!(replays.node((1, 6), None), None);
        assert_eq!(replays.node((1, 6), span(1, 2)), Some(None));
        replays.expect((1, 7), 1, false);
        assert_eq!(replays.node((1, 7), span(1, 2)), Some(None));
    }
}
