//! Two recordings, one above the other.

use ascend_trace_analysis::Fold;
use ascend_trace_analysis::Window;
use ascend_trace_analysis::diff::{Diff, paired};
use ascend_trace_analysis::steps::{Finder, StepDefinition};
use ascend_trace_recording::Trace;
use ascend_trace_testkit::timeline;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::harness::{LARGE, Player, SMALL, line};
use super::lists::words as cells;
use crate::action::ViewRequest;
use crate::app::ViewData;
use crate::event::{InputEvent, KeyModifiers};
use crate::keymap::key;
use crate::overview::RecordingOverview;
use crate::pair::{ComparisonResult, PairData, ViewPair, areas, too_small, view};
use crate::panels::{Changes, PanelKind};

/// Steps of a kernel, a second one and a sync. `slow` times the first kernel, and what else a step has.
fn training(steps: i64, slow: i64, more: &str) -> Trace {
    let mut text = String::new();
    for begin in (0..steps).map(|step| 50 + step * (100 + slow)) {
        let end = begin + 10 + 40 * slow / 100 + begin % 3;
        text += &format!(
            "s1: MatMul[{}us..{end}us] by t1[{begin}us..{}us]\n",
            begin + 10,
            begin + 5
        );
        text += &format!(
            "s1: Softmax[{}us..{}us] by t1[{}us..{}us]\n",
            end + 1,
            end + 20,
            begin + 6,
            begin + 8
        );
        for name in more.split_whitespace() {
            text += &format!(
                "s1: {name}[{}us..{}us] by t1[{}us..{}us]\n",
                end + 21,
                end + 30,
                begin + 8,
                begin + 9
            );
        }
        text += &format!("t1: sync(s1)[{}us..{}us]\n", begin + 9, end + 35);
    }
    timeline(&text)
}

/// Both halves, their worlds, and their requests.
struct PairPlayer {
    pair: ViewPair,
    traces: [Trace; 2],
    overviews: [RecordingOverview; 2],
    effects: Vec<ViewRequest>,
}

impl PairPlayer {
    fn of(a: Trace, b: Trace, size: (u16, u16)) -> Self {
        let [upper, lower] = areas(size).map(|area| (area.width, area.height));
        let (mut a, mut b) = (Player::of(a, upper), Player::of(b, lower));
        a.app.title = "before.atrace".to_owned();
        b.app.title = "after.atrace".to_owned();
        let mut two = Self {
            pair: ViewPair::new([a.app, b.app], size),
            traces: [a.trace, b.trace],
            overviews: [a.overview, b.overview],
            effects: Vec::new(),
        };
        two.pair.settle();
        two
    }

    /// Two runs of one program, of which the second is slower and has one operation more.
    fn changed(size: (u16, u16)) -> Self {
        let mut two = Self::of(training(12, 100, ""), training(12, 150, "Cast"), size);
        two.compare();
        two
    }

    /// Results of the comparing thread.
    fn compare(&mut self) {
        let windows = [0, 1].map(|place| Window::whole(&self.traces[place]));
        let plans = windows
            .each_ref()
            .map(|window| Finder::new(StepDefinition::Any).of(window));
        let begins = self.traces.each_ref().map(|trace| {
            let tasks = trace.tasks().iter().filter_map(|task| task.time);
            tasks.map(|it| it.begin).min().unwrap_or(0)
        });
        let [a, b] = &windows;
        let changes = Diff::of(a, b, StepDefinition::Any);
        let steps = paired([&self.traces[0], &self.traces[1]], &plans);
        self.pair.on_comparison(ComparisonResult::Begins(begins));
        if let Some(steps) = steps {
            self.pair.on_comparison(ComparisonResult::Steps(steps));
        }
        self.pair
            .on_comparison(ComparisonResult::Changes(Box::new(changes)));
    }

