//! Sections of the index about times that come after their launches: the chunks with these times, and the
//! tasks and times without a partner at the end of a group.

use crate::file::column::{Columns, Cursors};
use crate::file::index::group::ChunkGroup;
use crate::file::index::links::TimesLink;
use crate::file::index::pending::{FileSpan, PendingRun};
use crate::file::index::run_spans::RunSpan;
use crate::file::index::streams::WaitingTasks;
use crate::file::index::totals::Totals;

use super::{Sections, put_rows, section, take_rows};

/// More are in no index that a writer made.
const MOST_LINKS: u32 = 1 << 16;
const MOST_RAN: u32 = 1 << 16;
const MOST_WAITING: u32 = 1 << 17;

pub(super) fn put_links(out: &mut Vec<u8>, group: &ChunkGroup) {
    let mut columns = Columns::new(4);
    let mut last = group.begin;
    for TimesLink { times, launches } in &group.links {
        columns.row();
        columns.put_signed(0, difference(times.from, last));
        columns.put(1, times.until - times.from);
        columns.put_signed(2, difference(times.from, launches.from));
        columns.put(3, launches.until - launches.from);
        last = times.from;
    }
    section(out, &mut columns);
}

/// The links of a group from `begin` on, with its index at `end`.
pub(super) fn take_links(mut cursors: Cursors<'_>, begin: u64, end: u64) -> Option<Vec<TimesLink>> {
    if cursors.rows() > MOST_LINKS {
        return None;
    }
    let mut last = begin;
    let links = (0..cursors.rows()).map(|_| {
        let times = last.checked_add_signed(cursors.take_signed(0)?)?;
        last = times;
        let times = place(times, cursors.take(1)?, end)?;
        let launches = times.from.checked_sub_signed(cursors.take_signed(2)?)?;
        let launches = place(launches, cursors.take(3)?, end)?;
        Some(TimesLink { times, launches })
    });
    links.collect()
}

pub(super) fn put_waiting(out: &mut Vec<u8>, group: &ChunkGroup, index: u64) {
    let mut columns = Columns::new(10);
    let mut begin = 0;
    for WaitingTasks {
        stream: (process, serial),
        is_time,
        is_loose,
        run,
    } in &group.waiting
    {
        columns.row();
        columns.put(0, (*process).into());
        columns.put(1, (*serial).into());
        columns.put(2, u64::from(*is_time));
        columns.put(3, run.first.into());
        columns.put(4, (run.last - run.first).into());
        columns.put(5, u64::from(*is_loose));
        columns.put(6, index.saturating_sub(run.place.from));
        columns.put(7, run.place.until - run.place.from);
        columns.put_signed(8, run.begin.wrapping_sub(begin));
        columns.put(9, run.reason.into());
        begin = run.begin;
    }
    section(out, &mut columns);
}

/// The launches and times that wait at the end of a group, with its index at `index`.
pub(super) fn take_waiting(mut cursors: Cursors<'_>, index: u64) -> Option<Vec<WaitingTasks>> {
    if cursors.rows() > MOST_WAITING {
        return None;
    }
    let mut begin = 0_i64;
    let waiting = (0..cursors.rows()).map(|_| {
        let stream = (cursors.take_as(0)?, cursors.take_as(1)?);
        let is_time = cursors.take(2)? != 0;
        let first: u32 = cursors.take_as(3)?;
        let last = first.checked_add(cursors.take_as(4)?)?;
        let is_loose = cursors.take(5)? != 0;
        let from = index.checked_sub(cursors.take(6)?)?;
        let place = place(from, cursors.take(7)?, index)?;
        begin = begin.wrapping_add(cursors.take_signed(8)?);
        let run = PendingRun {
            first,
            last,
            place,
            begin,
            reason: cursors.take_as(9)?,
        };
        Some(WaitingTasks {
            stream,
            is_time,
            is_loose,
            run,
        })
    });
    waiting.collect()
}

/// Tasks of which the call said that they would have no time, by reason, and which got one; then the times that may
/// belong to no task.
pub(super) fn put_regained(out: &mut Vec<u8>, totals: &Totals) {
    let counts = totals.regained.iter().chain([&totals.uncertain]);
    put_rows(out, counts.map(|count| [*count]));
}

pub(super) fn take_regained(sections: &mut Sections<'_>, totals: &mut Totals) -> Option<()> {
    let mut codes = totals.regained.iter_mut().chain([&mut totals.uncertain]);
    take_rows(sections, |[count]| {
        if let Some(code) = codes.next() {
            *code = count;
        }
        Some(())
    })
}

pub(super) fn put_ran(out: &mut Vec<u8>, group: &ChunkGroup) {
    let mut columns = Columns::new(5);
    let (mut segment, mut begin) = (group.begin, 0);
    for ran in &group.ran {
        columns.row();
        columns.put(0, ran.segment.saturating_sub(segment));
        let (process, device) = ran.clock.unwrap_or_default();
        let process = ran.clock.map_or(0, |_| u64::from(process) + 1);
        columns.put(1, process);
        columns.put(2, device.into());
        columns.put_signed(3, ran.begin.wrapping_sub(begin));
        columns.put(4, ran.end.wrapping_sub(ran.begin).cast_unsigned());
        (segment, begin) = (ran.segment, ran.begin);
    }
    section(out, &mut columns);
}

/// When tasks ran, of a group from `begin` on, with its index at `end`.
pub(super) fn take_ran(mut cursors: Cursors<'_>, begin: u64, end: u64) -> Option<Vec<RunSpan>> {
    if cursors.rows() > MOST_RAN {
        return None;
    }
    let (mut segment, mut last) = (begin, 0_i64);
    let ran = (0..cursors.rows()).map(|_| {
        segment = segment.checked_add(cursors.take(0)?)?;
        let process = cursors.take(1)?;
        let device = cursors.take_as(2)?;
        let clock = match process.checked_sub(1) {
            Some(process) => Some((u32::try_from(process).ok()?, device)),
            None => None,
        };
        last = last.wrapping_add(cursors.take_signed(3)?);
        let ran = RunSpan {
            segment,
            clock,
            begin: last,
            end: last.wrapping_add(cursors.take(4)?.cast_signed()),
        };
        (segment <= end).then_some(ran)
    });
    ran.collect()
}

/// From one place of a file to another.
fn difference(to: u64, from: u64) -> i64 {
    to.wrapping_sub(from).cast_signed()
}

/// A part of the file before its place `end`.
fn place(from: u64, length: u64, end: u64) -> Option<FileSpan> {
    let until = from.checked_add(length)?;
    (until <= end).then_some(FileSpan { from, until })
}
