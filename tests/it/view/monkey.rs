//! Keys, clicks, drags, pastes and sizes without sense, in a real terminal, on every demo: the view neither ends nor hangs
//! by them.

use std::fmt::Write;
use std::path::Path;

use super::demos;
use crate::support::{process::tool, screen::Screen};

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Keys as a terminal sends them, and Ctrl-L; none that ends or stops the view.
const KEYS: [&str; 24] = [
    "\u{c}",
    "\r",
    "\t",
    "\u{1b}[Z",
    "\u{7f}",
    "\u{1b}[A",
    "\u{1b}[B",
    "\u{1b}[C",
    "\u{1b}[D",
    "\u{1b}[H",
    "\u{1b}[F",
    "\u{1b}[5~",
    "\u{1b}[6~",
    "\u{1b}OP",
    "n",
    "N",
    "[",
    "]",
    "i",
    "t",
    "w",
    "s",
    "0",
    "u",
];
const PASTES: [&str; 5] = ["matmul", "/(/", "50%", "日本語", "\u{7}\u{0}x"];
/// Buttons as they are reported: left, middle, right, dragged, moved, the wheel, with shift.
const BUTTONS: [u64; 11] = [0, 1, 2, 32, 34, 35, 64, 65, 66, 67, 68];

fn mouse(text: &mut String, button: u64, (x, y): (u64, u64), end: char) {
    let _ = write!(text, "\u{1b}[<{button};{x};{y}{end}");
}

/// One action of a hand, as a terminal sends it.
fn event(random: &mut Random) -> String {
    let mut text = String::new();
    let place = |random: &mut Random| (random.below(210) + 1, random.below(56) + 1);
    match random.below(10) {
        0 => {
            let _ = write!(text, "\u{1b}[200~{}\u{1b}[201~", random.of(&PASTES));
        }
        1 | 2 => {
            let button = BUTTONS[random.below(BUTTONS.len() as u64) as usize];
            let at = place(random);
            let end = if random.below(3) == 0 { 'm' } else { 'M' };
            mouse(&mut text, button, at, end);
        }
        3 => {
            let at = place(random);
            for _ in 0..2 {
                mouse(&mut text, 0, at, 'M');
                mouse(&mut text, 0, at, 'm');
            }
        }
        4 => {
            // In the second line, the ruler, the lanes.
            let row = random.below(5) + 2;
            mouse(&mut text, 0, (random.below(120) + 1, row), 'M');
            for _ in 0..random.below(5) {
                mouse(&mut text, 32, (random.below(120) + 1, row), 'M');
            }
            mouse(&mut text, 0, (random.below(120) + 1, row), 'm');
        }
        5 => {
            // Any letter but q, which ends the view.
            let letter = char::from(b' ' + random.below(95) as u8);
            text.push(if letter == 'q' { 'Q' } else { letter });
        }
        _ => text.push_str(random.of(&KEYS)),
    }
    text
}

/// Makes this number of actions in a view of a recording, then leaves it.
#[track_caller]
fn play(path: &Path, seed: u64, events: usize) {
    let folder = tempfile::tempdir().unwrap();
    // Resulting bookmarks, exports and layouts are written there.
    let copy = folder.path().join("t.atrace");
    std::fs::copy(path, &copy).unwrap();
    let mut command = tool();
    command.arg("view").arg(&copy).current_dir(folder.path());
    // Without the list of all actions, of which two end or stop the view; another test has that.
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[keys]\n\":\" = \"none\"\n").unwrap();
    command.arg("--config").arg(&config);
    let screen = Screen::start(command, 30, 120);
    screen.until("stream ");
    let mut random = Random(seed);
    for number in 0..events {
        screen.press(&event(&mut random));
        if random.below(40) == 0 {
            let (rows, columns) = (random.below(70) + 1, random.below(230) + 1);
            screen.resize(rows as u16, columns as u16);
        }
        // It reacts, for any amount of input.
        if number % 100 == 99 {
            settle(&screen);
        }
    }
    settle(&screen);
    // Whatever is on screen, this ends it.
    screen.press("\u{3}");
    let outcome = screen.finish().expect(0);
    assert!(!outcome.out().contains("panicked"), "{path:?}, seed {seed}");
}

/// Waits until the screen is drawn again on request.
#[track_caller]
fn settle(screen: &Screen) {
    screen.resize(30, 120);
    let length = screen.length();
    screen.press("\u{c}");
    // A screen that is drawn again has the title in one piece.
    screen.until_after(length, "ascend-trace");
}

#[test]
fn hundreds_of_random_events_on_every_demo_neither_end_nor_hang_the_view() {
    for (seed, (_, path)) in (7_000_003..).zip(demos()) {
        play(path, seed, 400);
    }
}

#[test]
#[ignore = "a soak: 100,000 events on each demo"]
fn a_hundred_thousand_random_events_on_every_demo_neither_end_nor_hang_the_view() {
    // Output of a view is kept during its life.
    for (seed, (_, path)) in (9_000_011..).zip(demos().iter().cycle().take(10 * demos().len())) {
        play(path, seed, 10_000);
    }
}
