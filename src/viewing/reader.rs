//! The thread that reads a recording for the view: its second part, which reads long ones where one looks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ascend_trace_model::archive::WindowError;
use ascend_trace_model::{Archive, Follower, OpenError, Summary, Trace};
use ascend_trace_viewer::{Derived, News, Overview, Quest};

use super::follower::After;
use super::loader::{Wish, Wishes};
use super::mail::{Extent, Mail, Part};
use super::pace::{IDLE_TICK, Pace, TICK, step_back};
use super::recorder;

/// Calls and tasks that are read one by one; where there are more, sums are shown.
const MOST: u64 = 150_000;
/// The same of what grows, and so is read anew with each look.
const MOST_GROWING: u64 = 50_000;
/// Entries per lane in the sums of the whole recording, and of what is on screen.
const WHOLE: usize = 4096;
const NEAR: usize = 4096;
/// The sums of a whole recording that grows are made anew only after so many times what they took.
const PATIENCE: u32 = 20;
/// Where a recording has gone on for so long, hardly anything is added: late times at most.
const SETTLED_NS: i64 = 2_000_000_000;
/// There it is looked at again only after so long.
const LATE_TICK: Duration = Duration::from_secs(1);

/// What is to be read.
pub(super) struct Begin {
    pub(super) path: PathBuf,
    /// A file that is short up to now.
    pub(super) short: Option<Follower>,
    /// Whether it is being written by this process.
    pub(super) ours: bool,
}

pub(super) struct Reader {
    wishes: Arc<Wishes>,
    mail: Arc<Mail>,
    /// The file, unless it is known to grow.
    may_rest: Option<PathBuf>,
}

/// What the view has been given.
struct Given {
    wish: Wish,
    loaded: Option<(i64, i64)>,
    /// When that was read, and up to where the recording went then.
    read: (Instant, i64),
    /// There is more to be known of all of the recording.
    has_news: bool,
    /// When the file was found to have grown.
    grown: Option<Instant>,
    whole: Arc<Summary>,
    near: Arc<Summary>,
    summed: Instant,
    pause: Duration,
}

impl Reader {
    pub(super) fn new(wishes: Arc<Wishes>, mail: Arc<Mail>) -> Self {
        Self {
            wishes,
            mail,
            may_rest: None,
        }
    }

    pub(super) fn wishes(&self) -> &Wishes {
        &self.wishes
    }

    pub(super) fn mail(&self) -> &Mail {
        &self.mail
    }

    /// Reads until the view ends or the file cannot be read.
    pub(super) fn run(mut self, begin: Begin) {
        step_back();
        let Begin { path, short, ours } = begin;
        self.may_rest = (!ours).then(|| path.clone());
        let followed = short.map_or(Ok(After::Long), |short| self.follow(short));
        let read = followed.and_then(|after| match after {
            After::Long => self.read(&path),
            After::Done => Ok(()),
        });
        if let Err(error) = read {
            self.mail.open().failed = Some(error);
        }
    }

    /// Whether the file has been stopped short, as it seems.
    pub(super) fn is_stopped(&self) -> bool {
        self.may_rest.as_deref().is_some_and(recorder::is_gone)
    }

    fn open(&self, path: &Path) -> Result<Archive, OpenError> {
        let mut told = Instant::now();
        Archive::open(path, |done, all| {
            if told.elapsed() > TICK {
                told = Instant::now();
                self.mail.open().opening = Some((done, all));
            }
            !self.wishes.now().stop
        })
    }

    fn read(&self, path: &Path) -> Result<(), OpenError> {
        let mut archive = match self.open(path) {
            Err(OpenError::Stopped) => return Ok(()),
            opened => opened?,
        };
        let mut given = Given {
            wish: Wish::default(),
            loaded: None,
            read: (Instant::now(), i64::MIN),
            has_news: false,
            grown: None,
            whole: Arc::default(),
            near: Arc::default(),
            summed: Instant::now(),
            pause: Duration::ZERO,
        };
        self.sum_up(&mut archive, &mut given)?;
        self.give(&mut archive, None, &mut given);
        let mut pace = Pace::new();
        let mut was_complete = false;
        let mut quest: Option<Box<Quest>> = None;
        loop {
            self.mail.open().position = archive.position();
            if archive.complete() && !was_complete {
                was_complete = true;
                let end = archive.things().end();
                self.mail.open().ended = Some(end.map(|(_, status)| status));
            }
            let time = match (&quest, archive.complete()) {
                (Some(_), _) => Duration::ZERO,
                (None, true) => IDLE_TICK,
                (None, false) if self.mail.is_taken() => pace.rest(),
                (None, false) => TICK,
            };
            let wish = self.wishes.wait(given.wish, time);
            if wish.stop {
                return Ok(());
            }
            self.mail.free();
            let is_due = !archive.complete() && pace.is_due() && self.mail.is_taken();
            if is_due {
                pace.begin();
            }
            let grown = is_due && archive.poll()?;
            given.grown = grown.then(Instant::now).or(given.grown);
            if grown && (given.summed.elapsed() > given.pause || archive.complete()) {
                self.sum_up(&mut archive, &mut given)?;
            }
            if let Some(range) = wish.range
                && (grown || wish != given.wish)
            {
                self.look(&mut archive, &mut given, range, grown)?;
            }
            if std::mem::take(&mut given.has_news) {
                self.mail.open().overview = Some(overview(&mut archive, &given));
            }
            if is_due {
                pace.end();
            }
            if wish.quest != given.wish.quest {
                quest = self.wishes.take_quest();
            }
            given.wish = wish;
            self.mail.open().answered = wish.number;
            if let Some(mut own) = quest.take() {
                match self.pursue(&mut archive, &mut own, wish) {
                    Ok(true) => self.mail.tell(News::Done(own)),
                    Ok(false) => quest = Some(own),
                    Err(WindowError::Open(error)) => return Err(error),
                    Err(WindowError::TooMany(_)) => self.mail.tell(News::Done(own)),
                }
            }
        }
    }

