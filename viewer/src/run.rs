//! The loop that connects source, terminal, state and view.

mod pair;
mod still;

pub use pair::run_pair;
pub use still::{StillError, StillOptions, still};

use std::io;
use std::time::{Duration, Instant};

use crate::action::{SourceRequest, ViewRequest};
use crate::app::SelectionSnapshot;
use crate::app::{App, FollowMode, ViewData};
use crate::config::Config;
use crate::event::InputEvent;
use crate::job::JobRequest;
use crate::picture::Picture;
use crate::source::{RecordingState, TraceSource};
use crate::term::{self, TerminalGuard, TerminalInput};
use crate::terminal_reply;
use crate::theme::{ColorMode, TerminalBackground, Theme};
use crate::update::update;
use crate::view::{details, too_small, view};

/// The longest time between two looks at a growing trace.
const TICK: Duration = Duration::from_millis(50);
/// The same where what there is may grow after all: a file without an end, or the program's output.
const IDLE_TICK: Duration = Duration::from_millis(200);
/// The same while a part of a long recording is being loaded.
const LOADING_TICK: Duration = Duration::from_millis(10);
/// Events that are handled before the screen is drawn again.
const BURST: usize = 64;

/// Appearance and start of the view.
#[derive(Clone, Debug, Default)]
pub struct ViewOptions {
    /// The command or the file, for the title.
    pub title: String,
    /// Follow the head of the trace from the start.
    pub live: bool,
    /// Colours; `None` asks the environment (`NO_COLOR`, `COLORTERM`, `TERM`).
    pub colors: Option<ColorMode>,
    /// Background of the terminal; `None` asks the terminal, and `COLORFGBG`.
    pub ground: Option<TerminalBackground>,
    /// Nothing but ASCII; `None` asks the environment (`LC_ALL`, `LC_CTYPE`, `LANG`).
    pub ascii: Option<bool>,
    /// The user's settings for every view; the options above have priority.
    pub config: Config,
    /// A message for the start, such as why no configuration was read.
    pub notice: Option<String>,
    /// Show the program's output from the start, if the source has it.
    pub show_log: bool,
}

/// Why the view ended. The recording goes on in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewOutcome {
    /// The user left.
    Quit,
    /// This signal asked for the end.
    Signal(i32),
}

/// Why the view could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error("cannot use the terminal: {0}")]
    Terminal(io::Error),
    #[error("{0}")]
    TooSmall(String),
    #[error(
        "TERM={0} is a terminal without a cursor: the view needs another one; stats, info and export do not"
    )]
    Dumb(String),
}

/// The message contains the cause, so the source does not repeat it.
impl From<io::Error> for ViewError {
    fn from(error: io::Error) -> Self {
        Self::Terminal(error)
    }
}

/// Tells before anything is started whether the terminal can show the view, and has room for it. A view that
/// is running copes with any size.
///
/// # Errors
/// [`ViewError::TooSmall`] names the size and the least size, [`ViewError::Dumb`] the terminal.
pub fn check_terminal() -> Result<(), ViewError> {
    check_size(too_small)
}

/// The same for two recordings.
///
/// # Errors
/// As [`check_terminal`].
pub fn check_terminal_for_two() -> Result<(), ViewError> {
    check_size(crate::pair::too_small)
}

fn check_size(too_small: fn((u16, u16)) -> Option<String>) -> Result<(), ViewError> {
    if let Some(name) = term::dumb() {
        return Err(ViewError::Dumb(name));
    }
    match too_small(term::size()?) {
        Some(message) => Err(ViewError::TooSmall(message)),
        None => Ok(()),
    }
}

