//! The page of metrics: the last sums, and present values.

use std::fs::{File, Metadata};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ascend_trace_collector::gauge::Gauge;
use ascend_trace_collector::switchboard::Switchboard;

use super::families::MetricId;
use super::text::{LabelValues, MetricSamples, MetricValue};
use crate::hang;

/// The last sums, and their end.
#[derive(Debug)]
pub(super) struct LastSums {
    pub(super) samples: MetricSamples,
    /// `CLOCK_MONOTONIC` of the host.
    pub(super) reached: i64,
}

/// The recording, for its size.
#[derive(Debug)]
pub(super) enum RecordedFile {
    /// Its name may change.
    Open(File),
    /// The file of a ring: others take its name.
    Named(PathBuf),
    /// The last of several files.
    Last(Arc<Switchboard>),
}

impl RecordedFile {
    fn metadata(&self) -> io::Result<Metadata> {
        match self {
            Self::Open(file) => file.metadata(),
            Self::Named(path) => path.metadata(),
            Self::Last(board) => {
                let last = board.parts().pop_back();
                last.ok_or(io::ErrorKind::NotFound)?.metadata()
            }
        }
    }
}

/// What clients are served.
#[derive(Debug)]
pub(super) struct MetricsPage {
    /// None if nothing is summed up: a ring does not keep the whole recording.
    summed: Option<Mutex<LastSums>>,
    goes_on: AtomicBool,
    gauge: Arc<Gauge>,
    file: RecordedFile,
}

impl MetricsPage {
    /// A page with sums, which begin at this time.
    pub(super) fn with_sums(gauge: Arc<Gauge>, file: File, now: i64) -> Self {
        let summed = LastSums {
            samples: MetricSamples::default(),
            reached: now,
        };
        Self {
            summed: Some(Mutex::new(summed)),
            goes_on: AtomicBool::new(true),
            gauge,
            file: RecordedFile::Open(file),
        }
    }

    /// Page with the counts of the collector.
    pub(super) fn with_counts(gauge: Arc<Gauge>, file: RecordedFile) -> Self {
        Self {
            summed: None,
            goes_on: AtomicBool::new(true),
            gauge,
            file,
        }
    }

    /// Replaces the served sums.
    pub(super) fn put(&self, mut new: LastSums) {
        let Some(summed) = &self.summed else { return };
        let mut summed = summed.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::take(&mut summed.samples);
        new.samples.keep(before);
        *summed = new;
    }

    pub(super) fn recording_ended(&self) {
        self.goes_on.store(false, Ordering::Relaxed);
    }

    /// The text that a client gets.
    pub(super) fn text(&self) -> String {
        let none = LabelValues::new();
        let goes_on = self.goes_on.load(Ordering::Relaxed);
        let counts = self.gauge.now();
        let mut samples = match &self.summed {
            Some(summed) => sums(summed, goes_on),
            None => {
                let mut samples = MetricSamples::default();
                samples.add(MetricId::Calls, &none, MetricValue::Count(counts.calls));
                samples
            }
        };
        let bytes = self.file.metadata().map_or(0, |it| it.len());
        let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
        samples.add(MetricId::BuildInfo, &version, MetricValue::Count(1));
        samples.add(
            MetricId::Active,
            &none,
            MetricValue::Count(u64::from(goes_on)),
        );
        samples.add(MetricId::Bytes, &none, MetricValue::Count(bytes));
        // The collector knows losses before the file has them.
        samples.add(MetricId::Lost, &none, MetricValue::Count(counts.lost));
        samples.text()
    }
}

/// The last sums, and their age.
fn sums(summed: &Mutex<LastSums>, goes_on: bool) -> MetricSamples {
    let (mut samples, reached) = {
        let summed = summed.lock().unwrap_or_else(PoisonError::into_inner);
        (summed.samples.clone(), summed.reached)
    };
    let behind = match goes_on {
        true => hang::now().saturating_sub(reached),
        // Nothing is made any more that could be missing.
        false => 0,
    };
    let none = LabelValues::new();
    samples.add(MetricId::Behind, &none, MetricValue::time(behind));
    samples
}
