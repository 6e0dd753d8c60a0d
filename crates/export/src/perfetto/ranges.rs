//! Ranges and marks that the program named, on tracks of their own below their thread's: they
//! overlap in any way.

use std::collections::HashMap;
use std::io;

use ascend_trace_model::ThreadId;

use super::fields::event::{INSTANT, SLICE_BEGIN, SLICE_END};
use super::meta::{uuid, write_child};
use super::output::{Output, Uuid};
use crate::Source;
use crate::tracks::Tracks;

/// Tracks of ranges begin here, beyond those of counters.
const FIRST: u64 = 1 << 41;
/// The category of a range whose domain has no name.
const CATEGORY: &str = "mstx";

/// The tracks of a thread, and when the last range on each of them ended.
type Rows = HashMap<ThreadId, Vec<(Uuid, i64)>>;

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    let trace = source.trace;
    let mut ranges: Vec<_> = trace.ranges().iter().collect();
    ranges.retain(|range| source.selection.span(range.begin, range.end));
    ranges.sort_by_key(|range| (range.begin, std::cmp::Reverse(range.end)));
    let (mut rows, mut next) = (Rows::new(), FIRST);
    for range in ranges {
        let Some(lane) = tracks.threads.get(range.thread.index()) else {
            continue;
        };
        let Some(track) = lane.own() else { continue };
        let rows = rows.entry(range.thread).or_default();
        let free = rows.iter().position(|row| row.1 < range.begin);
        let place = match free {
            Some(place) => place,
            None => {
                let (own, parent) = (Uuid(next), uuid(track));
                next += 1;
                write_child(output, own, parent, "ranges")?;
                rows.push((own, i64::MIN));
                rows.len() - 1
            }
        };
        let Some((row, end)) = rows.get_mut(place) else {
            continue;
        };
        *end = range.end;
        let category = trace.domain(range).unwrap_or(CATEGORY);
        if range.begin == range.end {
            output.event(INSTANT, *row, range.begin, |event| {
                event.named(range.name.as_str().into(), category);
            })?;
            continue;
        }
        output.event(SLICE_BEGIN, *row, range.begin, |event| {
            event.named(range.name.as_str().into(), category);
        })?;
        output.event(SLICE_END, *row, range.end, |_| {})?;
    }
    Ok(())
}
