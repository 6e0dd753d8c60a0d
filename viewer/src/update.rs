//! Reactions of the state to events. Nothing here draws, reads or writes anything else.

pub(crate) mod background_query;
mod critical;
mod export;
mod flame;
mod hit_test;
mod lane_neighbours;
pub(crate) mod lanes;
mod layouts;
mod lists;
mod marks;
mod mouse;
pub(crate) mod navigate;
mod pair;
pub(crate) mod prompts;
mod select;
mod walk;

pub(crate) use background_query::on_job_news;
pub(crate) use critical::put_away as put_path_away;
pub(crate) use hit_test::{pick, row_at};
pub(crate) use layouts::{begin, on_layout_saved};
pub(crate) use lists::{remake, reopen_on, show as show_panel, step};
pub(crate) use mouse::{moment_at, whole_at};
pub(crate) use pair::{remember, show_changes, to_slowest};
pub(crate) use select::is_current;
pub(crate) use select::nothing_more;
pub(crate) use walk::{causes, effects};

use crate::action::{Action, PairAction, SourceRequest, ViewRequest};
use crate::app::{App, FollowMode, InputMode, ViewData, refresh_inside, refresh_rank};
use crate::event::{InputEvent, KeyCode, KeyEvent, KeyModifiers};
use crate::job;
use crate::panels::{Blames, Bookmarks, Commands, Findings, PanelKind, StallPanel, StatsPage};
use crate::prompt::PromptPurpose;
use crate::source::{RecordingOrder, RecordingState, SourceProgress};

/// An action is not done more often at once.
const MOST_TIMES: u32 = 999;

/// Handles an event.
pub(crate) fn update(app: &mut App, world: ViewData<'_>, event: InputEvent) -> Vec<ViewRequest> {
    let effects = handle_event(app, world, event);
    critical::refresh(app, world);
    lists::refresh(app, world);
    flame::refresh(app, world);
    refresh_rank(app, world.trace);
    refresh_inside(app, world.trace);
    effects
}

fn handle_event(app: &mut App, world: ViewData<'_>, event: InputEvent) -> Vec<ViewRequest> {
    match event {
        InputEvent::Key(key) => return on_key(app, world, &key),
        InputEvent::Clock(time) => app.clock = time,
        InputEvent::Mouse(mouse) => mouse::on_mouse(app, world, mouse),
        InputEvent::Paste(text) => {
            prompts::paste(app, &text);
            lists::paste(app, world, &text);
        }
        InputEvent::Resize(width, height) => {
            app.size = (width, height);
            select::reveal_lane(app);
        }
        InputEvent::Data(progress) => on_data(app, world, progress),
        InputEvent::SourceFailed(why) => app.document.failure = Some(why),
    }
    Vec::new()
}

fn on_data(app: &mut App, world: ViewData<'_>, progress: SourceProgress) {
    let ended = app.is_running() && progress.recording != RecordingState::Running;
    let changed = progress.changed || ended || app.document.span.is_none();
    app.document.progress = progress;
    if let Some(counted) = progress.counted {
        app.document.rates.note(app.clock, counted.calls);
    }
    if app.camera.paused || !changed {
        return;
    }
    take_in(app, world);
    if progress.counted.is_none() {
        app.document.rates.note(app.clock, app.document.counts.1);
    }
    if let Some(search) = &mut app.camera.search {
        search.update(world.trace);
    }
    navigate::keep_following(app);
}

fn take_in(app: &mut App, world: ViewData<'_>) {
    app.take_in(world.trace, world.overview);
}

