//! The rules of `--only` and `--skip`, which select the calls that are recorded.
//!
//! A call is recorded if, for each subject, it matches one of the `--only` rules and none of the `--skip` rules. Rules are a
//! text, one rule in a line, so that all who ask decide by the same words: the command, each traced process, and readers.

use core::fmt;

/// Longest text of all rules.
pub const FILTER_BYTES: usize = 1024;
/// The same in words of shared memory.
pub const FILTER_WORDS: usize = FILTER_BYTES / 8;

/// Property of a call that a rule compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Name of the function.
    Call,
    /// Number of the stream.
    Stream,
    /// Number of the thread's device.
    Device,
    /// Name of the thread.
    Thread,
    /// Rank of the process.
    Rank,
}

impl Subject {
    pub const ALL: [Self; 5] = [
        Self::Call,
        Self::Stream,
        Self::Device,
        Self::Thread,
        Self::Rank,
    ];

    /// Its word in a rule.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Stream => "stream",
            Self::Device => "device",
            Self::Thread => "thread",
            Self::Rank => "rank",
        }
    }

    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }

    /// Whether its values are names. All others are numbers.
    pub const fn is_named(self) -> bool {
        matches!(self, Self::Call | Self::Thread)
    }

    pub const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// One value of `--only` or `--skip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<'t> {
    pub is_only: bool,
    pub subject: Subject,
    /// A name, in which `*` means any characters; or a number, or two with `-` between them.
    pub value: &'t str,
}

impl<'t> Rule<'t> {
    fn of_line(line: &'t str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        let (subject, value) = rest.split_once('=')?;
        let subject = Subject::of_word(subject)?;
        let is_sound = match subject.is_named() {
            true => is_name(value),
            false => numbers(value).is_some(),
        };
        let is_only = match word {
            "only" => true,
            "skip" => false,
            _ => return None,
        };
        is_sound.then_some(Self {
            is_only,
            subject,
            value,
        })
    }

    fn matches(&self, name: &[u8]) -> bool {
        matches(self.value.as_bytes(), name)
    }

    fn holds(&self, number: u32) -> bool {
        numbers(self.value).is_some_and(|(first, last)| (first..=last).contains(&number))
    }
}

impl fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_only { "only" } else { "skip" };
        write!(f, "{word} {}={}", self.subject.word(), self.value)
    }
}

/// Whether a rule can have this as a name.
fn is_name(value: &str) -> bool {
    !value.is_empty() && !value.chars().any(char::is_control)
}

/// The first and the last number of `3` or `0-7`.
fn numbers(value: &str) -> Option<(u32, u32)> {
    let (first, last) = value.split_once('-').unwrap_or((value, value));
    let number = |text: &str| match text.bytes().all(|it| it.is_ascii_digit()) {
        true => text.parse().ok(),
        false => None,
    };
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some((first, last))
}

/// Whether a name matches a pattern, in which `*` means any characters.
fn matches(mut pattern: &[u8], mut name: &[u8]) -> bool {
    // Where the last `*` was, to let it take one character more.
    let mut again = None;
    loop {
        match (pattern, name) {
            ([b'*', rest @ ..], _) => {
                again = Some((rest, name));
                pattern = rest;
            }
            ([], []) => return true,
            ([wanted, rest @ ..], [first, others @ ..]) if wanted == first => {
                (pattern, name) = (rest, others);
            }
            _ => match again {
                Some((rest, [_, others @ ..])) => {
                    again = Some((rest, others));
                    (pattern, name) = (rest, others);
                }
                _ => return false,
            },
        }
    }
}

/// The rules of a recording.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Filters {
    /// Their lines, and zeros.
    text: [u8; FILTER_BYTES],
    length: u16,
}

impl Filters {
    /// All calls are recorded.
    pub const NONE: Self = Self {
        text: [0; FILTER_BYTES],
        length: 0,
    };

