//! Conditions on a task or a call: the language of the find prompt.
//!
//! Words are separated by spaces, and all of them must hold: a part of a name in any case, a
//! `/regular expression/` of the name, `argument=value`, `>1ms`, `<5us`, and `!` for what failed.

use ascend_trace_recording::units::parse_duration;
use ascend_trace_recording::{Call, Function, Range, Trace};
use regex::{Regex, RegexBuilder};

use crate::display_names;
use crate::item::CallOrTask;

/// A question.
#[derive(Clone, Debug, Default)]
pub(crate) struct FindCondition {
    names: Vec<Regex>,
    /// Names of arguments and what their values must be, in small letters.
    arguments: Vec<(String, String)>,
    longer: Option<i64>,
    shorter: Option<i64>,
    failed: bool,
}

impl FindCondition {
    /// Parses a query; the error names its fault.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut query = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (word, after) = first_word(rest);
            query.add(word)?;
            rest = after.trim_start();
        }
        Ok(query)
    }

    fn add(&mut self, word: &str) -> Result<(), String> {
        if word == "!" {
            self.failed = true;
        } else if let Some(time) = word.strip_prefix('>') {
            self.longer = Some(length(time)?);
        } else if let Some(time) = word.strip_prefix('<') {
            self.shorter = Some(length(time)?);
        } else if let Some(expression) = word.strip_prefix('/') {
            let expression = expression.strip_suffix('/').unwrap_or(expression);
            self.names.push(regex(expression)?);
        } else if let Some((name, value)) = word.split_once('=') {
            self.arguments
                .push((name.to_lowercase(), value.to_lowercase()));
        } else {
            self.names.push(regex(&regex::escape(word))?);
        }
        Ok(())
    }

    /// Whether a function's own name has all that is asked of names.
    pub(crate) fn has_name(&self, function: &Function) -> bool {
        self.names.iter().all(|it| it.is_match(&function.name))
    }

    /// Whether an item meets all conditions; `named` says that its function's name does.
    pub(crate) fn is_match(&self, trace: &Trace, item: CallOrTask, named: bool) -> bool {
        let call = trace.call(item.call(trace));
        (!self.failed || item.failed(trace))
            && self.has_length(trace, item)
            && (named || self.has_label(trace, call))
            && self.has_arguments(trace, call)
    }

    /// Whether a range that the program named has all that is asked. Ranges are asked for by their names:
    /// they have no arguments and cannot fail.
    pub(crate) fn is_range(&self, range: &Range) -> bool {
        self.may_find_ranges()
            && self.has_duration(range.end.saturating_sub(range.begin))
            && self.names.iter().all(|it| it.is_match(&range.name))
    }

    pub(crate) fn may_find_ranges(&self) -> bool {
        !self.names.is_empty() && !self.failed && self.arguments.is_empty()
    }

    fn has_length(&self, trace: &Trace, item: CallOrTask) -> bool {
        self.has_duration(item.length(trace))
    }

    fn has_duration(&self, length: i64) -> bool {
        self.longer.is_none_or(|least| length > least)
            && self.shorter.is_none_or(|most| length < most)
    }

    /// The name of a launched operation counts as its call's name too.
    fn has_label(&self, trace: &Trace, call: &Call) -> bool {
        let Some(label) = trace.label(call) else {
            return false;
        };
        let function = &trace.function(call.function).name;
        let either = |it: &Regex| it.is_match(label) || it.is_match(function);
        self.names.iter().all(either)
    }

    fn has_arguments(&self, trace: &Trace, call: &Call) -> bool {
        if self.arguments.is_empty() {
            return true;
        }
        let shown = display_names::arguments(trace, call);
        let function = trace.function(call.function);
        self.arguments.iter().all(|(name, wanted)| {
            let mut places = shown.iter().enumerate();
            places.any(|(index, (argument, value))| {
                let is_named = argument.eq_ignore_ascii_case(name);
                let word = trace.args(call).get(index).copied();
                let is_text = function.args.get(index).is_some_and(|it| it.kind.is_text());
                is_named && (has_value(value, wanted) || (!is_text && is_number(word, wanted)))
            })
        })
    }
}

/// The first word; one that begins with `/` goes on to the next `/`.
fn first_word(text: &str) -> (&str, &str) {
    let end = match text.strip_prefix('/') {
        Some(rest) => rest.find('/').map_or(text.len(), |end| end + 2),
        None => text.find(' ').unwrap_or(text.len()),
    };
    text.split_at(end)
}

fn length(text: &str) -> Result<i64, String> {
    parse_duration(text).map_err(|_| format!("“{text}” is not a duration such as 1.5ms"))
}

fn regex(expression: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(expression);
    let built = builder.case_insensitive(true).size_limit(1 << 20).build();
    built.map_err(|_| format!("/{expression}/ is not a regular expression"))
}

fn has_value(shown: &str, wanted: &str) -> bool {
    shown.to_lowercase().contains(wanted)
}

fn is_number(word: Option<u64>, wanted: &str) -> bool {
    let number = match wanted.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => wanted.parse::<i64>().ok().map(i64::cast_unsigned),
    };
    number.is_some() && number == word
}

#[cfg(test)]
mod tests {
    use ascend_trace_recording::TaskId;
    use ascend_trace_testkit::timeline;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        let trace = timeline(
            "s1: MatMul[10us..30us] memcpy(4096)[40us..41us] memcpy(64)[50us..90us]
             s2: Add[5us..6us] =107000",
        );
        let query = FindCondition::parse(text).expect(text);
        let tasks = (0..trace.tasks().len() as u32).map(|id| CallOrTask::Task(TaskId(id)));
        let function = |item: CallOrTask| trace.function(trace.call(item.call(&trace)).function);
        let found =
            tasks.filter(|item| query.is_match(&trace, *item, query.has_name(function(*item))));
        found
            .map(|item| format!("{}@{}", item.name(&trace), item.span(&trace).begin / 1_000))
            .collect()
    }

    #[test]
    fn words_are_parts_of_names_in_any_case() {
        assert_eq!(found("matm"), ["MatMul@10"]);
        assert_eq!(found("mat mul"), ["MatMul@10"]);
        assert_eq!(found("mat add").len(), 0);
        assert_eq!(found("").len(), 4);
    }

    #[test]
    fn regular_expressions_may_hold_spaces() {
        assert_eq!(found("/^(Mat Mul|add)$/"), ["Add@5"]);
        assert_eq!(found("/^m/ >10us"), ["MatMul@10"]);
        assert!(FindCondition::parse("/(/").is_err());
    }

    #[test]
    fn lengths_are_limits_that_are_not_reached() {
        assert_eq!(found(">20us"), ["aclrtMemcpyAsync@50"]);
        assert_eq!(found("<2us"), ["Add@5", "aclrtMemcpyAsync@40"]);
        assert!(FindCondition::parse(">soon").is_err());
    }

    #[test]
    fn arguments_are_compared_as_numbers_and_as_they_are_shown() {
        assert_eq!(found("count=4096"), ["aclrtMemcpyAsync@40"]);
        assert_eq!(found("COUNT=kib"), ["aclrtMemcpyAsync@40"]);
        assert_eq!(found("count=0x40"), ["aclrtMemcpyAsync@50"]);
        assert_eq!(found("nothing=1").len(), 0);
    }

    #[test]
    fn an_exclamation_mark_asks_for_what_failed() {
        assert_eq!(found("!"), ["Add@5"]);
    }
}
