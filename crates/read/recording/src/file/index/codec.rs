//! The index as bytes. Tables as everywhere in a file, several of them in one payload.

mod late;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::TimeRange;
use crate::clock::ClockBound;
use crate::file::chunk::{self, CHUNK_HEADER, ChunkKind, Packer};
use crate::file::column::{Columns, Cursors};
use crate::rows;
use crate::summary::{DEEPEST, LaneEntry};

use super::group::{ChunkGroup, EntityChunk, FineLanes, LaneKey, Lanes, Segment};
use super::totals::{DeviceTotals, MOST, StreamTotals, Totals};

/// More segments, things, bounds or entries than this are in no index that a writer made.
const MOST_SEGMENTS: u32 = 4096;
const MOST_ENTITIES: u32 = 1 << 16;
const MOST_BOUNDS: u32 = 1 << 20;
const MOST_ENTRIES: u32 = 1 << 20;

/// Whether the index says where the chunks of this kind are. An older reader passes over newer kinds.
pub(super) fn is_entity(kind: ChunkKind) -> bool {
    let mut entities = rows::TABLES.iter().filter(|table| table.is_entity);
    kind == chunk::TABLES || entities.any(|table| table.kind == kind)
}

/// The two chunks that follow a group in the file, when they begin at `offset`: its lanes summed up
/// finely, and its index. Answers also where the index is.
pub(in crate::file) fn block(
    group: &ChunkGroup,
    fine: &[u8],
    offset: u64,
    packer: &mut Packer,
) -> io::Result<(Vec<u8>, Option<u64>)> {
    let mut out = Vec::new();
    append(&mut out, chunk::SUMMARY, fine, packer)?;
    let summary = out.len() as u64;
    let index = offset + summary;
    let payload = encode(group, index, summary);
    let fits = append(&mut out, chunk::INDEX, &payload, packer)?;
    Ok((out, fits.then_some(index)))
}

