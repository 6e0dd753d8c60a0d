//! `--fail-if`: changes that fail the command, such as `step>+3%` or `MatMul<-10%`.

use std::fmt;

use ascend_trace_analysis::diff::{Diff, DiffRow, SubjectKind, Verdict};
use ascend_trace_export::NamePattern;

/// The metric that is the duration of a step, and no operation.
const STEP: &str = "step";

/// A change that makes the command fail.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FailCondition {
    text: String,
    /// `step`, or the name of an operation.
    metric: String,
    is_above: bool,
    /// As a part of the value in A.
    limit: f64,
}

/// Result of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConditionResult {
    /// The change of this is beyond the limit.
    Holds(String),
    Not,
    /// No recording has it.
    Unknown,
    /// Too few steps, or single operations, to separate a change from chance.
    TooFew,
}

/// Reads a condition.
pub(crate) fn parse(text: &str) -> Result<FailCondition, String> {
    let form = || {
        "a condition is step or the name of an operation, > or <, and percent, such as step>+3%"
            .to_owned()
    };
    // Names of operations may contain these characters, percents may not.
    let at = text.rfind(['>', '<']).ok_or_else(form)?;
    let (metric, limit) = (text[..at].trim(), text[at + 1..].trim());
    let number = limit.strip_suffix('%').ok_or_else(form)?.trim_end();
    let is_number = number.chars().all(|it| "+-.0123456789".contains(it));
    let percent = number.parse::<f64>().ok().filter(|_| is_number);
    match percent {
        Some(percent) if !metric.is_empty() => Ok(FailCondition {
            text: text.to_owned(),
            metric: metric.to_owned(),
            is_above: text.as_bytes()[at] == b'>',
            limit: percent / 100.0,
        }),
        _ => Err(form()),
    }
}

impl FailCondition {
    pub(super) fn of_step(&self) -> bool {
        self.metric == STEP
    }

    /// Whether the change of any row that it names is beyond the limit, with all of the range in which it lies.
    pub(super) fn judge(&self, found: &Diff, alpha: f64) -> ConditionResult {
        let pattern = NamePattern::new(&self.metric);
        let kind = match self.of_step() {
            true => SubjectKind::Step,
            false => SubjectKind::Operation,
        };
        let rows = found.rows_of(kind, |name| pattern.matches(name));
        let (mut any, mut too_few) = (false, false);
        for (row, least) in rows {
            any = true;
            if self.holds(row, least <= alpha) {
                return ConditionResult::Holds(row.name.clone());
            }
            let has_both = row.a.steps > 0 && row.b.steps > 0;
            too_few |= has_both && (least > alpha || row.change.is_none());
        }
        match (any, too_few) {
            (false, _) => ConditionResult::Unknown,
            (_, true) => ConditionResult::TooFew,
            (true, false) => ConditionResult::Not,
        }
    }

    fn holds(&self, row: &DiffRow, is_enough: bool) -> bool {
        match row.verdict {
            // More than any limit.
            Verdict::New => return self.is_above,
            Verdict::Gone => return !self.is_above && self.limit > -1.0,
            _ => {}
        }
        let base = row.a.typical_ns.filter(|it| *it > 0 && is_enough);
        let ends = row.low_ns.zip(row.high_ns).zip(base);
        ends.is_some_and(|((low, high), base)| {
            let part = |ns: i64| ns as f64 / base as f64;
            // Measuring alone can make this much of it.
            match self.is_above {
                true => part(low - row.open_ns) > self.limit,
                false => part(high + row.open_ns) < self.limit,
            }
        })
    }
}

impl fmt::Display for FailCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_a_metric_and_a_signed_percent() {
        let read = |text: &str| {
            let it = parse(text).unwrap();
            (it.metric, it.is_above, it.limit)
        };
        assert_eq!(read("step>+3%"), ("step".to_owned(), true, 0.03));
        assert_eq!(
            read(" MatMul < -12.5 % "),
            ("MatMul".to_owned(), false, -0.125)
        );
        assert_eq!(read("f<int>>0%"), ("f<int>".to_owned(), true, 0.0));
        for text in [
            "",
            "step",
            "step>",
            "step>3",
            "step=3%",
            ">3%",
            "step>x%",
            "step>nan%",
            "step>1e9%",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
