//! Requests to a server: the time to the first token with its parts, and tokens in a second, by ranges and marks that
//! name requests.
//!
//! The host works for a request in ranges with its id; the tasks that were planned or submitted in them are its work on
//! devices. Its first token exists when its prefill has ended on the host and on the device.

mod device_work;
mod name_template;
mod plan;
mod rows;
mod service_messages;
mod signs;

use ascend_trace_recording::StreamId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::columns::rows;
use crate::{AnalysisNeeds, Fold, Window};

use device_work::{DeviceWork, ExecutionIndex};
use plan::RequestPlan;

pub use name_template::{NameTemplate, TemplateError};
pub use rows::{HistogramBucket, MeasureStats, RequestStats};

/// The requests of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Requests {
    /// Requests without a row: the first 10,000 have one.
    pub left_out: u64,
    /// Percentiles and histograms of all requests.
    #[serde(serialize_with = "rows")]
    pub measures: Vec<MeasureStats>,
    /// By their first range or mark.
    #[serde(serialize_with = "rows")]
    pub requests: Vec<RequestStats>,
}

/// Finds the requests of a recording.
#[derive(Debug, Default)]
pub struct RequestFold {
    template: Option<NameTemplate>,
    plan: Option<(RequestPlan, ExecutionIndex)>,
    works: Vec<DeviceWork>,
    requests: Requests,
}

impl RequestFold {
    /// By the names that the tool knows, or by a template.
    pub fn with(template: Option<NameTemplate>) -> Self {
        Self {
            template,
            ..Self::default()
        }
    }
}

impl Fold for RequestFold {
    type Answer = Requests;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        // All ranges of a recording are known from its first window on.
        let (plan, index) = self.plan.get_or_insert_with(|| {
            let plan = RequestPlan::of(trace, self.template.as_ref());
            let index = ExecutionIndex::of(&plan);
            (plan, index)
        });
        self.works
            .resize_with(plan.executions.len(), DeviceWork::default);
        if !index.is_empty() {
            for stream in (0..trace.streams().len() as u32).map(StreamId) {
                for id in window.stream_tasks(stream) {
                    let task = trace.task(id);
                    if trace.runs(task) {
                        device_work::add((plan, index), &mut self.works, trace, task);
                    }
                }
            }
        }
        if window.part.is_last {
            // Tasks may be missing, so no end of a prefill is known.
            let missing = u64::from(trace.is_filtered());
            self.works.iter_mut().for_each(|it| it.untimed += missing);
            let requests = plan.requests.iter();
            let requests = requests.map(|it| RequestStats::of(trace, plan, &self.works, it));
            self.requests = Requests::of(requests.collect(), plan.left_out);
        }
    }

    fn is_done(&self) -> bool {
        self.plan
            .as_ref()
            .is_some_and(|it| it.0.requests.is_empty())
    }

    fn finish(self) -> Requests {
        self.requests
    }
}

impl Requests {
    fn of(requests: Vec<RequestStats>, left_out: u64) -> Self {
        type ValueOf = fn(&RequestStats) -> Option<(i64, i64)>;
        let measures: [(&str, ValueOf); 6] = [
            ("first-token", |it| {
                it.first_token_ns.zip(it.first_token_error_ns)
            }),
            ("queue", |it| it.queue_ns.zip(it.first_token_error_ns)),
            ("host", |it| it.host_ns.zip(it.device_error_ns)),
            ("device", |it| it.device_ns.zip(it.device_error_ns)),
            ("token", |it| it.token_ns.zip(it.token_error_ns)),
            ("total", |it| it.total_ns.map(|it| (it, 0))),
        ];
        let measures = measures.into_iter();
        let measures = measures.filter_map(|(name, of)| MeasureStats::of(name, &requests, of));
        Self {
            left_out,
            measures: measures.collect(),
            requests,
        }
    }
}
