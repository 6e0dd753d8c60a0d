//! Plays key scripts on a state without a terminal.

use std::borrow::Cow;

use ascend_trace_recording::{TimeRange, Trace};
use ascend_trace_testkit::timeline;
use crossterm::event::{MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};

use crate::action::{SourceRequest, ViewRequest};
use crate::app::SelectionSnapshot;
use crate::app::{App, Selection, ViewData};
use crate::background_query::BackgroundQuery;
use crate::derived_data::{DerivedData, LoadedExtent};
use crate::event::{InputEvent, KeyModifiers};
use crate::item::CallOrTask;
use crate::job::{Job, JobKind, JobNews, JobRequest};
use crate::keymap::key;
use crate::overview::RecordingOverview;
use crate::source::{ProgramLog, RecordingState, SourceProgress};
use crate::theme::{ColorMode, Theme};
use crate::update::update;
use crate::view::view;

pub(super) const SMALL: (u16, u16) = (80, 24);
pub(super) const LARGE: (u16, u16) = (200, 50);

/// Two copies feed two compute streams, one of which waits for the other; a third one on another
/// device waits for both; two threads block.
pub(super) const PIPELINE: &str = "
s0: memset(65536)[60us..90us] Dropout[timing-off]
s1: memcpy(4194304)[100us..480us] rec(in) memcpy(4194304)[500us..890us] rec(in2)
s2: wait(in) MatMul[481us..1100us] rec(mid) Gelu[1101us..1180us] wait(in2) MatMul[1281us..1700us] rec(out)
s3: wait(mid) Softmax[1101us..1500us] Add[1502us..1540us]
s4@1: wait(out) LayerNorm[1701us..1900us] memcpy(1048576)[1905us..2100us] rec(done)
t1: aclrtMalloc(4194304)[5us..25us] sync(s3)[700us..1610us] aclrtFree(64)[1620us..1640us]=107000
t1: sync(done)[1650us..2101us]
t2: query(s2)[800us..803us] sync(s2)[1200us..1702us]
";

/// Lines of a program's output.
pub(super) struct OutputLines(pub(super) Vec<String>);

impl ProgramLog for OutputLines {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn line(&self, index: usize) -> Option<Cow<'_, str>> {
        self.0.get(index).map(Cow::from)
    }
}

/// A state, its world, and its requests.
pub(super) struct Player {
    pub(super) app: App,
    pub(super) trace: Trace,
    pub(super) log: Option<OutputLines>,
    pub(super) overview: RecordingOverview,
    pub(super) effects: Vec<ViewRequest>,
}

impl Player {
    /// A view of a trace; it has ended unless it has no end.
    pub(super) fn new(text: &str, size: (u16, u16)) -> Self {
        Self::of(timeline(text), size)
    }

    pub(super) fn of(trace: Trace, size: (u16, u16)) -> Self {
        let theme = Theme::new(ColorMode::Truecolor);
        let live = trace.end().is_none();
        let mut player = Self {
            app: App::new("./train".to_owned(), theme, live, size),
            overview: RecordingOverview::of_whole(&trace),
            trace,
            log: None,
            effects: Vec::new(),
        };
        player.data();
        player
    }

    /// A view of a recording of which no part is loaded yet.
    pub(super) fn of_parts(entities: Trace, overview: RecordingOverview, size: (u16, u16)) -> Self {
        let theme = Theme::new(ColorMode::Truecolor);
        let mut player = Self {
            app: App::new("./train".to_owned(), theme, false, size),
            trace: entities,
            log: None,
            overview,
            effects: Vec::new(),
        };
        player.data();
        player
    }

    /// Goes over to another part, as the loop does.
    pub(super) fn take_part(&mut self, mut trace: Trace, loaded: Option<TimeRange>) {
        let extent = LoadedExtent {
            is_whole: false,
            is_final: true,
        };
        let derived = DerivedData::of(&mut trace, extent);
        self.take_derived(trace, derived, loaded);
    }

    /// The part of it that the view itself does, after the reading thread.
    pub(super) fn take_derived(
        &mut self,
        trace: Trace,
        derived: DerivedData,
        loaded: Option<TimeRange>,
    ) {
        let kept = SelectionSnapshot::of(&self.app, &self.trace);
        self.trace = trace;
        self.overview.loaded = loaded;
        let world = ViewData {
            trace: &self.trace,
            log: None,
            overview: &self.overview,
            export_name: Some("train.json"),
        };
        self.app.take_part(derived, kept, world);
        self.data();
    }

    /// Passes the trace with its derived data, as the loop does.
    fn take_whole(&mut self) {
        let kept = SelectionSnapshot::of(&self.app, &self.trace);
        self.overview = RecordingOverview::of_whole(&self.trace);
        let extent = LoadedExtent {
            is_whole: true,
            is_final: self.trace.end().is_some(),
        };
        let derived = DerivedData::of(&mut self.trace, extent);
        let world = ViewData {
            trace: &self.trace,
            log: None,
            overview: &self.overview,
            export_name: None,
        };
        self.app.take_part(derived, kept, world);
    }

    /// Tells the state that the source was polled.
    pub(super) fn data(&mut self) {
        if self.overview.is_whole() && !self.app.camera.paused {
            self.take_whole();
        }
        let recording = match self.trace.end() {
            Some((_, status)) => RecordingState::Ended { status },
            None => RecordingState::Running,
        };
        self.event(InputEvent::Data(SourceProgress {
            changed: true,
            recording,
            ..SourceProgress::default()
        }));
    }

