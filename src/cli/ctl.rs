//! `ctl`: control recordings that run.

use std::path::{Path, PathBuf};

use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_recording::text::plain;
use ascend_trace_recording::units::{bytes, duration};

use super::args::{CtlArgs, WhyArgs};
use super::why;
use crate::control::client;
use crate::control::protocol::{Order, RecordingStatus};
use crate::error::TROUBLE;
use crate::output::{print, print_json, print_message};
use crate::text_table::count;

/// The words of a command.
#[derive(Debug, PartialEq, Eq)]
enum CtlCommand {
    Order(Order),
    Why,
}

/// Kind of the JSON document.
pub(super) const DOCUMENT: &str = "ctl";

/// The content of `ctl --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ControlDocument {
    /// One for each recording that was reached.
    recordings: Vec<CtlResult>,
}

/// The result of one recording.
#[derive(Debug, Serialize, JsonSchema)]
struct CtlResult {
    session: PathBuf,
    #[serde(flatten)]
    status: RecordingStatus,
}

pub(crate) fn run(args: &CtlArgs) -> anyhow::Result<u8> {
    let (target, words) = split(&args.words)?;
    let sessions = match target {
        Some(target) if !args.all => vec![client::session_of(target)?],
        Some(_) => bail!("--all and a recording: name one of them"),
        None => chosen(
            client::sessions(),
            args.all,
            matches!(words, CtlCommand::Order(Order::Status)),
        )?,
    };
    match words {
        CtlCommand::Order(order) => ordered(&sessions, &order, args.json),
        CtlCommand::Why => {
            let mut targets = Vec::new();
            for session in &sessions {
                let status = client::send_order(session, Order::Status)?;
                targets.push(PathBuf::from(status.recorder.to_string()));
            }
            why::run(&WhyArgs::of(targets, args.json))
        }
    }
}

/// The recording that is named, if one is, and the command.
fn split(words: &[String]) -> anyhow::Result<(Option<&str>, CtlCommand)> {
    let (first, rest) = first_of(words);
    let is_target = first.parse::<u32>().is_ok() || first.contains('/');
    let (target, (command, rest)) = match is_target {
        true => (Some(first), first_of(rest)),
        false => (None, (first, rest)),
    };
    let words = match (command, rest) {
        ("status", []) => CtlCommand::Order(Order::Status),
        ("pause", []) => CtlCommand::Order(Order::Pause),
        ("resume", []) => CtlCommand::Order(Order::Resume),
        ("stop", []) => CtlCommand::Order(Order::Stop),
        ("why", []) => CtlCommand::Why,
        ("snapshot", words) => CtlCommand::Order(Order::Snapshot {
            reason: (!words.is_empty()).then(|| words.join(" ")),
            group: None,
        }),
        ("timing", [mode]) => CtlCommand::Order(Order::Timing { mode: mode.clone() }),
        ("budget", [percent]) => CtlCommand::Order(Order::Budget {
            percent: percent.clone(),
        }),
        ("timing" | "budget", _) => bail!("{command} needs one value, as --{command} of record"),
        ("mark", words) if words.iter().any(|it| !it.trim().is_empty()) => {
            CtlCommand::Order(Order::Mark {
                text: words.join(" "),
            })
        }
        ("mark", _) => bail!("mark needs a text"),
        ("status" | "pause" | "resume" | "stop" | "why", [more, ..]) => {
            bail!("{command} takes no `{more}`")
        }
        _ => bail!(
            "a command is status, pause, resume, stop, timing HOW, budget PERCENT, mark TEXT, snapshot or why"
        ),
    };
    Ok((target, words))
}

/// The first word, empty without one, and the others.
fn first_of(words: &[String]) -> (&str, &[String]) {
    match words {
        [first, rest @ ..] => (first, rest),
        [] => ("", words),
    }
}

/// The recordings without a named one: all, or the only one.
fn chosen(found: Vec<PathBuf>, all: bool, is_harmless: bool) -> anyhow::Result<Vec<PathBuf>> {
    match found.len() {
        0 => bail!("no recording of this user is running here"),
        1 => Ok(found),
        _ if all || is_harmless => Ok(found),
        number => bail!(
            "{number} recordings are running: name one by its pid, or give --all. `ascend-trace ctl status` lists them"
        ),
    }
}

