//! The choice of steps that commands share: `--by PATTERN` and `--repeated`.

use anyhow::bail;

use ascend_trace_analysis::steps::StepDefinition;
use ascend_trace_export::NamePattern;
use ascend_trace_recording::Range;

/// Which steps a command works with.
pub(crate) struct StepChoice<'a> {
    pattern: Option<(&'a str, NamePattern)>,
    repeated: bool,
}

impl<'a> StepChoice<'a> {
    pub(crate) fn new(by: Option<&'a str>, repeated: bool) -> Self {
        Self {
            pattern: by.map(|it| (it, NamePattern::new(it))),
            repeated,
        }
    }

    /// Hands the choice to what finds steps.
    pub(crate) fn with<T>(&self, find: impl FnOnce(StepDefinition<'_>) -> T) -> T {
        match &self.pattern {
            Some((_, pattern)) => find(StepDefinition::Those(&|range: &Range| {
                pattern.matches(&range.name)
            })),
            None if self.repeated => find(StepDefinition::Repeated),
            None => find(StepDefinition::Any),
        }
    }

    /// Refuses a pattern that has found no steps: the result must not look like a recording without
    /// any.
    pub(crate) fn check(&self, has_steps: bool) -> anyhow::Result<()> {
        match &self.pattern {
            Some((by, _)) if !has_steps => {
                bail!("no range or mark matches {by}: stats lists the names of ranges")
            }
            _ => Ok(()),
        }
    }
}