    pub(super) fn event(&mut self, event: InputEvent) {
        let log: Option<&dyn ProgramLog> = match &self.log {
            Some(lines) => Some(lines),
            None => None,
        };
        let world = ViewData {
            trace: &self.trace,
            log,
            overview: &self.overview,
            export_name: Some("train.json"),
        };
        self.effects.extend(update(&mut self.app, world, event));
    }

    /// Begins with the layout of the configuration, as the loop does.
    pub(super) fn begin(&mut self) {
        let log: Option<&dyn ProgramLog> = match &self.log {
            Some(lines) => Some(lines),
            None => None,
        };
        let world = ViewData {
            trace: &self.trace,
            log,
            overview: &self.overview,
            export_name: None,
        };
        crate::update::begin(&mut self.app, world);
    }

    /// The requested search, if any.
    pub(super) fn requested_query(&mut self) -> Option<Box<BackgroundQuery>> {
        let orders = self.app.jobs.take_orders().into_iter();
        let queries = orders.filter_map(|order| match order {
            JobRequest::Start(Job::Query(query)) => Some(query),
            JobRequest::Start(Job::Export(_)) | JobRequest::Stop(_) => None,
        });
        queries.last()
    }

    /// The name and the text of a layout to save, if any.
    pub(super) fn saved_layout(&mut self) -> Option<(String, String)> {
        let requests = std::mem::take(&mut self.effects).into_iter();
        let mut layouts = requests.filter_map(|request| match request {
            ViewRequest::Source(SourceRequest::SaveLayout { name, text }) => Some((name, text)),
            _ => None,
        });
        layouts.next_back()
    }

    /// Whether something is looked for.
    pub(super) fn is_looking(&self) -> bool {
        self.app.jobs.of(JobKind::Query).is_some()
    }

    /// Tells the state how a job goes.
    pub(super) fn on_job_news(&mut self, news: JobNews) {
        let world = ViewData {
            trace: &self.trace,
            log: None,
            overview: &self.overview,
            export_name: Some("train.json"),
        };
        crate::update::on_job_news(&mut self.app, world, news);
    }

    /// Presses the keys that a script names. A word that is no key is typed letter by letter.
    pub(super) fn play(&mut self, script: &str) -> &mut Self {
        for word in script.split_whitespace() {
            match key(word) {
                Some(key) => self.event(InputEvent::Key(key)),
                None => word.chars().for_each(|letter| {
                    let key = key(&letter.to_string()).expect("a letter is a key");
                    self.event(InputEvent::Key(key));
                }),
            }
        }
        self
    }

    pub(super) fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) -> &mut Self {
        let modifiers = KeyModifiers::NONE;
        self.event(InputEvent::Mouse(MouseEvent {
            kind,
            column,
            row,
            modifiers,
        }));
        self
    }

    /// The name of the selected task or call, short, with its track's kind.
    pub(super) fn selected(&self) -> String {
        match self.app.camera.selected {
            None => "nothing".to_owned(),
            Some(Selection::Open(open)) => format!("open call at {}", open.begin),
            Some(Selection::Gap(stall)) => format!("gap before {}", stall.end),
            Some(Selection::Range(id, _)) => {
                let range = &self.trace.ranges()[id.index()];
                format!("range {} at {}", range.name, range.begin)
            }
            Some(Selection::Node(node)) => {
                let name = CallOrTask::Task(node.task).name(&self.trace);
                let name = crate::text::short_name(name);
                format!("node {} {name} at {}", node.number, node.begin)
            }
            Some(Selection::Item(item)) => {
                let kind = match item {
                    CallOrTask::Task(_) => "task",
                    CallOrTask::Call(_) => "call",
                };
                let name = crate::text::short_name(item.name(&self.trace));
                format!("{kind} {name} at {}", item.span(&self.trace).begin)
            }
        }
    }

    pub(super) fn draw(&self) -> Buffer {
        let (width, height) = self.app.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test terminal");
        let log: Option<&dyn ProgramLog> = match &self.log {
            Some(lines) => Some(lines),
            None => None,
        };
        let world = ViewData {
            trace: &self.trace,
            log,
            overview: &self.overview,
            export_name: Some("train.json"),
        };
        let drawn = terminal.draw(|frame| view(&self.app, world, frame.buffer_mut()));
        drawn.expect("a test terminal can be drawn on");
        terminal.backend().buffer().clone()
    }

    /// The screen as text.
    pub(super) fn picture(&self) -> String {
        let buffer = self.draw();
        let lines = (0..buffer.area.height).map(|y| line(&buffer, y));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The first line of the screen that contains a text.
    pub(super) fn line_with(&self, text: &str) -> String {
        let picture = self.picture();
        let found = picture.lines().find(|line| line.contains(text));
        found
            .unwrap_or_else(|| panic!("no “{text}” in\n{picture}"))
            .to_owned()
    }

    /// Where the first text of this form begins.
    pub(super) fn place_of(&self, text: &str) -> (u16, u16) {
        let picture = self.picture();
        let place = picture.lines().enumerate().find_map(|(y, line)| {
            let bytes = line.find(text)?;
            Some((line[..bytes].chars().count() as u16, y as u16))
        });
        place.unwrap_or_else(|| panic!("no “{text}” in\n{picture}"))
    }

    /// The cell where the first text of this form begins.
    pub(super) fn cell_of(&self, text: &str) -> Cell {
        let (x, y) = self.place_of(text);
        self.draw()[(x, y)].clone()
    }
}

/// One line of the screen, without the cells that a wide character hides.
pub(super) fn line(buffer: &Buffer, y: u16) -> String {
    let mut text = String::new();
    let mut skip = 0;
    for x in 0..buffer.area.width {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        let symbol = buffer[(x, y)].symbol();
        skip = crate::text::width(symbol).saturating_sub(1);
        text.push_str(symbol);
    }
    text.trim_end().to_owned()
}
