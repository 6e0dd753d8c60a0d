//! Two recordings, one above the other. Each half is a complete view; this module keeps them at the
//! same place.

mod comparison;
mod layout;
mod view;

use std::sync::Arc;

use ascend_trace_analysis::diff::{DiffRow, SubjectKind};
use ascend_trace_analysis::steps::FoundStep;
use ascend_trace_recording::TimeRange;

pub use comparison::{ComparisonResult, TraceComparer};
pub(crate) use comparison::{OtherRecording, RecordingChanges};
pub(crate) use layout::{areas, too_small};
pub(crate) use view::view;

use crate::action::{PairAction, ViewRequest};
use crate::app::{App, FollowMode, ViewData};
use crate::event::{InputEvent, MouseEvent, MouseEventKind};
use crate::text::{count, duration};
use crate::update;
use crate::viewport::Viewport;

/// What both halves look at.
pub(crate) type PairData<'w> = [ViewData<'w>; 2];

/// The state of both halves.
#[derive(Debug)]
pub(crate) struct ViewPair {
    pub(crate) halves: [App; 2],
    /// The half that gets the keys.
    pub(crate) focus: usize,
    pub(crate) size: (u16, u16),
    /// Time of B minus time of A at the same column, once both are open.
    offset: Option<i64>,
    aligned: AlignedPoint,
    /// The steps of both, if both have some.
    steps: Option<[Vec<FoundStep>; 2]>,
    /// The comparison goes on.
    is_comparing: bool,
    /// The user has chosen another place than the first one.
    is_moved: bool,
}

/// The things that are aligned at the same column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlignedPoint {
    /// The first thing that was recorded.
    Begin,
    /// The first tasks.
    Task,
    /// The steps with this place, from 0.
    Step(usize),
    /// The selections of both halves.
    Selections,
}

impl ViewPair {
    /// Of two views, the upper one first.
    pub(crate) fn new(mut halves: [App; 2], size: (u16, u16)) -> Self {
        for (half, name) in halves.iter_mut().zip(["A", "B"]) {
            half.document.companion = Some(OtherRecording {
                name,
                ..OtherRecording::default()
            });
        }
        let mut pair = Self {
            halves,
            focus: 0,
            size,
            offset: None,
            aligned: AlignedPoint::Begin,
            steps: None,
            is_comparing: true,
            is_moved: false,
        };
        pair.resize(size);
        pair
    }

    fn resize(&mut self, size: (u16, u16)) {
        self.size = size;
        for (half, area) in self.halves.iter_mut().zip(areas(size)) {
            half.size = (area.width, area.height);
        }
    }

    /// Passes an event to the half with the focus, or to the one under the pointer.
    pub(crate) fn update(&mut self, worlds: PairData<'_>, event: InputEvent) -> Vec<ViewRequest> {
        let before = self.halves.each_ref().map(|half| half.camera.viewport);
        let effects = match event {
            InputEvent::Resize(width, height) => {
                self.resize((width, height));
                let sizes = self.halves.each_ref().map(|half| half.size);
                for (place, (width, height)) in sizes.into_iter().enumerate() {
                    let resized = InputEvent::Resize(width, height);
                    update::update(&mut self.halves[place], worlds[place], resized);
                }
                Vec::new()
            }
            InputEvent::Mouse(mouse) => self.on_mouse(worlds, mouse),
            event => update::update(&mut self.halves[self.focus], worlds[self.focus], event),
        };
        let mut left = Vec::new();
        for effect in effects {
            match effect {
                ViewRequest::Pair(action) => self.perform(worlds, action),
                other => left.push(other),
            }
        }
        let is_moved = self.halves[self.focus].camera.viewport != before[self.focus];
        self.is_moved |= self.offset.is_some() && is_moved;
        self.settle();
        left
    }

    /// A press gives the half under the pointer the focus; a drag stays in its half.
    fn on_mouse(&mut self, worlds: PairData<'_>, mut mouse: MouseEvent) -> Vec<ViewRequest> {
        let areas = areas(self.size);
        let is_in = |place: usize| (areas[place].top()..areas[place].bottom()).contains(&mouse.row);
        let is_held = matches!(mouse.kind, MouseEventKind::Drag(_) | MouseEventKind::Up(_));
        if !is_held {
            let Some(place) = (0..2).find(|place| is_in(*place)) else {
                return Vec::new();
            };
            self.focus = place;
        }
        let area = areas[self.focus];
        let last = area.bottom().saturating_sub(1);
        mouse.row = mouse.row.clamp(area.top(), last) - area.top();
        let event = InputEvent::Mouse(mouse);
        update::update(&mut self.halves[self.focus], worlds[self.focus], event)
    }