fn on_key(app: &mut App, world: ViewData<'_>, key: &KeyEvent) -> Vec<ViewRequest> {
    app.message = None;
    app.pointer.forget();
    // The one place that looks up a key.
    let action = app.config.keys.action(key);
    let is_interrupt = key.modifiers.contains(KeyModifiers::CONTROL)
        && matches!(key.code, KeyCode::Char('c' | 'z' | 'l'));
    match app.mode {
        InputMode::Prompt(_) if !is_interrupt => Vec::from_iter(prompts::on_key(app, world, key)),
        InputMode::Help(_) if !is_interrupt => {
            on_help_key(app, key);
            Vec::new()
        }
        InputMode::Timeline
            if key.code == KeyCode::Esc && app.jobs.of(job::JobKind::Query).is_some() =>
        {
            background_query::cancel(app);
            Vec::new()
        }
        InputMode::Timeline
            if key.code == KeyCode::Esc && app.jobs.of(job::JobKind::Export).is_some() =>
        {
            app.jobs.stop(job::JobKind::Export);
            Vec::new()
        }
        _ if !is_interrupt && app.panels.list.is_some() => on_list_key(app, world, key, action),
        _ if !is_interrupt && app.panels.flame.is_some() => on_flame_key(app, world, key, action),
        _ => on_timeline_key(app, world, key, action),
    }
}

fn on_timeline_key(
    app: &mut App,
    world: ViewData<'_>,
    key: &KeyEvent,
    action: Option<Action>,
) -> Vec<ViewRequest> {
    if let KeyCode::Char(digit) = key.code
        && count(app, digit)
    {
        return Vec::new();
    }
    let times = app.times.take();
    let Some(action) = action else {
        return Vec::new();
    };
    for _ in 1..times.filter(|_| is_step(action)).unwrap_or(1) {
        perform(app, world, action);
    }
    perform(app, world, action)
}

/// Takes a digit of a repeat count. A first 0 is no digit: it shows everything.
fn count(app: &mut App, digit: char) -> bool {
    let Some(value) = digit.to_digit(10) else {
        return false;
    };
    if value == 0 && app.times.is_none() {
        return false;
    }
    let times = app.times.unwrap_or(0) * 10 + value;
    app.times = Some(times.min(MOST_TIMES));
    app.message = app
        .times
        .map(|times| format!("{times} times: n, N, an arrow, w, …"));
    true
}

/// Whether doing it again leads further.
fn is_step(action: Action) -> bool {
    matches!(
        action,
        Action::PanLeft
            | Action::PanRight
            | Action::PanScreenLeft
            | Action::PanScreenRight
            | Action::ZoomIn
            | Action::ZoomOut
            | Action::NextItem
            | Action::PreviousItem
            | Action::LaneDown
            | Action::LaneUp
            | Action::PageDown
            | Action::PageUp
            | Action::NextStall
            | Action::PreviousStall
            | Action::NextMatch
            | Action::PreviousMatch
            | Action::NextFailure
            | Action::ToCause
            | Action::ToEffect
            | Action::Back
            | Action::Forward
    )
}

fn on_list_key(
    app: &mut App,
    world: ViewData<'_>,
    key: &KeyEvent,
    action: Option<Action>,
) -> Vec<ViewRequest> {
    // The action that opens a list closes it too, unless the key is typed into it.
    let list = app.panels.list.as_ref();
    let list = list.filter(|list| !list.takes_letters());
    if list.is_some_and(|list| action == Some(list.kind.panel().opener())) {
        lists::leave(app);
        return Vec::new();
    }
    match lists::on_key(app, world, key) {
        Some(effects) => effects,
        None => on_timeline_key(app, world, key, action),
    }
}

fn on_flame_key(
    app: &mut App,
    world: ViewData<'_>,
    key: &KeyEvent,
    action: Option<Action>,
) -> Vec<ViewRequest> {
    match flame::on_key(app, world, key) {
        true => Vec::new(),
        false => on_timeline_key(app, world, key, action),
    }
}

fn on_help_key(app: &mut App, key: &KeyEvent) {
    let InputMode::Help(first) = &mut app.mode else {
        return;
    };
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => *first = first.saturating_add(1),
        KeyCode::Up | KeyCode::Char('k') => *first = first.saturating_sub(1),
        KeyCode::PageDown => *first = first.saturating_add(10),
        KeyCode::PageUp => *first = first.saturating_sub(10),
        _ => app.mode = InputMode::Timeline,
    }
}

