//! Tables are sorted and filtered, and the cursor stays on its row.

use std::time::Duration;

use crossterm::event::{MouseButton, MouseEventKind};

use crate::background_query::BackgroundQuery;
use crate::event::InputEvent;
use crate::job::JobNews;
use crate::list::{ListState, RowId};

use super::background_queries;
use super::harness::{LARGE, PIPELINE, Player};
use super::lists::entries;
use super::live::PartlyKnownRecording;

fn pipeline() -> Player {
    Player::new(PIPELINE, LARGE)
}

fn list(player: &Player) -> &ListState {
    player.app.panels.list.as_ref().expect("a list")
}

/// The sort keys of the list's rows, in the visible order.
fn column(player: &Player, column: usize) -> Vec<String> {
    let cells = list(player).shown().map(|it| it.cells[column].text.clone());
    cells.collect()
}

fn current(player: &Player) -> RowId {
    list(player).current().expect("a row").id.clone()
}

#[test]
fn a_key_goes_through_the_columns_and_another_turns_the_order() {
    let mut player = pipeline();
    player.play("t");
    let made = column(&player, 0);
    player.play(">");
    let mut names = made.clone();
    names.sort_by_key(|name| name.to_lowercase());
    assert_eq!(column(&player, 0), names, "texts begin with the alphabet");
    assert!(player.line_with("operation▲").contains("count"));
    player.play("r");
    names.reverse();
    assert_eq!(column(&player, 0), names);
    assert!(player.line_with("operation▼").contains("count"));
    // Past the last column, it is as it was made; back from there is the last column.
    let columns = list(&player).columns.len();
    for _ in 0..columns {
        player.play(">");
    }
    assert_eq!(list(&player).sort, None);
    assert_eq!(column(&player, 0), made);
    player.play("<");
    assert_eq!(list(&player).sort.map(|it| it.column), Some(columns - 1));
    assert!(player.line_with("share▼").contains("operation"));
}

#[test]
fn numbers_are_sorted_by_value_and_unknown_ones_come_last() {
    let mut player = pipeline();
    player.play("t <");
    assert!(player.line_with("share▼").contains("operation"));
    for turned in [false, true] {
        let shares = column(&player, 8);
        let known: Vec<f64> = shares
            .iter()
            .filter_map(|it| it.strip_suffix('%')?.parse().ok())
            .collect();
        assert!(known.len() > 3);
        let is_sorted = known.is_sorted_by(|a, b| if turned { a <= b } else { a >= b });
        assert!(is_sorted, "{shares:?}");
        let last = &shares[known.len()..];
        assert!(last.iter().all(|it| it == "-"), "{shares:?}");
        player.play("r");
    }
    // 450 µs are less than 1.70 ms.
    player.play("esc i r");
    let lengths: Vec<i64> = list(&player)
        .shown()
        .map(|it| match it.id {
            RowId::Stall(_, begin, end) => end - begin,
            _ => panic!("no stall"),
        })
        .collect();
    assert!(!lengths.is_sorted(), "the longest come first: {lengths:?}");
    player.play("r");
    let lengths: Vec<String> = column(&player, 0);
    assert_eq!(lengths.last().map(String::as_str), Some("1.70 ms"));
}

#[test]
fn a_click_on_a_heading_sorts_by_it_and_a_second_one_turns_the_order() {
    let mut player = pipeline();
    player.play("t");
    let click = |player: &mut Player, text: &str| {
        let (x, y) = player.place_of(text);
        player.mouse(MouseEventKind::Down(MouseButton::Left), x, y);
    };
    let heading = player.app.layout().detail.y + 1;
    assert_eq!(player.place_of("p99").1, heading);
    click(&mut player, "p99");
    assert!(player.line_with("p99▼").contains("operation"));
    let first = column(&player, 6);
    click(&mut player, "p99▼");
    assert!(player.line_with("p99▲").contains("operation"));
    assert_ne!(column(&player, 6), first);
    click(&mut player, "kind");
    assert_eq!(list(&player).sort.map(|it| it.column), Some(1));
}

