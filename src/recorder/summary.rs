//! The summary at the end of a recording, and advice when it contains less than expected.

mod several_files;

use std::path::Path;

use signal_hook::low_level::signal_name;
use std::os::unix::process::ExitStatusExt;

use ascend_trace_format::session::Timing;
use ascend_trace_recording::units::{bytes, duration};

use super::{EndedRecording, RecordOptions, missing_calls, nested};
use crate::launch::LaunchPlan;
use crate::launch::elf::ProgramFile;
use crate::quote::quoted_path;
use crate::server_place::ServerPlace;
use crate::text_table::{count, percent};
use ascend_trace_collector::clock;
use ascend_trace_collector::{RecordingCounts, RecordingOutcome};

/// An ended recording, and facts from before its begin.
pub(super) struct SummaryInput<'a> {
    pub(super) ended: &'a EndedRecording,
    pub(super) plan: &'a RecordOptions,
    pub(super) launch: &'a LaunchPlan,
    pub(super) kind: &'a ProgramFile,
    /// Bytes of memory that each process of the program maps.
    pub(super) memory: u64,
}

/// A line, without the tool's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SummaryLine {
    /// A success.
    Fact(String),
    /// What did not.
    Problem(String),
}

pub(super) fn lines(recorded: &SummaryInput<'_>) -> Vec<SummaryLine> {
    let (ended, outcome) = (recorded.ended, &recorded.ended.outcome);
    let mut lines = Vec::new();
    if outcome.stored.is_some() {
        lines.push(SummaryLine::Fact(summed_up(outcome, recorded.plan.timing)));
    }
    let mut problem = |text: String| lines.push(SummaryLine::Problem(text));
    if let Some(text) = crash(ended) {
        problem(text);
    }
    losses(outcome).into_iter().for_each(&mut problem);
    lines.extend(failures(&outcome.counts).map(SummaryLine::Fact));
    lines.extend(outcome.engine.clone().map(SummaryLine::Fact));
    lines.extend(outcome.log.iter().cloned().map(SummaryLine::Fact));
    lines.extend(filtered(recorded.plan, &outcome.counts).map(SummaryLine::Fact));
    lines.extend(kept(outcome).map(SummaryLine::Fact));
    if let Some(path) = &ended.log {
        let text = format!("what the program wrote is in {}", path.display());
        lines.push(SummaryLine::Fact(text));
    }
    if outcome.still_running > 0 {
        let number = counted_noun(outcome.still_running as u64, "process", "processes");
        lines.push(SummaryLine::Problem(format!(
            "{number} of the program still running; not recorded any more (--wait waits for them)"
        )));
    }
    lines.extend(not_begun(outcome, recorded.plan).map(SummaryLine::Problem));
    if outcome.stopped_ns.is_some() {
        let text = "the recording was stopped by ctl; the program ran on without it";
        lines.push(SummaryLine::Fact(text.to_owned()));
    }
    let counts = &outcome.counts;
    let (advice, missing) = match view_advice(outcome) {
        Some(problem @ SummaryLine::Problem(_)) => (None, Some(problem)),
        advice => (advice, None),
    };
    lines.extend(missing);
    if counts.calls + counts.nested > 0 {
        lines.extend(nested::description(&outcome.nested).map(SummaryLine::Problem));
        if let Some(advice) = advice {
            lines.push(advice);
            if let Some(before) = &recorded.plan.continues {
                let file = quoted_path(Path::new(&before.earlier.file));
                let text =
                    format!("the recording until the earlier recorder was lost is in {file}");
                lines.push(SummaryLine::Fact(text));
            }
        }
    } else if counts.lost_calls + counts.unreadable == 0 && outcome.stored.is_some() {
        let reasons = match recorded.plan.continues {
            None => missing_calls::explained(recorded),
            Some(_) => {
                vec!["no AscendCL call was made since the earlier recorder was lost".to_owned()]
            }
        };
        lines.extend(reasons.into_iter().map(SummaryLine::Problem));
    }
    lines
}

/// The summary of a recorder that had attached to a program, which may have been injected.
pub(super) fn lines_of_attached(
    outcome: &RecordingOutcome,
    (plan, is_injected): (&RecordOptions, bool),
) -> Vec<SummaryLine> {
    let mut lines = without_program(outcome, plan);
    lines.extend(losses(outcome).into_iter().map(SummaryLine::Problem));
    if outcome.counts.callers.is_empty() {
        let text = match is_injected {
            false => "the program made no AscendCL call while the recorder was attached",
            true => {
                "no AscendCL call was seen while the recorder was attached: calls through addresses that the program had fetched before \
                 the library came are never seen. Start the program with `ascend-trace arm APP` to see them"
            }
        };
        lines.push(SummaryLine::Problem(text.to_owned()));
    }
    lines.extend(not_begun(outcome, plan).map(SummaryLine::Problem));
    lines.extend(failures(&outcome.counts).map(SummaryLine::Fact));
    if outcome.stopped_ns.is_some() {
        let text = "the program runs on without being recorded";
        lines.push(SummaryLine::Fact(text.to_owned()));
    }
    lines.extend(view_advice(outcome));
    lines
}

