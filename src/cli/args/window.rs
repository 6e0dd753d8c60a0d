//! Options of a recording's window: when it begins and when it ends.

use std::time::Duration;

use clap::Args;
use signal_hook::consts::{SIGUSR1, SIGUSR2};

use ascend_trace_format::window::{Condition, Window};
use ascend_trace_recording::units::parse_duration;
use ascend_trace_tables::FUNCTIONS;

use crate::recorder::window::WindowOptions;

/// Options of the window. Outside it, calls are made as usual, and only data that later calls depend on is recorded.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WindowArgs {
    /// Begin to record after this time, such as 30s
    #[arg(long, value_name = "DURATION", value_parser = parse_positive_duration, conflicts_with_all = ["start_at", "paused"])]
    delay: Option<Duration>,

    /// Record for this time, from the start of the recording. The program runs on
    #[arg(long, value_name = "DURATION", value_parser = parse_positive_duration, conflicts_with = "stop_at")]
    duration: Option<Duration>,

    /// Start to record when this begins, in each process: `range=NAME`, `step=N`, `graph=N` (replay number N),
    /// `call=FUNCTION#N` (its call number N), or `signal=USR1` (sent to the tool)
    #[arg(long, value_name = "WHAT", value_parser = border, conflicts_with = "paused")]
    start_at: Option<WindowBound>,

    /// Record until this has happened, in each process
    #[arg(long, value_name = "WHAT", value_parser = border)]
    stop_at: Option<WindowBound>,

    /// Start paused, until the program calls `ascend_trace.resume()`
    #[arg(long)]
    paused: bool,
}

/// The same for a recorder that attaches. Its time limit is that of the attachment.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct AttachedWindowArgs {
    /// Begin to record after this time, such as 30s
    #[arg(long, value_name = "DURATION", value_parser = parse_positive_duration, conflicts_with = "start_at")]
    delay: Option<Duration>,

    /// Start to record when this begins, in each process: `range=NAME`, `step=N`, `graph=N`, `call=FUNCTION#N` (counted from the
    /// attachment on), or `signal=USR1` (sent to the tool)
    #[arg(long, value_name = "WHAT", value_parser = border)]
    start_at: Option<WindowBound>,

    /// Record until this has happened, in each process
    #[arg(long, value_name = "WHAT", value_parser = border)]
    stop_at: Option<WindowBound>,
}

impl AttachedWindowArgs {
    pub(crate) fn into_options(self) -> WindowOptions {
        let window = WindowArgs {
            delay: self.delay,
            duration: None,
            start_at: self.start_at,
            stop_at: self.stop_at,
            paused: false,
        };
        window.into_options()
    }
}

/// One end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowBound {
    Condition(Condition),
    Signal(i32),
}

impl WindowArgs {
    pub(crate) fn into_options(self) -> WindowOptions {
        let parts = |border| match border {
            Some(WindowBound::Condition(condition)) => (condition, None),
            Some(WindowBound::Signal(signal)) => (Condition::None, Some(signal)),
            None => (Condition::None, None),
        };
        let ((start, start_signal), (stop, stop_signal)) =
            (parts(self.start_at), parts(self.stop_at));
        WindowOptions {
            in_processes: Window {
                start,
                stop,
                is_paused: self.paused,
            },
            delay: self.delay,
            duration: self.duration,
            start_signal,
            stop_signal,
        }
    }
}

pub(super) fn parse_positive_duration(text: &str) -> Result<Duration, String> {
    let ns = parse_duration(text).map_err(|why| format!("`{text}` {why}"))?;
    match u64::try_from(ns) {
        Ok(ns) if ns > 0 => Ok(Duration::from_nanos(ns)),
        _ => Err("a time is needed, such as 30s".to_owned()),
    }
}

/// The value of `--start-at` and `--stop-at`.
fn border(text: &str) -> Result<WindowBound, String> {
    let (kind, value) = text.split_once('=').unwrap_or((text, ""));
    let condition = match kind {
        "range" if !value.is_empty() => Condition::range(value.as_bytes()),
        "step" => Condition::Step {
            number: value.parse().map_err(|_| no_number(kind))?,
        },
        "graph" => Condition::Replay {
            count: count(value).ok_or_else(|| no_number(kind))?,
        },
        "call" => call(value)?,
        "signal" => return signal(value).map(WindowBound::Signal),
        _ => {
            return Err(
                "it is range=NAME, step=N, graph=N, call=FUNCTION#N or signal=USR1".to_owned(),
            );
        }
    };
    Ok(WindowBound::Condition(condition))
}

fn no_number(kind: &str) -> String {
    format!("{kind}= needs a number, such as {kind}=3")
}

/// Parses a number of at least 1.
fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|it| *it > 0)
}

fn call(value: &str) -> Result<Condition, String> {
    let (name, number) = value.split_once('#').unwrap_or((value, "1"));
    let count = count(number).ok_or("call=FUNCTION#N needs a number from 1")?;
    let place = FUNCTIONS.iter().position(|it| it.name == name);
    match place.and_then(|id| u16::try_from(id).ok()) {
        Some(function) => Ok(Condition::Call { function, count }),
        None => Err(format!(
            "`{name}` is not a hooked function: ascend-trace hooks lists them"
        )),
    }
}

fn signal(name: &str) -> Result<i32, String> {
    match name.strip_prefix("SIG").unwrap_or(name) {
        "USR1" => Ok(SIGUSR1),
        "USR2" => Ok(SIGUSR2),
        _ => Err("the signal is USR1 or USR2".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(text: &str) -> Condition {
        match border(text).unwrap() {
            WindowBound::Condition(condition) => condition,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_border_is_a_range_a_step_a_graph_a_call_or_a_signal() {
        assert_eq!(condition("range=step 100"), Condition::range(b"step 100"));
        assert_eq!(condition("range=a=b"), Condition::range(b"a=b"));
        assert_eq!(condition("step=0"), Condition::Step { number: 0 });
        assert_eq!(condition("graph=3"), Condition::Replay { count: 3 });
        let Condition::Call { function, count } = condition("call=aclrtMalloc#7") else {
            panic!("a call");
        };
        assert_eq!(FUNCTIONS[usize::from(function)].name, "aclrtMalloc");
        assert_eq!(count, 7);
        assert_eq!(border("signal=USR1"), Ok(WindowBound::Signal(SIGUSR1)));
        assert_eq!(border("signal=SIGUSR2"), Ok(WindowBound::Signal(SIGUSR2)));
    }

    #[test]
    fn other_borders_are_refused_with_their_forms() {
        for (text, word) in [
            ("soon", "range=NAME"),
            ("range=", "range=NAME"),
            ("step=x", "step="),
            ("graph=0", "graph="),
            ("call=aclrtMalloc#0", "from 1"),
            ("call=malloc", "hooks"),
            ("signal=KILL", "USR1"),
        ] {
            let message = border(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
