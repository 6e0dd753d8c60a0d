//! Events of which a snapshot is taken (`--on`), looked for in the rows as they come.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ascend_trace_format::api::{Blocks, Function, RetKind};
use ascend_trace_format::range::{RangeKind, step_number};
use ascend_trace_recording::rows::{CallRow, RangeRow};
use ascend_trace_recording::units::duration;
use ascend_trace_tables::FUNCTIONS;

use super::{SnapshotOrigin, SnapshotRequest, nanoseconds};
use crate::switchboard::Switchboard;

/// Steps that the median is of, and the fewest.
const MOST_STEPS: usize = 100;
const FEWEST_STEPS: usize = 10;

/// Events that are looked for in the rows of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TriggerRules {
    /// A call of the program returns an error.
    pub call_error: bool,
    /// A call of the program waits for longer than this.
    pub stall: Option<Duration>,
    /// A step takes more than this number of times as long as the median of the last steps.
    pub slow_step: Option<f64>,
    /// The program ends with another status than 0.
    pub failed_exit: bool,
}

/// Looks at rows for events.
#[derive(Debug)]
pub(crate) struct Triggers {
    rules: TriggerRules,
    board: Arc<Switchboard>,
    /// Durations of the last steps, by process and domain.
    steps: HashMap<(u32, u64), VecDeque<i64>>,
}

impl Triggers {
    pub(crate) fn new(rules: TriggerRules, board: Arc<Switchboard>) -> Self {
        Self {
            rules,
            board,
            steps: HashMap::new(),
        }
    }

    /// Takes in a call, with the number of its function in the tool's tables.
    pub(crate) fn call(&self, call: &CallRow) {
        let event = (call.depth == 0).then(|| self.of_call(call));
        self.want(event.flatten(), SnapshotOrigin::Rule);
    }

    /// Takes in a range.
    pub(crate) fn range(&mut self, range: &RangeRow) {
        match RangeKind::of_domain(range.domain) {
            Some(RangeKind::Snapshot) => {
                let event = (range.begin_ns, range.name.clone());
                self.want(Some(event), SnapshotOrigin::Program);
            }
            kind => {
                let event = self.of_range(range, kind);
                self.want(event, SnapshotOrigin::Rule);
            }
        }
    }

    fn want(&self, event: Option<(i64, String)>, origin: SnapshotOrigin) {
        if let Some((at_ns, reason)) = event {
            self.board.want(SnapshotRequest {
                at_ns,
                reason,
                origin,
            });
        }
    }

    fn of_call(&self, call: &CallRow) -> Option<(i64, String)> {
        let function = FUNCTIONS.get(usize::from(call.function))?;
        let lasted = call.end_ns.saturating_sub(call.begin_ns);
        let is_long = |most: Duration| lasted > nanoseconds(most);
        let reason = if self.rules.call_error && is_error(function, call) {
            format!("{} returned {}", function.name, call.ret as i32)
        } else if function.blocks != Blocks::No && self.rules.stall.is_some_and(is_long) {
            format!("{} waited for {}", function.name, duration(lasted))
        } else {
            return None;
        };
        Some((call.end_ns, reason))
    }

    fn of_range(&mut self, range: &RangeRow, kind: Option<RangeKind>) -> Option<(i64, String)> {
        let factor = self.rules.slow_step?;
        let is_step = match kind {
            Some(kind) => kind == RangeKind::Step,
            None => step_number(range.name.as_bytes()).is_some(),
        };
        let lasted = range.end_ns.saturating_sub(range.begin_ns);
        // A mark has no duration.
        if !is_step || lasted <= 0 {
            return None;
        }
        let steps = self.steps.entry((range.process, range.domain));
        let steps = steps.or_default();
        let usual = median(steps);
        if steps.len() == MOST_STEPS {
            steps.pop_front();
        }
        steps.push_back(lasted);
        let usual = usual?;
        let times = lasted as f64 / usual.max(1) as f64;
        (times > factor).then(|| {
            let (took, median) = (duration(lasted), duration(usual));
            let name = &range.name;
            let reason = format!("{name} took {took}, {times:.1} times the median {median}");
            (range.end_ns, reason)
        })
    }
}

