//! Slow work. The view asks its source for it, receives progress, can stop it, and continues meanwhile:
//! the drawing thread never does it.

use std::time::Duration;

use ascend_trace_recording::TimeRange;

use crate::background_query::{BackgroundQuery, QueryPosition};
use crate::text::{duration, fit};

/// Something that takes time.
#[derive(Debug)]
pub enum Job {
    /// Looks for something, or sums something up, in all of a recording that is not loaded whole.
    Query(Box<BackgroundQuery>),
    /// Writes a file.
    Export(ExportJob),
}

/// Writes the recording, or a range of it, to a file. The file's name determines the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportJob {
    pub number: u64,
    pub path: String,
    pub range: Option<TimeRange>,
}

impl Job {
    /// Counts the jobs of a view.
    pub fn number(&self) -> u64 {
        match self {
            Self::Query(query) => query.number,
            Self::Export(export) => export.number,
        }
    }

    fn kind(&self) -> JobKind {
        match self {
            Self::Query(_) => JobKind::Query,
            Self::Export(_) => JobKind::Export,
        }
    }
}

/// Progress of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobProgress {
    /// This time of the recording, with or without a restart at the other end.
    Moment(i64, bool),
    /// This part of this total is done.
    Part(u64, u64),
}

/// News of a job, which is named by its number.
#[derive(Debug)]
pub enum JobNews {
    Reached(u64, JobProgress),
    /// A query is done.
    Found(Box<BackgroundQuery>),
    /// Another job is done, with this message.
    Done(u64, String),
    /// It is not, and this is why.
    Failed(u64, String),
}

impl JobNews {
    /// Which job it is of.
    pub fn number(&self) -> u64 {
        match self {
            Self::Reached(number, _) | Self::Done(number, _) | Self::Failed(number, _) => *number,
            Self::Found(query) => query.number,
        }
    }
}

/// Of each kind, one job at a time is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobKind {
    Query,
    Export,
}

/// A request to the source.
#[derive(Debug)]
pub(crate) enum JobRequest {
    Start(Job),
    Stop(u64),
}

/// A job that is under way, as the view knows it.
#[derive(Clone, Debug)]
pub(crate) struct RunningJob {
    pub(crate) number: u64,
    pub(crate) kind: JobKind,
    /// The search text, or the written file.
    pub(crate) what: String,
    /// The direction of a job that goes through the recording.
    pub(crate) course: Option<QueryPosition>,
    /// The last reported progress.
    reached: Option<JobProgress>,
    since: Duration,
}

impl RunningJob {
    /// The share that is done, from 0 to 1.
    fn share(&self, span: TimeRange) -> f64 {
        match (self.reached, self.course) {
            (Some(JobProgress::Moment(moment, _)), Some(course)) => course.share(span, moment),
            (Some(JobProgress::Part(done, all)), _) if all > 0 => {
                (done as f64 / all as f64).min(1.0)
            }
            _ => 0.0,
        }
    }

    /// How far it is, and when it will be done.
    pub(crate) fn words(&self, span: TimeRange, now: Duration) -> String {
        let share = self.share(span);
        let elapsed = now.saturating_sub(self.since).as_nanos() as f64;
        let left = duration((elapsed * (1.0 - share) / share.max(1e-9)) as i64);
        let percent = share * 100.0;
        match self.kind {
            JobKind::Query => {
                let left = match share {
                    // It is too early to know.
                    ..0.03 => String::new(),
                    _ => format!(", at most {left} left"),
                };
                let over = match self.course.is_some_and(|course| course.wrapped) {
                    true => ", from the other end now",
                    false => "",
                };
                let what = &self.what;
                format!("looking for {what}: {percent:.0} %{left}{over}  esc: stop")
            }
            JobKind::Export => {
                let name = fit(&self.what, 40);
                match share > 0.0 {
                    true => format!("writing {name}: {percent:.0} %, {left} left  esc: stop"),
                    false => format!("writing {name}  esc: stop"),
                }
            }
        }
    }
}

/// The jobs of a view.
#[derive(Debug, Default)]
pub(crate) struct JobQueue {
    /// Number of started jobs.
    count: u64,
    running: Vec<RunningJob>,
    /// Requests that the source has not received yet.
    orders: Vec<JobRequest>,
}

impl JobQueue {
    /// The number of the next job.
    pub(crate) fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Begins a job, which has the place of one of its kind.
    pub(crate) fn begin(
        &mut self,
        job: Job,
        what: String,
        course: Option<QueryPosition>,
        now: Duration,
    ) {
        let kind = job.kind();
        if let Some(before) = self.take(kind) {
            self.orders.push(JobRequest::Stop(before.number));
        }
        self.running.push(RunningJob {
            number: job.number(),
            kind,
            what,
            course,
            reached: course.map(|course| JobProgress::Moment(course.begun, false)),
            since: now,
        });
        self.orders.push(JobRequest::Start(job));
    }

    /// The running job of a kind.
    pub(crate) fn of(&self, kind: JobKind) -> Option<&RunningJob> {
        self.running.iter().find(|it| it.kind == kind)
    }

    pub(crate) fn is_any(&self) -> bool {
        !self.running.is_empty()
    }

    fn take(&mut self, kind: JobKind) -> Option<RunningJob> {
        let place = self.running.iter().position(|it| it.kind == kind)?;
        Some(self.running.remove(place))
    }

    /// Abandons a job: its later news are ignored.
    pub(crate) fn cancel(&mut self, kind: JobKind) -> Option<RunningJob> {
        let cancelled = self.take(kind)?;
        self.orders.push(JobRequest::Stop(cancelled.number));
        Some(cancelled)
    }

    /// Requests the stop of a job; its last news confirm it.
    pub(crate) fn stop(&mut self, kind: JobKind) {
        if let Some(number) = self.of(kind).map(|it| it.number) {
            self.orders.push(JobRequest::Stop(number));
        }
    }

    /// Stores the progress of a job.
    pub(crate) fn reach(&mut self, number: u64, reached: JobProgress) {
        let Some(job) = self.running.iter_mut().find(|it| it.number == number) else {
            return;
        };
        job.reached = Some(reached);
        if let (JobProgress::Moment(_, wrapped), Some(course)) = (reached, &mut job.course) {
            course.wrapped = wrapped;
        }
    }

    /// A job is over. `None` when it was given up before.
    pub(crate) fn end(&mut self, number: u64) -> Option<RunningJob> {
        let place = self.running.iter().position(|it| it.number == number)?;
        Some(self.running.remove(place))
    }

    /// Takes the waiting requests.
    pub(crate) fn take_orders(&mut self) -> Vec<JobRequest> {
        std::mem::take(&mut self.orders)
    }
}
