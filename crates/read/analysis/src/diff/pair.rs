//! Two processes, or two whole recordings.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::collect::Group;
use super::operation_order::{AlignedSequences, Edit};
use super::row::DiffRow;
use super::series::{Key, Series, SubjectKind};

/// Changes below this part of a step are not reported.
const LEAST: f64 = 0.001;

/// Two processes that were compared, or two whole recordings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Pair {
    /// Numbers of the processes in their recordings; `null` for whole recordings.
    pub a_process: Option<u32>,
    pub b_process: Option<u32>,
    /// The compared steps: without those that warm up, and 4,096 at most.
    pub a_steps: u64,
    pub b_steps: u64,
    /// Operations that the usual steps of both have at the same place of the sequence.
    pub aligned: u64,
    pub edits: Vec<Edit>,
    /// Changes first, by their impact on a step.
    #[serde(serialize_with = "crate::columns::rows")]
    pub rows: Vec<DiffRow>,
}

impl Pair {
    pub(super) fn of(a: &Group, b: &Group) -> Self {
        let has_steps = a.process.is_some();
        let sampled = has_steps.then_some((a.steps.as_slice(), b.steps.as_slice()));
        let aligned = AlignedSequences::of(&a.usual, &b.usual);
        let none = Series::default();
        let keys: BTreeSet<&Key> = a.series.keys().chain(b.series.keys()).collect();
        let rows = keys.into_iter().map(|key| {
            let series = |it: &'_ Group| it.series.get(key).cloned();
            let (one, other) = (series(a), series(b));
            let one = one.as_ref().unwrap_or(&none);
            let mut row = DiffRow::of(key, one, other.as_ref().unwrap_or(&none), sampled);
            if let Some((there, place)) = aligned.worst.get(&key.1)
                && key.0 == SubjectKind::Operation
                && *place > 0
            {
                row.there_ns = Some(*there);
                row.place = Some(*place);
            }
            row
        });
        Self {
            a_process: a.process,
            b_process: b.process,
            a_steps: a.steps.len() as u64,
            b_steps: b.steps.len() as u64,
            rows: rows.collect(),
            aligned: aligned.count,
            edits: aligned.edits,
        }
    }

    /// Decides what changed, now that chances are corrected, and puts changes first.
    pub(super) fn settle(&mut self) {
        let least = LEAST * self.whole();
        self.rows.iter_mut().for_each(|row| row.judge(least));
        let differs = |name: &str| {
            let own = self
                .rows
                .iter()
                .filter(|it| it.kind == SubjectKind::Operation);
            let mut own = own.filter(|it| it.name == name);
            own.any(DiffRow::has_other_count)
        };
        for edit in &mut self.edits {
            edit.certain = differs(&edit.name);
        }
        self.rows.sort_by_cached_key(|row| {
            let is_same = row.verdict == super::Verdict::Same;
            let impact = i128::from(row.impact_ns).abs();
            let name = row.name.clone();
            (
                row.kind != SubjectKind::Step,
                is_same,
                -impact,
                row.kind,
                name,
            )
        });
    }

    /// How long a step of A takes; without steps, all its operations.
    fn whole(&self) -> f64 {
        let steps = self.rows.iter().find(|it| it.kind == SubjectKind::Step);
        let operations = self
            .rows
            .iter()
            .filter(|it| it.kind == SubjectKind::Operation);
        let all = operations.map(|it| it.a.typical_ns.unwrap_or(0) as f64 * it.a.count);
        match steps.and_then(|it| it.a.typical_ns) {
            Some(step) => step as f64,
            None => all.sum(),
        }
    }
}