/// A payload that is too large is left out: the reader makes its own index then.
fn append(
    out: &mut Vec<u8>,
    kind: ChunkKind,
    payload: &[u8],
    packer: &mut Packer,
) -> io::Result<bool> {
    if payload.len() <= chunk::MAX_PAYLOAD {
        let packed = packer.pack(payload)?;
        if packed.len() <= chunk::MAX_PAYLOAD {
            chunk::append(out, kind, packed);
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lanes as one payload.
pub(super) fn lanes(lanes: &Lanes) -> Vec<u8> {
    let mut payload = Vec::new();
    put_lanes(&mut payload, lanes);
    payload
}

fn section(out: &mut Vec<u8>, columns: &mut Columns) {
    let table = columns.take_payload();
    out.extend_from_slice(&(table.len() as u32).to_le_bytes());
    out.extend_from_slice(&table);
}

fn put_lanes(out: &mut Vec<u8>, lanes: &Lanes) {
    let mut keys = Columns::new(4);
    let mut columns = Columns::new(5);
    for (key, entries) in lanes {
        keys.row();
        let (what, one, other) = match *key {
            LaneKey::Stream { process, serial } => (0, process, serial),
            LaneKey::Thread { thread, depth } => (1, thread, u32::from(depth)),
        };
        keys.put(0, what);
        keys.put(1, one.into());
        keys.put(2, other.into());
        keys.put(3, entries.len() as u64);
        let mut last = 0_i64;
        for entry in entries {
            columns.row();
            put_entry(&mut columns, entry, last);
            last = entry.end;
        }
    }
    section(out, &mut keys);
    section(out, &mut columns);
}

fn put_entry(columns: &mut Columns, entry: &LaneEntry, last: i64) {
    let length = entry.end.wrapping_sub(entry.begin);
    columns.put_signed(0, entry.begin.wrapping_sub(last));
    columns.put(1, length.cast_unsigned());
    columns.put(2, entry.count);
    let used = entry.busy.iter().enumerate().filter(|(_, busy)| **busy > 0);
    let mask = used.clone().fold(0, |mask, (slot, _)| mask | 1 << slot);
    columns.put(3, mask);
    // The last one mostly fills the rest.
    let mut left = length;
    let mut used = used.peekable();
    while let Some((_, busy)) = used.next() {
        left = left.wrapping_sub(busy.cast_signed());
        match used.peek() {
            Some(_) => columns.put(4, *busy),
            None => columns.put_signed(4, left),
        }
    }
}

fn take_entry(cursors: &mut Cursors<'_>, last: i64) -> Option<LaneEntry> {
    let begin = last.wrapping_add(cursors.take_signed(0)?);
    let length = cursors.take(1)?.cast_signed();
    let mut entry = LaneEntry {
        begin,
        end: begin.checked_add(length).filter(|end| *end >= begin)?,
        count: cursors.take(2)?,
        ..LaneEntry::default()
    };
    let mask: u8 = cursors.take_as(3)?;
    let mut left = length;
    for slot in 0..8 {
        if mask >> slot & 1 == 0 {
            continue;
        }
        let is_last = mask >> slot == 1;
        entry.busy[slot] = match is_last {
            false => cursors.take(4)?,
            true => left.wrapping_sub(cursors.take_signed(4)?).cast_unsigned(),
        };
        left = left.wrapping_sub(entry.busy[slot].cast_signed());
    }
    Some(entry)
}

/// Takes sections from the front of a payload.
struct Sections<'a>(&'a [u8]);

impl<'a> Sections<'a> {
    fn next(&mut self, columns: usize) -> Option<Cursors<'a>> {
        Cursors::new(self.bytes()?, columns)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = chunk::word(self.0, 0)? as usize;
        let (section, rest) = self.0.get(4..)?.split_at_checked(length)?;
        self.0 = rest;
        Some(section)
    }
}

/// Hands out the entries of all lanes; `None` when they make no sense.
pub(crate) fn read_lanes(payload: &[u8], sink: &mut impl FnMut(LaneKey, &LaneEntry)) -> Option<()> {
    let mut sections = Sections(payload);
    let mut keys = sections.next(4)?;
    let mut entries = sections.next(5)?;
    let mut left = entries.rows();
    if left > MOST_ENTRIES || keys.rows() > MOST_ENTRIES {
        return None;
    }
    for _ in 0..keys.rows() {
        let what = keys.take(0)?;
        let one = keys.take_as(1)?;
        let other: u32 = keys.take_as(2)?;
        let key = match what {
            0 => LaneKey::Stream {
                process: one,
                serial: other,
            },
            _ => LaneKey::Thread {
                thread: one,
                depth: u8::try_from(other).ok()?.min(DEEPEST),
            },
        };
        let mut last = 0;
        for _ in 0..keys.take(3)? {
            left = left.checked_sub(1)?;
            let entry = take_entry(&mut entries, last)?;
            last = entry.end;
            sink(key, &entry);
        }
    }
    Some(())
}

fn encode(group: &ChunkGroup, index: u64, summary: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut head = Columns::new(2);
    head.row();
    head.put(0, index - group.begin);
    head.put(1, summary);
    section(&mut out, &mut head);
    put_segments(&mut out, &group.segments);
    put_entities(&mut out, group);
    let coarse = group.coarse.len() as u32;
    out.extend_from_slice(&coarse.to_le_bytes());
    out.extend_from_slice(&group.coarse);
    put_bounds(&mut out, &group.bounds);
    put_totals(&mut out, &group.totals);
    put_devices(&mut out, &group.totals.drivers);
    put_bounds(&mut out, &group.driver_bounds);
    late::put_links(&mut out, group);
    late::put_waiting(&mut out, group, index);
    late::put_regained(&mut out, &group.totals);
    late::put_ran(&mut out, group);
    out
}

/// The group of an index at `offset` of the file. `None` for older indexes, which do not
/// say where the times of tasks are.
pub(crate) fn decode(payload: &[u8], offset: u64) -> Option<ChunkGroup> {
    let mut sections = Sections(payload);
    let mut head = sections.next(2)?;
    let begin = offset.checked_sub(head.take(0)?)?;
    let summary = head.take(1)?;
    let segments = take_segments(sections.next(9)?, begin)?;
    let entities = take_entities(sections.next(3)?, begin)?;
    let coarse: Arc<[u8]> = sections.bytes()?.into();
    let bounds = take_bounds(&mut sections)?;
    let mut totals = take_totals(&mut sections)?;
    take_devices(&mut sections, &mut totals.drivers)?;
    let driver_bounds = take_bounds(&mut sections)?;
    let links = late::take_links(sections.next(4)?, begin, offset)?;
    let waiting = late::take_waiting(sections.next(10)?, offset)?;
    late::take_regained(&mut sections, &mut totals)?;
    let ran = late::take_ran(sections.next(5)?, begin, offset)?;
    totals.call_span = TimeRange::around(segments.iter().map(|segment| segment.call_span));
    let end = offset.checked_sub(summary)?;
    let within = |from: u64, to: u64| begin <= from && to <= end;
    let sound = segments.iter().all(|it| within(it.offset, it.end()))
        && entities
            .iter()
            .all(|it| within(it.offset, it.offset.saturating_add(it.length)));
    sound.then_some(ChunkGroup {
        begin,
        end,
        segments,
        entities,
        coarse,
        fine: match summary {
            0 => FineLanes::None,
            _ => FineLanes::InFile(end),
        },
        bounds,
        driver_bounds,
        totals,
        links,
        ran,
        waiting,
    })
}

fn put_segments(out: &mut Vec<u8>, segments: &[Segment]) {
    let mut columns = Columns::new(9);
    let (mut last_call, mut last_task) = (0, 0);
    for segment in segments {
        columns.row();
        columns.put(8, segment.graph_calls.into());
        columns.put(0, segment.length);
        columns.put(1, segment.calls.into());
        columns.put(2, segment.times.into());
        put_span(&mut columns, 3, segment.call_span, &mut last_call);
        put_span(&mut columns, 5, segment.task_span, &mut last_task);
        columns.put(7, segment.offset.saturating_sub(segment.launched_from));
    }
    section(out, &mut columns);
}

/// A span takes two columns: how long it is plus 1, or 0 for none; and where it begins.
fn put_span(columns: &mut Columns, at: usize, span: Option<TimeRange>, last: &mut i64) {
    let Some(span) = span else {
        return columns.put(at, 0);
    };
    columns.put(at, span.duration().unsigned_abs().saturating_add(1));
    columns.put_signed(at + 1, span.begin.wrapping_sub(*last));
    *last = span.begin;
}

fn take_span(cursors: &mut Cursors<'_>, at: usize, last: &mut i64) -> Option<Option<TimeRange>> {
    let Some(length) = cursors.take(at)?.checked_sub(1) else {
        return Some(None);
    };
    *last = last.wrapping_add(cursors.take_signed(at + 1)?);
    let end = last.saturating_add_unsigned(length);
    Some(Some(TimeRange::new(*last, end)))
}

fn take_segments(mut cursors: Cursors<'_>, begin: u64) -> Option<Vec<Segment>> {
    let (mut last_call, mut last_task) = (0, 0);
    let mut offset = begin;
    let mut segments = Vec::new();
    if cursors.rows() > MOST_SEGMENTS {
        return None;
    }
    for _ in 0..cursors.rows() {
        let segment = Segment {
            offset,
            length: cursors.take(0)?,
            calls: cursors.take_as(1)?,
            times: cursors.take_as(2)?,
            call_span: take_span(&mut cursors, 3, &mut last_call)?,
            task_span: take_span(&mut cursors, 5, &mut last_task)?,
            launched_from: offset.saturating_sub(cursors.take(7)?),
            graph_calls: cursors.take_as(8)?,
        };
        offset = offset.checked_add(segment.length)?;
        segments.push(segment);
    }
    Some(segments)
}

fn put_entities(out: &mut Vec<u8>, group: &ChunkGroup) {
    let mut columns = Columns::new(3);
    let mut last = group.begin;
    for entity in &group.entities {
        columns.row();
        columns.put(0, u32::from_le_bytes(entity.kind).into());
        columns.put(1, entity.offset.saturating_sub(last));
        columns.put(2, entity.length);
        last = entity.offset.saturating_add(entity.length);
    }
    section(out, &mut columns);
}

fn take_entities(mut cursors: Cursors<'_>, begin: u64) -> Option<Vec<EntityChunk>> {
    let mut last = begin;
    let mut entities = Vec::new();
    if cursors.rows() > MOST_ENTITIES {
        return None;
    }
    for _ in 0..cursors.rows() {
        let kind = cursors.take_as(0).map(u32::to_le_bytes)?;
        let offset = last.checked_add(cursors.take(1)?)?;
        let length = cursors.take(2)?;
        last = offset.checked_add(length)?;
        let fits =
            length >= CHUNK_HEADER as u64 && length <= (CHUNK_HEADER + chunk::MAX_PAYLOAD) as u64;
        if fits && is_entity(kind) {
            entities.push(EntityChunk {
                kind,
                offset,
                length,
            });
        }
    }
    Some(entities)
}

fn put_bounds(out: &mut Vec<u8>, bounds: &BTreeMap<(u32, u32), Vec<ClockBound>>) {
    let mut keys = Columns::new(3);
    let mut columns = Columns::new(3);
    for ((process, device), bounds) in bounds {
        keys.row();
        keys.put(0, (*process).into());
        keys.put(1, (*device).into());
        keys.put(2, bounds.len() as u64);
        let (mut last, mut offset) = (0, 0);
        for bound in bounds {
            columns.row();
            let device = bound.device.ns();
            columns.put_signed(0, device.wrapping_sub(last));
            let here = bound.earliest.ns().wrapping_sub(device);
            columns.put_signed(1, here.wrapping_sub(offset));
            columns.put_signed(2, bound.latest.ns().wrapping_sub(bound.earliest.ns()));
            (last, offset) = (device, here);
        }
    }
    section(out, &mut keys);
    section(out, &mut columns);
}

fn take_bounds(sections: &mut Sections<'_>) -> Option<BTreeMap<(u32, u32), Vec<ClockBound>>> {
    let mut keys = sections.next(3)?;
    let mut cursors = sections.next(3)?;
    let mut left = cursors.rows();
    if left > MOST_BOUNDS {
        return None;
    }
    let mut all = BTreeMap::new();
    for _ in 0..keys.rows() {
        let key = (keys.take_as(0)?, keys.take_as(1)?);
        let (mut last, mut offset) = (0_i64, 0_i64);
        let mut bounds = Vec::new();
        for _ in 0..keys.take(2)? {
            left = left.checked_sub(1)?;
            last = last.wrapping_add(cursors.take_signed(0)?);
            offset = offset.wrapping_add(cursors.take_signed(1)?);
            let earliest = last.wrapping_add(offset);
            let latest = earliest.wrapping_add(cursors.take_signed(2)?);
            bounds.push(ClockBound {
                device: DeviceNs::new(last),
                earliest: HostNs::new(earliest),
                latest: HostNs::new(latest),
            });
        }
        all.insert(key, bounds);
    }
    Some(all)
}

fn put_totals(out: &mut Vec<u8>, totals: &Totals) {
    let codes = totals.kinds.iter().zip(&totals.untimed);
    put_rows(out, codes.map(|(tasks, untimed)| [*tasks, *untimed]));
    let mut sums = Columns::new(1);
    sums.row();
    for value in [
        totals.nested,
        totals.timed,
        totals.losses.calls,
        totals.losses.others,
    ] {
        sums.put(0, value);
    }
    section(out, &mut sums);
    let functions = totals.functions.iter().enumerate();
    let called = functions.filter(|(_, (calls, _))| *calls > 0);
    put_rows(
        out,
        called.map(|(number, (calls, failed))| [number as u64, *calls, *failed]),
    );
    let threads = totals.threads.iter();
    put_rows(
        out,
        threads.map(|(thread, calls)| [(*thread).into(), *calls]),
    );
    let streams = totals.streams.iter();
    put_rows(
        out,
        streams.map(|((process, serial), stream)| {
            let device = stream.device.into();
            let (process, serial) = ((*process).into(), (*serial).into());
            [process, serial, device, stream.tasks, stream.timed]
        }),
    );
    let counters = totals.counters.iter();
    put_rows(
        out,
        counters.map(|((process, what), value)| [(*process).into(), (*what).into(), *value]),
    );
    put_devices(out, &totals.devices);
    let replays = totals.replays.iter();
    put_rows(
        out,
        replays.map(|((process, serial), count)| [(*process).into(), (*serial).into(), *count]),
    );
}

fn put_devices(out: &mut Vec<u8>, by_device: &BTreeMap<(u32, u32), DeviceTotals>) {
    put_rows(
        out,
        by_device.iter().map(|((process, number), device)| {
            [
                (*process).into(),
                (*number).into(),
                device.anchors,
                device.coarse,
                device.max_width.unsigned_abs(),
                device.widths.len() as u64,
            ]
        }),
    );
    let widths = by_device.values().flat_map(|device| &device.widths);
    put_rows(out, widths.map(|(step, count)| [(*step).into(), *count]));
}

/// A table of numbers as a section.
fn put_rows<const N: usize>(out: &mut Vec<u8>, rows: impl Iterator<Item = [u64; N]>) {
    let mut columns = Columns::new(N);
    for row in rows {
        columns.row();
        for (column, value) in row.into_iter().enumerate() {
            columns.put(column, value);
        }
    }
    section(out, &mut columns);
}

/// Hands out the rows of such a table, which has no more than there can be things of a kind.
fn take_rows<const N: usize>(
    sections: &mut Sections<'_>,
    mut sink: impl FnMut([u64; N]) -> Option<()>,
) -> Option<()> {
    let mut cursors = few(sections.next(N)?)?;
    for _ in 0..cursors.rows() {
        let mut row = [0; N];
        for (column, value) in row.iter_mut().enumerate() {
            *value = cursors.take(column)?;
        }
        sink(row)?;
    }
    Some(())
}

/// Two numbers that are a key.
fn key(one: u64, other: u64) -> Option<(u32, u32)> {
    Some((one.try_into().ok()?, other.try_into().ok()?))
}

fn take_totals(sections: &mut Sections<'_>) -> Option<Totals> {
    let mut totals = Totals::default();
    let mut codes = totals.kinds.iter_mut().zip(&mut totals.untimed);
    take_rows(sections, |[tasks, untimed]| {
        if let Some(code) = codes.next() {
            (*code.0, *code.1) = (tasks, untimed);
        }
        Some(())
    })?;
    let mut sums = sections.next(1)?;
    totals.nested = sums.take(0)?;
    totals.timed = sums.take(0)?;
    totals.losses.calls = sums.take(0)?;
    totals.losses.others = sums.take(0)?;
    take_rows(sections, |[number, calls, failed]| {
        *totals.function(number.try_into().ok()?) = (calls, failed);
        totals.calls = totals.calls.saturating_add(calls);
        Some(())
    })?;
    take_rows(sections, |[thread, calls]| {
        totals.threads.insert(thread.try_into().ok()?, calls);
        Some(())
    })?;
    take_rows(sections, |[process, serial, device, tasks, timed]| {
        let stream = StreamTotals {
            device: device.try_into().ok()?,
            tasks,
            timed,
        };
        totals.streams.insert(key(process, serial)?, stream);
        Some(())
    })?;
    take_rows(sections, |[process, what, value]| {
        let key = (process.try_into().ok()?, what.try_into().ok()?);
        totals.counters.insert(key, value);
        Some(())
    })?;
    take_devices(sections, &mut totals.devices)?;
    take_rows(sections, |[process, serial, count]| {
        totals.replays.insert(key(process, serial)?, count);
        Some(())
    })?;
    Some(totals)
}

/// A table that has no more rows than there can be things of a kind.
fn few(cursors: Cursors<'_>) -> Option<Cursors<'_>> {
    (cursors.rows() as usize <= 16 * MOST).then_some(cursors)
}

fn take_devices(
    sections: &mut Sections<'_>,
    by_device: &mut BTreeMap<(u32, u32), DeviceTotals>,
) -> Option<()> {
    let mut devices = few(sections.next(6)?)?;
    let mut widths = sections.next(2)?;
    let mut left = widths.rows();
    for _ in 0..devices.rows() {
        let key = (devices.take_as(0)?, devices.take_as(1)?);
        let device = by_device.entry(key).or_default();
        device.anchors = devices.take(2)?;
        device.coarse = devices.take(3)?;
        device.max_width = i64::try_from(devices.take(4)?).ok()?;
        for _ in 0..devices.take(5)? {
            left = left.checked_sub(1)?;
            device.widths.insert(widths.take_as(0)?, widths.take(1)?);
        }
    }
    Some(())
}