    /// Goes on looking for something until it is found or the view wants something else.
    fn pursue(
        &self,
        archive: &mut Archive,
        quest: &mut Quest,
        wish: Wish,
    ) -> Result<bool, WindowError> {
        let mut told: Option<Instant> = None;
        quest.advance(archive, &mut |news| {
            let is_due = told.is_none_or(|told| told.elapsed() > TICK);
            if let (true, News::Reached(moment, wrapped)) = (is_due, news) {
                told = Some(Instant::now());
                self.mail.tell(News::Reached(*moment, *wrapped));
            }
            self.wishes.now() == wish
        })
    }

    /// Sums the whole recording up.
    fn sum_up(&self, archive: &mut Archive, given: &mut Given) -> Result<(), OpenError> {
        let begin = Instant::now();
        given.whole = Arc::new(archive.summary((i64::MIN, i64::MAX), WHOLE)?);
        given.summed = Instant::now();
        given.pause = begin.elapsed() * PATIENCE;
        given.has_news = true;
        Ok(())
    }

    /// Brings up to date what is known of a range: its sums, and its calls and tasks if there are
    /// not too many.
    fn look(
        &self,
        archive: &mut Archive,
        given: &mut Given,
        range: (i64, i64),
        grown: bool,
    ) -> Result<(), OpenError> {
        let wide = widened(range);
        let covered = |known: (i64, i64)| known.0 <= range.0 && range.1 <= known.1;
        let fits = |known: &Summary| {
            // Much more than is on screen is too coarse for it.
            covered(known.range) && length(known.range) / 8 < length(range)
        };
        let end = archive.span().map_or(i64::MAX, |span| span.1);
        let is_settled = range.1.saturating_add(SETTLED_NS) < given.read.1;
        let is_new = grown && !(is_settled && given.read.0.elapsed() < LATE_TICK);
        if is_new || !fits(&given.near) {
            given.near = Arc::new(archive.summary(wide, NEAR)?);
        }
        given.has_news = true;
        if !is_new && given.loaded.is_some_and(covered) {
            return Ok(());
        }
        let is_growing = given.grown.is_some_and(|at| at.elapsed() < LATE_TICK);
        let most = match is_growing && !is_settled && !archive.complete() {
            true => MOST_GROWING,
            false => MOST,
        };
        given.read = (Instant::now(), end);
        for wanted in [wide, range] {
            match archive.window_with_graphs(wanted, most) {
                Ok(trace) => {
                    let range = open_ended(wanted, archive.span());
                    self.give(archive, Some((trace, range)), given);
                    return Ok(());
                }
                Err(WindowError::TooMany(_)) => {}
                Err(WindowError::Open(error)) => return Err(error),
            }
        }
        let is_near = |known: (i64, i64)| known.0 < range.1 && range.0 < known.1;
        if is_new || !given.loaded.is_some_and(is_near) {
            self.give(archive, None, given);
        }
        Ok(())
    }

    /// Gives a range of the recording, or nothing but its things.
    fn give(&self, archive: &mut Archive, part: Option<(Trace, (i64, i64))>, given: &mut Given) {
        given.loaded = part.as_ref().map(|(_, range)| *range);
        given.has_news = false;
        let trace = part.map_or_else(|| archive.things().clone(), |(trace, _)| trace);
        let derived = Derived::of_part(&trace);
        let part = Part {
            trace,
            derived,
            extent: Extent::Range(given.loaded),
        };
        let overview = overview(archive, given);
        self.mail
            .give(part, |letters| letters.overview = Some(overview));
    }
}

/// What is known of all of a recording.
fn overview(archive: &mut Archive, given: &Given) -> Overview {
    let counts = archive.counts();
    Overview {
        span: archive.span(),
        calls: counts.calls,
        tasks: counts.tasks,
        failed: counts.errors,
        used: counts.streams.keys().copied().collect(),
        whole: Arc::clone(&given.whole),
        near: Arc::clone(&given.near),
        loaded: None,
        ranges_until: archive.ranges_until(),
        opening: None,
    }
}

fn length((begin, end): (i64, i64)) -> i64 {
    end.saturating_sub(begin)
}

/// With as much again on either side, so that the next move finds it there.
fn widened(range: (i64, i64)) -> (i64, i64) {
    let length = length(range);
    (
        range.0.saturating_sub(length),
        range.1.saturating_add(length),
    )
}

/// Beyond the recording there is nothing that could be missing.
fn open_ended(range: (i64, i64), span: Option<(i64, i64)>) -> (i64, i64) {
    let Some((begin, end)) = span else {
        return range;
    };
    (
        if range.0 <= begin { i64::MIN } else { range.0 },
        if range.1 >= end { i64::MAX } else { range.1 },
    )
}
