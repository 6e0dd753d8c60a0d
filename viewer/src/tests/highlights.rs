//! Highlights: the selection with its links, and the longest stalls.

use ratatui::style::{Color, Modifier, Style};

use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use crate::theme::{ColorMode, TerminalBackground, Theme};

use super::harness::{LARGE, PIPELINE, Player};
use super::scene::scene;

const LINES: &str = "│─┌┐└┘├┤┬┴┼▼▲►◄";
const BOLD_LINES: &str = "┃━┏┓┗┛┣┫┳┻╋";

/// Cells of the lanes with one of these symbols.
fn cells(player: &Player, symbols: &str) -> Vec<(u16, u16, Style)> {
    let buffer = player.draw();
    let area = player.app.layout().lanes;
    let all = area
        .positions()
        .map(|at| (at.x, at.y, &buffer[(at.x, at.y)]));
    all.filter(|(_, _, cell)| symbols.contains(cell.symbol()))
        .map(|(x, y, cell)| (x, y, cell.style()))
        .collect()
}

/// The details, in one line.
fn details(player: &Player) -> String {
    let world = crate::app::ViewData {
        trace: &player.trace,
        log: None,
        overview: &player.overview,
        export_name: None,
    };
    crate::view::details(&player.app, world).replace('\n', "  ")
}

/// Selects the wait of stream 4 for the record of stream 2.
fn with_a_wait() -> Player {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("/ StreamWaitEvent enter");
    for _ in 0..20 {
        if details(&player).contains("task 0 of stream 4") {
            return player;
        }
        player.play(">");
    }
    panic!("no such wait:\n{}", player.picture());
}

#[test]
fn a_selected_wait_says_what_released_it_where_and_when() {
    let player = with_a_wait();
    let text = details(&player);
    assert!(
        text.contains("released by aclrtRecordEvent E5 #1, device 0 stream 2, at 1.700"),
        "{text}"
    );
}

#[test]
fn a_wait_without_its_record_names_the_filters() {
    let text = "s1: A[0us..10us] rec(e)\ns2: B[5us..50us] wait(e) C[51us..60us]";
    for filters in [vec![], vec!["skip call=aclrtRecordEvent".to_owned()]] {
        let mut timeline = Timeline::of(text);
        timeline.session.filters.clone_from(&filters);
        let names: Vec<_> = timeline
            .tables
            .functions
            .iter()
            .map(|it| it.name.clone())
            .collect();
        let is_record = |row: &Row| match row {
            Row::Call(call) => names[usize::from(call.function)] == "aclrtRecordEvent",
            _ => false,
        };
        timeline.rows.retain(|row| !is_record(row));
        let mut player = Player::of(timeline.trace(), LARGE);
        player.play("/ StreamWaitEvent enter");
        let text = details(&player);
        let says_so = text.contains("the record of its event may be left out by the filters");
        assert_eq!(says_so, !filters.is_empty(), "{text}");
    }
}

#[test]
fn a_wait_after_its_record_was_done_says_so() {
    let mut player = Player::new(
        "s1: A[0us..10us] rec(e)\ns2: B[5us..50us] wait(e) C[51us..60us]",
        LARGE,
    );
    player.play("/ StreamWaitEvent enter");
    let mut text = details(&player);
    if !text.contains("task") {
        player.play(">");
        text = details(&player);
    }
    assert!(
        text.contains("released by aclrtRecordEvent E1 #1, stream 1"),
        "{text}"
    );
    assert!(text.contains("before this began"), "{text}");
}

#[test]
fn a_selected_record_names_the_waits_that_it_released() {
    let mut player = with_a_wait();
    player.play("[");
    let text = details(&player);
    assert!(
        text.contains("released device 1 stream 4 at 1.70"),
        "{text}"
    );
}

#[test]
fn a_sync_says_which_task_it_waited_for_last() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("/ SynchronizeStream enter");
    let text = details(&player);
    assert!(
        text.contains("released by Add, stream 3, at 1.540"),
        "{text}"
    );
}