    /// Keeps the other half at the place of the one with the focus, and both aligned as soon as they can be.
    pub(crate) fn settle(&mut self) {
        let spans = self.halves.each_ref().map(|half| half.document.span);
        if let ([Some(a), Some(b)], None) = (spans, self.offset) {
            self.offset = Some(b.begin.saturating_sub(a.begin));
        }
        for (place, half) in self.halves.iter_mut().enumerate() {
            if let Some(companion) = &mut half.document.companion {
                companion.has_focus = place == self.focus;
            }
        }
        let Some(offset) = self.offset else { return };
        let shift = match self.focus {
            0 => offset,
            _ => offset.saturating_neg(),
        };
        let own = self.halves[self.focus].camera.viewport;
        let other = &mut self.halves[1 - self.focus];
        other.camera.viewport = own.beginning(own.begin().saturating_add(shift));
        other.camera.follow = FollowMode::Off;
    }

    /// Takes the results of the comparison.
    pub(crate) fn on_comparison(&mut self, compared: ComparisonResult) {
        match compared {
            ComparisonResult::Begins([a, b]) => {
                self.offset = Some(b.saturating_sub(a));
                self.aligned = AlignedPoint::Task;
            }
            ComparisonResult::Steps(steps) => {
                let has_steps = steps.iter().all(|it| !it.is_empty());
                self.steps = has_steps.then_some(steps);
                if has_steps {
                    self.align_at(0, !self.is_moved);
                }
            }
            ComparisonResult::Changes(found) => {
                self.is_comparing = false;
                let changes = Arc::new(RecordingChanges::of(*found));
                for half in &mut self.halves {
                    if let Some(companion) = &mut half.document.companion {
                        companion.changes = Some(Arc::clone(&changes));
                    }
                }
                update::show_changes(&mut self.halves[self.focus]);
            }
            ComparisonResult::Failed(why) => {
                self.is_comparing = false;
                self.show_message(why);
            }
        }
        self.settle();
    }

    fn show_message(&mut self, text: impl Into<String>) {
        self.halves[self.focus].message = Some(text.into());
    }

    fn perform(&mut self, worlds: PairData<'_>, action: PairAction) {
        match action {
            PairAction::NextStep => self.step(true),
            PairAction::PreviousStep => self.step(false),
            PairAction::OtherRecording => self.focus = 1 - self.focus,
            PairAction::AlignSelections => self.align_selections(worlds),
            PairAction::ToChange(place) => self.go_to_change(worlds, place),
        }
    }

    /// Steps that both have.
    fn step_count(&self) -> usize {
        let steps = self.steps.as_ref();
        steps.map_or(0, |steps| steps[0].len().min(steps[1].len()))
    }

    fn span_of(&self, half: usize, step: usize) -> Option<TimeRange> {
        Some(self.steps.as_ref()?[half].get(step)?.range())
    }

    /// The step on screen: the visited one, or the one in the middle.
    fn current(&self) -> Option<usize> {
        let viewport = self.halves[self.focus].camera.viewport;
        if let AlignedPoint::Step(step) = self.aligned
            && let Some(span) = self.span_of(self.focus, step)
            && viewport.overlaps(span)
        {
            return Some(step);
        }
        let steps = &self.steps.as_ref()?[self.focus];
        let begun = steps.partition_point(|it| it.begin <= viewport.middle());
        begun.checked_sub(1)
    }

    /// Goes to the next step or the previous one in both. The visible part of a step stays the same
    /// part.
    fn step(&mut self, forward: bool) {
        let count = self.step_count();
        if count == 0 {
            let why = match self.is_comparing {
                true => "the steps are not known yet",
                false => "there are no steps in both recordings: they are aligned as they begin",
            };
            return self.show_message(why);
        }
        let here = self.current();
        let next = match (here, forward) {
            (None, _) => Some(0),
            (Some(step), true) => Some(step + 1),
            (Some(step), false) => step.checked_sub(1),
        };
        let Some(next) = next.filter(|it| *it < count) else {
            let side = if forward { "after" } else { "before" };
            return self.show_message(format!("both recordings have no step {side} this"));
        };
        update::remember(&mut self.halves[self.focus]);
        let focus = self.focus;
        let viewport = self.halves[focus].camera.viewport;
        let inside = here.and_then(|step| self.span_of(focus, step));
        let inside = inside.filter(|span| viewport.overlaps(*span));
        let moved = match (inside, self.span_of(focus, next)) {
            (Some(from), Some(to)) => {
                let by = to.begin.saturating_sub(from.begin);
                Some(viewport.beginning(viewport.begin().saturating_add(by)))
            }
            _ => None,
        };
        self.align_at(next, moved.is_none());
        if let Some(moved) = moved {
            self.halves[focus].camera.viewport = moved;
        }
    }