/// Runs an action.
pub(crate) fn perform(app: &mut App, world: ViewData<'_>, action: Action) -> Vec<ViewRequest> {
    let moves = is_move(action);
    if moves && !app.camera.moving {
        walk::remember(app);
    }
    app.camera.moving = moves;
    match action {
        Action::Quit => return vec![ViewRequest::Quit],
        Action::Suspend => return vec![ViewRequest::Suspend],
        Action::Redraw => return vec![ViewRequest::Redraw],
        Action::Copy => {
            app.message = Some("sent to the terminal's clipboard, if it has one".to_owned());
            return vec![ViewRequest::Copy];
        }
        Action::PauseRecording => return order(app, RecordingOrder::PauseOrResume),
        Action::TakeSnapshot => return order(app, RecordingOrder::Snapshot),
        Action::MarkRecording => prompts::open_mark(app),
        Action::SavePicture => prompts::open_picture(app, world),
        Action::PanLeft => navigate::pan(app, -20),
        Action::PanRight => navigate::pan(app, 20),
        Action::PanScreenLeft => navigate::pan(app, -90),
        Action::PanScreenRight => navigate::pan(app, 90),
        Action::ZoomIn => navigate::zoom(app, world, (2, 3)),
        Action::ZoomOut => navigate::zoom(app, world, (3, 2)),
        Action::ZoomInFast => navigate::zoom(app, world, (1, 5)),
        Action::ZoomOutFast => navigate::zoom(app, world, (5, 1)),
        Action::FitAll => navigate::fit_all(app),
        Action::FitSelection => navigate::fit_selection(app, world),
        Action::Begin => navigate::to_begin(app),
        Action::End => navigate::to_end(app),
        Action::Follow => follow(app, world),
        Action::NextItem => select::neighbour(app, world, true),
        Action::PreviousItem => select::neighbour(app, world, false),
        Action::LaneDown => select::lane(app, world, true),
        Action::LaneUp => select::lane(app, world, false),
        Action::PageDown => select::scroll(app, i32::from(app.layout().lanes.height) / 2),
        Action::PageUp => select::scroll(app, -i32::from(app.layout().lanes.height) / 2),
        Action::NextStall => select::next_stall(app, world, true),
        Action::PreviousStall => select::next_stall(app, world, false),
        Action::NextMatch => select::next_match(app, world, true),
        Action::PreviousMatch => select::next_match(app, world, false),
        Action::NextFailure => select::next_failure(app, world),
        Action::ListStalls => lists::toggle(app, world, PanelKind::Stalls(StallPanel::All)),
        Action::ListBlames => lists::toggle(app, world, PanelKind::Blames(Blames)),
        Action::ListFindings => {
            return perform(app, world, Action::Panel(PanelKind::Findings(Findings)));
        }
        Action::CriticalPath => critical::toggle(app, world),
        Action::NextStep => return pair::request(app, PairAction::NextStep),
        Action::PreviousStep => return pair::request(app, PairAction::PreviousStep),
        Action::OtherRecording => return pair::request(app, PairAction::OtherRecording),
        Action::AlignSelections => return pair::request(app, PairAction::AlignSelections),
        Action::ListChanges => pair::list_changes(app, world),
        Action::LeastStall => prompts::open_least(app),
        Action::ListStatistics => {
            lists::toggle(app, world, PanelKind::Statistics(StatsPage::Operations))
        }
        Action::ListBookmarks => lists::toggle(app, world, PanelKind::Bookmarks(Bookmarks)),
        Action::Flame => flame::toggle(app, world),
        Action::Palette => lists::toggle(app, world, PanelKind::Commands(Commands)),
        Action::Search => prompts::open(app, PromptPurpose::Find),
        Action::GoTo => prompts::open(app, PromptPurpose::Moment),
        Action::FilterLanes => prompts::open(app, PromptPurpose::Lanes),
        Action::Panel(panel) => lists::toggle(app, world, panel),
        Action::Layout(place) => layouts::show(app, world, place),
        Action::SaveLayout => prompts::open(app, PromptPurpose::Layout),
        Action::ExportRange => export::prompt_for_name(app, world, false),
        Action::ExportAll => export::prompt_for_name(app, world, true),
        Action::Bookmark => prompts::open_bookmark(app, world),
        Action::Mark => marks::set(app, world),
        Action::ClearMarks => marks::clear(app),
        Action::FitMarks => marks::fit(app),
        Action::Fold => lanes::fold(app, world),
        Action::UnfoldAll => lanes::unfold_all(app, world),
        Action::Pin => lanes::pin(app, world),
        Action::Hide => lanes::hide(app, world),
        Action::ShowAll => lanes::show_all(app, world),
        Action::ToCause => walk::to_cause(app, world),
        Action::ToEffect => walk::to_effect(app, world),
        Action::Alternative => walk::alternative(app, world),
        Action::Back => walk::back(app),
        Action::Forward => walk::forward(app),
        Action::Escape => escape(app),
        Action::Pause => pause(app, world),
        Action::ToggleLog => toggle_log(app, world),
        Action::LogUp => scroll_log(app, world, 5),
        Action::LogDown => scroll_log(app, world, -5),
        Action::ToggleDetail => {
            app.panels.large_detail = !app.panels.large_detail;
            select::reveal_lane(app);
        }
        Action::ToggleArrows => app.camera.all_arrows = !app.camera.all_arrows,
        Action::Help => app.mode = InputMode::Help(0),
    }
    Vec::new()
}

