//! How lanes use the room that there is, and that arrows leave slices alone.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use crate::item::TrackKey;
use crate::lanes::ViewRow;
use crate::layout::RowHeights;
use crate::theme::{ColorMode, Theme};

use super::harness::{PIPELINE, Player, line};
use super::scene::scene;

/// Two streams of one device, one of another, one thread: seven rows.
const FEW: &str = "
s1: A[0us..400us] rec(e) B[400us..1000us]
s2: wait(e) memcpy(4194304)[402us..900us]
s3@1: wait(e) D[402us..1000us]
t1: aclInit[0us..900us]
";

/// A view with this number of lines for lanes.
fn with_lanes(text: &str, lanes: u16) -> Player {
    let heights = 10..120;
    let mut sizes = heights.map(|height| Player::new(text, (160, height)));
    let is_it = |player: &Player| player.app.layout().lanes.height == lanes;
    sizes.find(is_it).expect("a size with this number of lines")
}

fn heights(player: &Player) -> (u16, u16, u16) {
    let RowHeights { bar, free, gap } = player.app.layout().heights(&player.app.camera.rows);
    (bar, free, gap)
}

#[test]
fn lanes_take_the_room_that_there_is() {
    let rows = with_lanes(FEW, 9).app.camera.rows.len() as u16;
    assert_eq!(rows, 7, "four lanes, two devices, a process");
    let room = |lines: u16| heights(&with_lanes(FEW, lines));
    assert_eq!(room(rows + 1), (1, 0, 0));
    assert_eq!(room(rows + 2), (1, 0, 1), "a line more for each device");
    assert_eq!(room(rows + 3), (1, 0, 1));
    assert_eq!(room(rows + 4), (1, 1, 0), "a line more for each lane");
    assert_eq!(room(rows + 7), (1, 1, 0));
    assert_eq!(room(rows + 8), (2, 1, 0), "two lines more for each lane");
    assert_eq!(room(rows + 30), (2, 1, 0));
}

/// Lines of the lanes that belong to no slice of a row.
fn free_lines(player: &Player) -> Vec<u16> {
    let layout = player.app.layout();
    let heights = layout.heights(&player.app.camera.rows);
    let rows = layout.visible(&player.app.camera.rows, 0);
    let free = rows.flat_map(|(index, row, line)| {
        line + heights.bar_of(row)..line + heights.of(&player.app.camera.rows, index)
    });
    free.collect()
}

#[test]
fn with_little_room_each_device_has_one_line_for_arrows_after_its_streams() {
    let player = with_lanes(FEW, 9);
    let free = free_lines(&player);
    assert_eq!(free.len(), 2, "{}", player.picture());
    let (buffer, lanes) = (player.draw(), player.app.layout().lanes);
    for y in free {
        let above = line(&buffer, y - 1);
        assert!(above.contains("stream"), "{above}");
        let symbols = (lanes.left()..lanes.right()).map(|x| buffer[(x, y)].symbol());
        assert!(
            symbols.clone().all(|it| " │─┌┐└┘├┤┬┴┼▼▲►◄".contains(it)),
            "{}",
            player.picture()
        );
    }
}

#[test]
fn the_second_line_of_a_slice_continues_the_first() {
    let player = with_lanes(FEW, 20);
    let (x, y) = player.place_of("aclrtMemcpyAsync");
    let below = line(&player.draw(), y + 1);
    let below: String = below.chars().skip(usize::from(x)).collect();
    assert!(below.starts_with("4 MiB at 8.42 GB/s"), "{below}");
    // Where the name fills the first line, its duration is in the second.
    let text = "s1: ConvolutionForward[0us..100us] Add[100us..1000us]";
    let mut player = with_lanes(text, 20);
    player.app.camera.viewport = crate::viewport::Viewport::new(0, 650_000);
    let (x, y) = player.place_of("ConvolutionForw");
    let below: String = line(&player.draw(), y + 1)
        .chars()
        .skip(usize::from(x))
        .collect();
    assert!(below.starts_with("100 µs"), "{}", player.picture());
}

#[test]
fn the_second_line_of_a_label_counts_visible_items() {
    let player = with_lanes(FEW, 20);
    let (_, y) = player.place_of("stream 1");
    assert!(
        line(&player.draw(), y + 1).contains(" 3 tasks "),
        "{}",
        player.picture()
    );
    let (_, y) = player.place_of("thread 1001");
    assert!(
        line(&player.draw(), y + 1).contains(" calls "),
        "{}",
        player.picture()
    );
}

#[test]
fn both_lines_of_a_slice_have_its_colour_and_marks_only_the_first() {
    let player = with_lanes(FEW, 20);
    let buffer = player.draw();
    let (x, y) = player.place_of("aclrtMemcpyAsync");
    assert_ne!(buffer[(x, y)].bg, Color::Reset);
    assert_eq!(buffer[(x, y)].bg, buffer[(x, y + 1)].bg);
    let player = with_lanes("s1: A[0us..400us] rec(e)\ns2: wait(e) B[402us..900us]", 20);
    // One in the lane, one in the legend.
    let marks = player.picture().matches('◆').count();
    assert_eq!(marks, 2, "{}", player.picture());
}

