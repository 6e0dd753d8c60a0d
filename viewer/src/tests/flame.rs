//! The calls of a thread by nesting.

use std::collections::BTreeMap;

use ascend_trace_analysis::calls::{CallTree, Frame};
use ascend_trace_analysis::{Stats, Window};
use ascend_trace_recording::ThreadId;
use ascend_trace_testkit::Timeline;
use crossterm::event::{MouseButton, MouseEventKind};
use proptest::prelude::*;

use crate::app::Selection;
use crate::flame::FlameGraph;

use super::background_queries;
use super::harness::{LARGE, PIPELINE, Player, SMALL};

const THREADS: &str = "
t1: aclrtMalloc(64)[0..100us] aclrtFree(64)[200us..250us] aclrtMalloc(64)[300us..450us] aclrtFree(64)[900us..910us]
t2: aclrtMalloc(64)[10us..700us]
s1: A[912us..915us] by t1[910us..911us]";

fn player() -> Player {
    let timeline = Timeline::of(THREADS);
    let ranges = [
        (0, 0, 500, "step"),
        (0, 150, 480, "load"),
        (0, 600, 800, "step"),
    ];
    Player::of(timeline.with_ranges(&ranges).trace(), LARGE)
}

fn flame(player: &Player) -> &FlameGraph {
    player.app.panels.flame.as_ref().expect("calls by nesting")
}

/// Where a text stands among the boxes.
fn box_of(player: &Player, text: &str) -> (u16, u16) {
    let buffer = player.draw();
    let mut lines = player.app.layout().detail.y..buffer.area.height;
    let found = lines.find_map(|y| {
        let line = super::harness::line(&buffer, y);
        let place = line.find(text)?;
        Some((line[..place].chars().count() as u16, y))
    });
    found.unwrap_or_else(|| panic!("no {text} in\n{}", player.picture()))
}

/// The name of the node that the cursor is on.
fn here(player: &Player) -> String {
    let flame = flame(player);
    flame.name(&player.trace, flame.cursor).to_owned()
}

#[test]
fn boxes_are_as_wide_as_their_time_and_inside_their_parents() {
    let mut player = player();
    player.play("H");
    player.line_with("calls of thread 1001 t1");
    let flame = flame(&player);
    let boxes = flame.boxes(200);
    let of = |name: &str| {
        let mut own = boxes
            .iter()
            .filter(|it| flame.name(&player.trace, it.node) == name);
        *own.next().unwrap_or_else(|| panic!("no {name}: {boxes:?}"))
    };
    // 700 µs of 711 in all are steps, 330 of these are loading.
    let (step, load) = (of("step"), of("load"));
    assert_eq!((of("all").level, step.level, load.level), (0, 1, 2));
    assert!(step.width.abs_diff(197) <= 1, "{step:?}");
    assert!(
        load.width.abs_diff(step.width * 33 / 70) <= 1,
        "{load:?} {step:?}"
    );
    for it in &boxes {
        let around = boxes.iter().find(|its| {
            its.node == flame.tree.nodes()[it.node].parent && its.level + 1 == it.level
        });
        let is_in = around.is_none_or(|its| its.x <= it.x && it.x + it.width <= its.x + its.width);
        assert!(is_in, "{it:?} {around:?}");
    }
    let (_, line) = box_of(&player, "step 700 µs");
    let (_, inner) = box_of(&player, "load 330 µs");
    assert_eq!(inner, line + 1);
}

#[test]
fn keys_go_to_the_longest_child_to_neighbours_and_back() {
    let mut player = player();
    player.play("H");
    assert_eq!(here(&player), "all");
    let mut seen = Vec::new();
    for key in [
        "down", "down", "right", "left", "down", "down", "up", "up", "up", "up", "up",
    ] {
        player.play(key);
        seen.push(here(&player));
    }
    let expected = [
        "step",
        "load",
        "aclrtMalloc",
        "load",
        "aclrtMalloc",
        "aclrtMalloc",
        "load",
        "step",
        "all",
        "all",
        "all",
    ];
    assert_eq!(seen, expected);
    player.play("down");
    let line = player.line_with("2x  700 µs on screen");
    assert!(line.contains("longest 500 µs"), "{line}");
    assert!(line.contains("self 270 µs"), "{line}");
    player.play("tab");
    player.line_with("calls of thread 1002 t2");
    player.play("tab");
    player.line_with("calls of thread 1001 t1");
    player.play("esc");
    assert!(player.app.panels.flame.is_none());
}

#[test]
fn enter_goes_to_the_longest_instance() {
    let mut player = player();
    player.play("H down down down enter");
    assert!(player.app.panels.flame.is_none());
    assert_eq!(player.selected(), "call Malloc at 300000");
    assert_eq!(
        player.app.message.as_deref(),
        Some("the longest aclrtMalloc in view")
    );
    player.play("H down enter");
    assert_eq!(player.selected(), "range step at 0");
    player.play("u H down down enter");
    let Some(Selection::Range(_, level)) = player.app.camera.selected else {
        panic!("{}", player.selected());
    };
    assert_eq!(
        (player.selected().as_str(), level),
        ("range load at 150000", 1)
    );
    player.play("H home enter");
    player.line_with("go down first");
}

