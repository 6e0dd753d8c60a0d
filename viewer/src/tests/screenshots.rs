//! The pictures of the manual and the README show the present view. `docs/screenshots/update.sh` draws
//! them again.

use std::path::PathBuf;

use ascend_trace_recording::TimeRange;
use ascend_trace_testkit::whole::opened;

use crate::event::InputEvent;
use crate::picture::{Picture, PictureFormat};
use crate::theme::{ColorMode, TerminalBackground, Theme};
use crate::viewport::Viewport;

use super::harness::Player;
use super::scene::scene;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/screenshots"))
}

fn svg(player: &Player, ground: TerminalBackground) -> Vec<u8> {
    let picture = Picture::new(player.draw(), ground);
    picture.encode(PictureFormat::Svg).expect("text")
}

#[track_caller]
fn screenshot(name: &str, size: (u16, u16), script: &str) {
    let mut player = Player::of(scene(), size);
    player.play(script);
    let drawn = svg(&player, TerminalBackground::Dark);
    let path = folder().join(format!("{name}.svg"));
    if std::env::var_os("SCREENSHOTS").is_some_and(|it| it == "write") {
        std::fs::write(&path, drawn).expect("the folder can be written");
        return;
    }
    let kept = std::fs::read(&path).unwrap_or_default();
    assert!(
        kept == drawn,
        "{} differs from the view now: run docs/screenshots/update.sh",
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

/// Of a recording, which has other times on every machine: drawn when asked for, compared with nothing.
#[test]
#[ignore = "draws the pictures that docs/screenshots/demo.sh asks for"]
fn a_recording_as_it_is_first_seen() {
    let path = std::env::var_os("SCREENSHOT_OF").expect("SCREENSHOT_OF names a recording");
    let (trace, _) = opened(path).expect("it is a trace");
    // The longest range in the second half of it, with a margin.
    let TimeRange { begin, end } = trace.span().expect("it is not empty");
    let later = trace
        .ranges()
        .iter()
        .filter(|it| it.begin > begin + (end - begin) / 2);
    let layers = later.filter(|range| range.name.starts_with("layer 0"));
    let layer = layers
        .max_by_key(|range| range.end - range.begin)
        .expect("a layer");
    let from = layer.begin - 100_000;
    let mut player = Player::of(trace, (140, 40));
    player.app.title = "ascend-trace demo transformer".to_owned();
    player.app.camera.viewport = Viewport::new(from, from + 1_200_000);
    let looks = [
        ("demo", Theme::new(ColorMode::Truecolor)),
        (
            "demo_light",
            Theme::new(ColorMode::Truecolor).on(TerminalBackground::Light),
        ),
        ("demo_256", Theme::new(ColorMode::Indexed)),
        ("demo_nocolor", Theme::new(ColorMode::None)),
        ("demo_ascii", Theme::new(ColorMode::None).with_ascii(true)),
    ];
    for (name, theme) in looks {
        player.app.theme = theme;
        for (wide, high) in [(80, 24), (120, 35), (200, 50)] {
            player.event(InputEvent::Resize(wide, high));
            let path = folder().join(format!("{name}_{wide}x{high}.svg"));
            let drawn = match name {
                "demo_light" => svg(&player, TerminalBackground::Light),
                _ => svg(&player, TerminalBackground::Dark),
            };
            std::fs::write(&path, drawn).expect("it can be written");
        }
    }
}