#[test]
fn a_click_in_any_line_of_a_lane_selects_the_item_under_it() {
    for below in 0..2 {
        let mut player = with_lanes(FEW, 20);
        let (x, y) = player.place_of("aclrtMemcpyAsync");
        let press = crossterm::event::MouseEventKind::Down(crossterm::event::MouseButton::Left);
        player.mouse(press, x, y + below);
        assert!(
            player.selected().contains("MemcpyAsync"),
            "{}",
            player.selected()
        );
    }
}

#[test]
fn the_current_lane_is_on_screen_at_every_height() {
    for height in 10..70 {
        let mut player = Player::of(scene(), (120, height));
        for _ in 0..30 {
            player.play("down");
            let lane = player.app.camera.lane.expect("a lane");
            let rows = player.app.layout();
            let mut rows = rows.visible(&player.app.camera.rows, player.app.camera.scroll);
            assert!(
                rows.any(|row| row.1 == ViewRow::Track(lane)),
                "{height} {lane:?}"
            );
        }
        // It is not scrolled further than is needed either.
        let layout = player.app.layout();
        let heights = layout.heights(&player.app.camera.rows);
        let all = (0..player.app.camera.rows.len())
            .map(|index| heights.of(&player.app.camera.rows, index));
        if all.sum::<u16>() <= layout.lanes.height {
            assert_eq!(player.app.camera.scroll, 0, "{height}");
        }
    }
}

fn is_slice(buffer: &Buffer, at: (u16, u16)) -> bool {
    let cell = &buffer[at];
    let drawn = Modifier::REVERSED | Modifier::UNDERLINED;
    let is_dots = ('\u{2800}'..='\u{28ff}').any(|it| cell.symbol().starts_with(it));
    cell.bg != Color::Reset || cell.modifier.intersects(drawn) || is_dots
}

/// Cells of slices that arrows have changed: by their lines, and by their heads in lanes that no arrow leads to.
fn hidden(player: &mut Player) -> (usize, usize) {
    player.app.camera.all_arrows = true;
    let with = player.draw();
    player.app.camera.all_arrows = false;
    let without = player.draw();
    let layout = player.app.layout();
    let row_at = |line: u16| {
        let rows = layout.visible(&player.app.camera.rows, player.app.camera.scroll);
        rows.take_while(|row| row.2 <= line).last().map(|row| row.1)
    };
    let changed = layout.lanes.positions().map(|at| (at.x, at.y));
    let changed = changed.filter(|at| is_slice(&without, *at) && with[*at] != without[*at]);
    let (heads, lines): (Vec<_>, Vec<_>) =
        changed.partition(|at| "▼▲►◄".contains(with[*at].symbol()));
    let is_of_others = |at: &&(u16, u16)| !row_at(at.1).is_some_and(ViewRow::has_arrows);
    (lines.len(), heads.iter().filter(is_of_others).count())
}

#[test]
fn arrows_hide_no_slices() {
    let looks = [ColorMode::Truecolor, ColorMode::Ansi, ColorMode::None];
    let traces = [ascend_trace_testkit::timeline(PIPELINE), scene()];
    for (trace, height) in traces
        .iter()
        .flat_map(|it| (10..70).map(move |height| (it, height)))
    {
        for (width, mode) in [60, 120, 200].into_iter().zip(looks) {
            let mut player = Player::of(trace.clone(), (width, height));
            player.app.theme = Theme::new(mode);
            let seen = hidden(&mut player);
            player.app.camera.all_arrows = true;
            let message = format!("{width}x{height} {mode:?}:\n{}", player.picture());
            assert_eq!(seen, (0, 0), "{message}");
        }
    }
}

#[test]
fn an_arrow_leaves_the_line_of_nodes_between_two_streams_alone() {
    let text = "
t1: capture(s1)[0..1us] of g1 end(s1)[5us..6us] of g1
s1: Scale[captured] by t1[2us..3us] of g1 graph[100us..600us] by t1[10us..11us] of g1 rec(e)
s2: A[20us..300us] wait(e) B[601us..900us]
";
    let mut player = Player::new(text, (160, 40));
    assert!(player.picture().contains("└ nodes"));
    let (_, y) = player.place_of("└ nodes");
    let nodes = |player: &Player| line(&player.draw(), y);
    let with = nodes(&player);
    player.app.camera.all_arrows = false;
    let without = nodes(&player);
    let kept = with.chars().filter(|it| !"│ ".contains(*it));
    let own = without.chars().filter(|it| !"│ ".contains(*it));
    assert!(kept.eq(own), "{with}\n{without}");
}

#[test]
fn a_lane_without_arrows_has_one_line_on_any_screen() {
    let player = Player::of(scene(), (200, 100));
    let rows = &player.app.camera.rows;
    let heights = player.app.layout().heights(rows);
    for (index, row) in rows.iter().enumerate() {
        let lines = heights.of(rows, index);
        match row.track() {
            Some(TrackKey::Stream(_) | TrackKey::Thread(..)) => assert_eq!(lines, 3),
            _ => assert_eq!(lines, 1),
        }
    }
}
