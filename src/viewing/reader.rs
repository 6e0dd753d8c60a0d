//! The thread that reads a long recording for the view.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use ascend_trace_model::archive::WindowError;
use ascend_trace_model::{Archive, OpenError, Summary, Trace};
use ascend_trace_viewer::{Derived, News, Overview, Quest};

use super::loader::{IDLE_TICK, Part, TICK, Update, Wish, Wishes};

/// Calls and tasks that are read one by one; where there are more, sums are shown.
const MOST: u64 = 150_000;
/// Entries per lane in the sums of the whole recording, and of what is on screen.
const WHOLE: usize = 4096;
const NEAR: usize = 4096;
/// The sums of a whole recording that grows are made anew only after so many times what they took.
const PATIENCE: u32 = 20;

pub(super) struct Reader {
    path: PathBuf,
    wishes: Arc<Wishes>,
    updates: Sender<Update>,
}

/// What the view has been given.
struct Given {
    wish: Wish,
    loaded: Option<(i64, i64)>,
    whole: Arc<Summary>,
    near: Arc<Summary>,
    summed: Instant,
    pause: Duration,
}

impl Reader {
    pub(super) fn new(path: PathBuf, wishes: Arc<Wishes>, updates: Sender<Update>) -> Self {
        Self {
            path,
            wishes,
            updates,
        }
    }

    /// Reads until the view ends or the file cannot be read.
    pub(super) fn run(self) {
        if let Err(error) = self.read() {
            self.tell(Update::Failed(error));
        }
    }

    /// A view that has ended does not listen any more; that is noticed by its wish.
    fn tell(&self, update: Update) {
        let _ = self.updates.send(update);
    }

    fn read(&self) -> Result<(), OpenError> {
        let mut told = Instant::now();
        let opened = Archive::open(&self.path, |done, all| {
            if told.elapsed() > TICK {
                told = Instant::now();
                self.tell(Update::Opening(done, all));
            }
            !self.wishes.now().stop
        });
        let mut archive = match opened {
            Err(OpenError::Stopped) => return Ok(()),
            opened => opened?,
        };
        let mut given = Given {
            wish: Wish::default(),
            loaded: None,
            whole: Arc::default(),
            near: Arc::default(),
            summed: Instant::now(),
            pause: Duration::ZERO,
        };
        self.sum_up(&mut archive, &mut given)?;
        self.give(archive.things().clone(), None, &mut given);
        let mut was_complete = false;
        let mut quest: Option<Box<Quest>> = None;
        loop {
            if archive.complete() && !was_complete {
                was_complete = true;
                self.tell(Update::Complete);
            }
            let time = match (&quest, archive.complete()) {
                (Some(_), _) => Duration::ZERO,
                (None, true) => IDLE_TICK,
                (None, false) => TICK,
            };
            let wish = self.wishes.wait(given.wish, time);
            if wish.stop {
                return Ok(());
            }
            let grown = !archive.complete() && archive.poll()?;
            if grown && (given.summed.elapsed() > given.pause || archive.complete()) {
                self.sum_up(&mut archive, &mut given)?;
            }
            if let Some(range) = wish.range
                && (grown || wish != given.wish)
            {
                self.look(&mut archive, &mut given, range, grown)?;
            }
            if wish.quest != given.wish.quest {
                quest = self.wishes.take_quest();
            }
            given.wish = wish;
            self.tell(Update::Answered(wish.number));
            if let Some(mut own) = quest.take() {
                match self.pursue(&mut archive, &mut own, wish) {
                    Ok(true) => self.tell(Update::News(News::Done(own))),
                    Ok(false) => quest = Some(own),
                    Err(WindowError::Open(error)) => return Err(error),
                    Err(WindowError::TooMany(_)) => self.tell(Update::News(News::Done(own))),
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
                self.tell(Update::News(News::Reached(*moment, *wrapped)));
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
        self.overview(archive, given);
        Ok(())
    }

    fn overview(&self, archive: &mut Archive, given: &Given) {
        let counts = archive.counts();
        self.tell(Update::Overview(Overview {
            span: archive.span(),
            calls: counts.calls,
            tasks: counts.tasks,
            failed: counts.errors,
            whole: Arc::clone(&given.whole),
            near: Arc::clone(&given.near),
            loaded: None,
            ranges_until: archive.ranges_until(),
            opening: None,
        }));
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
        if grown || !fits(&given.near) {
            given.near = Arc::new(archive.summary(wide, NEAR)?);
            self.overview(archive, given);
        }
        if !grown && given.loaded.is_some_and(covered) {
            return Ok(());
        }
        for wanted in [wide, range] {
            match archive.window_with_graphs(wanted, MOST) {
                Ok(trace) => {
                    self.give(trace, Some(open_ended(wanted, archive.span())), given);
                    return Ok(());
                }
                Err(WindowError::TooMany(_)) => {}
                Err(WindowError::Open(error)) => return Err(error),
            }
        }
        let is_near = |known: (i64, i64)| known.0 < range.1 && range.0 < known.1;
        if grown || !given.loaded.is_some_and(is_near) {
            self.give(archive.things().clone(), None, given);
        }
        Ok(())
    }

    fn give(&self, trace: Trace, range: Option<(i64, i64)>, given: &mut Given) {
        given.loaded = range;
        let derived = Derived::of_part(&trace);
        self.tell(Update::Part(Box::new(Part {
            trace,
            derived,
            range,
        })));
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