#[test]
fn a_filter_shows_matching_rows_while_it_is_typed() {
    let mut player = pipeline();
    player.play("t / m");
    let all = list(&player).entries.len();
    let some = entries(&player);
    assert!(some.iter().all(|it| it.to_lowercase().contains('m')));
    let shown = format!("/m▏  {} of {all}", some.len());
    assert!(player.line_with(&shown).contains("operations"));
    player.play("a t m");
    assert!(entries(&player).iter().all(|it| it.starts_with("MatMul")));
    assert!(
        player
            .line_with(&format!("/matm▏  1 of {all}"))
            .contains("1/1")
    );
    player.play("enter");
    assert!(!list(&player).typing);
    assert!(
        player
            .line_with(&format!("/matm  1 of {all}"))
            .contains("1/1")
    );
    // Keys have their meaning in a table again; esc shows all, and only then leaves.
    player.play("esc");
    assert_eq!(entries(&player).len(), all);
    player.play("/ ß ß");
    assert!(player.line_with(&format!("0 of {all}")).contains("nothing"));
    player.play("down enter esc esc");
    assert!(player.app.panels.list.is_none());
}

#[test]
fn letters_that_are_keys_are_typed_into_a_filter() {
    let mut player = pipeline();
    player.play("t / q t r < j backspace");
    assert_eq!(list(&player).filter, "qtr<");
    assert_eq!(list(&player).sort, None);
    player.event(InputEvent::Paste("ab\nc".to_owned()));
    assert_eq!(list(&player).filter, "qtr<abc");
    player.play("esc");
    assert!(list(&player).filter.is_empty());
}

#[test]
fn stalls_and_bookmarks_are_filtered_and_enter_goes_to_the_shown_row() {
    let mut player = pipeline();
    player.play("i / d e v i c e space 1 enter");
    let all = entries(&player);
    assert!(!all.is_empty() && all.iter().all(|it| it.contains("device 1")));
    player.play("enter");
    assert_eq!(player.selected(), "task StreamWaitEvent at 0");
    player.play("esc W b x x enter 0 b y y enter B / y y enter delete");
    assert_eq!(player.app.document.bookmarks.len(), 1);
    let left = &player.app.document.bookmarks[0].name;
    assert!(left.ends_with("xx"), "the other one is forgotten: {left}");
}

#[test]
fn the_cursor_stays_on_its_row_when_the_order_changes() {
    for keys in [
        "i down down",
        "t down",
        "t tab down down",
        "t tab tab tab down",
    ] {
        let mut player = pipeline();
        player.play(keys);
        let row = current(&player);
        for key in [">", "r", ">", ">", "r", "<", "<"] {
            player.play(key);
            assert_eq!(current(&player), row, "{keys} {key}");
        }
    }
}

#[test]
fn the_cursor_stays_on_its_row_while_a_recording_grows() {
    let mut growing = PartlyKnownRecording::of(PIPELINE, usize::MAX, LARGE);
    let rows = growing.rows.len();
    growing.grow(rows * 3 / 4);
    growing.player.play("0 t > > r");
    let row = list(&growing.player)
        .shown()
        .position(|it| it.id == RowId::Operation("MatMul".to_owned(), "kernel"));
    for _ in 0..row.expect("MatMul") {
        growing.player.play("down");
    }
    let row = current(&growing.player);
    let mut second = 0;
    let mut places = vec![list(&growing.player).cursor];
    while growing.rows.len() > 0 {
        growing.grow(1);
        second += 1;
        growing
            .player
            .event(InputEvent::Clock(Duration::from_secs(second)));
        assert_eq!(current(&growing.player), row);
        places.push(list(&growing.player).cursor);
    }
    places.dedup();
    assert!(places.len() > 1, "its place changed meanwhile: {places:?}");
    assert_eq!(list(&growing.player).sort.map(|it| it.column), Some(1));
}

