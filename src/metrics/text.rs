//! The text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use super::families::{MetricId, MetricKind};

/// The format's name in HTTP.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Names of labels and their values.
pub(super) type LabelValues = Vec<(&'static str, String)>;

/// A value in the base unit of its metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricValue {
    Count(u64),
    /// Nanoseconds, which are shown as seconds.
    Time(u64),
}

impl MetricValue {
    /// A duration. A negative one, by mistake, counts as 0.
    pub(super) fn time(ns: i64) -> Self {
        Self::Time(ns.max(0).unsigned_abs())
    }

    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Count(one), Self::Count(other)) => Self::Count(one.saturating_add(other)),
            (Self::Time(one), Self::Time(other)) => Self::Time(one.saturating_add(other)),
            (one, _) => one,
        }
    }

    fn at_least(self, other: Self) -> Self {
        match (self, other) {
            (Self::Count(one), Self::Count(other)) => Self::Count(one.max(other)),
            (Self::Time(one), Self::Time(other)) => Self::Time(one.max(other)),
            (one, _) => one,
        }
    }
}

impl fmt::Display for MetricValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECOND: u64 = 1_000_000_000;
        match self {
            Self::Count(count) => write!(out, "{count}"),
            Self::Time(ns) if ns % SECOND == 0 => write!(out, "{}", ns / SECOND),
            Self::Time(ns) => {
                let digits = format!("{}.{:09}", ns / SECOND, ns % SECOND);
                out.write_str(digits.trim_end_matches('0'))
            }
        }
    }
}

/// A line of a metric: the end of its name, and the bound of a bucket.
type SampleLine = (&'static str, Option<&'static str>);

/// Values of each metric.
#[derive(Clone, Debug, Default)]
pub(super) struct MetricSamples {
    /// By metric, labels, and the place among the lines with these labels.
    values: BTreeMap<(MetricId, LabelValues, usize), (SampleLine, MetricValue)>,
}

impl MetricSamples {
    /// Adds to the value with these labels.
    pub(super) fn add(&mut self, metric: MetricId, labels: &LabelValues, value: MetricValue) {
        self.add_line((metric, labels.clone(), 0), ("", None), value);
    }

    fn add_line(
        &mut self,
        key: (MetricId, LabelValues, usize),
        line: SampleLine,
        value: MetricValue,
    ) {
        let place = self.values.entry(key);
        place
            .and_modify(|(_, it)| *it = it.plus(value))
            .or_insert((line, value));
    }

    /// Adds a histogram: the numbers of values by bucket, the last one beyond all `bounds`.
    pub(super) fn add_histogram(
        &mut self,
        metric: MetricId,
        labels: &LabelValues,
        (bounds, counts): (&[&'static str], &[u64]),
        sum: MetricValue,
    ) {
        let mut count = 0;
        let bounds = bounds.iter().copied().chain(["+Inf"]);
        let mut lines = Vec::new();
        for (bound, more) in bounds.zip(counts) {
            count += more;
            lines.push((("_bucket", Some(bound)), MetricValue::Count(count)));
        }
        lines.push((("_sum", None), sum));
        lines.push((("_count", None), MetricValue::Count(count)));
        for (place, (line, value)) in lines.into_iter().enumerate() {
            self.add_line((metric, labels.clone(), place), line, value);
        }
    }

    /// Counters never fall, also after reading again: they keep the value served `before`, and series
    /// stay.
    pub(super) fn keep(&mut self, before: Self) {
        for (key, (line, value)) in before.values {
            if key.0.family().kind != MetricKind::Gauge {
                let place = self.values.entry(key);
                place
                    .and_modify(|(_, it)| *it = it.at_least(value))
                    .or_insert((line, value));
            }
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for ((metric, labels, _), ((part, bound), value)) in &self.values {
            let family = metric.family();
            if last != Some(*metric) {
                last = Some(*metric);
                let (name, help, kind) = (family.name, family.help, family.kind.name());
                let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            }
            let shown = LabelText(labels, *bound);
            let _ = writeln!(text, "{}{part}{shown} {value}", family.name);
        }
        text
    }
}

/// Labels in braces.
struct LabelText<'l>(&'l LabelValues, Option<&'static str>);

impl fmt::Display for LabelText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An empty label is one that is not there.
        let labels = self.0.iter().map(|(name, value)| (*name, value.as_str()));
        let labels = labels.filter(|(_, value)| !value.is_empty());
        let mut before = "{";
        for (name, value) in labels.chain(self.1.map(|bound| ("le", bound))) {
            write!(out, "{before}{name}=\"{}\"", escaped(value))?;
            before = ",";
        }
        out.write_str(if before == "{" { "" } else { "}" })
    }
}

fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\");
    value.replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds() {
        let shown = |ns| MetricValue::Time(ns).to_string();
        assert_eq!(shown(0), "0");
        assert_eq!(shown(2_000_000_000), "2");
        assert_eq!(shown(1_500_000_000), "1.5");
        assert_eq!(shown(7), "0.000000007");
        assert_eq!(MetricValue::time(-5), MetricValue::Time(0));
    }

    #[test]
    fn a_metric_has_its_type_once_and_labels_are_escaped() {
        let mut samples = MetricSamples::default();
        let labels = |value: &str| vec![("process", value.to_owned()), ("rank", String::new())];
        samples.add(
            MetricId::Calls,
            &labels("a\"b\\c\nd"),
            MetricValue::Count(1),
        );
        samples.add(MetricId::Calls, &labels("z"), MetricValue::Count(2));
        samples.add(MetricId::Calls, &labels("z"), MetricValue::Count(3));
        samples.add(MetricId::Active, &LabelValues::new(), MetricValue::Count(1));
        let expected = "# HELP ascend_recording_active 1 while the program is recorded, then 0.\n\
             # TYPE ascend_recording_active gauge\n\
             ascend_recording_active 1\n\
             # HELP ascend_calls_total AscendCL calls that returned.\n\
             # TYPE ascend_calls_total counter\n\
             ascend_calls_total{process=\"a\\\"b\\\\c\\nd\"} 1\n\
             ascend_calls_total{process=\"z\"} 5\n";
        assert_eq!(samples.text(), expected);
    }

    #[test]
    fn buckets_hold_all_that_is_shorter() {
        let mut samples = MetricSamples::default();
        let sum = MetricValue::Time(9_000_000_000);
        samples.add_histogram(
            MetricId::StepDuration,
            &LabelValues::new(),
            (&["0.1", "1"], &[2, 0, 3]),
            sum,
        );
        let text = samples.text();
        let lines: Vec<&str> = text.lines().skip(2).collect();
        let expected = [
            "ascend_step_duration_seconds_bucket{le=\"0.1\"} 2",
            "ascend_step_duration_seconds_bucket{le=\"1\"} 2",
            "ascend_step_duration_seconds_bucket{le=\"+Inf\"} 5",
            "ascend_step_duration_seconds_sum 9",
            "ascend_step_duration_seconds_count 5",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn counters_never_fall_below_served_values() {
        let of = |calls, active| {
            let mut samples = MetricSamples::default();
            samples.add(
                MetricId::Calls,
                &LabelValues::new(),
                MetricValue::Count(calls),
            );
            samples.add(
                MetricId::Active,
                &LabelValues::new(),
                MetricValue::Count(active),
            );
            samples
        };
        let mut samples = of(5, 0);
        samples.keep(of(7, 1));
        assert_eq!(samples.text(), of(7, 0).text());
    }
}