/// Shows a trace until the user leaves.
///
/// # Errors
/// When the terminal cannot be used. A source that fails does not end the view.
pub fn run(source: &mut dyn TraceSource, options: ViewOptions) -> Result<ViewOutcome, ViewError> {
    let (mut guard, theme) = take_terminal(&options)?;
    let mut app = begin(source, options, theme, term::size()?);
    let begun = Instant::now();
    let mut polled = None;
    let mut seen = DrawnState::default();
    loop {
        if is_due(&app, source, polled) {
            clock(&mut app, source, begun.elapsed());
            seen.data(poll(&mut app, source));
            polled = Some(Instant::now());
        }
        source.look_at(app.camera.viewport.range());
        let world = world(source);
        let drawn = match seen.is_stale(&app, world) {
            true => draw(&mut guard, &mut app, world),
            false => Ok(()),
        };
        if let Some(signal) = guard.end_signal() {
            return Ok(ViewOutcome::Signal(signal));
        }
        drawn?;
        if guard.suspend_signal() {
            guard.suspend()?;
            seen.input();
            continue;
        }
        let wait = tick(&app, source);
        let mut stage = SingleView {
            app: &mut app,
            world,
        };
        match handle_events(&mut stage, &mut guard, (begun, wait))? {
            TerminalNews::End(outcome) => return Ok(outcome),
            TerminalNews::Request(request) => {
                seen.input();
                carry_out(&mut app, source, request);
            }
            TerminalNews::Something => seen.input(),
            TerminalNews::Nothing => {}
        }
        order(&mut app, source);
    }
}

/// Takes the terminal over, and finds out how it shows things.
fn take_terminal(options: &ViewOptions) -> Result<(TerminalGuard, Theme), ViewError> {
    let mode = options.colors.unwrap_or_else(term::color_mode);
    if options.colors.is_some_and(|mode| mode != ColorMode::None) {
        term::force_colors();
    }
    let mut guard = TerminalGuard::new(options.live)?;
    let ascii = options.ascii.unwrap_or_else(term::is_ascii);
    let ground = options.ground.or_else(term::ground).unwrap_or_default();
    let theme = Theme::new(mode).with_ascii(ascii).on(ground);
    if options.ground.is_none() && theme.has_colors() {
        guard.ask_ground()?;
    }
    Ok((guard, theme))
}

/// The state that a view of a source begins with.
pub(crate) fn begin(
    source: &dyn TraceSource,
    options: ViewOptions,
    theme: Theme,
    size: (u16, u16),
) -> App {
    let mut app = App::new(options.title, theme, options.live, size);
    app.panels.log_open = options.show_log && source.log().is_some();
    app.config = options.config;
    crate::update::begin(&mut app, self::world(source));
    app.message = options.notice.or(app.message);
    app.document.bookmarks = source.bookmarks();
    app
}

/// The parts of the state that decide whether the screen must be drawn again. Without a change, nothing
/// is drawn.
#[derive(Default)]
struct DrawnState {
    /// Neither input nor data have arrived since the last drawing.
    is_current: bool,
    /// Lines of the program's output.
    lines: usize,
}

impl DrawnState {
    fn input(&mut self) {
        self.is_current = false;
    }

    fn data(&mut self, changed: bool) {
        self.is_current &= !changed;
    }

    /// Whether there is something to draw, which then is taken as drawn.
    fn is_stale(&mut self, app: &App, world: ViewData<'_>) -> bool {
        let lines = world.log.map_or(0, |log| log.len());
        let is_same = std::mem::replace(&mut self.lines, lines) == lines;
        self.take(!is_same || is_busy(app))
    }

    /// Whether the screen must be drawn again, which then is done: because there is something, or it depends on
    /// the time.
    fn take(&mut self, is_due: bool) -> bool {
        let is_current = std::mem::replace(&mut self.is_current, true);
        !is_current || is_due
    }
}

/// Whether the screen depends on the time.
fn is_busy(app: &App) -> bool {
    app.is_running() || app.jobs.is_any()
}

/// Tells the state what time it is.
fn clock(app: &mut App, source: &dyn TraceSource, time: Duration) {
    update(app, world(source), InputEvent::Clock(time));
}

