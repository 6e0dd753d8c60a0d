//! `analysis.db`: the times of collectives, messages and steps.

use std::io;

use super::collectives::NamedCollectives;
use super::communication::{ON_HOST, bandwidth, kind, links, matrix_name, step_name};
use super::profiler_tables as tables;
use super::rank_database::{RankRows, RankValue};
use super::step_times::StepTimes;
use super::timing::{ClockOffsets, mb, ms};

/// Writes the whole database.
pub(super) fn write(
    mut rows: RankRows<'_>,
    offsets: &ClockOffsets,
    steps: &StepTimes,
    collectives: &NamedCollectives,
) -> io::Result<()> {
    times(&mut rows, offsets, collectives);
    matrix(&mut rows, collectives);
    for step in steps.all() {
        let mut row: [RankValue; 11] = std::array::from_fn(|_| RankValue::Nothing);
        row[0] = step.device().into();
        row[1] = step.number.to_string().into();
        for (cell, time) in row[2..].iter_mut().zip(step.columns()) {
            *cell = RankValue::Real(time as f64 / 1e3);
        }
        rows.add(tables::STEP_TRACE_TIME, row);
    }
    rows.finish()
}

/// The number of a group, as text.
fn group_number(collectives: &NamedCollectives, group: usize) -> String {
    let group = collectives.groups.get(group);
    group.map_or(0, |it| it.name.number).to_string()
}

fn times(rows: &mut RankRows<'_>, offsets: &ClockOffsets, collectives: &NamedCollectives) {
    for collective in &collectives.all {
        let ran = &collective.ran;
        let group = group_number(collectives, collective.group);
        let (wait, transfer) = collective.split.map_or((None, None), |(wait, transfer)| {
            (Some(ms(wait.ns)), Some(ms(transfer.ns)))
        });
        let row = [
            collective.name.as_str().into(),
            group.as_str().into(),
            (offsets.wall(ran.time.begin) as f64 / 1e3).into(),
            ms(ran.duration()).into(),
            transfer.into(),
            wait.into(),
            wait.into(),
            wait.map(|_| 0.0).into(),
            step_name(ran.step).into(),
            kind(collective).into(),
        ];
        rows.add(tables::COMM_ANALYZER_TIME, row);
        let Some(moved) = collective.moved else {
            continue;
        };
        let row = [
            collective.name.as_str().into(),
            group.into(),
            ON_HOST.into(),
            mb(moved.bytes).into(),
            ms(moved.ns).into(),
            bandwidth(moved).into(),
            RankValue::Nothing,
            RankValue::Nothing,
            RankValue::Nothing,
            RankValue::Nothing,
            step_name(ran.step).into(),
            kind(collective).into(),
        ];
        rows.add(tables::COMM_ANALYZER_BANDWIDTH, row);
    }
}

fn matrix(rows: &mut RankRows<'_>, collectives: &NamedCollectives) {
    for (link, moved) in links(collectives) {
        let row = [
            matrix_name(link.operation).into(),
            group_number(collectives, link.group).into(),
            link.from.to_string().into(),
            link.to.to_string().into(),
            ON_HOST.into(),
            mb(moved.bytes).into(),
            ms(moved.ns).into(),
            bandwidth(moved).into(),
            step_name(link.step).into(),
            "p2p".into(),
            RankValue::Nothing,
        ];
        rows.add(tables::COMM_ANALYZER_MATRIX, row);
    }
}
