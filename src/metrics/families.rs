//! The metrics that there are.

/// How the values of a metric change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// They only rise.
    Counter,
    Gauge,
    Histogram,
}

impl Kind {
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
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) help: &'static str,
}

/// The metrics, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    BuildInfo,
    Active,
    Bytes,
    Behind,
    Start,
    Calls,
    Failed,
    Lost,
    Unsummed,
    Tasks,
    Busy,
    Used,
    Exposed,
    StreamBusy,
    StreamStalls,
    ThreadStalls,
    Steps,
    StepDuration,
    Overhead,
    Injected,
}

impl Metric {
    #[cfg(test)]
    pub(super) const ALL: [Self; 20] = [
        Self::BuildInfo,
        Self::Active,
        Self::Bytes,
        Self::Behind,
        Self::Start,
        Self::Calls,
        Self::Failed,
        Self::Lost,
        Self::Unsummed,
        Self::Tasks,
        Self::Busy,
        Self::Used,
        Self::Exposed,
        Self::StreamBusy,
        Self::StreamStalls,
        Self::ThreadStalls,
        Self::Steps,
        Self::StepDuration,
        Self::Overhead,
        Self::Injected,
    ];

    pub(super) const fn family(self) -> Family {
        match self {
            Self::BuildInfo => gauge(
                "ascend_trace_build_info",
                "The version of ascend-trace; always 1.",
            ),
            Self::Active => gauge(
                "ascend_recording_active",
                "1 while the program is recorded, then 0.",
            ),
            Self::Bytes => gauge("ascend_recording_bytes", "Size of the trace file in bytes."),
            Self::Behind => gauge(
                "ascend_metrics_behind_seconds",
                "Age of the point in time up to which tasks, stalls and steps are summed up.",
            ),
            Self::Start => gauge(
                "ascend_recording_start_time_seconds",
                "Unix time at which the recording began.",
            ),
            Self::Calls => counter("ascend_calls_total", "AscendCL calls that returned."),
            Self::Failed => counter(
                "ascend_failed_calls_total",
                "AscendCL calls that returned an error code.",
            ),
            Self::Lost => counter(
                "ascend_lost_records_total",
                "Calls and other records that could not be recorded.",
            ),
            Self::Unsummed => counter(
                "ascend_metrics_unsummed_seconds_total",
                "Time of the recording that was too full to be summed up.",
            ),
            Self::Tasks => counter(
                "ascend_tasks_total",
                "Tasks that were submitted to a device, by kind.",
            ),
            Self::Busy => counter(
                "ascend_device_busy_seconds_total",
                "Time in which at least one stream of the device worked.",
            ),
            Self::Used => counter(
                "ascend_device_use_seconds_total",
                "Time in which the device computed, communicated or copied. These can overlap.",
            ),
            Self::Exposed => counter(
                "ascend_device_exposed_communication_seconds_total",
                "Time in which the device communicated and did not compute.",
            ),
            Self::StreamBusy => counter(
                "ascend_stream_busy_seconds_total",
                "Time in which the device worked for the stream.",
            ),
            Self::StreamStalls => counter(
                "ascend_stream_stall_seconds_total",
                "Time in which streams did not work, by cause, summed over the streams of a device.",
            ),
            Self::ThreadStalls => counter(
                "ascend_thread_stall_seconds_total",
                "Time in which threads were blocked in AscendCL, by cause, summed over threads.",
            ),
            Self::Steps => counter("ascend_steps_total", "Steps that have ended."),
            Self::StepDuration => Family {
                name: "ascend_step_duration_seconds",
                kind: Kind::Histogram,
                help: "Durations of steps.",
            },
            Self::Overhead => counter(
                "ascend_tracer_overhead_seconds_total",
                "Host time that recording calls, timing tasks and reading their times took.",
            ),
            Self::Injected => counter(
                "ascend_injected_events_total",
                "Events that the tracer recorded on streams to time tasks.",
            ),
        }
    }
}

const fn counter(name: &'static str, help: &'static str) -> Family {
    let kind = Kind::Counter;
    Family { name, kind, help }
}

const fn gauge(name: &'static str, help: &'static str) -> Family {
    let kind = Kind::Gauge;
    Family { name, kind, help }
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
        let names: BTreeSet<&str> = Metric::ALL.iter().map(|it| it.family().name).collect();
        assert_eq!(names.len(), Metric::ALL.len());
        for metric in Metric::ALL {
            let Family { name, kind, help } = metric.family();
            assert!(
                name.starts_with("ascend_") && name.chars().all(is_of_name),
                "{name}"
            );
            assert_eq!(name.ends_with("_total"), kind == Kind::Counter, "{name}");
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
        let all: Vec<&str> = Metric::ALL.iter().map(|it| it.family().name).collect();
        assert_eq!(documented, all);
    }

    #[test]
    fn documents_and_dashboards_name_metrics_that_there_are() {
        let mut known: BTreeSet<String> = BTreeSet::new();
        for family in Metric::ALL.map(Metric::family) {
            known.insert(family.name.to_owned());
            if family.kind == Kind::Histogram {
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