    fn worlds(&self) -> PairData<'_> {
        worlds(&self.traces, &self.overviews)
    }

    fn event(&mut self, event: InputEvent) {
        let worlds = worlds(&self.traces, &self.overviews);
        self.effects.extend(self.pair.update(worlds, event));
    }

    fn play(&mut self, script: &str) -> &mut Self {
        for word in script.split_whitespace() {
            let key = key(word).unwrap_or_else(|| panic!("no such key: {word}"));
            self.event(InputEvent::Key(key));
        }
        self
    }

    fn click(&mut self, column: u16, row: u16) {
        self.event(InputEvent::Mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column,
            row,
            modifiers: KeyModifiers::NONE,
        }));
    }

    fn draw(&self) -> Buffer {
        let (width, height) = self.pair.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test terminal");
        let drawn = terminal.draw(|frame| view(&self.pair, self.worlds(), frame.buffer_mut()));
        drawn.expect("a test terminal can be drawn on");
        terminal.backend().buffer().clone()
    }

    fn picture(&self) -> String {
        let buffer = self.draw();
        let lines = (0..buffer.area.height).map(|y| line(&buffer, y));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The line between the halves.
    fn between(&self) -> String {
        line(&self.draw(), areas(self.pair.size)[0].bottom())
    }

    fn begins(&self) -> [i64; 2] {
        self.pair
            .halves
            .each_ref()
            .map(|half| half.camera.viewport.begin())
    }

    /// The selected task or call of a half: its name and its begin.
    fn selected(&self, half: usize) -> Option<(String, i64)> {
        let trace = &self.traces[half];
        let item = self.pair.halves[half].camera.selected?.item()?;
        Some((item.name(trace).to_owned(), item.span(trace).begin))
    }

    fn message(&self) -> String {
        let half = &self.pair.halves[self.pair.focus];
        half.message.clone().unwrap_or_default()
    }
}

fn worlds<'w>(traces: &'w [Trace; 2], overviews: &'w [RecordingOverview; 2]) -> PairData<'w> {
    [0, 1].map(|place| ViewData {
        trace: &traces[place],
        log: None,
        export_name: None,
        overview: &overviews[place],
    })
}

/// The begins of the steps that both have.
fn steps(two: &PairPlayer) -> [Vec<i64>; 2] {
    let plans = two
        .traces
        .each_ref()
        .map(|trace| Finder::new(StepDefinition::Any).of(&Window::whole(trace)));
    let steps = paired([&two.traces[0], &two.traces[1]], &plans).expect("steps");
    steps.map(|cuts| cuts.iter().map(|it| it.begin).collect())
}

#[test]
fn both_are_drawn_as_separate_views() {
    for (name, size) in [("pair_200x50", LARGE), ("pair_80x24", SMALL)] {
        let two = PairPlayer::changed(size);
        let picture = two.picture();
        for (half, area) in two.pair.halves.iter().zip(areas(size)) {
            let own = &mut Buffer::empty(ratatui::layout::Rect::new(0, 0, area.width, area.height));
            let place = usize::from(area.y > 0);
            crate::view::view(half, two.worlds()[place], own);
            for y in 0..area.height {
                let there = picture.lines().nth(usize::from(area.y + y));
                assert_eq!(there.unwrap_or_default(), line(own, y));
            }
        }
        assert!(
            two.between().contains("aligned at step 1 of"),
            "{}",
            two.between()
        );
        insta::assert_snapshot!(name, picture);
    }
}

#[test]
fn zoom_and_pan_go_together() {
    let mut two = PairPlayer::changed(LARGE);
    let [a, b] = two.begins();
    let offset = b - a;
    for key in ["W", "d", "D", "s", "a", "w", "end", "home", "0"] {
        two.play(key);
        let [a, b] = two.begins();
        assert_eq!(b - a, offset, "{key}");
        let [a, b] = &two.pair.halves;
        assert_eq!(
            a.camera.viewport.length(),
            b.camera.viewport.length(),
            "{key}"
        );
    }
    // The other half leads as well.
    two.play("O W d");
    assert_eq!(two.pair.focus, 1);
    let [a, b] = two.begins();
    assert_eq!(b - a, offset);
}