/// Lets the source carry out a request of the view.
fn carry_out(app: &mut App, source: &mut dyn TraceSource, request: SourceRequest) {
    match request {
        SourceRequest::SaveBookmarks => {
            if let Err(error) = source.keep_bookmarks(&app.document.bookmarks) {
                app.message = Some(format!("the bookmarks cannot be kept: {error}"));
            }
        }
        SourceRequest::SaveLayout { name, text } => {
            let saved = source.keep_layout(&text).map_err(|error| error.to_string());
            crate::update::on_layout_saved(app, &name, saved);
        }
        SourceRequest::Order(order) => {
            if let Err(error) = source.order(order) {
                app.message = Some(error.to_string());
            }
        }
        SourceRequest::SavePicture { path } => {
            let picture = still::of_screen(app, world(source));
            keep_picture(app, source, (&path, &picture));
        }
    }
}

/// Writes a picture to a file, and says so.
fn keep_picture(app: &mut App, source: &mut dyn TraceSource, (path, picture): (&str, &Picture)) {
    app.message = Some(match source.keep_picture(path, picture) {
        Ok(()) => format!("wrote {path}"),
        Err(error) => format!("no picture was written: {error}"),
    });
}

fn draw(guard: &mut TerminalGuard, app: &mut App, world: ViewData<'_>) -> io::Result<()> {
    guard.draw(|buffer| {
        let size = (buffer.area.width, buffer.area.height);
        if size != app.size {
            update(app, world, InputEvent::Resize(size.0, size.1));
        }
        view(app, world, buffer);
    })
}

fn world(source: &dyn TraceSource) -> ViewData<'_> {
    ViewData {
        trace: source.trace(),
        log: source.log(),
        export_name: source.export_name(),
        overview: source.overview(),
    }
}

/// The longest time between two looks; `None` where only keys and signals matter.
fn tick(app: &App, source: &dyn TraceSource) -> Option<Duration> {
    // A followed range is always being loaded.
    if source.is_loading() && app.camera.follow == FollowMode::Off {
        return Some(LOADING_TICK);
    }
    if source.is_loading() || is_busy(app) {
        return Some(TICK);
    }
    let may_grow = app.document.failure.is_none()
        && app.document.progress.recording == RecordingState::Stopped;
    (may_grow || source.log().is_some()).then_some(IDLE_TICK)
}

fn is_due(app: &App, source: &dyn TraceSource, polled: Option<Instant>) -> bool {
    let waited = polled.map(|at| at.elapsed());
    let tick = tick(app, source).unwrap_or(IDLE_TICK);
    app.document.failure.is_none() && waited.is_none_or(|waited| waited >= tick)
}

/// Takes new data, and returns whether there may be something to show.
fn poll(app: &mut App, source: &mut dyn TraceSource) -> bool {
    let before = app.document.progress.recording;
    let was_loading = source.is_loading();
    let polled = source.poll();
    let taken = take_next(app, source);
    let (event, changed) = match polled {
        Ok(mut progress) => {
            progress.changed |= taken;
            let changed = progress.changed || progress.recording != before;
            (InputEvent::Data(progress), changed)
        }
        Err(error) => (InputEvent::SourceFailed(error.to_string()), true),
    };
    let world = world(source);
    if matches!(event, InputEvent::SourceFailed(_)) {
        // Data that was read before the failure is still shown.
        let progress = crate::source::SourceProgress {
            changed: true,
            recording: RecordingState::Stopped,
            ..Default::default()
        };
        update(app, world, InputEvent::Data(progress));
    }
    update(app, world, event);
    let noticed = show_source_message(app, source);
    take_job_news(app, source) || noticed || changed || was_loading || source.is_loading()
}

/// Shows the message of the source.
fn show_source_message(app: &mut App, source: &mut dyn TraceSource) -> bool {
    let notice = source.notice();
    let is_there = notice.is_some();
    app.message = notice.or(app.message.take());
    is_there
}