#[test]
fn stalls_of_a_growing_recording_are_listed_as_they_come() {
    let mut growing = PartlyKnownRecording::of(PIPELINE, usize::MAX, LARGE);
    let rows = growing.rows.len();
    growing.grow(rows * 3 / 4);
    growing.player.play("i down");
    let (row, count) = (current(&growing.player), list(&growing.player).len());
    growing.grow(usize::MAX);
    growing
        .player
        .event(InputEvent::Clock(Duration::from_secs(9)));
    assert!(list(&growing.player).len() > count);
    assert!(current(&growing.player).is_same(&row));
}

#[test]
fn stalls_of_a_long_recording_keep_order_filter_and_row_when_all_are_known() {
    let (mut player, mut recording) = super::background_queries::player();
    player.play("i > > / h o s t enter down");
    let row = current(&player);
    let sort = list(&player).sort;
    let mut query: Box<BackgroundQuery> = player.requested_query().expect("it is asked");
    let done = query.advance(&mut recording, &mut |_| true);
    assert!(done.expect("it is in memory"));
    let loaded = list(&player).entries.len();
    player.on_job_news(JobNews::Found(query));
    assert!(list(&player).entries.len() >= loaded);
    assert_eq!(list(&player).sort, sort);
    assert!(entries(&player).iter().all(|it| it.contains("host")));
    let is_there = list(&player).shown().any(|it| it.id.is_same(&row));
    assert!(!is_there || current(&player).is_same(&row));
}

/// Two functions allocate. The first allocation is freed.
const ALLOCATIONS: &str = "
s1: A[30us..90us] by t1[25us..26us]
t1: aclrtMalloc(1048576,1000)[0..5us] aclrtFree(1000)[10us..11us] aclrtMalloc(3145728,1000)[12us..15us]
t1: aclrtMallocHost(1048576,2000)[20us..22us]
";

#[test]
fn memory_in_use_is_listed_by_call_site_and_enter_goes_to_the_largest_allocation() {
    let mut player = Player::new(ALLOCATIONS, LARGE);
    player.play("#");
    player.line_with("memory in use by call site  1/2");
    player.line_with("4 MiB by the calls of all of the recording");
    let found = entries(&player);
    assert!(
        found[0].starts_with("3 MiB 75.0% 1 2 aclrtMalloc - "),
        "{found:?}"
    );
    assert!(
        found[1].starts_with("1 MiB 25.0% 1 1 aclrtMallocHost - "),
        "{found:?}"
    );
    player.play("enter");
    assert_eq!(player.selected(), "call Malloc at 12000");
    player.play("# #");
    assert!(player.app.panels.list.is_none());
}

#[test]
fn without_memory_in_use_the_panel_does_not_open() {
    let mut player = Player::new(
        "t1: aclrtMalloc(64,1000)[0..5us] aclrtFree(1000)[10us..11us]",
        LARGE,
    );
    player.play("#");
    player.line_with("no allocation is known to be in use");
    assert!(player.app.panels.list.is_none());
}

#[test]
fn memory_of_a_long_recording_is_that_of_all_of_it() {
    let (mut player, mut recording) = background_queries::player();
    player.play("#");
    background_queries::pursue_sums(&mut player, &mut recording);
    player.line_with("by the calls of all of the recording");
}

#[test]
fn communication_has_pages_of_collectives_ranks_and_messages() {
    let mut player = Player::new(
        "p1.s1@0: HcclAllReduce(1,64)[0..100us]
         p2.s2@1: HcclAllReduce(2,64)[60us..100us]",
        LARGE,
    );
    player.play("&");
    player.line_with("all of the recording");
    let found = entries(&player);
    assert!(
        found.len() == 2 && found.iter().all(|it| it.contains("HcclAllReduce")),
        "{found:?}"
    );
    player.play("tab");
    assert_eq!(entries(&player).len(), 2, "{:?}", entries(&player));
    player.play("tab");
    player.line_with("messages between ranks");
    assert!(entries(&player).is_empty());
    player.play("tab &");
    assert!(player.app.panels.list.is_none());
}

#[test]
fn without_collectives_the_panel_of_communication_does_not_open() {
    let mut player = Player::new(ALLOCATIONS, LARGE);
    player.play("&");
    player.line_with("no collective ran");
    assert!(player.app.panels.list.is_none());
}
