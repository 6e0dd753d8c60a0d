//! A strict reader of Prometheus' text format.

use std::collections::{BTreeMap, BTreeSet};

/// Names and values.
type Labels = Vec<(String, String)>;

/// A scraped page.
pub(super) struct Exposition {
    pub(super) text: String,
    /// By name, the type.
    types: BTreeMap<String, String>,
    /// By name and labels.
    samples: BTreeMap<(String, Labels), f64>,
}

fn is_name(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') && text.chars().all(is_part)
}

impl Exposition {
    #[track_caller]
    pub(super) fn parse(text: &str) -> Self {
        assert!(text.ends_with('\n'), "{text}");
        let mut parsed = Self {
            text: text.to_owned(),
            types: BTreeMap::new(),
            samples: BTreeMap::new(),
        };
        let mut helped = String::new();
        let mut family = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap();
                assert!(is_name(name) && !help.is_empty(), "{line}");
                name.clone_into(&mut helped);
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert_eq!(name, helped, "{line}");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                let before = parsed.types.insert(name.to_owned(), kind.to_owned());
                assert_eq!(before, None, "{line}: twice");
                name.clone_into(&mut family);
            } else {
                parsed.sample(line, &family);
            }
        }
        parsed.check_histograms();
        parsed
    }

    #[track_caller]
    fn sample(&mut self, line: &str, family: &str) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = match series.split_once('{') {
            Some((name, rest)) => (name, labels(rest.strip_suffix('}').expect(line))),
            None => (series, Vec::new()),
        };
        assert!(is_name(name), "{line}");
        let is_own = match self.types.get(family).map(String::as_str) {
            Some("histogram") => ["_bucket", "_sum", "_count"]
                .iter()
                .any(|end| name.strip_suffix(end) == Some(family)),
            _ => name == family,
        };
        assert!(is_own, "{line}: after {family}");
        let value: f64 = value.parse().unwrap();
        assert!(value.is_finite() && value >= 0.0, "{line}");
        let before = self.samples.insert((name.to_owned(), labels), value);
        assert_eq!(before, None, "{line}: twice");
    }

    /// Buckets rise up to the count.
    #[track_caller]
    fn check_histograms(&self) {
        let histograms = self.types.iter().filter(|it| it.1 == "histogram");
        for (name, _) in histograms {
            let mut buckets: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
            for ((sample, labels), value) in &self.samples {
                if sample == &format!("{name}_bucket") {
                    let mut labels = labels.clone();
                    let place = labels.iter().position(|it| it.0 == "le").unwrap();
                    let (_, bound) = labels.remove(place);
                    let bound = bound.replace("+Inf", "inf").parse().unwrap();
                    buckets.entry(labels).or_default().push((bound, *value));
                }
            }
            for (labels, mut buckets) in buckets {
                buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
                assert!(buckets.is_sorted_by_key(|it| it.1), "{buckets:?}");
                let last = buckets.last().unwrap();
                assert_eq!(last.0, f64::INFINITY);
                let count = self.samples[&(format!("{name}_count"), labels.clone())];
                assert_eq!(last.1, count);
                assert!(self.samples.contains_key(&(format!("{name}_sum"), labels)));
            }
        }
    }

    /// The sum of all series with these labels.
    pub(super) fn sum(&self, name: &str, wanted: &[(&str, &str)]) -> f64 {
        let own = self.samples.iter().filter(|((sample, labels), _)| {
            let has = |it: &(&str, &str)| {
                labels
                    .iter()
                    .any(|own| (own.0.as_str(), own.1.as_str()) == *it)
            };
            sample == name && wanted.iter().all(has)
        });
        own.map(|(_, value)| value).sum()
    }

    /// Counters only rise, and no series goes.
    #[track_caller]
    pub(super) fn assert_followed_by(&self, later: &Self) {
        for ((name, labels), value) in &self.samples {
            let kind = self.types.get(name).map_or("histogram", String::as_str);
            let next = later.samples.get(&(name.clone(), labels.clone()));
            let next = *next.unwrap_or_else(|| panic!("{name} {labels:?} is missing"));
            assert!(
                kind == "gauge" || next >= *value,
                "{name} {labels:?}: {value}, then {next}"
            );
        }
    }
}

/// The labels in braces.
#[track_caller]
fn labels(mut text: &str) -> Labels {
    let mut labels = Vec::new();
    let mut names = BTreeSet::new();
    loop {
        let (name, rest) = text.split_once("=\"").unwrap();
        assert!(is_name(name) && names.insert(name.to_owned()), "{text}");
        let mut value = String::new();
        let mut letters = rest.char_indices();
        let end = loop {
            match letters.next().unwrap() {
                (place, '"') => break place,
                (_, '\\') => value.push(match letters.next().unwrap().1 {
                    'n' => '\n',
                    other => {
                        assert!(['"', '\\'].contains(&other), "{text}");
                        other
                    }
                }),
                (_, letter) => value.push(letter),
            }
        };
        labels.push((name.to_owned(), value));
        text = &rest[end + 1..];
        if text.is_empty() {
            return labels;
        }
        text = text.strip_prefix(',').unwrap();
    }
}