    /// Aligns both at a step, and shows all of it if that is wanted.
    fn align_at(&mut self, step: usize, is_shown: bool) {
        let spans = [self.span_of(0, step), self.span_of(1, step)];
        let [Some(a), Some(b)] = spans else { return };
        self.offset = Some(b.begin.saturating_sub(a.begin));
        self.aligned = AlignedPoint::Step(step);
        if is_shown {
            let length = a.duration().max(b.duration());
            let own = [a, b][self.focus];
            let span = TimeRange::new(own.begin, own.begin.saturating_add(length));
            let half = &mut self.halves[self.focus];
            half.camera.viewport = Viewport::with_room(span, 16);
            half.camera.follow = FollowMode::Off;
        }
    }

    fn align_selections(&mut self, worlds: PairData<'_>) {
        let begin = |place: usize| {
            let selected = self.halves[place].camera.selected?;
            Some(selected.span(worlds[place].trace).begin)
        };
        let (Some(a), Some(b)) = (begin(0), begin(1)) else {
            let name = if begin(0).is_none() { "A" } else { "B" };
            return self.show_message(format!(
                "nothing is selected in {name}: O goes to the other recording"
            ));
        };
        self.offset = Some(b.saturating_sub(a));
        self.aligned = AlignedPoint::Selections;
        self.show_message("the selections of both begin at the same column");
    }

    /// Goes to the step on screen, and in both halves to the slowest instance of the changed operation.
    fn go_to_change(&mut self, worlds: PairData<'_>, place: usize) {
        let companion = self.halves[self.focus].document.companion.as_ref();
        let changes = companion.and_then(|it| it.changes.clone());
        let Some(row) = changes.as_ref().and_then(|it| it.rows.get(place)) else {
            return;
        };
        update::remember(&mut self.halves[self.focus]);
        let step = self.current().unwrap_or(0);
        let has_steps = step < self.step_count();
        if has_steps {
            self.align_at(step, true);
            self.settle();
        }
        let mut missing = Vec::new();
        for half in 0..2 {
            let all = self.halves[half].document.span;
            let range = self.span_of(half, step).filter(|_| has_steps).or(all);
            if range.is_some_and(|range| !self.go_to_slowest(worlds, half, row, range)) {
                missing.push(["A", "B"][half]);
            }
        }
        let what = match has_steps {
            true => format!("{} in step {} of both", row.name, count(step as u64 + 1)),
            false => format!("the slowest {} of both", row.name),
        };
        match missing.as_slice() {
            [] => self.show_message(what),
            missing => self.show_message(format!("{what}; {} has none", missing.join(" and "))),
        }
    }

    /// Selects the slowest instance in a half; false if it has none. Only calls and tasks can be
    /// selected.
    fn go_to_slowest(
        &mut self,
        worlds: PairData<'_>,
        half: usize,
        row: &DiffRow,
        range: TimeRange,
    ) -> bool {
        let is_task = match row.kind {
            SubjectKind::Operation => true,
            SubjectKind::Call => false,
            SubjectKind::Step | SubjectKind::Part | SubjectKind::Stall => return true,
        };
        let (app, world) = (&mut self.halves[half], worlds[half]);
        let viewport = app.camera.viewport;
        let found = update::to_slowest(app, world, (&row.name, is_task), range);
        // Only the place in time is shared: both stay aligned.
        app.camera.viewport = viewport;
        found
    }

    /// Whether something goes on without a key.
    pub(crate) fn is_comparing(&self) -> bool {
        self.is_comparing
    }

    /// The aligned things, in words.
    pub(crate) fn words(&self) -> String {
        match self.aligned {
            _ if self.offset.is_none() => "reading both recordings".to_owned(),
            AlignedPoint::Begin => "aligned at the first call".to_owned(),
            AlignedPoint::Task => "aligned at the first task".to_owned(),
            AlignedPoint::Selections => "aligned at the selections".to_owned(),
            AlignedPoint::Step(step) => self.words_of_step(step),
        }
    }

    fn words_of_step(&self, step: usize) -> String {
        let all = count(self.step_count() as u64);
        let number = count(step as u64 + 1);
        let lengths = [0, 1].map(|half| self.span_of(half, step).map_or(0, |it| it.duration()));
        let [a, b] = lengths;
        let change = match a {
            ..=0 => String::new(),
            a => format!(" ({:+.1} %)", (b - a) as f64 * 100.0 / a as f64),
        };
        format!(
            "aligned at step {number} of {all}: A {}, B {}{change}",
            duration(a),
            duration(b)
        )
    }
}
