//! Pictures of screens, and of a recording without a terminal.

use std::time::{Duration, Instant};

use ascend_trace_recording::TimeRange;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::{App, FollowMode, ViewData};
use crate::pair::{self, PairData, ViewPair};
use crate::picture::Picture;
use crate::source::TraceSource;
use crate::theme::{ColorMode, TerminalBackground, Theme};
use crate::update::lanes;
use crate::view::{too_small, view};
use crate::viewport::Viewport;

use super::{ViewOptions, begin, poll, world};

/// The time between two looks at a source that loads.
const PAUSE: Duration = Duration::from_millis(2);

/// The default width, in columns.
const COLUMNS: u16 = 160;
/// The default height: as many rows as the lanes need, between these.
const ROWS: std::ops::RangeInclusive<u16> = 24..=200;

/// The contents and the look of a picture.
#[derive(Clone, Debug, Default)]
pub struct StillOptions {
    /// The text of the first line.
    pub title: String,
    /// The shown part of the recording; all of it if `None`.
    pub range: Option<TimeRange>,
    /// Only lanes that have this in their names, if it is not empty.
    pub lanes: String,
    /// Columns and rows; by the number of lanes if `None`.
    pub size: Option<(u16, u16)>,
    pub ground: TerminalBackground,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum StillError {
    #[error("{0}")]
    TooSmall(String),
    #[error("the recording is empty")]
    Empty,
    #[error("no lane has “{0}” in its name")]
    NoLane(String),
    #[error("{0}")]
    Source(String),
}

/// Draws a recording as the view shows it, once everything in the range is loaded.
///
/// # Errors
/// When the recording cannot be read or is empty, when no lane is left, or when the size is too small.
pub fn still(source: &mut dyn TraceSource, options: StillOptions) -> Result<Picture, StillError> {
    let size = options.size.unwrap_or((COLUMNS, *ROWS.end()));
    if let Some(message) = too_small(size) {
        return Err(StillError::TooSmall(message));
    }
    let theme = Theme::new(ColorMode::Truecolor).on(options.ground);
    let view_options = ViewOptions {
        title: options.title.clone(),
        ..ViewOptions::default()
    };
    let mut app = begin(source, view_options, theme, size);
    app.is_still = true;
    app.camera.follow = FollowMode::Off;
    load(&mut app, source, options.range)?;
    if !options.lanes.trim().is_empty() {
        lanes::filter(&mut app, world(source), &options.lanes);
        if app.camera.arrangement.filter.is_empty() {
            return Err(StillError::NoLane(options.lanes));
        }
    }
    if options.size.is_none() {
        fit_rows(&mut app);
    }
    app.camera.lane = None;
    app.message = None;
    Ok(of_screen(&mut app, world(source)))
}

/// Waits until the source has read everything that the picture shows.
fn load(
    app: &mut App,
    source: &mut dyn TraceSource,
    range: Option<TimeRange>,
) -> Result<(), StillError> {
    let begun = Instant::now();
    loop {
        crate::update::update(
            app,
            world(source),
            crate::event::InputEvent::Clock(begun.elapsed()),
        );
        poll(app, source);
        if let Some(failure) = &app.document.failure {
            return Err(StillError::Source(failure.clone()));
        }
        let is_opening = source.overview().opening.is_some();
        let span = source.overview().span;
        if let Some(range) = range.or(span).filter(|_| !is_opening) {
            app.camera.viewport = Viewport::new(range.begin, range.end.max(range.begin + 1));
            source.look_at(app.camera.viewport.range());
        }
        let is_known = source.overview().memory.is_some();
        if !is_opening && is_known && !source.is_loading() {
            return match span.and(app.document.span) {
                Some(_) => Ok(()),
                None => Err(StillError::Empty),
            };
        }
        std::thread::sleep(PAUSE);
    }
}

/// Gives the picture as many rows as its lanes need.
fn fit_rows(app: &mut App) {
    let has_room = |app: &App| {
        let (above, below) = app.layout().off_screen(&app.camera.rows, 0);
        above + below == 0 && !app.layout().heights(&app.camera.rows).is_dense()
    };
    for rows in ROWS {
        app.size.1 = rows;
        if has_room(app) {
            return;
        }
    }
}

/// The screen of a view. Its colours do not depend on the terminal.
pub(crate) fn of_screen(app: &mut App, world: ViewData<'_>) -> Picture {
    let before = begin_still(app);
    let mut cells = Buffer::empty(Rect::new(0, 0, app.size.0, app.size.1));
    view(app, world, &mut cells);
    end_still(app, before);
    Picture::new(cells, before.ground())
}

/// The screen of a view of two recordings.
pub(crate) fn of_pair(pair: &mut ViewPair, worlds: PairData<'_>) -> Picture {
    let before = pair.halves.each_mut().map(begin_still);
    let mut cells = Buffer::empty(Rect::new(0, 0, pair.size.0, pair.size.1));
    pair::view(pair, worlds, &mut cells);
    for (half, before) in pair.halves.iter_mut().zip(before) {
        end_still(half, before);
    }
    Picture::new(cells, before[0].ground())
}

/// Takes the colours and parts of a picture. Returns the theme of the screen.
fn begin_still(app: &mut App) -> Theme {
    app.is_still = true;
    let theme = Theme::new(ColorMode::Truecolor).on(app.theme.ground());
    std::mem::replace(&mut app.theme, theme)
}

fn end_still(app: &mut App, before: Theme) {
    app.is_still = false;
    app.theme = before;
}
