//! Steps on the device: from the first task of one to the first task of the next.

use ascend_trace_recording::TimeRange;

use super::begins::{TaskLengths, begins};
use super::process_steps::{FoundStep, StepClock};
use super::sequence::RequestedOperation;
use super::symbols::SymbolKind;

/// A step as a part of a sequence of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepPart {
    /// The place of its first entry, and the one behind its last.
    pub(super) from: usize,
    pub(super) until: usize,
}

/// Steps with their times.
pub(super) struct Measured {
    pub(super) clock: StepClock,
    pub(super) cuts: Vec<FoundStep>,
    /// Steps that are left out, since no task shows when they began or ended on the device.
    pub(super) left_out: u64,
}

/// The times of steps: on the device where most of them have a task with a time there, else on the host. `kind`: the kind of an
/// entry.
pub(super) fn measured(
    entries: &[RequestedOperation],
    parts: &[StepPart],
    (ran_until, lengths): (Option<i64>, &TaskLengths),
    kind: impl Fn(&RequestedOperation) -> SymbolKind,
) -> Measured {
    if let Some(times) = on_device(entries, parts, (ran_until, lengths), kind) {
        let cuts = cuts(entries, parts, &times);
        return Measured {
            clock: StepClock::Device,
            left_out: (parts.len() - cuts.len()) as u64,
            cuts,
        };
    }
    let times = parts.iter().map(|it| Some(asked(entries, it)));
    let times: Vec<_> = times.collect();
    Measured {
        clock: StepClock::Host,
        cuts: disjoint(cuts(entries, parts, &times)),
        left_out: 0,
    }
}

fn cuts(
    entries: &[RequestedOperation],
    parts: &[StepPart],
    times: &[Option<TimeRange>],
) -> Vec<FoundStep> {
    let numbered = parts.iter().zip(times).zip(1..);
    let cuts = numbered.filter_map(|((part, time), number)| {
        let time = (*time)?;
        Some(FoundStep {
            begin: time.begin,
            end: time.end,
            asked: asked(entries, part),
            name: format!("#{number}"),
        })
    });
    cuts.collect()
}

/// From the first request of a step to the next one after it.
fn asked(entries: &[RequestedOperation], part: &StepPart) -> TimeRange {
    let begin = entries[part.from].begin();
    let next = entries.get(part.until).map(RequestedOperation::begin);
    let end = next.unwrap_or_else(|| entries[part.until - 1].end());
    TimeRange::new(begin, end)
}

/// Where another thread plans, the next can begin before the last one was submitted.
fn disjoint(mut cuts: Vec<FoundStep>) -> Vec<FoundStep> {
    let mut reached = i64::MIN;
    cuts.retain(|cut| {
        let is_next = cut.begin >= reached && cut.begin < cut.end;
        reached = if is_next { cut.end } else { reached };
        is_next
    });
    cuts
}

/// The times of steps on the device. `None` if most have none.
fn on_device(
    entries: &[RequestedOperation],
    parts: &[StepPart],
    (ran_until, lengths): (Option<i64>, &TaskLengths),
    kind: impl Fn(&RequestedOperation) -> SymbolKind,
) -> Option<Vec<Option<TimeRange>>> {
    let begins = begins(entries, parts, lengths, &kind);
    if !begins.iter().flatten().is_sorted_by(|a, b| a < b) {
        return None;
    }
    let time = |at: usize| {
        let (part, begin) = (&parts[at], begins[at]?);
        let next = parts.get(at + 1);
        let end = match next.is_some_and(|it| it.from == part.until) {
            true => begins[at + 1],
            false => end_before_other_work(entries, part, ran_until, |it| kind(it).waits()),
        };
        end.filter(|it| *it > begin)
            .map(|end| TimeRange::new(begin, end))
    };
    let times: Vec<_> = (0..parts.len()).map(time).collect();
    let known = times.iter().flatten().count();
    (known * 2 > parts.len()).then_some(times)
}

/// The end of a step that no other follows at once.
fn end_before_other_work(
    entries: &[RequestedOperation],
    part: &StepPart,
    ran_until: Option<i64>,
    waits: impl Fn(&RequestedOperation) -> bool,
) -> Option<i64> {
    let after = entries[part.until..]
        .iter()
        .find_map(RequestedOperation::ran);
    let last = &entries[part.until - 1];
    let waited = waits(last).then(|| last.end());
    ran_until.into_iter().chain(after).chain(waited).min()
}
