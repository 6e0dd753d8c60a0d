//! `--suppress FILE`: findings that are known and accepted.
//!
//! A line is the name of a check, a pattern and a reason. `#` begins a comment. docs/CHECKS.md has the grammar.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use ascend_trace_analysis::checks::{Finding, all};
use ascend_trace_export::NamePattern;

/// Stands for every check.
const ANY: &str = "*";
/// Prefix of a pattern for streams.
const STREAM: &str = "stream:";

/// Findings that a line of the file suppresses.
#[derive(Debug)]
pub(super) struct Suppression {
    /// Line of the file, from 1.
    line: usize,
    check: Option<&'static str>,
    site: SuppressedSite,
    pub(super) reason: String,
}

#[derive(Debug)]
enum SuppressedSite {
    /// Name of the function that the finding is about.
    Function(NamePattern),
    /// Number of a stream that it names.
    Stream(i64),
}

impl Suppression {
    fn suppresses(&self, finding: &Finding) -> bool {
        let is_check = self.check.is_none_or(|check| check == finding.check);
        is_check
            && match &self.site {
                SuppressedSite::Function(pattern) => pattern.matches(&finding.site.name),
                SuppressedSite::Stream(number) => finding.streams.contains(number),
            }
    }
}

/// All lines of a file.
#[derive(Debug, Default)]
pub(super) struct Suppressions(Vec<Suppression>);

impl Suppressions {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let lines = (1..).zip(text.lines());
        let parsed = lines.map(|(line, text)| {
            parse(line, text).with_context(|| format!("{}:{line}", file.display()))
        });
        let lines: Vec<Option<Suppression>> = parsed.collect::<anyhow::Result<_>>()?;
        Ok(Self(lines.into_iter().flatten().collect()))
    }

    /// The first line that suppresses a finding.
    pub(super) fn of(&self, finding: &Finding) -> Option<&Suppression> {
        self.0.iter().find(|it| it.suppresses(finding))
    }

    /// Lines that suppress none of these findings.
    pub(super) fn unused<'s>(&'s self, findings: &[Finding]) -> impl Iterator<Item = usize> + 's {
        let used: Vec<usize> = findings
            .iter()
            .filter_map(|it| Some(self.of(it)?.line))
            .collect();
        let lines = self.0.iter().map(|it| it.line);
        lines.filter(move |line| !used.contains(line))
    }
}

fn parse(line: usize, text: &str) -> anyhow::Result<Option<Suppression>> {
    let text = text.trim();
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let (check, rest) = word(text);
    let (site, reason) = word(rest);
    if site.is_empty() || reason.is_empty() {
        bail!("a line is CHECK FUNCTION REASON or CHECK stream:N REASON");
    }
    let known = all().into_iter().find(|entry| entry.id == check);
    let check = match known {
        Some(entry) => Some(entry.id),
        None if check == ANY => None,
        None => bail!("there is no check {check}: check --list has all"),
    };
    let site = match site.strip_prefix(STREAM) {
        None => SuppressedSite::Function(NamePattern::new(site)),
        Some(number) => match number.parse() {
            Ok(number) => SuppressedSite::Stream(number),
            Err(_) => bail!("{number} is no number of a stream"),
        },
    };
    Ok(Some(Suppression {
        line,
        check,
        site,
        reason: reason.to_owned(),
    }))
}

/// The first word, and the rest.
fn word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_analysis::checks::Findings;
    use ascend_trace_analysis::{Fold, Window};

    fn read(text: &str) -> anyhow::Result<Suppressions> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("known.txt");
        fs::write(&file, text)?;
        Suppressions::read(&file)
    }

    fn races() -> Vec<Finding> {
        let trace = ascend_trace_testkit::timeline(
            "s1: memcpy(64,1000,5000)[10..20] by t1[0..1] | s2: memcpy(64,9000,1000)[10..20] by t1[2..3]",
        );
        Findings::default().of(&Window::whole(&trace))
    }

    #[test]
    fn a_line_suppresses_by_check_function_and_stream() {
        let found = races();
        assert_eq!(found.len(), 1);
        for (text, expected) in [
            ("data-race aclrtMemcpyAsync it is known", true),
            ("data-race aclrtMemcpy* it is known", true),
            ("* aclrtMemcpyAsync it is known", true),
            ("# nothing\n\n  data-race\tstream:2   it is known\n", true),
            ("data-race stream:1 it is known", true),
            ("data-race stream:3 it is known", false),
            ("data-race aclrtMemset* it is known", false),
            ("leak * it is known", false),
        ] {
            let lines = read(text).unwrap();
            assert_eq!(lines.of(&found[0]).is_some(), expected, "{text}");
            let reason = lines.of(&found[0]).map(|it| it.reason.as_str());
            assert!(reason.is_none_or(|it| it == "it is known"), "{text}");
            assert_eq!(
                lines.unused(&found).count(),
                usize::from(!expected),
                "{text}"
            );
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        for (text, expected) in [
            (
                "data-race aclrtMemcpyAsync",
                "known.txt:1: a line is CHECK FUNCTION REASON",
            ),
            (
                "\ndata-rac * why",
                "known.txt:2: there is no check data-rac",
            ),
            ("leak stream:x why", "x is no number of a stream"),
        ] {
            let error = format!("{:#}", read(text).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }
}
