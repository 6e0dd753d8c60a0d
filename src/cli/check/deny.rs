//! `--deny`: which findings make the command fail, by severity or by check.

use ascend_trace_analysis::checks::{Finding, Severity, all};
use clap::builder::PossibleValue;

/// Denied findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeniedFindings {
    /// Findings of this severity and of worse ones.
    Severity(Severity),
    /// Findings of one check.
    Check(&'static str),
}

impl DeniedFindings {
    pub(super) fn denies(&self, finding: &Finding) -> bool {
        match self {
            Self::Severity(severity) => finding.severity <= *severity,
            Self::Check(id) => finding.check == *id,
        }
    }

    /// The word for a severity, or the name of a check.
    pub(crate) fn named(word: &str) -> Option<Self> {
        let severity = Severity::ALL.into_iter().find(|it| it.name() == word);
        let check = || all().into_iter().find(|entry| entry.id == word);
        let severity = severity.map(Self::Severity);
        severity.or_else(|| Some(Self::Check(check()?.id)))
    }

    /// All words, as the command line offers them.
    pub(crate) fn words() -> Vec<PossibleValue> {
        let severities = Severity::ALL.into_iter().map(|it| (it.name(), meaning(it)));
        let checks = all().into_iter().map(|entry| (entry.id, entry.summary));
        let words = severities.chain(checks);
        words
            .map(|(word, help)| PossibleValue::new(word).help(help))
            .collect()
    }
}

fn meaning(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "The program does not do what it was written to do",
        Severity::Warning => "It loses time, or a mistake shows",
        Severity::Info => "It may be intended",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_severity_or_a_check() {
        assert_eq!(
            DeniedFindings::named("warning"),
            Some(DeniedFindings::Severity(Severity::Warning))
        );
        assert_eq!(
            DeniedFindings::named("data-race"),
            Some(DeniedFindings::Check("data-race"))
        );
        assert_eq!(DeniedFindings::named("data"), None);
        assert_eq!(DeniedFindings::words().len(), 3 + all().len());
    }
}
