//! The page of metrics: the last sums, and present values.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ascend_trace_collector::gauge::Gauge;

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

/// What clients are served.
#[derive(Debug)]
pub(super) struct MetricsPage {
    summed: Mutex<LastSums>,
    goes_on: AtomicBool,
    gauge: Arc<Gauge>,
    /// The recording, for its size.
    file: File,
}

impl MetricsPage {
    pub(super) fn new(gauge: Arc<Gauge>, file: File, now: i64) -> Self {
        let summed = LastSums {
            samples: MetricSamples::default(),
            reached: now,
        };
        Self {
            summed: Mutex::new(summed),
            goes_on: AtomicBool::new(true),
            gauge,
            file,
        }
    }

    /// Replaces the served sums.
    pub(super) fn put(&self, mut new: LastSums) {
        let mut summed = self.summed.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::take(&mut summed.samples);
        new.samples.keep(before);
        *summed = new;
    }

    pub(super) fn recording_ended(&self) {
        self.goes_on.store(false, Ordering::Relaxed);
    }

    /// The text that a client gets.
    pub(super) fn text(&self) -> String {
        let (mut samples, reached) = {
            let summed = self.summed.lock().unwrap_or_else(PoisonError::into_inner);
            (summed.samples.clone(), summed.reached)
        };
        let none = LabelValues::new();
        let goes_on = self.goes_on.load(Ordering::Relaxed);
        let behind = match goes_on {
            true => hang::now().saturating_sub(reached),
            // Nothing is made any more that could be missing.
            false => 0,
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
        samples.add(MetricId::Behind, &none, MetricValue::time(behind));
        // The collector knows losses before the file has them.
        samples.add(
            MetricId::Lost,
            &none,
            MetricValue::Count(self.gauge.now().lost),
        );
        samples.text()
    }
}
