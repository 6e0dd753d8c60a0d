//! A cell shows the activity of its time, at any zoom.

use ascend_trace_analysis::Lane;
use ascend_trace_recording::{StreamId, TimeRange, Trace};
use ascend_trace_testkit::timeline;

use super::harness::{PIPELINE, Player};
use super::scene::scene;
use crate::item::TrackKey;
use crate::tracks::SliceTrack;
use crate::view::cells::{FULL, TrackCell, sample};
use crate::viewport::Viewport;

const WIDTHS: [u16; 3] = [53, 120, 187];

/// Ranges from the whole span down to some nanoseconds, at several places.
fn views(TimeRange { begin, end }: TimeRange) -> Vec<Viewport> {
    let mut views = Vec::new();
    let mut length = (end - begin).max(1) * 3;
    while length > 200 {
        for part in 0..4 {
            let from = begin - length / 7 + (end - begin) / 4 * part;
            views.push(Viewport::new(from, from + length));
        }
        length = length * 2 / 3;
    }
    views
}

/// Nanoseconds of a cell in which the track has slices, counted one by one.
fn exact(trace: &Trace, track: &SliceTrack, cell: TimeRange) -> i64 {
    let items = (0..track.len()).filter_map(|index| track.item(index));
    let spans = items.map(|item| item.span(trace));
    let busy: i64 = spans
        .map(|span| span.intersection(cell).duration().max(0))
        .sum();
    busy.min(cell.duration())
}

#[track_caller]
fn check(trace: Trace) -> usize {
    let player = Player::of(trace, (200, 50));
    let (app, trace) = (&player.app, &player.trace);
    let span = app.document.span.expect("something to see");
    let mut checked = 0;
    for key in app.document.tracks.keys() {
        let Some(track) = app.document.tracks.get(key) else {
            continue;
        };
        for (view, width) in views(span)
            .into_iter()
            .flat_map(|view| WIDTHS.map(|width| (view, width)))
        {
            for (place, cell) in (0..).zip(sample(trace, track, view, width)) {
                let range = view.cell_time(place, width);
                let length = range.duration();
                let Some(drawn) = cell.drawn() else { continue };
                let exact = exact(trace, track, range) * i64::from(FULL);
                let off = (i64::from(drawn) * length - exact).abs();
                assert!(
                    off <= length,
                    "{key:?} {range:?} {cell:?}: {exact} of {length}"
                );
                checked += usize::from(cell != TrackCell::Idle);
            }
        }
    }
    checked
}

#[test]
fn every_cell_is_as_full_as_its_time_at_every_zoom_level() {
    assert!(check(scene()) > 10_000);
    assert!(check(timeline(PIPELINE)) > 10_000);
}

#[test]
fn slices_that_touch_or_almost_do_are_not_more_than_they_are() {
    let mut text = String::new();
    let mut now = 0;
    for number in 0..300_i64 {
        // Lengths and gaps from nothing to thousands.
        let length = [0, 1, 7, 60, 500, 4_000][(number * 7 % 6) as usize];
        let gap = [0, 0, 1, 30, 900, 2_500][(number * 11 % 13 % 6) as usize];
        text += &format!("s1: K[{now}..{}]\n", now + length);
        now += length + gap;
    }
    assert!(check(timeline(&text)) > 1_000);
}

#[test]
fn a_thread_that_is_hardly_busy_never_looks_busy() {
    // A call of 9 ns every 10 µs: 0.09 %.
    let mut text = "s1: A[0..10us]\n".to_owned();
    for number in 0..400 {
        let begin = number * 10_000;
        text += &format!("t1: query(s1)[{begin}..{}]\n", begin + 9);
    }
    let player = Player::of(timeline(&text), (200, 50));
    let mut keys = player.app.document.tracks.keys();
    let key = keys.find(|it| matches!(it, TrackKey::Thread(..)));
    let key = key.expect("a thread");
    let track = player.app.document.tracks.get(key).expect("its calls");
    for cells in [1_i64, 2, 3, 5, 8, 11, 12, 13, 20, 40] {
        let length = 10_000 * cells * 20;
        let view = Viewport::new(0, length);
        for cell in sample(&player.trace, track, view, 20) {
            assert!(cell.drawn().is_none_or(|it| it <= 1), "{cells}: {cell:?}");
        }
    }
}

/// A stream that exists in the middle of the recording only, and is idle for most of its life.
const SHORT_LIFE: &str = "
t1: other(1)[0..1us] create(s1)[3000us..3001us] destroy(s1)[7000us..7001us] other(1)[9000us..9001us]
s1: A[3010us..3020us] by t1[3004us..3005us] B[6400us..6410us] by t1[6398us..6399us]
";

#[test]
fn a_stream_is_idle_where_it_was_and_nowhere_else() {
    let mut player = Player::of(timeline(SHORT_LIFE), (200, 50));
    let lane = Lane::Stream(StreamId(0));
    let notable = |it: &&ascend_trace_analysis::Stall| it.is_notable();
    let gap = *player
        .app
        .document
        .stalls
        .lane(lane)
        .iter()
        .filter(notable)
        .max_by_key(|it| it.length())
        .expect("a gap");
    assert_eq!((gap.begin, gap.end), (3_020_000, 6_400_000));
    for view in views(TimeRange::new(0, 9_001_000)) {
        player.app.camera.viewport = view;
        let line = player.line_with("stream 1");
        let cells: Vec<char> = line.split('│').nth(1).expect("a lane").chars().collect();
        let width = player.app.layout().lanes.width;
        let mut shown = 0;
        for (place, symbol) in (0..i64::from(width)).zip(cells) {
            let (from, to) = (view.time(place, width), view.time(place + 1, width));
            // From the stream's creation to the end of its last task.
            let is_beside = to <= 3_001_000 || from >= 6_410_000;
            let is_work = [(3_010_000, 3_020_000), (6_400_000, 6_410_000)]
                .iter()
                .any(|span| span.0 <= to && span.1 >= from);
            assert!(
                !is_beside || is_work || symbol == ' ',
                "{symbol:?} at {from}..{to}: {line}"
            );
            shown += usize::from(from >= gap.begin && to <= gap.end && symbol == '╌');
        }
        let columns = i64::from(width) * (gap.end.min(view.end()) - gap.begin.max(view.begin()));
        if columns / view.length() > 4 {
            assert!(shown > 0, "the gap is not to be seen at {view:?}: {line}");
        }
    }
}

#[test]
fn nothing_is_drawn_lower_than_a_little_in_the_minimap() {
    let player = Player::of(timeline("s1: A[0..1us] B[9000us..9001us]"), (200, 50));
    let layout = player.app.layout();
    let buffer = player.draw();
    let symbols: Vec<String> = (layout.minimap.left()..layout.minimap.right())
        .filter_map(|x| buffer.cell((x, layout.minimap.y)))
        .map(|cell| cell.symbol().to_owned())
        .collect();
    let kinds: std::collections::BTreeSet<&str> = symbols.iter().map(String::as_str).collect();
    assert!(kinds.contains("▁"), "{kinds:?}");
    assert!(
        kinds.iter().all(|it| ["▁", "_", " "].contains(it)),
        "{kinds:?}"
    );
}
