//! Packs a timeline into a number of bytes.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_analysis::{Cause, EdgeKind};

use super::fold::{Arrow, KINDS, LaneStall, MORE_KINDS, Slice, TimelineFold};
use super::lanes::LaneOf;
use super::longest::Longest;
use super::packed::PackedBytes;
use super::{Lane, Timeline};

/// Lanes in a page: those that are busiest.
const MOST_LANES: usize = 256;

/// The numbers of names in the page.
type Numbers = Vec<u32>;

pub(super) fn timeline(fold: TimelineFold, most_bytes: usize) -> Timeline {
    let shown = shown(&fold);
    let TimelineFold {
        range,
        columns,
        lanes,
        names,
        slices,
        stalls,
        arrows,
        ..
    } = fold;
    let begin = range.begin;
    let slices = slices.sorted_by_key(|it| (-it.length, it.begin, it.lane, it.row));
    let stalls = stalls.sorted_by_key(|it| (it.lane, it.begin));
    let arrows = arrows.sorted_by_key(|it| (it.leave, it.arrive, it.from, it.to, it.kind));
    let merged = lanes.values().flat_map(|lane| lane.columns.names());
    let uses = merged.chain(slices.iter().map(|it| it.name));
    let (texts, numbers) = names.used(uses.chain(stalls.iter().map(|it| it.name)));
    let places: BTreeMap<LaneOf, usize> = shown.iter().copied().zip(0..).collect();
    let mut made: Vec<Lane> = shown
        .iter()
        .filter_map(|of| lanes.get(of).map(|sum| (of, sum)))
        .map(|(of, sum)| Lane {
            label: crate::bounded::shortened(&sum.label, 60),
            group: crate::bounded::shortened(&sum.group, 90),
            is: of.name(),
            count: sum.count,
            untimed: sum.untimed,
            kept: 0,
            rows: sum.rows,
            merged: sum.columns.packed(&numbers),
            slices: String::new(),
            stalls: packed_stalls(&stalls, *of, (begin, &numbers)),
        })
        .collect();
    let (arrows_packed, arrows_left_out) = packed_arrows(&arrows, &places, begin);
    let names_size: usize = texts.iter().map(|it| it.len() + 3).sum();
    let used: usize = made
        .iter()
        .map(|it| it.merged.len() + it.stalls.len() + 300)
        .sum();
    let room = most_bytes.saturating_sub(used + names_size + arrows_packed.len());
    let complete_from_ns = put_slices(&mut made, (&slices, &shown), (begin, &numbers), room);
    Timeline {
        begin_ns: begin,
        end_ns: range.end,
        columns,
        names: texts,
        causes: Cause::ALL.iter().map(|it| it.name()).collect(),
        kinds: KINDS.into_iter().chain(MORE_KINDS).collect(),
        lanes_left_out: lanes.len() - made.len(),
        lanes: made,
        arrows: arrows_packed,
        arrow_kinds: EdgeKind::ALL.iter().map(|it| it.name()).collect(),
        arrows_left_out,
        complete_from_ns,
        stalls_complete_from_ns: stalls.complete_from(),
    }
}

/// The lanes of the page, in their order.
fn shown(fold: &TimelineFold) -> Vec<LaneOf> {
    if fold.order.len() <= MOST_LANES {
        return fold.order.clone();
    }
    let mut busiest = fold.order.clone();
    busiest.sort_by_cached_key(|it| {
        let busy = fold.lanes.get(it).map_or(0, |lane| lane.columns.busy());
        (std::cmp::Reverse(busy), *it)
    });
    let kept: BTreeSet<LaneOf> = busiest.into_iter().take(MOST_LANES).collect();
    let order = fold.order.iter().copied();
    order.filter(|it| kept.contains(it)).collect()
}

/// Packs the longest slices, up to a number of bytes. Returns a duration: all slices of it or longer are packed.
fn put_slices(
    lanes: &mut [Lane],
    (slices, shown): (&Longest<Slice>, &[LaneOf]),
    (begin, numbers): (i64, &Numbers),
    room: usize,
) -> i64 {
    let mut most = slices.len();
    loop {
        let mut own: BTreeMap<LaneOf, Vec<&Slice>> = BTreeMap::new();
        for slice in slices.iter().take(most) {
            own.entry(slice.lane).or_default().push(slice);
        }
        let mut size = 0;
        for (lane, of) in lanes.iter_mut().zip(shown) {
            let mut list = own.remove(of).unwrap_or_default();
            list.sort_by_key(|it| (it.begin, it.row, std::cmp::Reverse(it.length)));
            lane.slices = packed_slices(&list, begin, numbers);
            lane.kept = list.len();
            size += lane.slices.len();
        }
        if size <= room || most == 0 {
            return match slices.iter().nth(most) {
                // One of the same duration is not there.
                Some(first_left) => first_left.length + 1,
                None => slices.complete_from(),
            };
        }
        most = (most as f64 * 0.97 * room as f64 / size as f64) as usize;
    }
}

fn packed_slices(slices: &[&Slice], begin: i64, numbers: &Numbers) -> String {
    let mut packed = PackedBytes::default();
    let mut before = begin;
    for slice in slices {
        packed.put_signed(slice.begin - before);
        before = slice.begin;
        packed.put(slice.length);
        packed.put(number(numbers, slice.name));
        packed.put(i64::from(slice.kind) * 8 + i64::from(slice.row));
        packed.put(slice.error);
    }
    packed.text()
}

fn packed_stalls(
    stalls: &Longest<LaneStall>,
    of: LaneOf,
    (begin, numbers): (i64, &Numbers),
) -> String {
    let mut packed = PackedBytes::default();
    for stall in stalls.iter().filter(|it| it.lane == of) {
        packed.put_signed(stall.begin - begin);
        packed.put(stall.length);
        packed.put(i64::from(stall.cause as u8));
        packed.put(number(numbers, stall.name));
        packed.put(stall.error);
    }
    packed.text()
}

/// The arrows between lanes of the page, and how many others there are.
fn packed_arrows(
    arrows: &Longest<Arrow>,
    places: &BTreeMap<LaneOf, usize>,
    begin: i64,
) -> (String, u64) {
    let mut packed = PackedBytes::default();
    let mut left_out = arrows.dropped();
    for arrow in arrows.iter() {
        let (Some(from), Some(to)) = (places.get(&arrow.from), places.get(&arrow.to)) else {
            left_out += 1;
            continue;
        };
        packed.put(*from as i64);
        packed.put_signed(arrow.leave - begin);
        packed.put(*to as i64);
        packed.put_signed(arrow.arrive - arrow.leave);
        packed.put(i64::from(arrow.kind as u8));
    }
    (packed.text(), left_out)
}

fn number(numbers: &Numbers, name: u32) -> i64 {
    numbers.get(name as usize).copied().unwrap_or(0).into()
}