/// The facts of a recording without a program that it has started.
fn without_program(outcome: &RecordingOutcome, plan: &RecordOptions) -> Vec<SummaryLine> {
    let Some(_) = outcome.stored else {
        return Vec::new();
    };
    let known = [
        Some(summed_up(outcome, plan.timing)),
        kept(outcome),
        filtered(plan, &outcome.counts),
    ];
    let known = known.into_iter().flatten();
    known.map(SummaryLine::Fact).collect()
}

/// The command that shows the recording.
fn view_advice(outcome: &RecordingOutcome) -> Option<SummaryLine> {
    let path = outcome.path.as_deref()?;
    if !path.exists() {
        let path = path.display();
        let text =
            format!("{path} is not there any more: it was moved or removed while it was recorded");
        return Some(SummaryLine::Problem(text));
    }
    let names = several_files::pattern(&outcome.files);
    let names = names.unwrap_or_else(|| quoted_path(path));
    let text = format!("look at it with: ascend-trace view {names}");
    Some(SummaryLine::Fact(text))
}

/// The summary of a server of recordings. `running` processes go on.
pub(super) fn lines_of_served(
    outcome: &RecordingOutcome,
    (plan, place): (&RecordOptions, &ServerPlace),
    running: usize,
) -> Vec<SummaryLine> {
    let mut lines = without_program(outcome, plan);
    lines.extend(losses(outcome).into_iter().map(SummaryLine::Problem));
    if outcome.counts.callers.is_empty() {
        let option = place.option();
        let text = match outcome.attached {
            0 => format!(
                "no process has joined the recording: start programs with `ascend-trace env{option} APP`"
            ),
            _ => "programs joined the recording, and none of their calls was recorded".to_owned(),
        };
        lines.push(SummaryLine::Problem(text));
    }
    lines.extend(not_begun(outcome, plan).map(SummaryLine::Problem));
    lines.extend(failures(&outcome.counts).map(SummaryLine::Fact));
    if running > 0 {
        let number = counted_noun(running as u64, "process", "processes");
        lines.push(SummaryLine::Fact(format!(
            "{number} still running, without being recorded"
        )));
    }
    lines.extend(view_advice(outcome));
    lines
}

/// The part of a recording that is in the file of a ring.
fn kept(outcome: &RecordingOutcome) -> Option<String> {
    let since = outcome.stored?.kept_since_ns?;
    let end = outcome.stopped_ns.unwrap_or_else(clock::now);
    let last = duration(end.saturating_sub(since));
    Some(format!(
        "the file has the last {last} of the recording (--ring); the numbers above are of the whole of it"
    ))
}

/// Why a recording has only data that later calls depend on: its window did not begin.
fn not_begun(outcome: &RecordingOutcome, plan: &RecordOptions) -> Option<String> {
    let window = &plan.window;
    let reason = if outcome.has_begun || outcome.attached == 0 {
        return None;
    } else if window.delay.is_some() {
        "the program ended before the time of --delay"
    } else if window.start_signal.is_some() {
        "the signal of --start-at did not come"
    } else if window.in_processes.is_paused {
        "nothing has ended the pause of --paused"
    } else {
        "the condition of --start-at was not met"
    };
    Some(format!("the recording did not begin: {reason}"))
}

/// The number of calls that the filters left out.
fn filtered(plan: &RecordOptions, counts: &RecordingCounts) -> Option<String> {
    let rules: Vec<_> = plan.filters.rules().map(|it| it.to_string()).collect();
    let calls = counted_noun(counts.filtered, "call", "calls");
    let rules = rules.join(", ");
    (!plan.filters.is_empty()).then(|| format!("the filters left out {calls} ({rules})"))
}

/// How the program came to its end, if by a signal.
fn crash(ended: &EndedRecording) -> Option<String> {
    let status = ended.exit.status;
    let signal = status.signal()?;
    let name = signal_name(signal).map_or_else(String::new, |name| format!(" ({name})"));
    let core = if status.core_dumped() {
        ", and left a core file"
    } else {
        ""
    };
    Some(format!(
        "the program was ended by signal {signal}{name}{core}"
    ))
}

