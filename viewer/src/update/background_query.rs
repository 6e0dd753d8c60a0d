//! Searches through a whole long recording: requests and results.

use ascend_trace_analysis::calls::CallTree;
use ascend_trace_analysis::{Fold, Lane, Stats};

use ascend_trace_recording::{ThreadId, TimeRange};

use crate::app::{App, FollowMode, ViewData};
use crate::background_query::{
    BackgroundQuery, FoundElsewhere, MatchQuery, QueryKind, QueryPosition,
};
use crate::background_query::{
    CallsQuery, FoldQuery, FoundStall, SlowestQuery, StallQuery, StatsQuery, WantedStalls,
};
use crate::cached_results::{CallsKey, LongestStallsKey, ResultKey, StatsKey};
use crate::job::{Job, JobKind, JobNews};
use crate::overview::RecordingOverview;
use crate::panels::{PanelKind, StallPanel};
use crate::recording_totals::RecordingTotals;
use crate::text::{fit, moment};
use crate::viewport::Viewport;

use super::{critical, flame, lists, navigate, select, walk};

/// Calls and tasks that are on screen, about, when something is shown that was found far away.
const SHOWN: u64 = 20_000;
/// Stalls that are listed.
pub(crate) const LISTED: usize = 200;

/// Requests the next match after the loaded part.
pub(super) fn next_match(app: &mut App, from: i64, forward: bool) {
    let Some(search) = app.camera.search.clone() else {
        return;
    };
    let what = format!("“{}”", fit(&search.text, 30));
    let query = MatchQuery {
        search,
        found: None,
    };
    let course = QueryPosition::new(forward, from, true);
    start(app, what, QueryKind::Match(Box::new(query)), course);
}

/// Requests the next stall. It may begin in the loaded part and end after it.
pub(super) fn next_stall(
    app: &mut App,
    overview: &RecordingOverview,
    from: (i64, Option<Lane>),
    forward: bool,
) {
    let what = match forward {
        true => "the next stall",
        false => "the stall before",
    };
    let course = QueryPosition::new(forward, from.0, false);
    let wanted = WantedStalls::Next(from.0, from.1, course.towards);
    let mut query = StallQuery::new(wanted, app.camera.arrangement.clone(), app.camera.least);
    if !forward {
        query.begin_before(from.0, &overview.whole);
    }
    start(
        app,
        what.to_owned(),
        QueryKind::Stalls(Box::new(query)),
        course,
    );
}

/// Looks for the longest stalls, unless they are known.
pub(crate) fn longest(app: &mut App, which: StallPanel) {
    if known_longest(app, which).is_some() {
        return;
    }
    let blame = match which {
        StallPanel::Blame(id) => app.document.blames.get(id).cloned(),
        StallPanel::All | StallPanel::Cause(_) => None,
    };
    let course = QueryPosition::new(true, i64::MIN, false);
    let wanted = WantedStalls::Longest(LISTED, which);
    let query =
        StallQuery::new(wanted, app.camera.arrangement.clone(), app.camera.least).blaming(blame);
    let what = "the longest stalls".to_owned();
    start(app, what, QueryKind::Stalls(Box::new(query)), course);
}

/// Requests the sums of the range on screen, if it is not loaded. A view that follows the newest
/// timestamp has another range before that is done.
pub(crate) fn statistics(app: &mut App, world: ViewData<'_>) {
    let range = app.camera.viewport.range();
    let is_loaded = world.overview.is_loaded(range);
    if is_loaded || app.camera.follow != FollowMode::Off || known_statistics(app, range).is_some() {
        return;
    }
    let query = StatsQuery { range, stats: None };
    let course = QueryPosition::new(true, i64::MIN, false);
    let what = "the sums of this range".to_owned();
    start(app, what, QueryKind::Statistics(Box::new(query)), course);
}

/// The tables of a range that is not loaded, if they have been made.
pub(crate) fn known_statistics(app: &App, range: TimeRange) -> Option<&Stats> {
    app.document
        .cache
        .get(app.document.counts, &StatsKey(range))
}