#[test]
fn they_go_from_step_to_step_and_stay_aligned_at_it() {
    let mut two = PairPlayer::changed(LARGE);
    let [a, b] = steps(&two);
    assert!(a.len() > 8 && a.len() == b.len(), "{a:?} {b:?}");
    let inside = two.begins()[0] - a[0];
    for step in 1..6 {
        two.play("}");
        assert_eq!(two.begins(), [a[step] + inside, b[step] + inside], "{step}");
        let words = format!("aligned at step {} of {}", step + 1, a.len());
        assert!(two.between().contains(&words), "{}", two.between());
    }
    // The visible part of a step is the visible part of the next one.
    two.play("W");
    let inside = two.begins()[0] - a[5];
    two.play("{");
    assert_eq!(two.begins(), [a[4] + inside, b[4] + inside]);
    two.play("{ { { {");
    assert_eq!(two.begins(), [a[0] + inside, b[0] + inside]);
    two.play("{");
    assert!(
        two.message().contains("no step before this"),
        "{}",
        two.message()
    );
    assert_eq!(two.begins(), [a[0] + inside, b[0] + inside]);
    // From elsewhere it continues with the step on screen.
    two.play("0 end W W");
    let middle = two.pair.halves[0].camera.viewport.middle();
    let here = a.iter().filter(|begin| **begin <= middle).count();
    two.play("{");
    let words = format!("aligned at step {} of", here - 1);
    assert!(two.between().contains(&words), "{here}: {}", two.between());
}

#[test]
fn the_line_between_shows_the_difference_of_the_step() {
    let two = PairPlayer::changed(LARGE);
    let between = two.between();
    assert!(between.contains("(+25.0 %)"), "{between}");
    assert!(between.contains("} { step"), "{between}");
    let small = PairPlayer::changed(SMALL).between();
    assert!(small.contains("aligned at step 1 of"), "{small}");
}

#[test]
fn changes_are_ranked_and_enter_goes_there_in_both() {
    let mut two = PairPlayer::changed(LARGE);
    assert!(two.message().contains("G lists"), "{}", two.message());
    two.play("} } G");
    let list = two.pair.halves[0].panels.list.as_ref().expect("a list");
    assert_eq!(list.kind, PanelKind::Changes(Changes));
    let rows: Vec<String> = list.shown().map(cells).collect();
    let place = |text: &str| rows.iter().position(|row| row.contains(text));
    assert!(place("step").is_some(), "{rows:?}");
    let longer = place("longer operation MatMul").unwrap_or_else(|| panic!("{rows:?}"));
    assert!(
        place("new operation Cast").is_some_and(|it| it > longer),
        "{rows:?}"
    );
    for _ in 0..longer {
        two.play("down");
    }
    insta::assert_snapshot!("pair_changes_200x50", two.picture());
    let before = two.begins();
    two.play("enter");
    assert!(two.pair.halves[0].panels.list.is_none());
    let [a, b] = steps(&two);
    let (one, other) = (two.selected(0), two.selected(1));
    let (one, other) = (one.expect("a task of A"), other.expect("a task of B"));
    assert_eq!((one.0.as_str(), other.0.as_str()), ("MatMul", "MatMul"));
    assert!((a[2]..a[3]).contains(&one.1), "{one:?} {a:?}");
    assert!((b[2]..b[3]).contains(&other.1), "{other:?} {b:?}");
    assert_eq!(two.begins()[1] - two.begins()[0], before[1] - before[0]);
    // What only B has is selected there alone.
    two.play("G");
    let list = two.pair.halves[0].panels.list.as_ref().expect("a list");
    let cast = list
        .shown()
        .map(cells)
        .position(|row| row.contains("new operation Cast"));
    for _ in 0..cast.expect("it is listed") {
        two.play("down");
    }
    two.play("enter");
    assert_eq!(two.selected(0), None);
    assert_eq!(two.selected(1).map(|it| it.0).as_deref(), Some("Cast"));
    assert!(two.message().contains("A has none"), "{}", two.message());
}

#[test]
fn selections_of_both_can_be_aligned() {
    let mut two = PairPlayer::changed(LARGE);
    two.play("@");
    assert!(
        two.message().contains("nothing is selected in A"),
        "{}",
        two.message()
    );
    two.pair
        .halves
        .iter_mut()
        .for_each(|half| half.camera.selected = None);
    two.play("n");
    assert!(two.pair.halves[0].camera.selected.is_some());
    two.play("@");
    assert!(
        two.message().contains("nothing is selected in B"),
        "{}",
        two.message()
    );
    two.play("O n n @");
    let begin = |half: usize| {
        let selected = two.pair.halves[half].camera.selected.expect("a selection");
        selected.span(&two.traces[half]).begin
    };
    let [a, b] = two.begins();
    assert_eq!(b - a, begin(1) - begin(0));
    assert!(two.between().contains("aligned at the selections"));
    two.play("}");
    assert!(
        two.between().contains("aligned at step"),
        "{}",
        two.between()
    );
}

