//! The pictures of the manual and the README show what the view shows now.
//! `docs/screenshots/update.sh` draws them anew.

use std::path::PathBuf;

use super::harness::Player;
use super::scene::scene;
use super::svg;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/screenshots"))
}

#[track_caller]
fn screenshot(name: &str, size: (u16, u16), script: &str) {
    let mut player = Player::of(scene(), size);
    player.play(script);
    let drawn = svg::render(&player.draw());
    let path = folder().join(format!("{name}.svg"));
    if std::env::var_os("SCREENSHOTS").is_some_and(|it| it == "write") {
        std::fs::write(&path, drawn).expect("the folder can be written");
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == drawn,
        "{} is not what the view shows now: run docs/screenshots/update.sh",
        path.display()
    );
}

#[test]
fn the_timeline_with_a_stall_that_names_its_culprit() {
    screenshot("timeline", (128, 34), "i enter");
}

#[test]
fn the_longest_stalls() {
    screenshot("stalls", (128, 34), "i down");
}

#[test]
fn statistics() {
    screenshot("statistics", (128, 34), "t");
}