/// Sends the order to each in turn. One that refuses is reported, and does not stop the others.
fn ordered(sessions: &[PathBuf], order: &Order, json: bool) -> anyhow::Result<u8> {
    let mut code = 0;
    let mut done = Vec::new();
    for session in sessions {
        match client::send_order(session, order.clone()) {
            Ok(status) => {
                if !json {
                    print(&text(session, &status))?;
                }
                done.push(CtlResult {
                    session: session.clone(),
                    status,
                });
            }
            Err(error) => {
                print_message(format!("{error:#}"));
                code = TROUBLE;
            }
        }
    }
    if json {
        print_json(DOCUMENT, &ControlDocument { recordings: done })?;
    }
    Ok(code)
}

fn text(session: &Path, status: &RecordingStatus) -> String {
    let state = match (status.stopped, status.paused) {
        (true, _) => "stopped: the file is complete",
        (_, true) => "paused by the recorder",
        _ => "recording",
    };
    let trace = status.trace.as_ref().map_or_else(
        || "standard output".to_owned(),
        |it| plain(&it.display().to_string()).into_owned(),
    );
    let size = status
        .bytes
        .map_or_else(String::new, |it| format!(" ({})", bytes(it)));
    let running = i64::try_from(status.running_ns).unwrap_or(i64::MAX);
    let limit = status.budget_percent;
    let limit = limit.map_or_else(String::new, |it| {
        format!(", at most {it} % of a stream's time")
    });
    let timing = status.timing.as_ref().map_or_else(String::new, |it| {
        format!("  timing: {}{limit}\n", plain(it))
    });
    let runtime = status
        .runtime
        .as_ref()
        .map_or_else(String::new, |it| format!("  runtime: {}\n", plain(it)));
    let waiting = status.waiting.as_ref().map_or_else(String::new, |it| {
        format!(
            "  WAITING: {} of records wait in memory until the trace can be written: {}\n",
            bytes(it.bytes),
            plain(&it.error)
        )
    });
    let unwritten = status.unwritten.as_ref().map_or_else(String::new, |it| {
        format!(
            "  NOT WRITTEN: {} calls and {} other records, since the trace cannot be written: {}\n",
            count(it.calls),
            count(it.others),
            plain(&it.error)
        )
    });
    let snapshots = status.snapshots.iter().map(|it| {
        let path = it.display().to_string();
        format!("  snapshot: {}\n", plain(&path))
    });
    let snapshots: String = snapshots.collect();
    format!(
        "{}: {state}, {} calls, {} lost, {}\n{unwritten}{waiting}{runtime}{timing}  program {}: {}\n  trace: {trace}{size}\n  session: {}\n{snapshots}",
        status.recorder,
        count(status.calls),
        count(status.lost),
        duration(running),
        status.program,
        plain(&status.command.join(" ")),
        session.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> anyhow::Result<(Option<String>, CtlCommand)> {
        let words: Vec<String> = words.split_whitespace().map(ToOwned::to_owned).collect();
        split(&words).map(|(target, words)| (target.map(ToOwned::to_owned), words))
    }

    #[test]
    fn a_command_may_follow_a_pid_or_a_session() {
        assert_eq!(
            of("pause").unwrap(),
            (None, CtlCommand::Order(Order::Pause))
        );
        let target = Some("77".to_owned());
        assert_eq!(of("77 why").unwrap(), (target, CtlCommand::Why));
        let session = "/dev/shm/ascend-trace-0/session-7-0";
        let (target, words) = of(&format!("{session} mark a b")).unwrap();
        assert_eq!(target.as_deref(), Some(session));
        let text = "a b".to_owned();
        assert_eq!(words, CtlCommand::Order(Order::Mark { text }));
        assert_eq!(of("stop").unwrap(), (None, CtlCommand::Order(Order::Stop)));
        for wrong in ["", "77", "explode", "pause now", "stop now", "mark"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        let blank = ["mark", " "].map(str::to_owned);
        assert!(split(&blank).is_err());
    }

    #[test]
    fn several_recordings_are_changed_only_on_request() {
        let two = || vec![PathBuf::from("/a"), PathBuf::from("/b")];
        assert!(chosen(Vec::new(), true, true).is_err());
        assert!(chosen(two(), false, false).is_err());
        assert_eq!(chosen(two(), true, false).unwrap(), two());
        assert_eq!(chosen(two(), false, true).unwrap(), two());
    }
}
