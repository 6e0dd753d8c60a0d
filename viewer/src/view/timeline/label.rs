//! What rows are called.

use ascend_trace_analysis::memory::MemoryPlace;
use ascend_trace_recording::{ProcessId, StreamId, ThreadId, TimeRange};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::arrangement::LaneGroup;
use crate::display_names;
use crate::item::TrackKey;
use crate::lanes::ViewRow;
use crate::overview::working;
use crate::text::{count, fit, share, width};
use crate::tracks::SliceTrack;
use crate::update::is_current;
use crate::view::{Scene, describe, folded, memory, meters};

/// Names a row, and describes its content in a second line, if it has one.
pub(super) fn draw(scene: &Scene<'_>, row: ViewRow, pinned: bool, area: Rect, buffer: &mut Buffer) {
    let theme = scene.app.theme;
    let (indent, text, value) = match row {
        ViewRow::Process(process) => (0, process_name(scene, process), String::new()),
        ViewRow::Card(process, number) => (0, card_name(scene, process, number), String::new()),
        ViewRow::DeviceOfCard(process, device) => {
            (1, member_name(scene, process), format!("device {device}"))
        }
        ViewRow::Device(process, device) => {
            let card = scene.world.trace.card(process, device).number;
            let card = card.map_or_else(String::new, |number| format!("card {number}"));
            (1, format!("device {device}"), card)
        }
        ViewRow::Folded(group) => folded_label(scene, group),
        ViewRow::Track(key) => {
            let (text, value) = track_label(scene, key, pinned);
            (2, text, value)
        }
    };
    let is_current = is_current(scene.app, row);
    let style = match row {
        ViewRow::Process(_) | ViewRow::Card(..) => theme.accent(),
        ViewRow::Device(..) | ViewRow::DeviceOfCard(..) | ViewRow::Folded(_) => theme.strong(),
        ViewRow::Track(_) if is_current => theme.strong(),
        ViewRow::Track(_) => theme.plain(),
    };
    let room = usize::from(area.width).saturating_sub(2);
    let text_room = room.saturating_sub(indent + value.len() + usize::from(!value.is_empty()));
    let left = area.x + indent as u16;
    buffer.set_stringn(left, area.y, fit(&text, text_room), text_room, style);
    let right = area.x + (room - width(&value).min(room)) as u16;
    buffer.set_stringn(right, area.y, &value, value.len(), theme.dim());
    if is_current {
        buffer.set_stringn(area.x, area.y, "▶", 1, theme.strong());
    }
    if let (ViewRow::Track(key), 2..) = (row, area.height) {
        let text = fit(&contents(scene, key), room.saturating_sub(indent));
        buffer.set_stringn(left, area.y + 1, &text, room, theme.dim());
    }
}

/// Number of slices of a track that overlap the range on screen.
fn contents(scene: &Scene<'_>, key: TrackKey) -> String {
    let trace = scene.world.trace;
    let range = scene.app.camera.viewport.range();
    let is_loaded = scene.world.overview.is_loaded(range);
    let number = match is_loaded {
        false => scene.world.overview.sums(key, range).count,
        true => {
            let track = scene.app.document.tracks.get(key);
            let number = |it: &SliceTrack| {
                let (first, last) = it.range(trace, 0, range.begin, range.end);
                (last - first) as u64
            };
            track.map_or(0, number)
        }
    };
    let what = match (key, number) {
        (TrackKey::Stream(id), 1) if !is_loaded && is_partly_timed(scene, id) => "timed task",
        (TrackKey::Stream(id), _) if !is_loaded && is_partly_timed(scene, id) => "timed tasks",
        (TrackKey::Stream(_), 1) => "task",
        (TrackKey::Stream(_), _) => "tasks",
        (_, 1) => "call",
        _ => "calls",
    };
    format!("{} {what}", count(number))
}

fn process_name(scene: &Scene<'_>, id: ProcessId) -> String {
    let process = scene.world.trace.process(id);
    let rank = match process.rank.as_str() {
        "" => String::new(),
        rank => format!(" rank {rank}"),
    };
    let name = match process.name.as_str() {
        "" => "process",
        name => name,
    };
    let host = match process.host.as_str() {
        "" => String::new(),
        host => format!(" on {host}"),
    };
    format!("{name} {}{rank}{host}", process.pid)
}

/// A card that several processes use.
fn card_name(scene: &Scene<'_>, of: ProcessId, number: u32) -> String {
    match scene.world.trace.process(of).host.as_str() {
        "" => format!("card {number}"),
        host => format!("card {number} on {host}"),
    }
}

/// A process on such a card: by its rank, if it is known.
fn member_name(scene: &Scene<'_>, id: ProcessId) -> String {
    let process = scene.world.trace.process(id);
    match process.rank.as_str() {
        "" => format!("process {}", process.pid),
        rank => format!("rank {rank} ({})", process.pid),
    }
}