#[test]
fn the_line_between_a_wait_and_its_record_is_bright_and_all_others_are_dim() {
    let bare = Player::new(PIPELINE, LARGE);
    let theme = bare.app.theme;
    let usual = theme.arrow(false).fg;
    assert!(cells(&bare, LINES).iter().any(|it| it.2.fg == usual));
    assert!(cells(&bare, BOLD_LINES).is_empty());

    let player = with_a_wait();
    let bold = cells(&player, BOLD_LINES);
    assert!(!bold.is_empty(), "{}", player.picture());
    for (x, y, style) in bold {
        assert_eq!(style.fg, theme.arrow(true).fg, "{x},{y}");
        assert!(style.add_modifier.contains(Modifier::BOLD), "{x},{y}");
    }
    let left: Vec<_> = cells(&player, "│─┌┐└┘")
        .into_iter()
        .filter(|it| it.2.fg == usual)
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_record_and_the_wait_are_bright_together_and_no_others_are() {
    for script in ["", "["] {
        let mut player = with_a_wait();
        player.play(script);
        let bright = player.app.theme.linked().fg;
        let is_bright = |it: &&(u16, u16, Style)| it.2.fg == bright || it.2.bg == bright;
        let records = cells(&player, "◆");
        assert_eq!(
            records.iter().filter(is_bright).count(),
            1,
            "{script} {records:?}"
        );
        let waits = cells(&player, "░");
        let layout = player.app.layout();
        let row_at = |line: u16| {
            let rows = layout.visible(&player.app.camera.rows, player.app.camera.scroll);
            rows.take_while(|row| row.2 <= line)
                .last()
                .expect("a row")
                .0
        };
        let bright = waits.iter().filter(is_bright).map(|it| row_at(it.1));
        let lanes: std::collections::BTreeSet<usize> = bright.collect();
        let (_, line) = player.place_of("stream 4");
        assert!(lanes.contains(&row_at(line)), "{script}");
        // The record was also the last thing that a thread waited for.
        assert_eq!(lanes.len(), 1 + script.len(), "{script}");
    }
}

#[test]
fn a_record_that_shares_its_cell_is_shown_when_its_wait_is_selected() {
    // At this zoom, the record is a part of the kernel's cell.
    let text = "s1: A[0us..5000us] rec(e) B[5000us..9000us]\ns2: wait(e) C[5001us..9000us]";
    let mut player = Player::new(text, LARGE);
    assert!(cells(&player, "◆").is_empty(), "{}", player.picture());
    player.play("n");
    assert!(
        details(&player).contains("released by aclrtRecordEvent"),
        "{}",
        details(&player)
    );
    assert_eq!(cells(&player, "◆").len(), 1, "{}", player.picture());
}

#[test]
fn the_longest_stalls_are_red_the_others_amber_and_idle_is_dim() {
    let waits = (0..8).map(|n| {
        let begin = n * 1_000;
        // Longer and longer waits.
        let end = begin + 400 + n * 50;
        format!(
            "s1: A[{begin}us..{end}us] rec(e{n})\ns2: wait(e{n}) B[{end}us..{}us]\n",
            begin + 1_000
        )
    });
    let player = Player::new(&waits.collect::<String>(), LARGE);
    let theme = player.app.theme;
    assert_ne!(theme.worst().fg, theme.stall().fg);
    // The wait of step n ends in it, for any content of its middle.
    let lanes = player.app.layout().lanes;
    let step = |x: u16| {
        player
            .app
            .camera
            .viewport
            .time(i64::from(x - lanes.x), lanes.width)
            / 1_000_000
    };
    let mut colours = vec![std::collections::HashSet::new(); 9];
    for (x, _, style) in cells(&player, "░") {
        colours[step(x).clamp(0, 8) as usize].insert(style.fg);
    }
    colours.pop();
    let (amber, red) = (theme.stall().fg, theme.worst().fg);
    assert!(
        colours[..5].iter().all(|it| *it == [amber].into()),
        "{colours:?}"
    );
    assert!(
        colours[5..].iter().all(|it| *it == [red].into()),
        "{colours:?}"
    );
    assert!(player.picture().contains("longest stalls"));
    // Nothing else is red: nothing has failed.
    let buffer = player.draw();
    let area = player.app.layout().lanes;
    let others = area.positions().filter(|at| {
        let cell = &buffer[(at.x, at.y)];
        let is_stall = cell.symbol() == "░" || cell.modifier.contains(Modifier::BOLD);
        !is_stall && (Some(cell.fg) == red || Some(cell.bg) == red)
    });
    assert_eq!(others.count(), 0);
}

#[test]
fn idle_stretches_are_dim_unless_they_are_among_the_longest() {
    let gaps = (0..8).map(|n| format!("s1: A[{}us..{}us]\n", n * 1_000, n * 1_000 + 900 - n * 50));
    let player = Player::new(&gaps.collect::<String>(), LARGE);
    let theme = player.app.theme;
    let colours: std::collections::HashSet<_> =
        cells(&player, "╌").into_iter().map(|it| it.2.fg).collect();
    assert_eq!(colours, [theme.idle().fg, theme.worst().fg].into());
}

#[test]
fn on_a_light_ground_with_sixteen_colours_a_wait_is_not_red() {
    let theme = Theme::new(ColorMode::Ansi).on(TerminalBackground::Light);
    assert_ne!(theme.stall().fg, Some(Color::Red));
    assert_eq!(theme.worst().fg, Some(Color::Red));
}

#[test]
fn without_colours_the_longest_stalls_are_bold() {
    let theme = Theme::new(ColorMode::None);
    assert!(theme.worst().add_modifier.contains(Modifier::BOLD));
    assert!(!theme.stall().add_modifier.contains(Modifier::BOLD));
}

#[test]
fn the_cause_of_an_idle_stretch_is_tied_to_it() {
    let mut player = Player::of(scene(), LARGE);
    for _ in 0..40 {
        player.play("n");
        if matches!(
            player.app.camera.selected,
            Some(crate::app::Selection::Gap(_))
        ) {
            break;
        }
    }
    assert!(
        player.selected().starts_with("gap"),
        "{}",
        player.selected()
    );
    assert!(!cells(&player, BOLD_LINES).is_empty() || !cells(&player, "▼▲").is_empty());
}
