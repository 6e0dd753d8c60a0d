//! Time that a program would save without the costs that checks find.
//!
//! Calls may block for long and yet cost nothing: with less to wait for, the program waits at another place. So the cost of a finding is
//! the difference that it makes in a simulation. The calls are still made, and take the time that they took to return. A wait that
//! saves nothing is no finding.

use std::collections::BTreeSet;

use ascend_trace_recording::{OpenError, Recording};

use super::change::{Changes, Narrow};
use super::collect::Collect;
use super::compact_recording::Facts;
use super::item_numbers::ItemNumbers;
use super::links::{LaneCode, LanePosition};
use super::predict::{ChangedProgram, Prediction, Predictor};
use super::solve::Run;
use super::sync_ledger::{Ledger, ledger};
use super::wait_index::Index;
use crate::checks::{Finding, OrderCheck, Remedy};
use crate::{Fold, Window, WindowSize};

/// Findings that are simulated: those with most time.
const MOST: usize = 24;

/// A wait that costs a smaller part of the program's time is no finding, as a divisor.
const LEAST_PART: i64 = 1_000;

/// Simulates the program without each finding, and adds the saved time to the finding. It takes away findings of waits that save
/// nothing, and those that are not confirmed. The recording is read again if there are findings that can be simulated, and
/// twice if some have to be confirmed.
///
/// # Errors
/// When the file cannot be read.
pub fn judge(
    findings: &mut Vec<Finding>,
    recording: &mut Recording,
    step: WindowSize,
) -> Result<(), OpenError> {
    if findings.iter().any(is_simulated) {
        let read = Costs::default().of_recording(recording, step, |_| true)?;
        let (mut facts, numbers) = read.unwrap_or_default();
        let index = Index::of(&mut facts);
        let all = (&facts, &numbers);
        if findings.iter().any(is_to_be_confirmed) {
            let ledger = checked((&facts, &index), recording, step)?;
            findings.retain(|it| !is_to_be_confirmed(it) || is_confirmed(all, &ledger, it));
        }
        judge_all(findings, all, &index);
        let least = facts.range().duration() / LEAST_PART;
        findings.retain(|it| match it.remedy {
            Some(Remedy::WaitForStream) => it.saved_ns.is_none_or(|saved| saved > least),
            Some(Remedy::WaitForCopies) => it.saved_ns.is_some_and(|saved| saved > least),
            _ => true,
        });
    }
    findings.retain(|it| !is_to_be_confirmed(it) || it.saved_ns.is_some());
    Ok(())
}

fn is_to_be_confirmed(finding: &Finding) -> bool {
    finding.remedy == Some(Remedy::WaitForCopies)
}

/// The ledger of blocking calls, with the order that is left without the waits. It reads the recording.
fn checked(
    (facts, index): (&Facts, &Index),
    recording: &mut Recording,
    step: WindowSize,
) -> Result<Ledger, OpenError> {
    let mut ledger = ledger(facts, index);
    let check = OrderCheck::of(ledger.removals(), facts.checked_until());
    let verdicts = check.of_recording(recording, step, |_| true)?;
    ledger.judge(&verdicts.unwrap_or_default().all);
    Ok(ledger)
}

/// Whether the ledger has a narrower wait for all calls of a finding, and the order is known.
fn is_confirmed(
    (facts, numbers): (&Facts, &ItemNumbers),
    ledger: &Ledger,
    finding: &Finding,
) -> bool {
    let calls = Blocking::of(facts, numbers, finding).calls;
    let narrower = ledger.calls();
    let is_own = |call: &LanePosition| {
        let place = narrower.binary_search_by_key(call, |it| it.0);
        let group = place.ok().map(|it| narrower[it].1 as usize);
        group.is_some_and(|it| ledger.groups[it].1.is_checked)
    };
    calls.len() == finding.calls.len() && calls.iter().all(is_own)
}

fn is_simulated(finding: &Finding) -> bool {
    match finding.remedy {
        Some(Remedy::NoWait | Remedy::WaitForStream | Remedy::WaitForCopies) => {
            finding.has_all_calls()
        }
        Some(Remedy::PinnedMemory) => true,
        Some(Remedy::NotSimulated) | None => false,
    }
}

/// A recording with the numbers of its calls.
#[derive(Debug)]
struct Costs(Collect);

impl Default for Costs {
    fn default() -> Self {
        Self(Collect::with_numbers())
    }
}

