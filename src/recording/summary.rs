//! What is said at the end of a recording, and advice when it holds less than hoped for.

use ascend_trace_format::session::Timing;

use super::{Ended, Plan};
use crate::collector::{Counts, Outcome};
use crate::launch::Launch;
use crate::launch::elf::Program;
use crate::launch::libraries::{self, is_acl};
use crate::table::{count, percent};
use crate::unpack::INTERPOSER_VARIABLE;

/// The lines, without the tool's name.
pub(crate) fn lines(ended: &Ended, plan: &Plan, launch: &Launch, kind: &Program) -> Vec<String> {
    let outcome = &ended.outcome;
    let mut lines = vec![recorded(outcome, plan.timing)];
    lines.extend(losses(outcome));
    lines.extend(outcome.engine.clone());
    if let Some(path) = &ended.log {
        lines.push(format!("what the program wrote is in {}", path.display()));
    }
    if outcome.still_running > 0 {
        let number = things(outcome.still_running as u64, "process", "processes");
        lines.push(format!(
            "{number} of the program still running; not recorded any more (--wait waits for them)"
        ));
    }
    if outcome.counts.calls + outcome.counts.nested == 0 {
        let missing = match ended.status {
            127 => missing_libraries(launch, kind),
            _ => Vec::new(),
        };
        lines.extend(nothing_seen(ended, plan, &missing));
    } else if let Some(path) = &outcome.path {
        lines.push(format!(
            "look at it with: ascend-trace view {}",
            path.display()
        ));
    }
    lines
}

fn recorded(outcome: &Outcome, timing: Timing) -> String {
    let Counts {
        calls,
        nested,
        tasks,
        timed,
        callers,
        ..
    } = &outcome.counts;
    let size = outcome.stored.unwrap_or_default().bytes;
    let path = outcome.path.as_ref().map(|path| path.display().to_string());
    let times = match timing {
        Timing::Off => "not timed (--timing off)".to_owned(),
        _ if *tasks == 0 => "none to time".to_owned(),
        _ => format!("{} timed", percent(*timed.min(tasks), *tasks)),
    };
    format!(
        "{} ({}): {}, {}, {}, {times}",
        path.as_deref().unwrap_or("standard output"),
        bytes(size),
        things(callers.len() as u64, "process", "processes"),
        things(calls + nested, "call", "calls"),
        things(*tasks, "task", "tasks"),
    )
}

fn losses(outcome: &Outcome) -> Vec<String> {
    let counts = &outcome.counts;
    let mut lines = Vec::new();
    let mut tell = |number: u64, one: &str, many: &str, why: &str| {
        if number > 0 {
            lines.push(format!("LOST: {} {why}", things(number, one, many)));
        }
    };
    tell(
        counts.lost_calls,
        "call",
        "calls",
        "for which there was no room in memory",
    );
    tell(
        counts.lost_times,
        "task time",
        "task times",
        "for which there was no room in memory",
    );
    tell(
        counts.lost_others,
        "other record",
        "other records",
        "for which there was no room",
    );
    let stored = outcome.stored.unwrap_or_default();
    tell(
        stored.lost_calls,
        "call",
        "calls",
        "that could not be written to the file",
    );
    tell(
        stored.lost_others,
        "other row",
        "other rows",
        "that could not be written to the file",
    );
    tell(counts.unreadable, "record", "records", "that made no sense");
    if outcome.stored.is_none() {
        lines.push("LOST: the thread that writes the file has failed".to_owned());
    }
    lines
}

/// The libraries of AscendCL that the program's loader does not find.
fn missing_libraries(launch: &Launch, kind: &Program) -> Vec<String> {
    let Program::Dynamic(dynamic) = kind else {
        return Vec::new();
    };
    let found = libraries::list(&launch.program, dynamic, &launch.environment);
    let missing = found.into_iter().filter(|library| library.path.is_none());
    missing.map(|library| library.name).collect()
}