#[test]
fn it_follows_the_window_and_the_cursor_stays_on_its_name() {
    let mut player = player();
    player.play("H down down");
    assert_eq!(here(&player), "load");
    let all = flame(&player).tree.nodes()[0].inside_ns;
    player.play("W");
    assert_eq!(here(&player), "load");
    assert!(flame(&player).tree.nodes()[0].inside_ns < all);
    player.play("0");
    assert_eq!(flame(&player).tree.nodes()[0].inside_ns, all);
}

#[test]
fn sums_of_all_threads_are_those_of_the_table_of_functions() {
    for script in ["0", "W", "W W", "home W d"] {
        let mut player = Player::new(PIPELINE, LARGE);
        player.play(script);
        let window = player.app.camera.viewport.range();
        let mut sums: BTreeMap<String, (u64, i64)> = BTreeMap::new();
        for _ in 0..player.trace.threads().len() {
            match player.app.panels.flame {
                None => player.play("down down down down down down down H"),
                Some(_) => player.play("tab"),
            };
            for node in flame(&player).tree.nodes() {
                if let Frame::Call(id) = node.frame {
                    let sum = sums
                        .entry(player.trace.function(id).name.clone())
                        .or_default();
                    sum.0 += node.count;
                    sum.1 += node.total_ns;
                }
            }
        }
        let stats = Stats::within(&Window::whole(&player.trace), Some(window));
        let expected = stats.apis.iter();
        let expected: BTreeMap<String, (u64, i64)> = expected
            .map(|row| (row.name.clone(), (row.count, row.time.total_ns)))
            .collect();
        assert_eq!(sums, expected, "{script}");
    }
}

#[test]
fn a_click_selects_a_box() {
    let mut player = player();
    player.play("H");
    let (x, y) = box_of(&player, "load 330 µs");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x + 1, y);
    assert_eq!(here(&player), "load");
    let selected = player.app.camera.selected;
    player.mouse(MouseEventKind::Down(MouseButton::Left), 199, y + 9);
    assert_eq!(
        player.app.camera.selected, selected,
        "nothing behind it is selected"
    );
}

#[test]
fn a_window_that_is_not_loaded_is_read() {
    let (mut player, mut recording) = background_queries::player();
    player.play("0 H");
    player.line_with("only of the loaded part, so far");
    let thread = flame(&player).thread;
    background_queries::pursue_in_parts(&mut player, &mut recording);
    player.line_with("calls of thread");
    assert!(flame(&player).is_whole);
    let (trace, ..) = background_queries::whole(&mut recording);
    let window = player.app.camera.viewport.range();
    let expected = CallTree::of(&trace, thread, window);
    assert_eq!(
        flame(&player).tree.nodes()[0].inside_ns,
        expected.nodes()[0].inside_ns
    );
    player.play("down enter");
    super::parts::load(&mut player, &mut recording);
    let name = flame_name(&expected, &trace);
    assert!(
        player.selected().contains(&name),
        "{} {name}",
        player.selected()
    );
}

fn flame_name(tree: &CallTree, trace: &ascend_trace_recording::Trace) -> String {
    let first = tree.nodes()[0].children[0];
    match &tree.nodes()[first].frame {
        Frame::Call(id) => crate::text::short_name(&trace.function(*id).name).to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_thread_it_says_so() {
    let mut player = Player::of(ascend_trace_recording::Trace::default(), SMALL);
    player.play("H");
    assert!(player.app.panels.flame.is_none());
    player.line_with("no host thread");
}

proptest! {
    #[test]
    fn the_cursor_is_always_on_screen(keys in proptest::collection::vec(0..4_usize, 0..24), width in 40..200_u16) {
        let mut player = player();
        player.play("H");
        for key in keys {
            player.play(["down", "right", "left", "up"][key]);
            let flame = flame(&player);
            let boxes = flame.boxes(width);
            let own = boxes.iter().find(|it| it.node == flame.cursor);
            prop_assert!(own.is_some_and(|it| it.width > 0 && it.x < width));
            prop_assert!(boxes.iter().all(|it| it.x + it.width <= width));
        }
    }
}

#[test]
fn threads_are_found_from_any_lane() {
    let mut player = Player::new(PIPELINE, LARGE);
    player.play("/ softmax enter H");
    let thread = flame(&player).thread;
    assert!(thread == ThreadId(0) || thread.index() < player.trace.threads().len());
    player.play("H i");
    assert!(player.app.panels.flame.is_none() && player.app.panels.list.is_some());
    player.play("esc H I");
    assert!(player.app.panels.flame.is_none() && player.app.panels.list.is_some());
}