/// Sums up the calls of a thread in a range that is not loaded.
pub(super) fn calls(app: &mut App, thread: ThreadId, range: TimeRange) {
    let query = CallsQuery {
        thread,
        range,
        tree: CallTree::default(),
    };
    let course = QueryPosition::new(true, i64::MIN, false);
    let what = "the calls of this range".to_owned();
    start(app, what, QueryKind::Calls(Box::new(query)), course);
}

/// The calls of a thread in a range that is not loaded, if they have been summed up.
pub(super) fn known_calls(app: &App, thread: ThreadId, range: TimeRange) -> Option<&CallTree> {
    let window = range;
    app.document
        .cache
        .get(app.document.counts, &CallsKey { thread, window })
}

/// Looks for the slowest task or call of a name in a range that is not loaded.
pub(super) fn slowest(app: &mut App, name: &str, task: bool, range: TimeRange) {
    let query = SlowestQuery {
        name: name.to_owned(),
        task,
        range,
        found: None,
    };
    let what = format!("the slowest {name}");
    let course = QueryPosition::new(true, range.begin, false);
    start(app, what, QueryKind::Slowest(Box::new(query)), course);
}

/// The longest stalls of the whole recording, if they have been found.
pub(crate) fn known_longest(app: &App, which: StallPanel) -> Option<&[FoundStall]> {
    let key = LongestStallsKey {
        which,
        least: app.camera.least,
        hidden: app.camera.arrangement.hidden_lanes(),
    };
    app.document
        .cache
        .get(app.document.counts, &key)
        .map(Vec::as_slice)
}

/// An analysis of all of the recording, for a panel.
pub(crate) struct PanelAnalysis<K, M, A, V> {
    /// Where the result is kept.
    pub(crate) key: K,
    /// Subject of the query, for the message.
    pub(crate) what: &'static str,
    /// Makes the fold.
    pub(crate) make: M,
    /// Makes the value for the cache.
    pub(crate) rows: fn(A) -> V,
    /// Runs once the result is known.
    pub(crate) show: fn(&mut App, ViewData<'_>),
}

/// Begins an analysis, unless its result is known.
pub(crate) fn analyse<F, K, M>(app: &mut App, wanted: PanelAnalysis<K, M, F::Answer, K::Value>)
where
    F: Fold + 'static,
    F::Answer: Send,
    K: ResultKey + Send,
    M: Fn() -> F + Send + 'static,
{
    if app
        .document
        .cache
        .get(app.document.counts, &wanted.key)
        .is_some()
    {
        return;
    }
    let (key, rows, show) = (wanted.key, wanted.rows, wanted.show);
    let done = move |app: &mut App, world: ViewData<'_>, answer: F::Answer| {
        app.document
            .cache
            .put(app.document.counts, key, rows(answer));
        show(app, world);
    };
    let query = QueryKind::Panel(Box::new(FoldQuery::new(wanted.make, done)));
    let course = QueryPosition::new(true, i64::MIN, false);
    start(app, wanted.what.to_owned(), query, course);
}

/// Begins a query, and returns its number.
pub(super) fn start(app: &mut App, what: String, kind: QueryKind, course: QueryPosition) -> u64 {
    let number = app.jobs.next();
    let query = BackgroundQuery {
        number,
        kind,
        course,
    };
    let job = Job::Query(Box::new(query));
    app.jobs.begin(job, what, Some(course), app.clock);
    number
}

/// Stops looking.
pub(super) fn cancel(app: &mut App) {
    if let Some(cancelled) = app.jobs.cancel(JobKind::Query) {
        critical::cancel(app, cancelled.number);
        app.message = Some(format!("stopped looking for {}", cancelled.what));
    }
}

/// Handles news of a job. News after its cancellation are ignored.
pub(crate) fn on_job_news(app: &mut App, world: ViewData<'_>, news: JobNews) {
    if let JobNews::Reached(number, reached) = news {
        return app.jobs.reach(number, reached);
    }
    let Some(job) = app.jobs.end(news.number()) else {
        return;
    };
    match news {
        JobNews::Reached(..) => {}
        JobNews::Found(query) => done(app, world, *query, &job.what),
        JobNews::Done(_, text) | JobNews::Failed(_, text) => app.message = Some(text),
    }
}