#[test]
fn each_half_has_its_own_cursor_and_the_mouse_gives_the_focus() {
    let mut two = PairPlayer::changed(LARGE);
    let areas = areas(LARGE);
    assert!(line(&two.draw(), 0).contains("▶ A"));
    two.click(60, areas[1].y + 5);
    assert_eq!(two.pair.focus, 1);
    let picture = two.picture();
    let title = picture.lines().nth(usize::from(areas[1].y));
    assert!(title.is_some_and(|it| it.contains("▶ B")), "{picture}");
    let lane = two.pair.halves[0].camera.lane;
    two.play("down down");
    assert_eq!(two.pair.halves[0].camera.lane, lane);
    assert_ne!(two.pair.halves[1].camera.lane, lane);
    // The line between them belongs to neither.
    two.click(60, areas[0].bottom());
    assert_eq!(two.pair.focus, 1);
    two.click(60, 3);
    assert_eq!(two.pair.focus, 0);
    two.play("q");
    assert_eq!(two.effects, [ViewRequest::Quit]);
}

#[test]
fn without_steps_they_are_aligned_at_the_first_task() {
    let one = timeline("s1: A[20us..30us] by t1[5us..6us] B[40us..50us]");
    let other =
        timeline("t1: aclrtMalloc(64)[0..1us]\ns1: A[70us..80us] by t1[5us..6us] B[90us..95us]");
    let first = |trace: &Trace| trace.tasks()[0].time.expect("a time").begin;
    let expected = first(&other) - first(&one);
    let mut two = PairPlayer::of(one, other, LARGE);
    assert!(
        two.between().contains("aligned at the first call"),
        "{}",
        two.between()
    );
    assert!(two.between().contains("comparing"), "{}", two.between());
    two.play("}");
    assert!(two.message().contains("not known yet"), "{}", two.message());
    two.play("G");
    assert!(
        two.message().contains("still being compared"),
        "{}",
        two.message()
    );
    two.compare();
    let [a, b] = two.begins();
    assert_eq!(b - a, expected);
    assert!(
        two.between().contains("aligned at the first task"),
        "{}",
        two.between()
    );
    assert!(!two.between().contains("comparing"), "{}", two.between());
    two.play("}");
    assert!(
        two.message().contains("no steps in both"),
        "{}",
        two.message()
    );
}

#[test]
fn failed_comparisons_are_reported_and_both_are_shown() {
    let mut two = PairPlayer::of(training(6, 100, ""), training(6, 100, ""), LARGE);
    two.pair
        .on_comparison(ComparisonResult::Failed("cannot read it".to_owned()));
    assert_eq!(two.message(), "cannot read it");
    assert!(!two.between().contains("comparing"));
    assert!(two.picture().matches("MatMul").count() > 1);
}

#[test]
fn a_place_that_the_user_chose_is_kept_when_steps_become_known() {
    let mut two = PairPlayer::of(training(12, 100, ""), training(12, 150, ""), LARGE);
    two.play("W d");
    let before = two.begins()[0];
    two.compare();
    assert_eq!(two.begins()[0], before);
    let [a, b] = steps(&two);
    assert_eq!(two.begins()[1] - before, b[0] - a[0]);
}

#[test]
fn a_screen_that_becomes_too_small_says_so_and_comes_back() {
    let mut two = PairPlayer::changed(LARGE);
    two.event(InputEvent::Resize(80, 20));
    let picture = two.picture();
    assert!(
        picture.contains("too small for two recordings: 80x20"),
        "{picture}"
    );
    assert_eq!(too_small((80, 21)), None);
    two.event(InputEvent::Resize(80, 21));
    assert!(two.between().contains("aligned at step"));
    two.play("w d G esc O }");
    two.event(InputEvent::Resize(300, 90));
    assert!(
        two.between().contains("aligned at step 2"),
        "{}",
        two.between()
    );
}

#[test]
fn one_recording_alone_asks_for_a_second_one() {
    let mut player = Player::of(training(3, 100, ""), SMALL);
    for key in ["}", "{", "G", "O", "@"] {
        player.play("esc").play(key);
        let message = player.app.message.clone().unwrap_or_default();
        assert!(
            message.contains("ascend-trace view A B"),
            "{key}: {message}"
        );
    }
}
