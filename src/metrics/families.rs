//! The metrics that there are.

/// How the values of a metric change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricKind {
    /// They only rise.
    Counter,
    Gauge,
    Histogram,
}

impl MetricKind {
    /// The word for it in Prometheus' text format.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A metric with all its labels.
#[derive(Debug)]
pub(super) struct MetricFamily {
    pub(super) name: &'static str,
    pub(super) kind: MetricKind,
    pub(super) help: &'static str,
}

/// Declares the metrics, in the order of the page: for each its kind, its name and its help.
macro_rules! metrics {
    ($($metric:ident: $kind:ident $name:literal $help:literal;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum MetricId {
            $(#[doc = $help] $metric,)+
        }

        impl MetricId {
            #[cfg(test)]
            pub(super) const ALL: &[Self] = &[$(Self::$metric),+];

            pub(super) const fn family(self) -> MetricFamily {
                match self {
                    $(Self::$metric => MetricFamily {
                        name: $name,
                        kind: MetricKind::$kind,
                        help: $help,
                    },)+
                }
            }
        }
    };
}

metrics! {
    BuildInfo: Gauge "ascend_trace_build_info"
        "The version of ascend-trace; always 1.";
    Active: Gauge "ascend_recording_active"
        "1 while the program is recorded, then 0.";
    Bytes: Gauge "ascend_recording_bytes"
        "Size of the trace file in bytes.";
    Behind: Gauge "ascend_metrics_behind_seconds"
        "Age of the point in time up to which tasks, stalls and steps are summed up.";
    Start: Gauge "ascend_recording_start_time_seconds"
        "Unix time at which the recording began.";
    Calls: Counter "ascend_calls_total"
        "AscendCL calls that returned.";
    Failed: Counter "ascend_failed_calls_total"
        "AscendCL calls that returned an error code.";
    Lost: Counter "ascend_lost_records_total"
        "Calls and other records that could not be recorded.";
    Unsummed: Counter "ascend_metrics_unsummed_seconds_total"
        "Time of the recording that was too full to be summed up.";
    DeviceInfo: Gauge "ascend_device_info"
        "The card of a device; always 1.";
    Tasks: Counter "ascend_tasks_total"
        "Tasks that were submitted to a device, by kind.";
    Untimed: Counter "ascend_untimed_tasks_total"
        "Tasks that ran and have no time.";
    Unestimated: Counter "ascend_unestimated_tasks_total"
        "Tasks without a time and without an estimate.";
    Busy: Counter "ascend_device_busy_seconds_total"
        "Time in which at least one stream of the device worked, as measured: at most.";
    Used: Counter "ascend_device_use_seconds_total"
        "Time in which the device computed, communicated or copied. These can overlap.";
    Exposed: Counter "ascend_device_exposed_communication_seconds_total"
        "Time in which the device communicated and did not compute.";
    StreamBusy: Counter "ascend_stream_busy_seconds_total"
        "Time in which the device worked for the stream, as measured: at most, without tasks that have no time.";
    StreamEstimated: Counter "ascend_stream_estimated_busy_seconds_total"
        "How long the device worked for the stream, estimated, with tasks that have no time.";
    StreamError: Counter "ascend_stream_busy_error_seconds_total"
        "By how much the estimate of the stream may be off.";
    StreamStalls: Counter "ascend_stream_stall_seconds_total"
        "Time in which streams did not work, by cause, summed over the streams of a device.";
    ThreadStalls: Counter "ascend_thread_stall_seconds_total"
        "Time in which threads were blocked in AscendCL, by cause, summed over threads.";
    Steps: Counter "ascend_steps_total"
        "Steps that have ended.";
    StepDuration: Histogram "ascend_step_duration_seconds"
        "Durations of steps.";
    Overhead: Counter "ascend_tracer_overhead_seconds_total"
        "Host time that recording calls, timing tasks and reading their times took.";
    Injected: Counter "ascend_injected_events_total"
        "Events that the tracer recorded on streams to time tasks.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const DOCUMENT: &str = include_str!("../../docs/METRICS.md");
    const DASHBOARD: &str = include_str!("../../contrib/grafana/ascend-trace.json");

    fn is_of_name(it: char) -> bool {
        it.is_ascii_alphanumeric() || it == '_'
    }

    /// Words of a text that are names of metrics.
    fn named(text: &str) -> BTreeSet<&str> {
        let words = text.split(|it| !is_of_name(it));
        words.filter(|it| it.starts_with("ascend_")).collect()
    }

    #[test]
    fn names_follow_the_conventions() {
        let names: BTreeSet<&str> = MetricId::ALL.iter().map(|it| it.family().name).collect();
        assert_eq!(names.len(), MetricId::ALL.len());
        for metric in MetricId::ALL {
            let MetricFamily { name, kind, help } = metric.family();
            assert!(
                name.starts_with("ascend_") && name.chars().all(is_of_name),
                "{name}"
            );
            assert_eq!(
                name.ends_with("_total"),
                kind == MetricKind::Counter,
                "{name}"
            );
            assert!(
                help.ends_with('.') && !help.contains(['\n', '\\']),
                "{name}"
            );
        }
    }

    #[test]
    fn every_metric_is_in_the_table_of_the_document() {
        let rows = DOCUMENT
            .lines()
            .filter(|line| line.starts_with("| `ascend_"));
        let documented: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
        let all: Vec<&str> = MetricId::ALL.iter().map(|it| it.family().name).collect();
        assert_eq!(documented, all);
    }

    #[test]
    fn documents_and_dashboards_name_metrics_that_there_are() {
        let mut known: BTreeSet<String> = BTreeSet::new();
        for family in MetricId::ALL.iter().map(|it| it.family()) {
            known.insert(family.name.to_owned());
            if family.kind == MetricKind::Histogram {
                let parts = ["_bucket", "_sum", "_count"];
                known.extend(parts.map(|it| format!("{}{it}", family.name)));
            }
        }
        for text in [DOCUMENT, DASHBOARD] {
            let found = named(text);
            assert!(found.len() > 10, "{found:?}");
            for name in found {
                assert!(known.contains(name), "{name}");
            }
        }
    }

    #[test]
    fn the_dashboard_is_json_with_queries() {
        let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
        let panels = dashboard["panels"].as_array().unwrap();
        let targets = panels.iter().filter_map(|it| it["targets"].as_array());
        let queries: Vec<&str> = targets
            .flatten()
            .map(|it| it["expr"].as_str().unwrap())
            .collect();
        assert!(queries.len() > 10);
        for query in queries {
            assert!(!named(query).is_empty(), "{query}");
        }
    }
}