fn summed_up(outcome: &RecordingOutcome, timing: Timing) -> String {
    let RecordingCounts {
        calls,
        nested,
        tasks,
        timed,
        callers,
        ..
    } = &outcome.counts;
    let (path, size) = several_files::name_and_bytes(&outcome.files).unwrap_or_else(|| {
        let path = outcome.path.as_ref().map(|path| path.display().to_string());
        let path = path.unwrap_or_else(|| "standard output".to_owned());
        (path, outcome.stored.unwrap_or_default().bytes)
    });
    let times = match timing {
        Timing::Off => "not timed (--timing off)".to_owned(),
        _ if *tasks == 0 => "none to time".to_owned(),
        _ => format!("{} timed", percent(*timed.min(tasks), *tasks)),
    };
    format!(
        "{path} ({}): {}, {}, {}, {times}",
        bytes(size),
        counted_noun(callers.len() as u64, "process", "processes"),
        counted_noun(calls + nested, "call", "calls"),
        counted_noun(*tasks, "task", "tasks"),
    )
}

/// Calls of the program that returned an error: that may be its way of asking, so that it is no problem.
fn failures(counts: &RecordingCounts) -> Option<String> {
    let (function, code) = counts.first_failure.as_ref()?;
    let calls = counted_noun(counts.failed, "call", "calls");
    let first = if counts.failed > 1 { ", the first" } else { "" };
    Some(format!(
        "{calls} returned an error{first}: {function}, {code}"
    ))
}

fn losses(outcome: &RecordingOutcome) -> Vec<String> {
    let counts = &outcome.counts;
    let mut lines = Vec::new();
    let mut add_loss = |number: u64, one: &str, many: &str, why: &str| {
        if number > 0 {
            lines.push(format!("LOST: {} {why}", counted_noun(number, one, many)));
        }
    };
    add_loss(
        counts.lost_calls,
        "call",
        "calls",
        "had no room in memory, no channel yet, or a thread that may make no system calls",
    );
    add_loss(
        counts.lost_times,
        "task time",
        "task times",
        "had no room in memory",
    );
    add_loss(
        counts.lost_others,
        "other record",
        "other records",
        "had no room",
    );
    let stored = outcome.stored.unwrap_or_default();
    add_loss(
        stored.lost_calls,
        "call",
        "calls",
        "could not be written to the file",
    );
    add_loss(
        stored.lost_others,
        "other row",
        "other rows",
        "could not be written to the file",
    );
    add_loss(counts.unreadable, "record", "records", "made no sense");
    if outcome.stored.is_none() {
        lines.push(
            "LOST: a thread that collects or writes has failed; the file ends with the data until \
             then. Please report the lines above"
                .to_owned(),
        );
    }
    lines
}