/// Shows newly read data, if there is any. A paused view does not move, but still gets its range.
fn take_next(app: &mut App, source: &mut dyn TraceSource) -> bool {
    let range = app.camera.viewport.range();
    if app.camera.paused && source.overview().is_loaded(range) {
        return false;
    }
    let kept = SelectionSnapshot::of(app, source.trace());
    let Some(part) = source.next_part() else {
        return false;
    };
    let old = app.take_part(part, kept, world(source));
    source.take_back(old);
    true
}

/// Tells the source which jobs to begin and to stop.
fn order(app: &mut App, source: &mut dyn TraceSource) {
    for order in app.jobs.take_orders() {
        match order {
            JobRequest::Start(job) => source.start(job),
            JobRequest::Stop(number) => source.stop(number),
        }
    }
}

/// Passes news of jobs to the state, and returns whether there were any.
fn take_job_news(app: &mut App, source: &mut dyn TraceSource) -> bool {
    let mut changed = false;
    while let Some(news) = source.news() {
        crate::update::on_job_news(app, self::world(source), news);
        changed = true;
    }
    changed
}

/// Handles events.
trait EventHandler {
    fn update(&mut self, event: InputEvent) -> Vec<ViewRequest>;

    /// Sets the background of the terminal.
    fn stand_on(&mut self, ground: TerminalBackground);

    /// The details as text.
    fn details(&self) -> String;
}

/// A view of one recording.
struct SingleView<'a> {
    app: &'a mut App,
    world: ViewData<'a>,
}

impl EventHandler for SingleView<'_> {
    fn update(&mut self, event: InputEvent) -> Vec<ViewRequest> {
        update(self.app, self.world, event)
    }

    fn stand_on(&mut self, ground: TerminalBackground) {
        self.app.theme = self.app.theme.on(ground);
    }

    fn details(&self) -> String {
        details(self.app, self.world)
    }
}

/// Input from the terminal.
enum TerminalNews {
    Nothing,
    Something,
    /// A request to the source of the recording with the focus. No other input was handled after it.
    Request(SourceRequest),
    /// The view ends.
    End(ViewOutcome),
}

/// Waits for events and passes them to the state.
fn handle_events(
    stage: &mut dyn EventHandler,
    guard: &mut TerminalGuard,
    (begun, mut wait): (Instant, Option<Duration>),
) -> io::Result<TerminalNews> {
    let mut changed = TerminalNews::Nothing;
    for _ in 0..BURST {
        let event = match guard.wait(wait)? {
            TerminalInput::Event(event) => event,
            TerminalInput::Nothing => break,
            TerminalInput::Signal => return Ok(TerminalNews::Something),
            TerminalInput::HungUp => {
                return Ok(TerminalNews::End(ViewOutcome::Signal(
                    signal_hook::consts::SIGHUP,
                )));
            }
        };
        wait = Some(Duration::ZERO);
        changed = TerminalNews::Something;
        let Some(event) = InputEvent::from_terminal(event) else {
            continue;
        };
        let event = match guard.pick_reply(event) {
            terminal_reply::FilteredEvent::Event(event) => event,
            terminal_reply::FilteredEvent::Part => continue,
            terminal_reply::FilteredEvent::Ground(ground) => {
                stage.stand_on(ground);
                continue;
            }
        };
        // Double clicks must be recognised even if nothing else needs the time.
        if matches!(event, InputEvent::Mouse(_)) {
            stage.update(InputEvent::Clock(begun.elapsed()));
        }
        for effect in stage.update(event) {
            match effect {
                ViewRequest::Quit => return Ok(TerminalNews::End(ViewOutcome::Quit)),
                ViewRequest::Suspend => guard.suspend()?,
                ViewRequest::Redraw => guard.forget()?,
                ViewRequest::Copy => guard.copy(&stage.details())?,
                ViewRequest::Source(request) => return Ok(TerminalNews::Request(request)),
                // Both halves have handled it.
                ViewRequest::Pair(_) => {}
            }
        }
    }
    Ok(changed)
}