/// Whether an action changes only which part of time is visible.
fn is_move(action: Action) -> bool {
    matches!(
        action,
        Action::PanLeft
            | Action::PanRight
            | Action::PanScreenLeft
            | Action::PanScreenRight
            | Action::ZoomIn
            | Action::ZoomOut
            | Action::ZoomInFast
            | Action::ZoomOutFast
            | Action::FitAll
            | Action::FitSelection
            | Action::Begin
            | Action::End
    )
}

fn follow(app: &mut App, world: ViewData<'_>) {
    if !app.is_running() {
        return navigate::fit_selection(app, world);
    }
    match app.camera.follow {
        FollowMode::Off => {
            app.camera.follow = FollowMode::Head;
            navigate::keep_following(app);
        }
        FollowMode::Everything | FollowMode::Head => app.camera.follow = FollowMode::Off,
    }
}

fn pause(app: &mut App, world: ViewData<'_>) {
    if !app.is_running() && !app.camera.paused {
        app.message = Some("nothing to pause: the recording has ended".to_owned());
        return;
    }
    app.camera.paused = !app.camera.paused;
    if !app.camera.paused {
        take_in(app, world);
        navigate::keep_following(app);
    }
}

/// Changes the recording, if it is still being made.
fn order(app: &mut App, order: RecordingOrder) -> Vec<ViewRequest> {
    if !app.is_running() {
        app.message = Some("the recording has ended".to_owned());
        return Vec::new();
    }
    vec![ViewRequest::Source(SourceRequest::Order(order))]
}

fn escape(app: &mut App) {
    match app.camera.selected {
        Some(_) => app.camera.selected = None,
        None => {
            app.camera.search = None;
            critical::put_away(app);
        }
    }
    app.camera.away = None;
    app.camera.walk = None;
}

fn toggle_log(app: &mut App, world: ViewData<'_>) {
    if world.log.is_none() {
        app.message = Some("the program's output is not shown here".to_owned());
        return;
    }
    app.panels.log_open = !app.panels.log_open;
    app.panels.log_back = 0;
    select::reveal_lane(app);
}

fn scroll_log(app: &mut App, world: ViewData<'_>, lines: isize) {
    let shown = usize::from(app.layout().log.height.saturating_sub(1));
    let most = world.log.map_or(0, |log| log.len().saturating_sub(shown));
    app.panels.log_back = app.panels.log_back.saturating_add_signed(lines).min(most);
}
