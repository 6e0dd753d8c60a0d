//! The list of what checks found.

use crate::panels::{Findings, PanelKind};

use super::background_queries;
use super::harness::{LARGE, Player};
use super::lists::entries;

const COPIES: &str =
    "s1: memcpy(4096)[host-copy] by t1[0..5us] memcpy(4096)[host-copy] by t1[6us..9us]
                      t1: aclrtMalloc(64)[20us..21us]=207001 | s1: A[30us..90us] by t1[25us..26us]";

#[test]
fn findings_are_listed_and_enter_goes_to_the_first_call() {
    let mut player = Player::new(COPIES, LARGE);
    player.play("P");
    let found = entries(&player);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("pageable-copy warning 2 "));
    assert!(
        found[1].contains("aclrtMalloc found no 64 B of memory of device 0"),
        "{found:?}"
    );
    player.line_with("what checks found");
    player.play("down enter");
    assert!(player.app.panels.list.is_none());
    assert!(
        player.selected().contains("Malloc at 20000"),
        "{}",
        player.selected()
    );
    // Back to where one was.
    player.play("P P");
    assert!(player.app.panels.list.is_none());
}

#[test]
fn where_nothing_is_found_that_is_said() {
    let mut player = Player::new("s1: A[5us..9us] by t1[0..1us]", LARGE);
    player.play("P");
    assert!(player.app.panels.list.is_none());
    let message = player.app.message.as_deref();
    assert_eq!(message, Some("the checks found nothing"));
}

#[test]
fn all_of_a_long_recording_is_looked_through() {
    let (mut player, mut recording) = background_queries::player();
    player.play("P");
    background_queries::pursue_sums(&mut player, &mut recording);
    let kind = player.app.panels.list.as_ref().map(|list| list.kind);
    assert_eq!(kind, Some(PanelKind::Findings(Findings)));
    let found = entries(&player);
    assert!(
        found.iter().any(|it| it.contains("returned 107000")),
        "{found:?}"
    );
    player.line_with("in all of the recording");
    // They are known now.
    player.play("P P");
    assert!(player.requested_query().is_none());
    player.play("enter");
    super::parts::load(&mut player, &mut recording);
    assert_ne!(player.selected(), "nothing");
}