fn is_error(function: &Function, call: &CallRow) -> bool {
    function.ret == RetKind::Error && call.ret != 0 && call.ending.is_return()
}

/// The median of the steps; `None` while there are few.
fn median(steps: &VecDeque<i64>) -> Option<i64> {
    let mut sorted: Vec<i64> = steps.iter().copied().collect();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).copied();
    middle.filter(|_| sorted.len() >= FEWEST_STEPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triggers(rules: TriggerRules) -> (Triggers, Arc<Switchboard>) {
        let board = Arc::<Switchboard>::default();
        (Triggers::new(rules, Arc::clone(&board)), board)
    }

    fn function(name: &str) -> u16 {
        let place = FUNCTIONS.iter().position(|it| it.name == name);
        u16::try_from(place.unwrap()).unwrap()
    }

    fn call(name: &str, ret: i64, lasted: i64) -> CallRow {
        CallRow {
            function: function(name),
            ret,
            begin_ns: 1_000,
            end_ns: 1_000 + lasted,
            ..CallRow::default()
        }
    }

    fn reason(board: &Switchboard) -> Option<String> {
        board.take_wanted().map(|it| it.reason)
    }

    #[test]
    fn errors_and_long_waits_are_noticed() {
        let (triggers, board) = triggers(TriggerRules {
            call_error: true,
            stall: Some(Duration::from_millis(100)),
            ..TriggerRules::default()
        });
        triggers.call(&call("aclrtMalloc", 0, 900_000_000));
        triggers.call(&call("aclrtSynchronizeStream", 0, 99_000_000));
        assert_eq!(reason(&board), None);
        triggers.call(&call("aclrtMalloc", 207_001, 10));
        assert_eq!(reason(&board).unwrap(), "aclrtMalloc returned 207001");
        triggers.call(&call("aclrtSynchronizeStream", 0, 120_000_000));
        let expected = "aclrtSynchronizeStream waited for 120 ms";
        assert_eq!(reason(&board).unwrap(), expected);
    }

    #[test]
    fn a_program_asks_for_a_snapshot_by_a_mark() {
        let (mut triggers, board) = triggers(TriggerRules::default());
        let mark = |kind: RangeKind| RangeRow {
            name: "why".to_owned(),
            begin_ns: 7,
            end_ns: 7,
            domain: kind.domain(),
            ..RangeRow::default()
        };
        triggers.range(&mark(RangeKind::Function));
        assert_eq!(reason(&board), None);
        triggers.range(&mark(RangeKind::Snapshot));
        let wanted = board.take_wanted().unwrap();
        assert_eq!((wanted.at_ns, &*wanted.reason), (7, "why"));
        assert_eq!(wanted.origin, SnapshotOrigin::Program);
    }

    #[test]
    fn a_slow_step_is_one_that_differs_from_the_last_ones() {
        let (mut triggers, board) = triggers(TriggerRules {
            slow_step: Some(1.5),
            ..TriggerRules::default()
        });
        let step = |name: &str, lasted: i64| RangeRow {
            name: name.to_owned(),
            begin_ns: 0,
            end_ns: lasted,
            ..RangeRow::default()
        };
        // Too few to compare with.
        triggers.range(&step("step 0", 90_000_000));
        (1..12).for_each(|it| triggers.range(&step(&format!("step {it}"), 10_000_000)));
        triggers.range(&step("load", 90_000_000));
        triggers.range(&step("step 12", 15_000_000));
        assert_eq!(reason(&board), None);
        triggers.range(&step("step 13", 20_000_000));
        let expected = "step 13 took 20.0 ms, 2.0 times the median 10.0 ms";
        assert_eq!(reason(&board).unwrap(), expected);
    }
}
