//! Keys, clicks, pastes and resizes without sense: the view neither ends nor hangs by them.

use ascend_trace_testkit::timeline;
use crossterm::event::{MouseButton, MouseEventKind};

use crate::action::ViewRequest;
use crate::event::{InputEvent, KeyCode, KeyEvent, KeyModifiers};
use crate::job::{JobKind, JobNews};
use crate::keymap::{KEYS, key};
use crate::theme::{ColorMode, TerminalBackground, Theme};

use super::harness::{OutputLines, PIPELINE, Player};
use super::scene::{running_scene, scene};

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len() as u64) as usize]
    }
}

const TEXTS: [&str; 8] = [
    "matmul",
    "/(/",
    ">1ms",
    "50%",
    "-3ms",
    "\u{1b}[201~\0",
    "日本語",
    "count=0x40",
];
const MICE: [MouseEventKind; 12] = [
    MouseEventKind::Down(MouseButton::Left),
    MouseEventKind::Up(MouseButton::Left),
    MouseEventKind::Drag(MouseButton::Left),
    MouseEventKind::Down(MouseButton::Right),
    MouseEventKind::Drag(MouseButton::Right),
    MouseEventKind::Moved,
    MouseEventKind::ScrollUp,
    MouseEventKind::ScrollDown,
    MouseEventKind::ScrollLeft,
    MouseEventKind::ScrollRight,
    MouseEventKind::Up(MouseButton::Right),
    MouseEventKind::Down(MouseButton::Middle),
];
const LEFT: MouseButton = MouseButton::Left;

fn a_key(random: &mut Random, names: &[&str]) -> KeyEvent {
    match random.below(4) {
        0 => {
            let letter = char::from(b' ' + random.below(95) as u8);
            KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)
        }
        1 => key(random.of(&["enter", "esc", "tab", "backspace", "delete", "up"])).expect("a key"),
        _ => key(random.of(names)).expect("a key of the key map"),
    }
}

/// A position on the screen or slightly outside it, often one with a special meaning for the mouse.
fn a_place(player: &Player, random: &mut Random) -> (u16, u16) {
    let (width, height) = player.app.size;
    let column = random.below(u64::from(width) + 4) as u16;
    let layout = player.app.layout();
    let row = match random.below(5) {
        0 => layout.ruler.y,
        1 => layout.minimap.y,
        _ => random.below(u64::from(height) + 4) as u16,
    };
    (column, row)
}

/// One thing that a hand does: a click, two, a drag that may not end, a look around.
fn a_gesture(player: &mut Player, random: &mut Random) {
    let (x, y) = a_place(player, random);
    match random.below(4) {
        0 => {
            let kind = MICE[random.below(MICE.len() as u64) as usize];
            player.mouse(kind, x, y);
        }
        1 => {
            for _ in 0..2 {
                player.mouse(MouseEventKind::Down(LEFT), x, y);
                player.mouse(MouseEventKind::Up(LEFT), x, y);
            }
        }
        2 => {
            player.mouse(MouseEventKind::Down(LEFT), x, y);
            for _ in 0..random.below(6) {
                let (x, y) = a_place(player, random);
                player.mouse(MouseEventKind::Drag(LEFT), x, y);
            }
            if random.below(4) > 0 {
                player.mouse(MouseEventKind::Up(LEFT), x, y);
            }
        }
        _ => {
            player.mouse(MouseEventKind::Moved, x, y);
            player.draw();
        }
    }
}

/// Delayed results of a source.
fn end_source(player: &mut Player) {
    drop(player.app.jobs.take_orders());
    let export = player.app.jobs.of(JobKind::Export).map(|job| job.number);
    if let Some(number) = export {
        player.on_job_news(JobNews::Failed(number, "no room".to_owned()));
    }
}

fn step(player: &mut Player, random: &mut Random, names: &[&str]) {
    let event = match random.below(20) {
        0 => InputEvent::Paste((*random.of(&TEXTS)).to_owned()),
        1 => InputEvent::Resize(random.below(240) as u16 + 1, random.below(70) as u16 + 1),
        2 => InputEvent::Clock(player.app.clock + std::time::Duration::from_millis(40)),
        3..7 => return a_gesture(player, random),
        7 => return player.data(),
        8 => return end_source(player),
        9 => InputEvent::Key(KeyEvent::new(KeyCode::Char('l'), KeyModifiers::CONTROL)),
        _ => InputEvent::Key(a_key(random, names)),
    };
    player.event(event);
}

/// Plays `events` events on a recording and draws after each `every`-th of them.
fn play(mut player: Player, seed: u64, events: usize, every: usize) {
    let entries = KEYS.iter().flat_map(|group| group.entries);
    let names: Vec<&str> = entries
        .flat_map(|entry| entry.keys)
        .map(|it| it.0)
        .collect();
    let mut random = Random(seed);
    player.log = Some(OutputLines(
        (0..100).map(|n| format!("line {n}\t{n}")).collect(),
    ));
    for number in 0..events {
        step(&mut player, &mut random, &names);
        if let Some((name, _)) = player.saved_layout() {
            crate::update::on_layout_saved(&mut player.app, &name, Err("no room".to_owned()));
        }
        player.effects.clear();
        if number % every == 0 {
            player.draw();
        }
    }
    // It still reacts.
    player.event(InputEvent::Resize(80, 24));
    end_source(&mut player);
    player.play("esc esc esc esc esc esc q");
    let seen = player.picture();
    assert_eq!(
        player.effects.last(),
        Some(&ViewRequest::Quit),
        "seed {seed} {:?}\n{seen}",
        player.app.mode
    );
}

/// Plays on recordings of every sort, each with another look.
fn everywhere(events: usize, every: usize) {
    let size = (100, 30);
    let shown = [
        (scene(), Theme::new(ColorMode::Truecolor)),
        (
            running_scene(),
            Theme::new(ColorMode::Indexed).on(TerminalBackground::Light),
        ),
        (timeline(PIPELINE), Theme::new(ColorMode::Ansi)),
        (timeline(""), Theme::new(ColorMode::None).with_ascii(true)),
    ];
    for (seed, (trace, theme)) in (1_000_003..).zip(shown) {
        let mut player = Player::of(trace, size);
        player.app.theme = theme;
        play(player, seed, events, every);
    }
}

#[test]
fn a_few_thousand_random_events_do_no_harm() {
    everywhere(800, 5);
}

#[test]
#[ignore = "a soak: 100,000 events on each recording"]
fn a_hundred_thousand_random_events_do_no_harm() {
    everywhere(100_000, 10);
}