    /// The rules of these lines: `only call=aclrt*`, for example. Returns `None` if a line is no rule, or if there are too many.
    pub fn of_lines<'l>(lines: impl IntoIterator<Item = &'l str>) -> Option<Self> {
        let mut filters = Self::NONE;
        for line in lines {
            Rule::of_line(line)?;
            filters.add(line.as_bytes())?;
        }
        Some(filters)
    }

    fn add(&mut self, line: &[u8]) -> Option<()> {
        let begin = usize::from(self.length);
        let end = begin + line.len();
        self.text.get_mut(begin..end)?.copy_from_slice(line);
        *self.text.get_mut(end)? = b'\n';
        self.length = end as u16 + 1;
        Some(())
    }

    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub fn rules(&self) -> impl Iterator<Item = Rule<'_>> {
        let text = self.text.get(..usize::from(self.length)).unwrap_or(&[]);
        let text = core::str::from_utf8(text).unwrap_or("");
        text.lines().filter_map(Rule::of_line)
    }

    /// The subjects of the rules, as [`Subject::bit`]s.
    pub fn subjects(&self) -> u32 {
        self.rules().fold(0, |bits, rule| bits | rule.subject.bit())
    }

    /// Whether a name is recorded, as far as the rules of this subject are concerned.
    pub fn admits_name(&self, subject: Subject, name: &[u8]) -> bool {
        self.admits(subject, |rule| rule.matches(name))
    }

    /// The same of a number; `None` is one that is not known, and no rule matches it.
    pub fn admits_number(&self, subject: Subject, number: Option<u32>) -> bool {
        self.admits(subject, |rule| number.is_some_and(|it| rule.holds(it)))
    }

    fn admits(&self, subject: Subject, is_met: impl Fn(&Rule<'_>) -> bool) -> bool {
        let (mut is_wanted, mut has_only) = (false, false);
        for rule in self.rules().filter(|it| it.subject == subject) {
            let is_met = is_met(&rule);
            if is_met && !rule.is_only {
                return false;
            }
            has_only |= rule.is_only;
            is_wanted |= rule.is_only && is_met;
        }
        is_wanted || !has_only
    }

    /// Words for shared memory.
    pub fn words(&self) -> [u64; FILTER_WORDS] {
        let (chunks, _) = self.text.as_chunks();
        let mut words = [0; FILTER_WORDS];
        for (word, chunk) in words.iter_mut().zip(chunks) {
            *word = u64::from_le_bytes(*chunk);
        }
        words
    }

    /// The rules of these words; `None` if this build does not know one of them.
    pub fn from_words(words: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut text = [0; FILTER_BYTES];
        let (chunks, _) = text.as_chunks_mut();
        for (chunk, word) in chunks.iter_mut().zip(words) {
            *chunk = word.to_le_bytes();
        }
        let length = text.iter().position(|it| *it == 0).unwrap_or(text.len());
        let lines = core::str::from_utf8(text.get(..length)?).ok()?;
        let all = lines.lines().all(|line| Rule::of_line(line).is_some());
        all.then_some(Self {
            text,
            length: length as u16,
        })
    }
}

impl Default for Filters {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for Filters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rules()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::ToString;
    use std::vec::Vec;

    fn filters(lines: &[&str]) -> Filters {
        Filters::of_lines(lines.iter().copied()).unwrap()
    }

    #[test]
    fn a_star_takes_any_characters() {
        for (pattern, name, expected) in [
            ("aclrtMalloc", "aclrtMalloc", true),
            ("aclrtMalloc", "aclrtMallocHost", false),
            ("aclrtMalloc*", "aclrtMalloc", true),
            ("*Async", "aclrtMemcpyAsync", true),
            ("acl*Get*Size", "aclnnGetGetWorkspaceSize", true),
            ("acl*Get*Size", "aclnnGetGetWorkspaceSizes", false),
            ("**", "", true),
            ("*a", "", false),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), name.as_bytes()),
                expected,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn a_skip_rule_has_priority_over_an_only_rule() {
        let both = filters(&["only call=aclrt*", "only call=aclnn*", "skip call=*Query*"]);
        let admits = |name: &str| both.admits_name(Subject::Call, name.as_bytes());
        assert!(admits("aclrtMalloc") && admits("aclnnAdd"));
        assert!(!admits("HcclAllReduce") && !admits("aclrtQueryEventStatus"));
        assert!(
            both.admits_number(Subject::Stream, Some(7)),
            "no rule of streams"
        );
        assert!(filters(&["skip call=x"]).admits_name(Subject::Call, b"y"));
    }

    #[test]
    fn numbers_have_bounds_and_may_be_unknown() {
        let some = filters(&["only rank=0-3", "only rank=8", "skip rank=2"]);
        let kept: Vec<u32> = (0..10)
            .filter(|it| some.admits_number(Subject::Rank, Some(*it)))
            .collect();
        assert_eq!(kept, [0, 1, 3, 8]);
        assert!(!some.admits_number(Subject::Rank, None));
        assert!(filters(&["skip rank=2"]).admits_number(Subject::Rank, None));
    }

    #[test]
    fn lines_that_are_no_rules_are_refused() {
        for line in [
            "",
            "only",
            "only call",
            "only call=",
            "keep call=a",
            "only kernel=a",
            "only stream=a",
            "only stream=3-1",
            "only stream=-1",
            "only stream=+1",
            "only rank=1-2-3",
            "only call=a\nb",
        ] {
            assert_eq!(Filters::of_lines([line]), None, "{line}");
        }
        let long = format!("skip call={}", "a".repeat(600));
        assert!(Filters::of_lines([long.as_str()]).is_some());
        assert!(Filters::of_lines([long.as_str(), long.as_str()]).is_none());
    }

    #[test]
    fn filters_pass_through_shared_memory() {
        for lines in [
            &[][..],
            &["only call=acl*", "skip stream=3", "skip thread=a b"],
        ] {
            let all = filters(lines);
            assert_eq!(Filters::from_words(all.words()), Some(all));
            let said: Vec<_> = all.rules().map(|it| it.to_string()).collect();
            assert_eq!(said, lines);
        }
        let mut words = filters(&["only call=acl*"]).words();
        words[0] ^= 0x20;
        assert_eq!(Filters::from_words(words), None);
    }
}
