//! Saved layouts: the visible panels, and the order of the lanes.

use serde::{Deserialize, Serialize};

/// A layout. Panels that it does not name stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SavedLayout {
    #[serde(skip)]
    pub(crate) name: String,
    /// Whether the program's output is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<DetailSize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arrows: Option<ArrowChoice>,
    /// Only lanes with this text in their names are shown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) filter: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hide: Vec<NamePattern>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pin: Vec<NamePattern>,
    /// Devices, `threads`, and `nested` calls of threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fold: Vec<NamePattern>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) order: Vec<NamePattern>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DetailSize {
    Small,
    Large,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ArrowChoice {
    All,
    Selection,
}

/// Consecutive words of a name, in any case; `*` matches any letters of a word.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct NamePattern {
    text: String,
    words: Vec<String>,
}

impl TryFrom<String> for NamePattern {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let words = text.to_lowercase();
        let words: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
        match words.is_empty() {
            true => Err("a name of lanes is empty: write one, such as \"stream 1\""),
            false => Ok(Self { text, words }),
        }
    }
}

impl From<NamePattern> for String {
    fn from(pattern: NamePattern) -> Self {
        pattern.text
    }
}

impl NamePattern {
    pub(crate) fn is_in(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let words: Vec<&str> = name.split_whitespace().collect();
        let mut places = words.windows(self.words.len());
        places.any(|part| {
            let mut pairs = part.iter().zip(&self.words);
            pairs.all(|(word, pattern)| is_like(word, pattern))
        })
    }
}

impl NamePattern {
    /// Whether a name begins with the words.
    pub(crate) fn begins(&self, name: &str) -> bool {
        let mut name = name.split_whitespace().map(str::to_lowercase);
        let mut patterns = self.words.iter();
        patterns.all(|pattern| name.next().is_some_and(|word| is_like(&word, pattern)))
    }
}

/// Whether a word has the form of a pattern.
fn is_like(word: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return word == pattern;
    };
    let Some(mut left) = word.strip_prefix(first) else {
        return false;
    };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        match left.find(part) {
            Some(place) => left = &left[place + part.len()..],
            None => return false,
        }
    }
    true
}

/// The place of the first pattern that a name has; those without one come last.
pub(crate) fn rank(patterns: &[NamePattern], name: &str) -> usize {
    let place = patterns.iter().position(|pattern| pattern.is_in(name));
    place.unwrap_or(patterns.len())
}

impl SavedLayout {
    /// The layout in the form of a configuration file.
    pub(crate) fn written(&self) -> String {
        let name = toml::Value::String(self.name.clone());
        // A table of strings and truth values can always be written.
        let rows = toml::to_string(self).unwrap_or_default();
        format!("\n[layouts.{name}]\n{rows}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    fn pattern(text: &str) -> NamePattern {
        NamePattern::try_from(text.to_owned()).expect("it has words")
    }

    #[test]
    fn patterns_are_whole_words_one_after_another() {
        let is_in = |text: &str, name: &str| pattern(text).is_in(name);
        assert!(is_in("stream 1", "device 0 stream 1"));
        assert!(is_in("Stream  1", "device 0 stream 1 default"));
        assert!(!is_in("stream 1", "device 0 stream 12"));
        assert!(!is_in("device 1", "device 0 stream 1"));
        assert!(is_in("thread * worker*", "thread 1002 worker7"));
        assert!(!is_in("thread * worker*", "thread 1002 main"));
        assert!(is_in("*", "anything"));
        assert!(is_in("w*k*r", "worker") && !is_in("w*k*x", "worker"));
        assert!(!is_in("a*a", "a"));
        assert!(!is_in("stream 1 and more", "stream 1"));
    }

    #[test]
    fn names_without_a_pattern_come_last() {
        let patterns = ["stream 3", "stream *"].map(pattern);
        assert_eq!(rank(&patterns, "device 0 stream 3"), 0);
        assert_eq!(rank(&patterns, "device 0 stream 1"), 1);
        assert_eq!(rank(&patterns, "thread 7"), 2);
    }

    #[test]
    fn a_written_layout_is_read_back() {
        let layout = SavedLayout {
            name: "my \"own\" layout".to_owned(),
            output: Some(false),
            details: Some(DetailSize::Large),
            arrows: Some(ArrowChoice::Selection),
            filter: "stream".to_owned(),
            hide: vec![pattern("tracer overhead"), pattern("losses")],
            pin: vec![pattern("stream 3")],
            fold: vec![pattern("threads")],
            order: vec![pattern("device 1"), pattern("stream 2")],
        };
        let text = format!("ascii = true\n{}", layout.written());
        let config = Config::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(config.layouts, [layout]);
        let bare = SavedLayout {
            name: "bare".to_owned(),
            ..SavedLayout::default()
        };
        let config = Config::parse(&bare.written()).expect("it is right");
        assert_eq!(config.layouts, [bare]);
    }

    #[test]
    fn an_empty_name_is_refused() {
        let error = Config::parse("[layouts.a]\nhide = [\"x\",\n \" \"]\n").expect_err("empty");
        assert!(error.what.contains("write one, such as"), "{error}");
    }
}