fn nothing_seen(ended: &Ended, plan: &Plan, missing: &[String]) -> Vec<String> {
    let mut lines = vec!["no AscendCL call was seen".to_owned()];
    if !missing.is_empty() {
        lines.push(format!("the loader did not find {}", missing.join(", ")));
        if missing.iter().any(|name| is_acl(name)) {
            lines.push(no_runtime_advice(plan));
        }
        return lines;
    }
    if ended.outcome.attached == 0 {
        if let Some(path) = std::env::var_os(INTERPOSER_VARIABLE) {
            let path = path.display();
            lines.push(format!(
                "{INTERPOSER_VARIABLE} names {path}, which is perhaps of another version"
            ));
        }
        lines.push(
            "the tracer was loaded into no process: check that the program and what it starts are \
             dynamically linked, keep LD_PRELOAD and ASCEND_TRACE_SESSION in their environment, \
             and are not run by sudo or inside a container"
                .to_owned(),
        );
    } else {
        lines.push(
            "the tracer was loaded, but nothing called AscendCL: check that the program got as far \
             as its AscendCL code, that it is linked against libascendcl.so, not a static copy, and \
             that whatever it starts keeps LD_PRELOAD in its environment"
                .to_owned(),
        );
    }
    if ended.status == 127 {
        lines.push(
            "status 127 means that a command or a library was not found, perhaps libascendcl.so"
                .to_owned(),
        );
        lines.push(no_runtime_advice(plan));
    }
    lines
}

fn no_runtime_advice(plan: &Plan) -> String {
    let program = plan
        .words
        .first()
        .map_or_else(String::new, |word| word.display().to_string());
    format!(
        "source the set_env.sh of your CANN installation first, or run without an NPU: \
         ascend-trace --soft {program}"
    )
}

fn things(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

fn bytes(number: u64) -> String {
    match number {
        0..10_000 => format!("{} bytes", count(number)),
        10_000..10_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        _ => format!("{:.1} MB", number as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::target::Target;

    fn plan() -> Plan {
        Plan {
            words: vec!["./app".into()],
            target: Target::Default { name: "app".into() },
            live: false,
            timing: Timing::Events,
            soft: None,
            buffer: 0,
            wait: false,
            engine: None,
        }
    }

    fn ended(status: i32, attached: u32, counts: Counts) -> Ended {
        let outcome = Outcome {
            path: Some("/nonexistent/app-1.atrace".into()),
            attached,
            processes: 1,
            still_running: 0,
            stored: Some(Default::default()),
            counts,
            engine: None,
        };
        Ended {
            status,
            outcome,
            log: None,
        }
    }

    fn text(ended: &Ended) -> String {
        let launch = Launch {
            words: Vec::new(),
            program: "/nonexistent/app".into(),
            environment: Default::default(),
            output_aside: false,
        };
        lines(ended, &plan(), &launch, &Program::Other).join("\n")
    }

    #[test]
    fn a_good_recording_takes_two_lines() {
        let callers = [0].into_iter().collect();
        let counts = Counts {
            calls: 1234,
            tasks: 200,
            timed: 199,
            callers,
            ..Counts::default()
        };
        let expected = "/nonexistent/app-1.atrace (0 bytes): 1 process, 1,234 calls, 200 tasks, \
             99.5 % timed\nlook at it with: ascend-trace view /nonexistent/app-1.atrace";
        assert_eq!(text(&ended(0, 1, counts)), expected);
    }

    #[test]
    fn losses_are_never_silent() {
        let counts = Counts {
            calls: 1,
            lost_calls: 7,
            unreadable: 2,
            ..Counts::default()
        };
        let text = text(&ended(0, 1, counts));
        assert!(text.contains("LOST: 7 calls"), "{text}");
        assert!(text.contains("LOST: 2 records"), "{text}");
    }

    #[test]
    fn silence_is_explained_by_what_is_known() {
        let unseen = text(&ended(0, 0, Counts::default()));
        assert!(unseen.contains("no AscendCL call was seen"), "{unseen}");
        assert!(unseen.contains("loaded into no process"), "{unseen}");
        let uncalled = text(&ended(0, 2, Counts::default()));
        assert!(uncalled.contains("nothing called AscendCL"), "{uncalled}");
        let unfound = text(&ended(127, 1, Counts::default()));
        assert!(
            unfound.contains("libascendcl.so") && unfound.contains("--soft"),
            "{unfound}"
        );
    }
}