impl Fold for Costs {
    type Answer = (Facts, ItemNumbers);

    fn take(&mut self, window: &Window<'_>) {
        self.0.take(window);
    }

    fn finish(self) -> Self::Answer {
        self.0.finish_with_numbers()
    }
}

/// The calls of a finding: where they are, and how long they took.
#[derive(Debug, Default)]
struct Blocking {
    calls: Vec<LanePosition>,
    blocked: i64,
}

/// A finding and the change that takes its cost away.
struct Trial {
    finding: usize,
    changes: Changes,
    blocking: Blocking,
}

fn judge_all(findings: &mut [Finding], (facts, numbers): (&Facts, &ItemNumbers), index: &Index) {
    let mut wanted: Vec<usize> = (0..findings.len()).collect();
    wanted.retain(|it| is_simulated(&findings[*it]));
    wanted.sort_by_key(|it| -findings[*it].total_ns);
    wanted.truncate(MOST);
    let trials = wanted.iter().filter_map(|it| {
        let others = findings.iter().enumerate().filter(|other| other.0 != *it);
        let others: Vec<&Finding> = others.map(|it| it.1).collect();
        Trial::of((facts, numbers), (*it, &findings[*it]), &others)
    });
    let trials: Vec<Trial> = trials.collect();
    for trial in trials {
        let prediction = trial.predict(facts, index);
        if let Some(error) = prediction.error_ns {
            let finding = &mut findings[trial.finding];
            finding.saved_ns = Some(prediction.saved_ns.max(0));
            finding.saved_error_ns = Some(error);
        }
    }
}

impl Trial {
    /// `None` if the simulation cannot separate the calls of the finding from others.
    fn of(
        (facts, numbers): (&Facts, &ItemNumbers),
        (number, finding): (usize, &Finding),
        others: &[&Finding],
    ) -> Option<Self> {
        let narrow = match finding.remedy? {
            Remedy::NoWait => Narrow::None,
            Remedy::WaitForStream | Remedy::WaitForCopies => Narrow::Stream,
            Remedy::PinnedMemory => {
                let is_same = |it: &&&Finding| {
                    it.remedy == finding.remedy && it.site.name == finding.site.name
                };
                let name = &finding.site.name;
                let function = facts.functions.iter().position(|it| it.0 == *name)?;
                return others.iter().find(is_same).is_none().then(|| Self {
                    finding: number,
                    changes: Changes::of_pinned(facts, function as u32),
                    blocking: Blocking::default(),
                });
            }
            Remedy::NotSimulated => return None,
        };
        let blocking = Blocking::of(facts, numbers, finding);
        // A call in another one is not in the simulation by itself.
        (blocking.calls.len() == finding.calls.len()).then(|| Self {
            finding: number,
            changes: Changes::of_group(facts, 0, narrow),
            blocking,
        })
    }

    fn predict(&self, facts: &Facts, index: &Index) -> Prediction {
        let groups = self.blocking.calls.iter().map(|it| (*it, 0));
        let groups: Vec<(LanePosition, u32)> = groups.collect();
        let runs = index.manners().map(|manner| Run {
            changes: &self.changes,
            manner,
        });
        let runs: Vec<Run<'_>> = runs.collect();
        let (predictor, solved) = Predictor::with((facts, index), &groups, &runs);
        let changed = ChangedProgram {
            changes: &self.changes,
            calls: self.blocking.calls.len() as u64,
            blocked: self.blocking.blocked,
            own: &solved[0],
            others: &solved[1..],
        };
        predictor.predict(changed, Vec::new())
    }
}

impl Blocking {
    fn of(facts: &Facts, numbers: &ItemNumbers, finding: &Finding) -> Self {
        let wanted: BTreeSet<u32> = finding.calls.iter().copied().collect();
        let (process, tid) = (finding.process, finding.tid);
        let threads = facts.threads.iter().enumerate();
        let threads = threads.filter(|it| (it.1.process, it.1.tid) == (process, tid));
        let mut found = Self::default();
        for (number, thread) in threads {
            let lane = LaneCode::thread(number);
            let calls = thread.calls.iter().zip(numbers.calls(number));
            for ((call, numbers), ordinal) in calls.zip(0..) {
                // Of a loop of queries, the last one waited.
                if wanted.contains(&numbers.1) {
                    found.calls.push(LanePosition::new(lane, ordinal));
                    found.blocked += call.end - call.begin;
                }
            }
        }
        found
    }
}
