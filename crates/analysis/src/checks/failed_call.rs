//! A call returned an error. A program that ignores the error computes with missing data. A recording does not
//! show whether the program looked at the code, so this is a warning.
//!
//! The check `failed-capture` reports calls that a capture refused.

use std::collections::HashMap;

use ascend_trace_format::api::RetKind;
use ascend_trace_recording::{CallId, Trace, is_capture_code};

use super::super::grouping::Groups;
use super::super::{Check, Finding};
use crate::Window;

#[derive(Debug, Default)]
pub(super) struct FailedCall {
    groups: Groups<i64>,
    /// The names of codes that were seen.
    names: HashMap<i64, String>,
}

impl FailedCall {
    fn note_name(&mut self, trace: &Trace, code: i64) {
        if let Some(name) = trace.error_name(code) {
            self.names.entry(code).or_insert_with(|| name.to_owned());
        }
    }
}

impl Check for FailedCall {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls().filter(|id| wanted(*id)) {
            let call = trace.call(id);
            let has_code = trace.function(call.function).ret == RetKind::Error;
            let code = call.result().filter(|code| has_code && *code != 0);
            if let Some(code) = code.filter(|code| !is_capture_code(*code)) {
                self.note_name(trace, code);
                self.groups.add(trace, id, code, 0);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let names = std::mem::take(&mut self.names);
        std::mem::take(&mut self.groups).into_findings(|found, code, _| {
            let name = names.get(&code).map_or("", String::as_str);
            let what = format!("{} returned {code} {name}", found.site.name);
            let advice = "check what the call returns, and what was before the first of them";
            (what.trim_end().to_owned(), advice.to_owned())
        })
    }
}