/// Name of a track, and its share of busy time in view.
fn track_label(scene: &Scene<'_>, key: TrackKey, pinned: bool) -> (String, String) {
    match key {
        TrackKey::Stream(id) => {
            let device = match pinned {
                true => format!("* d{} ", scene.world.trace.stream(id).device),
                false => String::new(),
            };
            (device + &stream_name(scene, id), busy(scene, key))
        }
        TrackKey::Nodes(id) => (below(scene, id, "nodes", pinned), String::new()),
        TrackKey::Callbacks(id) => (below(scene, id, "callbacks", pinned), busy(scene, key)),
        TrackKey::Collectives(comm, id) => (collectives(scene, comm, id), busy(scene, key)),
        TrackKey::Memory(process, place) => {
            let name = match place {
                MemoryPlace::Pools(_) => "memory of pools",
                MemoryPlace::Cached(_) => "caching allocator",
                MemoryPlace::Blocks(_) => "other blocks",
                MemoryPlace::Device(_) | MemoryPlace::Host => "memory",
            };
            (name.to_owned(), memory::label(scene, (process, place)))
        }
        TrackKey::Cost(_) => ("overhead".to_owned(), meters::label(scene, key)),
        TrackKey::Losses(_) => ("losses".to_owned(), meters::label(scene, key)),
        TrackKey::Ranges(id, 0) => ("ranges".to_owned(), ranges_of(scene, id)),
        TrackKey::Ranges(..) => (String::new(), String::new()),
        TrackKey::Thread(id, 0) => {
            let pin = if pinned { "* " } else { "" };
            let name = format!("{pin}{}", display_names::thread(scene.world.trace, id));
            let nested = LaneGroup::Nested(id);
            let folded = scene.app.camera.arrangement.is_folded(nested);
            let hidden = if folded { "▸" } else { "" };
            (name, hidden.to_owned())
        }
        TrackKey::Thread(_, depth) => (format!("└ nested {depth}"), String::new()),
    }
}

/// A line that belongs to the stream above it; away from there it says to which.
fn below(scene: &Scene<'_>, id: StreamId, what: &str, pinned: bool) -> String {
    match pinned {
        true => format!("* {what} of {}", stream_name(scene, id)),
        false => format!("└ {what}"),
    }
}

/// A communicator by its name, or by the end of its handle, and this process's part in it.
fn collectives(scene: &Scene<'_>, comm: u64, id: StreamId) -> String {
    let trace = scene.world.trace;
    let process = trace.stream(id).process;
    let name = trace.name_of(process, comm, i64::MAX);
    let name = name.map_or_else(|| format!("{:04x}", comm & 0xffff), str::to_owned);
    let known = scene
        .app
        .document
        .communicators
        .get(process, comm, i64::MAX);
    let part = match known.map(|it| (it.rank, it.size)) {
        Some((Some(rank), Some(size))) => format!(" rank {rank}/{size}"),
        Some((Some(rank), None)) => format!(" rank {rank}"),
        _ => format!(" s{}", trace.stream(id).number()),
    };
    format!("HCCL {name}{part}")
}

/// Whose ranges they are.
fn ranges_of(scene: &Scene<'_>, thread: ThreadId) -> String {
    scene.world.trace.thread(thread).tid.to_string()
}

/// How lanes in one line are called: their indent, their name, how many they are.
fn folded_label(scene: &Scene<'_>, group: LaneGroup) -> (usize, String, String) {
    let number = folded::tracks(scene, group).len();
    match group {
        LaneGroup::Unused(..) => (2, format!("▸{number} streams"), "no tasks".to_owned()),
        LaneGroup::Device(process, device) => {
            let trace = scene.world.trace;
            let is_alone = trace.processes().len() < 2;
            match trace.card(process, device).number.filter(|_| !is_alone) {
                // It may be one of several on the card.
                Some(_) => {
                    let name = format!("▸{}", member_name(scene, process));
                    (1, name, format!("device {device}"))
                }
                None => (1, format!("▸device {device}"), format!("{number} streams")),
            }
        }
        LaneGroup::Threads(_) | LaneGroup::Nested(_) => {
            (1, "▸threads".to_owned(), number.to_string())
        }
    }
}

fn stream_name(scene: &Scene<'_>, id: StreamId) -> String {
    let default = match scene.world.trace.stream(id).is_default {
        true => " default",
        false => "",
    };
    format!("{}{default}", describe::stream(scene.world.trace, id))
}

fn busy(scene: &Scene<'_>, key: TrackKey) -> String {
    let viewport = scene.app.camera.viewport;
    // The share of the recorded time, without the empty margin.
    let span = scene.app.document.span.unwrap_or_default();
    let recorded = viewport.range().intersection(span);
    if recorded.is_empty() {
        return String::new();
    }
    let Some(busy) = busy_in(scene, key, recorded) else {
        return String::new();
    };
    let share = share(busy as f64 / recorded.duration() as f64);
    match key {
        // The tasks without a time worked as well. They are in the share where their places are known.
        TrackKey::Stream(id) if is_partly_timed(scene, id) => {
            let sign = if all_placed(scene, key, recorded) {
                "≈"
            } else {
                "≥"
            };
            format!("{sign}{share}")
        }
        _ => share,
    }
}

/// Whether only some tasks of a stream have times.
fn is_partly_timed(scene: &Scene<'_>, id: StreamId) -> bool {
    let timing = scene.world.trace.timing_of(id);
    timing == "sampled" || timing == "hardware" || timing.starts_with("sample=")
}

/// Whether each task of a track in a range has a time, or a place where it probably ran.
fn all_placed(scene: &Scene<'_>, key: TrackKey, range: TimeRange) -> bool {
    let track = scene.app.document.tracks.get(key);
    let has_launches = |it: &SliceTrack| it.launch_count(scene.world.trace, range) > 0;
    scene.world.overview.is_loaded(range) && !track.is_some_and(has_launches)
}

/// Nanoseconds of work of a track in a range.
fn busy_in(scene: &Scene<'_>, key: TrackKey, range: TimeRange) -> Option<u64> {
    let trace = scene.world.trace;
    let overview = scene.world.overview;
    if !overview.is_loaded(range) {
        if key.is_copy() {
            return None;
        }
        return Some(working(key, &overview.sums(key, range)));
    }
    let track = scene.app.document.tracks.get(key)?;
    let places = track.range(trace, 0, range.begin, range.end);
    Some(track.totals(trace, places, range).busy())
}
