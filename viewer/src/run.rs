//! The loop that connects source, terminal, state and view.

use std::io;
use std::time::{Duration, Instant};

use crate::action::Effect;
use crate::app::{App, World};
use crate::event::Event;
use crate::exporting::{ExportNews, Wish};
use crate::part::Kept;
use crate::source::{Recording, Source};
use crate::term::{self, Guard, Input};
use crate::theme::{ColorMode, Theme};
use crate::update::update;
use crate::view::{too_small, view};

/// The longest time between two looks at a growing trace.
const TICK: Duration = Duration::from_millis(50);
/// The same when the trace has ended: only keys and signals matter then.
const IDLE_TICK: Duration = Duration::from_millis(100);
/// The same while a part of a long recording is being loaded.
const LOADING_TICK: Duration = Duration::from_millis(10);
/// Events that are handled before the screen is drawn again.
const BURST: usize = 64;

/// How the view looks and what it begins with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What is shown: the command or the file.
    pub title: String,
    /// Follow the head of the trace from the start.
    pub live: bool,
    /// Colours; `None` asks the environment (`NO_COLOR`, `COLORTERM`, `TERM`).
    pub colors: Option<ColorMode>,
    /// Nothing but ASCII; `None` asks the environment (`LC_ALL`, `LC_CTYPE`, `LANG`).
    pub ascii: Option<bool>,
    /// Show the program's output from the start, if the source has it.
    pub show_log: bool,
}

/// Why the view ended. The recording goes on in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
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
}

/// The message holds the cause, so that it is not told again as the source.
impl From<io::Error> for ViewError {
    fn from(error: io::Error) -> Self {
        Self::Terminal(error)
    }
}

/// Tells before anything is started whether the terminal has room for the view. A view that is
/// running copes with any size.
///
/// # Errors
/// [`ViewError::TooSmall`] names the size and what is needed.
pub fn check_size() -> Result<(), ViewError> {
    match too_small(term::size()?) {
        Some(message) => Err(ViewError::TooSmall(message)),
        None => Ok(()),
    }
}

/// Shows a trace until the user leaves.
///
/// # Errors
/// When the terminal cannot be used. A source that fails does not end the view.
pub fn run(source: &mut dyn Source, options: Options) -> Result<Outcome, ViewError> {
    let mode = options.colors.unwrap_or_else(term::color_mode);
    if options.colors.is_some_and(|mode| mode != ColorMode::None) {
        term::force_colors();
    }
    let mut guard = Guard::new()?;
    let ascii = options.ascii.unwrap_or_else(term::is_ascii);
    let theme = Theme::new(mode).with_ascii(ascii);
    let mut app = App::new(options.title, theme, options.live, term::size()?);
    app.log_open = options.show_log && source.log().is_some();
    app.bookmarks = source.bookmarks();
    let begun = Instant::now();
    let mut polled = None;
    loop {
        if is_due(&app, source, polled) {
            clock(&mut app, source, begun.elapsed());
            poll(&mut app, source);
            polled = Some(Instant::now());
        }
        source.look_at((app.viewport.begin(), app.viewport.end()));
        let world = world(source);
        let drawn = draw(&mut guard, &mut app, world);
        if let Some(signal) = guard.end_signal() {
            return Ok(Outcome::Signal(signal));
        }
        drawn?;
        if guard.suspend_signal() {
            guard.suspend()?;
            continue;
        }
        let wait = tick(&app, source);
        if let Some(outcome) = handle_events(&mut app, world, &mut guard, wait)? {
            return Ok(outcome);
        }
        keep_bookmarks(&mut app, source);
        if let Some(quest) = app.asking.take() {
            source.ask(quest);
        }
        export(&mut app, source);
    }
}

/// Tells the state what time it is.
fn clock(app: &mut App, source: &dyn Source, time: Duration) {
    update(app, world(source), Event::Clock(time));
}

fn keep_bookmarks(app: &mut App, source: &mut dyn Source) {
    if std::mem::take(&mut app.unsaved)
        && let Err(error) = source.keep_bookmarks(&app.bookmarks)
    {
        app.message = Some(format!("the bookmarks cannot be kept: {error}"));
    }
}

fn draw(guard: &mut Guard, app: &mut App, world: World<'_>) -> io::Result<()> {
    guard.draw(|buffer| {
        let size = (buffer.area.width, buffer.area.height);
        if size != app.size {
            update(app, world, Event::Resize(size.0, size.1));
        }
        view(app, world, buffer);
    })
}

fn world(source: &dyn Source) -> World<'_> {
    World {
        trace: source.trace(),
        log: source.log(),
        export_name: source.export_name(),
        overview: source.overview(),
    }
}

fn tick(app: &App, source: &dyn Source) -> Duration {
    if source.is_loading() {
        return LOADING_TICK;
    }
    if app.is_running() || app.hunt.is_some() || app.exporting.is_some() {
        TICK
    } else {
        IDLE_TICK
    }
}

fn is_due(app: &App, source: &dyn Source, polled: Option<Instant>) -> bool {
    let waited = polled.map(|at| at.elapsed());
    app.failure.is_none() && waited.is_none_or(|waited| waited >= tick(app, source))
}

fn poll(app: &mut App, source: &mut dyn Source) {
    let event = match source.poll() {
        Ok(progress) => Event::Data(progress),
        Err(error) => Event::SourceFailed(error.to_string()),
    };
    let failed = matches!(event, Event::SourceFailed(_));
    let kept = Kept::of(app, source.trace());
    let part = source.next_part();
    let world = world(source);
    if let Some(part) = part {
        app.take_part(part, kept, world);
    }
    if failed {
        // What was read before the failure is shown all the same.
        let progress = crate::source::Progress {
            changed: true,
            recording: Recording::Stopped,
            lag: None,
        };
        update(app, world, Event::Data(progress));
    }
    update(app, world, event);
    hear(app, source);
}

/// Asks the source for what the user wants exported.
fn export(app: &mut App, source: &mut dyn Source) {
    match app.export_wish.take() {
        Some(Wish::Begin(path, range)) => {
            if let Err(error) = source.export(&path, range) {
                crate::update::hear_export(app, ExportNews::Failed(error.to_string()));
            }
        }
        Some(Wish::Stop) => source.stop_export(),
        None => {}
    }
}

/// Tells the state what the source found.
fn hear(app: &mut App, source: &mut dyn Source) {
    while let Some(news) = source.export_news() {
        crate::update::hear_export(app, news);
    }
    while let Some(news) = source.news() {
        crate::update::hear(app, self::world(source), news);
    }
}

/// Waits for events and lets the state answer. Tells when the view is to end.
fn handle_events(
    app: &mut App,
    world: World<'_>,
    guard: &mut Guard,
    mut wait: Duration,
) -> io::Result<Option<Outcome>> {
    for _ in 0..BURST {
        let event = match guard.wait(wait)? {
            Input::Event(event) => event,
            Input::Nothing => break,
            Input::HungUp => return Ok(Some(Outcome::Signal(signal_hook::consts::SIGHUP))),
        };
        wait = Duration::ZERO;
        let Some(event) = Event::from_terminal(event) else {
            continue;
        };
        for effect in update(app, world, event) {
            match effect {
                Effect::Quit => return Ok(Some(Outcome::Quit)),
                Effect::Suspend => guard.suspend()?,
                Effect::Redraw => guard.forget()?,
            }
        }
    }
    Ok(None)
}
