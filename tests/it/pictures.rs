//! Pictures of the timeline: their contents, and refused options.

use std::fs;

use crate::support::screen::Screen;
use crate::support::{Outcome, Recording, Run, example, run, tool};

fn recording() -> Recording {
    Run::new(&example("cross_stream")).traced()
}

fn export(recording: &Recording, words: &[&str]) -> Outcome {
    run(tool().arg("export").arg(recording.trace()).args(words))
}

/// The texts of an SVG, in one piece.
fn texts(svg: &str) -> String {
    let texts = svg.split("</text>").filter_map(|it| it.rsplit('>').next());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_picture_has_the_lanes_of_the_view() {
    let recording = recording();
    export(&recording, &["--format", "svg"]).expect(0);
    let svg = fs::read_to_string(recording.beside("t.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    let texts = texts(&svg);
    let mut view = tool();
    view.arg("view").arg(recording.trace());
    let screen = Screen::start(view, 40, 160);
    for part in ["stream 2", "stream 3", "program ended, status 0"] {
        screen.until(part);
        assert!(texts.contains(part), "no {part} in\n{texts}");
    }
    // The line of keys is for the keyboard.
    screen.until("quit");
    assert!(!texts.contains("quit"), "{texts}");
    screen.press("q");
    screen.finish().expect(0);
}

#[test]
fn range_lanes_size_and_theme_change_a_picture() {
    let recording = recording();
    let drawn = |words: &[&str]| {
        let words = [&["--format", "svg", "-o", "-"], words].concat();
        export(&recording, &words).expect(0).out()
    };
    let whole = drawn(&[]);
    let part = drawn(&["--range", "0..50us"]);
    assert!(texts(&part).contains("50.0 µs from"), "{}", texts(&part));
    assert!(!texts(&whole).contains("50.0 µs from"));
    let lanes = texts(&drawn(&["--lanes", "Stream 3"]));
    let has = |lane: &str| lanes.lines().any(|line| line.starts_with(lane));
    assert!(has("stream 3") && !has("stream 2"), "{lanes}");
    let small = drawn(&["--size", "80x24"]);
    assert!(
        small.contains("width=\"656\" height=\"424\""),
        "{}",
        &small[..200]
    );
    assert!(whole.contains("rx=\"6\" fill=\"#ffffff\"/>"));
    assert!(drawn(&["--theme", "dark"]).contains("rx=\"6\" fill=\"#14181f\"/>"));
}

#[test]
fn a_picture_of_pixels_has_the_size_of_its_cells() {
    let recording = recording();
    let words = ["--format", "png", "--size", "100x30"];
    export(&recording, &words).expect(0);
    let png = fs::read(recording.beside("t.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (100 * 11 + 24, 30 * 26 + 24));
}

#[test]
fn options_without_effect_on_a_picture_are_refused() {
    let recording = recording();
    let refused = |words: &[&str], text: &str| {
        let outcome = export(&recording, words).expect(2);
        assert!(outcome.err().contains(text), "{words:?}: {outcome}");
    };
    let of_rows = "is not for --format svg and png: leave it out";
    refused(&["--format", "svg", "--only", "stream=2"], of_rows);
    refused(&["--format", "png", "--critical"], of_rows);
    refused(&["--format", "svg", "--lanes", "nowhere"], "no lane has");
    refused(&["--format", "chrome", "--lanes", "2"], "--lanes is for");
    refused(&["--format", "csv", "--size", "80x24"], "--size is for");
    export(&recording, &["--format", "svg", "--size", "9x9"]).expect(2);
    assert!(!recording.beside("t.svg").exists());
    fs::write(recording.beside("t.svg"), "mine").unwrap();
    refused(&["--format", "svg"], "exists: --force replaces it");
    assert_eq!(fs::read(recording.beside("t.svg")).unwrap(), b"mine");
    export(&recording, &["--format", "svg", "--force"]).expect(0);
}

#[test]
fn the_view_writes_a_picture_of_its_screen() {
    let recording = recording();
    let mut view = tool();
    view.arg("view").arg(recording.trace());
    let screen = Screen::start(view, 30, 120);
    screen.until("stream 3");
    screen.press("Y");
    screen.until("write a picture to:");
    screen.press("\r");
    screen.until("t.svg");
    screen.until("wrote ");
    // It replaces nothing.
    screen.press("Y\r");
    screen.until("no picture was written");
    screen.press("q");
    screen.finish().expect(0);
    let svg = fs::read_to_string(recording.beside("t.svg")).unwrap();
    assert!(texts(&svg).contains("stream 3"), "{svg}");
}
