//! Whole screens. They are reviewed like code; `INSTA_UPDATE=always cargo test` writes them again.

use super::harness::{LARGE, OutputLines, PIPELINE, Player, SMALL};

fn picture(name: &str, size: (u16, u16), script: &str) {
    let mut player = Player::new(PIPELINE, size);
    player.log = Some(OutputLines(
        (1..=40).map(|n| format!("step {n}: loss 0.{n}")).collect(),
    ));
    player.play(script);
    insta::with_settings!({ omit_expression => true, description => script }, {
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), player.picture());
    });
}

fn both(name: &str, script: &str) {
    picture(name, SMALL, script);
    picture(name, LARGE, script);
}

#[test]
fn the_whole_trace_at_first_sight() {
    both("overview", "");
}

#[test]
fn the_first_stall_names_its_culprit() {
    both("stall", "n n");
}

#[test]
fn a_selected_wait_has_its_arrow() {
    both("wait_selected", "n n n n F");
}

#[test]
fn a_selected_task_shows_its_arguments() {
    both("copy_selected", "down right right enter");
}

#[test]
fn a_selected_sync_points_back_to_its_awaited_task() {
    both("sync_selected", "/ Synchronize enter");
}

#[test]
fn a_close_look_at_the_end_of_a_copy() {
    both("zoomed", "/ MatMul enter W W w");
}

#[test]
fn the_output_of_the_program() {
    both("log", "o K");
}

#[test]
fn the_longest_stalls_in_a_list() {
    both("stalls", "i down");
}

#[test]
fn statistics_of_the_visible_range() {
    both("statistics", "t");
    both("statistics_streams", "t tab");
}

#[test]
fn the_palette_of_all_actions() {
    both("palette", ": m a r k");
}

#[test]
fn the_gap_between_two_marks() {
    both("marks", "/ Gelu enter m > / Add enter m");
}

#[test]
fn lanes_that_are_folded_and_pinned() {
    both("arranged", "down down v down c");
}

#[test]
fn a_walk_with_its_trail() {
    both("walk", "/ LayerNorm enter [ [ [");
}

#[test]
fn the_help() {
    both("help", "?");
}

#[test]
fn the_prompt_of_a_search() {
    picture("search", SMALL, "/ Soft");
}

#[test]
fn the_name_of_an_export() {
    both("export", "W e");
}
