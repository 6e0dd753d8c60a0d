//! Exports from the view, as far as the state goes: the source writes them.

use std::time::Duration;

use super::harness::{LARGE, PIPELINE, Player, SMALL};
use crate::event::Event;
use crate::exporting::{ExportNews, Wish};
use crate::update::hear_export;

#[test]
fn an_export_is_named_followed_and_over() {
    for size in [SMALL, LARGE] {
        let mut player = Player::new(PIPELINE, size);
        player.play("W e");
        let prompt = player.line_with("export what is on screen to: train.json");
        assert!(prompt.contains("Chrome") || size == SMALL, "{prompt}");
        player.play(". g z enter");
        let range = (player.app.viewport.begin(), player.app.viewport.end());
        let wish = Wish::Begin("train.json.gz".to_owned(), Some(range));
        assert_eq!(player.app.export_wish.take(), Some(wish));
        assert!(
            player
                .line_with("writing train.json.gz")
                .contains("esc: stop")
        );
        player.event(Event::Clock(Duration::from_secs(10)));
        hear_export(&mut player.app, ExportNews::Reached(1, 4));
        player.line_with("writing train.json.gz: 25 %, 30.0 s left");
        // One at a time; what one looks at may change meanwhile.
        player.play("E");
        assert!(player.line_with("another export").contains("esc stops it"));
        player.play("a");
        hear_export(
            &mut player.app,
            ExportNews::Done("wrote train.json.gz".to_owned()),
        );
        player.line_with("wrote train.json.gz");
        assert!(player.app.exporting.is_none());
    }
}

#[test]
fn everything_is_exported_whatever_is_on_screen_and_esc_stops_it() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("W E enter");
    let wish = Wish::Begin("train.json".to_owned(), None);
    assert_eq!(player.app.export_wish.take(), Some(wish));
    player.play("esc");
    assert_eq!(player.app.export_wish.take(), Some(Wish::Stop));
    hear_export(&mut player.app, ExportNews::Failed("stopped".to_owned()));
    player.line_with("stopped");
    // Esc has its other meanings again.
    player.play("n esc");
    assert_eq!(player.selected(), "nothing");
}

#[test]
fn a_name_that_is_taken_back_exports_nothing() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("e esc");
    assert!(player.app.export_wish.is_none() && player.app.exporting.is_none());
}
