//! Where in the program calls were made.

use ascend_trace_recording::{CallId, StackId, Trace};
use schemars::JsonSchema;
use serde::Serialize;

use crate::columns::declare::*;

table_row! {
/// Where the program made a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub call: u32 => column("call", Id, |it: &Self| it.call.into(), "number of the call in `calls.csv`");
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "name of the function");
    pub tid: u32 => column("tid", Id, |it: &Self| it.tid.into(), "number of the thread");
    pub begin_ns: i64 => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "when it began");
    ..called_at!();
    pub at: Option<CallSite>;
}
}

/// A place in the program that made a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallSite {
    /// `file:line (function)`, or as much of it as is known.
    pub call_site: String,
    /// The source file with its path, and the line.
    pub file: Option<String>,
    pub line: Option<u32>,
    /// All frames, innermost first.
    pub stack: Vec<String>,
    /// Where the function of the call site was called, as `call_site`.
    #[serde(skip)]
    pub caller: Option<String>,
}

impl CallSite {
    /// The frames of a stack, if any are known.
    pub fn of(trace: &Trace, stack: StackId) -> Option<Self> {
        let site = trace.site_of(stack)?;
        let frame = site.frame()?;
        Some(Self {
            call_site: frame.text(),
            file: frame.file.clone(),
            line: frame.line,
            stack: site.lines(),
            caller: site.caller().map(|it| it.text()),
        })
    }
}

/// The columns for the place in the field `at`. Without one, JSON has no fields for it.
#[rustfmt::skip]
macro_rules! called_at {
    () => {
        [
            column("call_site", Text, |it: &Self| part(&it.at, |it| (&it.call_site).into()), "the [call site](#call-sites) as `file:line (function)`, if stacks were recorded; else the field is absent").json::<str>().may_be_absent(),
            column("file", Text, |it: &Self| part(&it.at, |it| it.file.as_ref().into()), "the source file with its path").json::<Option<String>>().may_be_absent(),
            column("line", Id, |it: &Self| part(&it.at, |it| it.line.into()), "the line").json::<Option<u32>>().may_be_absent(),
            column("stack", Nested, |it: &Self| part(&it.at, |it| Value::list(&it.stack, Value::from)), "all frames, innermost first").json::<Vec<String>>().may_be_absent(),
        ]
    };
}

pub(super) use called_at;

pub(super) fn part<'r>(at: &'r Option<CallSite>, of: fn(&'r CallSite) -> Value<'r>) -> Value<'r> {
    at.as_ref().map_or(Value::Absent, of)
}

impl Site {
    pub(crate) fn of(trace: &Trace, id: CallId) -> Self {
        let call = trace.call(id);
        Self {
            call: trace.call_number(id),
            name: trace.function(call.function).name.clone(),
            tid: trace.thread(call.thread).tid,
            begin_ns: call.begin,
            at: trace
                .shown_stack(call)
                .and_then(|stack| CallSite::of(trace, stack)),
        }
    }

    /// The call by its number in `calls.csv`, its thread, and the line that made it.
    pub(super) fn words(&self) -> String {
        let at = self.at.as_ref();
        let at = at.map_or_else(String::new, |at| format!(" at {}", at.call_site));
        format!("{} #{} in {}{at}", self.name, self.call, self.tid)
    }
}