fn counted_noun(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::ProgramExit;
    use ascend_trace_collector::target::TraceTarget;
    use std::process::ExitStatus;

    fn plan() -> RecordOptions {
        RecordOptions {
            words: vec!["./app".into()],
            target: TraceTarget::Default { name: "app".into() },
            live: false,
            timing: Timing::Events,
            budget: 0,
            soft: None,
            buffer: 0,
            wait: false,
            engine: None,
            reports: crate::unpack::ClientReports::default(),
            python: false,
            stacks: 0,
            watchdog: None,
            metrics: None,
            window: crate::recorder::window::WindowOptions::default(),
            filters: ascend_trace_format::filter::Filters::NONE,
            ring: None,
            roll: None,
            continues: None,
        }
    }

    fn ended(status: i32, attached: u32, counts: RecordingCounts) -> EndedRecording {
        let outcome = RecordingOutcome {
            path: Some("/nonexistent/app-1.atrace".into()),
            files: Vec::new(),
            attached,
            nested: Vec::new(),
            processes: 1,
            still_running: 0,
            has_begun: true,
            stopped_ns: None,
            stored: Some(Default::default()),
            counts,
            engine: None,
            log: Vec::new(),
        };
        let signal = if status > 128 {
            status - 128
        } else {
            status << 8
        };
        EndedRecording {
            status,
            exit: ProgramExit {
                status: ExitStatus::from_raw(signal),
                user: None,
                space: None,
            },
            outcome,
            log: None,
        }
    }

    fn text(ended: &EndedRecording) -> String {
        let launch = LaunchPlan {
            words: Vec::new(),
            program: "/nonexistent/app".into(),
            environment: Default::default(),
            output_aside: false,
        };
        let recorded = SummaryInput {
            ended,
            plan: &plan(),
            launch: &launch,
            kind: &ProgramFile::Other,
            memory: 100 << 20,
        };
        let lines = lines(&recorded).into_iter().map(|line| match line {
            SummaryLine::Fact(text) | SummaryLine::Problem(text) => text,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_good_recording_takes_two_lines_if_it_is_still_there() {
        let callers = [0].into_iter().collect();
        let counts = RecordingCounts {
            calls: 1234,
            tasks: 200,
            timed: 199,
            callers,
            ..RecordingCounts::default()
        };
        let expected = "/nonexistent/app-1.atrace (0 B): 1 process, 1,234 calls, 200 tasks, \
             99.5 % timed\n/nonexistent/app-1.atrace is not there any more: it was moved or removed \
             while it was recorded";
        let mut ended = ended(0, 1, counts);
        assert_eq!(text(&ended), expected);
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("two words.atrace");
        std::fs::write(&path, "").unwrap();
        let hint = format!("\nlook at it with: ascend-trace view '{}'", path.display());
        ended.outcome.path = Some(path);
        assert!(text(&ended).ends_with(&hint), "{}", text(&ended));
    }

    #[test]
    fn calls_that_failed_are_counted_and_the_first_one_is_named() {
        let first = (
            "aclrtFree".to_owned(),
            "ACL_ERROR_INVALID_PARAM (100000)".to_owned(),
        );
        let of = |failed| {
            let counts = RecordingCounts {
                calls: 9,
                failed,
                first_failure: Some(first.clone()).filter(|_| failed > 0),
                ..RecordingCounts::default()
            };
            text(&ended(0, 1, counts))
        };
        let one = "1 call returned an error: aclrtFree, ACL_ERROR_INVALID_PARAM (100000)";
        assert!(of(1).contains(one), "{}", of(1));
        assert!(of(3).contains("3 calls returned an error, the first: aclrtFree, "));
        assert!(!of(0).contains("error"));
    }

    #[test]
    fn the_summary_names_the_cause_of_the_exit() {
        let text = text(&ended(139, 1, RecordingCounts::default()));
        assert!(text.contains("signal 11 (SIGSEGV)"), "{text}");
    }

    #[test]
    fn of_a_recording_that_failed_nothing_is_claimed() {
        let mut failed = ended(3, 0, RecordingCounts::default());
        failed.outcome = RecordingOutcome::failed(Some("/nonexistent".into()));
        let text = text(&failed);
        assert!(text.starts_with("LOST: a thread"), "{text}");
        assert!(
            !text.contains(" calls") && !text.contains("no AscendCL"),
            "{text}"
        );
    }

    #[test]
    fn lost_calls_are_not_called_none() {
        let counts = RecordingCounts {
            lost_calls: 3,
            ..RecordingCounts::default()
        };
        let text = text(&ended(0, 1, counts));
        assert!(
            text.contains("LOST: 3 calls") && !text.contains("no AscendCL call"),
            "{text}"
        );
    }

    #[test]
    fn limits_and_other_users_are_named_as_the_reason() {
        let mut limited = ended(0, 1, RecordingCounts::default());
        limited.exit.space = Some(50 << 20);
        assert!(text(&limited).contains("limited to 50 MiB (ulimit -v). Recording needs 132 MiB"));
        limited.exit.space = Some(500 << 20);
        assert!(!text(&limited).contains("was limited"));
        limited.exit.user = Some(rustix::process::geteuid().as_raw() + 1);
        assert!(text(&limited).contains("went on as user"));
    }

    #[test]
    fn losses_are_never_silent() {
        let counts = RecordingCounts {
            calls: 1,
            lost_calls: 7,
            unreadable: 2,
            ..RecordingCounts::default()
        };
        let text = text(&ended(0, 1, counts));
        assert!(text.contains("LOST: 7 calls"), "{text}");
        assert!(text.contains("LOST: 2 records"), "{text}");
    }

    #[test]
    fn an_empty_recording_is_explained_by_known_facts() {
        let unseen = text(&ended(0, 0, RecordingCounts::default()));
        assert!(unseen.contains("no AscendCL call was seen"), "{unseen}");
        assert!(unseen.contains("no process has joined"), "{unseen}");
        let uncalled = text(&ended(0, 2, RecordingCounts::default()));
        assert!(uncalled.contains("2 processes joined"), "{uncalled}");
        let unfound = text(&ended(127, 1, RecordingCounts::default()));
        assert!(
            unfound.contains("libascendcl.so") && unfound.contains("--soft"),
            "{unfound}"
        );
    }
}