fn done(app: &mut App, world: ViewData<'_>, query: BackgroundQuery, what: &str) {
    let course = query.course;
    match query.kind {
        QueryKind::Match(query) => match query.found {
            Some(found) => {
                let over = match (course.wrapped, course.is_forward()) {
                    (false, _) => "",
                    (true, true) => ", went on from the beginning",
                    (true, false) => ", went on from the end",
                };
                go(app, world, &found, &format!("{what} found{over}"));
            }
            None => app.message = Some(format!("nothing in all of the recording is {what}")),
        },
        QueryKind::Stalls(query) => stalls(app, world, *query, course.is_forward()),
        QueryKind::Panel(query) => query.done(app, world),
        QueryKind::Critical(query) => critical::done(app, world, *query),
        QueryKind::Statistics(query) => {
            if let Some(stats) = query.stats {
                if query.range.covers(app.document.span.unwrap_or_default()) {
                    app.document.overall = Some(RecordingTotals::of(&stats, None));
                }
                app.document
                    .cache
                    .put(app.document.counts, StatsKey(query.range), stats);
                lists::show_statistics(app, world);
            }
        }
        QueryKind::Calls(query) => {
            let key = CallsKey {
                thread: query.thread,
                window: query.range,
            };
            app.document.cache.put(app.document.counts, key, query.tree);
            flame::show(app, world);
        }
        QueryKind::Slowest(query) => match query.found {
            Some((_, found)) => go(app, world, &found, &format!("{what} on screen")),
            None => app.message = Some("no match has a time".to_owned()),
        },
    }
}

fn stalls(app: &mut App, world: ViewData<'_>, query: StallQuery, forward: bool) {
    if let Some((which, least)) = query.listed() {
        let key = LongestStallsKey {
            which,
            least,
            hidden: app.camera.arrangement.hidden_lanes(),
        };
        app.document
            .cache
            .put(app.document.counts, key, query.found_stalls);
        let is_open =
            app.panels.list.as_ref().map(|list| list.kind) == Some(PanelKind::Stalls(which));
        match is_open {
            true => lists::show_longest(app, world),
            false => app.message = Some("the longest stalls are known: i lists them".to_owned()),
        }
        return;
    }
    match query.found_stalls.first() {
        Some(stall) => go(app, world, &stall.found(), &stall.words),
        None => {
            let where_to = if forward { "after" } else { "before" };
            app.message = Some(format!("no stall {where_to} this in all of the recording"));
        }
    }
}

fn go(app: &mut App, world: ViewData<'_>, found: &FoundElsewhere, message: &str) {
    walk::remember(app);
    show(app, world, found);
    let start = app.document.span.map_or(0, |span| span.begin);
    let at = moment(found.span.begin.saturating_sub(start));
    app.message = Some(format!("{message}, at {at}"));
}

/// Goes to something that need not be loaded. It is selected as soon as it is.
pub(super) fn show(app: &mut App, world: ViewData<'_>, found: &FoundElsewhere) {
    if let Some(selected) = found.identity.find(world.trace, &app.document.stalls) {
        select::select(app, world, selected);
    } else {
        app.camera.selected = None;
        app.camera.away = Some(found.identity);
        app.camera.walk = None;
        app.reveal_track(world, found.lane);
        app.camera.lane = Some(found.lane);
        app.camera.group = None;
    }
    close_up(app, world.overview, found.span);
    select::reveal_lane(app);
}

/// Shows a span so closely that single calls and tasks can be read.
fn close_up(app: &mut App, overview: &RecordingOverview, span: TimeRange) {
    let range = app.camera.viewport.range();
    if range.covers(span) && overview.is_loaded(range) {
        return;
    }
    let whole = app.document.span.unwrap_or(span);
    let rows = overview.calls.saturating_add(overview.tasks).max(1);
    let share = SHOWN as f64 / rows as f64;
    let readable = (whole.duration() as f64 * share.min(1.0)) as i64;
    let length = app.camera.viewport.length().min(readable);
    let length = length.max(span.duration() / 4 * 5);
    let viewport = Viewport::new(0, length).around(span);
    app.camera.follow = FollowMode::Off;
    navigate::show(app, viewport);
}
