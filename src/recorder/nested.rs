//! A recording inside a recording: the inner one takes the processes that it starts. Each of the two names the other.

use std::path::{Path, PathBuf, absolute};
use std::time::Duration;

use ascend_trace_format::session::SESSION_VARIABLE;
use ascend_trace_recording::rows::SessionRow;
use ascend_trace_ring::NestedRecorder;

use crate::control::client;
use crate::quote::quoted_path;
use crate::text_table::count;

/// Time limit for the reply of the outer recorder.
const PATIENCE: Duration = Duration::from_secs(1);
/// Traces that are named.
const NAMED: usize = 3;

/// Notes the recording around this one, if there is one with a recorder that replies.
pub(super) fn note_outer(session: &mut SessionRow) {
    let around = session_around().and_then(|it| client::ask_status(&it, PATIENCE).ok());
    if let Some(status) = around {
        let outer = session.outer.get_or_insert_default();
        outer.pid = status.recorder;
        outer.trace = status.trace.map(|it| it.to_string_lossy().into_owned());
    }
}

/// The session of the recording around this one. That of a server is a link.
fn session_around() -> Option<PathBuf> {
    let outer = std::env::var_os(SESSION_VARIABLE)?;
    Some(std::fs::read_link(&outer).unwrap_or_else(|_| outer.into()))
}

/// Lets the recording around this one know where the calls of the program go. `trace`: `None` for standard output.
pub(super) fn announce(trace: Option<&Path>) {
    let Some(outer) = session_around() else {
        return;
    };
    // Nothing depends on it: without this, the outer recording cannot name the trace.
    if let Ok(trace) = trace.map(absolute).transpose() {
        let _ = NestedRecorder::own(trace).announce(&outer);
    }
}

/// Where the calls of processes are that recorders inside this recording took. `None` without such recorders.
pub(super) fn description(nested: &[NestedRecorder]) -> Option<String> {
    let mut places: Vec<String> = Vec::new();
    for one in nested {
        let place = place(one, nested.len() == 1);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let rest = places.split_off(NAMED.min(places.len()));
    let last = match rest.len() {
        0 => places.pop()?,
        more => format!("{} more", count(more as u64)),
    };
    let places = match places.is_empty() {
        true => last,
        false => format!("{} and {last}", places.join(", ")),
    };
    Some(match nested.len() {
        1 => format!(
            "a recording inside this one took the processes that it started: look for their calls in {places}"
        ),
        many => format!(
            "{} recordings inside this one took the processes that they started: look for their calls in {places}",
            count(many as u64)
        ),
    })
}

fn place(one: &NestedRecorder, is_only: bool) -> String {
    match &one.trace {
        None if is_only => "its standard output".to_owned(),
        None => format!("the standard output of process {}", one.pid),
        Some(trace) if trace.exists() => quoted_path(trace),
        Some(trace) => format!("{} (not there any more)", quoted_path(trace)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(traces: &[Option<&str>]) -> String {
        let nested = |(number, trace): (usize, &Option<&str>)| NestedRecorder {
            pid: number as u32,
            trace: trace.map(Into::into),
        };
        let nested: Vec<_> = traces.iter().enumerate().map(nested).collect();
        description(&nested).unwrap_or_default()
    }

    #[test]
    fn three_traces_are_named_and_the_others_counted() {
        assert_eq!(places(&[]), "");
        assert_eq!(
            places(&[Some("/dev/null")]),
            "a recording inside this one took the processes that it started: look for their calls in /dev/null"
        );
        let both = places(&[Some("/dev/null"), None]);
        let end =
            "they started: look for their calls in /dev/null and the standard output of process 1";
        assert!(both.ends_with(end), "{both}");
        let three = places(&[Some("/dev/null"), Some("/"), Some("/dev")]);
        assert!(three.ends_with(" in /dev/null, / and /dev"), "{three}");
        let all = ["/dev/null", "/", "/dev/null", "/dev", "/proc", "/sys"].map(Some);
        let all = places(&all);
        assert!(all.starts_with("6 recordings inside this one"), "{all}");
        assert!(all.ends_with(" in /dev/null, /, /dev and 2 more"), "{all}");
    }

    #[test]
    fn each_place_can_be_found() {
        assert!(places(&[None]).ends_with(" in its standard output"));
        let removed = places(&[Some("/no such/inner.atrace")]);
        assert!(
            removed.ends_with(" in '/no such/inner.atrace' (not there any more)"),
            "{removed}"
        );
    }
}
