//! The report as text: the verdict, what never came, the threads, the streams.

use ascend_trace_analysis::hang::{
    Culprit, LastCall, LateRank, OpenCall, Report, RootKind, ThreadState, Verdict,
};
use ascend_trace_analysis::stats::CallSite;
use ascend_trace_recording::text::plain;
use ascend_trace_recording::units::{duration, moment};

use super::outside;
use crate::text_table::{TableRows, TextTable, count};

/// Culprits, threads and streams that are listed.
const ROWS: usize = 20;
const CULPRITS: usize = 5;

/// Timestamps are counted from the begin of the recording.
pub(crate) fn text(report: &Report, begin: i64) -> String {
    let mut text = head(report, begin);
    for culprit in report.culprits.iter().take(CULPRITS) {
        text.push_str(&paragraph(culprit, report));
    }
    more(&mut text, report.culprits.len(), CULPRITS, "causes");
    if matches!(report.verdict, Verdict::Hangs | Verdict::Quiet) {
        for thread in waiting(report).take(ROWS) {
            text.push_str(&chain(thread));
        }
        more(
            &mut text,
            waiting(report).count(),
            ROWS,
            "threads that wait",
        );
    }
    if matches!(report.verdict, Verdict::Hangs | Verdict::Quiet) {
        text.push_str(&lines(&outside::text(report)));
    }
    let has_sites = has_sites(report);
    let tables = [
        ("Threads", threads(report)),
        ("Last calls", last_calls(report, begin)),
        ("Streams", streams(report)),
    ];
    for (title, table) in tables {
        let table = table.with_only_if("process", report.has_several_processes());
        let table = table.with_only_if("called at", has_sites);
        if !table.is_empty() {
            text.push_str(&format!("\n{title}\n{}", table.render(2)));
        }
    }
    if !report.missing.is_empty() {
        text.push_str("\nWhat the recording lacks\n");
        for missing in &report.missing {
            text.push_str(&format!("  {missing}\n"));
        }
    }
    text
}

/// The ranks that hold others up, from several recordings. `name` returns the name of each.
pub(crate) fn across(late: &[LateRank], name: impl Fn(usize) -> Option<String>) -> String {
    let mut text = String::new();
    for (place, late) in late.iter().take(ROWS).enumerate() {
        if place == 0 {
            text.push_str("\nAcross the recordings\n");
        }
        let file = late.recording.and_then(&name);
        let file = file.map_or_else(String::new, |it| format!(" ({it})"));
        text.push_str(&format!("  {}{}\n", late_rank(late), plain(&file)));
    }
    more(&mut text, late.len(), ROWS, "ranks that are late");
    text
}

fn late_rank(late: &LateRank) -> String {
    let LateRank {
        rank,
        size,
        count,
        awaited,
        ..
    } = late;
    let waiting: Vec<String> = late.waiting.iter().map(u64::to_string).collect();
    let who = match waiting.as_slice() {
        [one] => format!("rank {one} waits"),
        all => format!("ranks {} wait", listed(all)),
    };
    let what = match awaited {
        0 => "for it to join".to_owned(),
        number => format!("for number {number}"),
    };
    let submitted = match count {
        1 => "1 collective".to_owned(),
        many => format!("{many} collectives"),
    };
    match late.recording {
        Some(_) => {
            format!(
                "rank {rank} of {size} is behind: it has submitted {submitted}, and {who} {what}"
            )
        }
        None => format!("rank {rank} of {size} is absent: no recording has it, and {who} {what}"),
    }
}

/// The target that a thread waited for, in a report of that time; else the activity of any thread.
pub(crate) fn cause(report: &Report, tid: u32) -> String {
    let thread = report.threads.iter().find(|it| it.tid == tid);
    let culprit = thread.and_then(|it| report.culprits.get(it.culprit?));
    let chain = thread.map_or_else(String::new, chain);
    let culprit = culprit.or(report.culprits.first());
    culprit.map_or_else(String::new, |it| paragraph(it, report)) + &chain
}

/// The name of a code as words: `ACL_ERROR_RT_STREAM_SYNC_TIMEOUT (507046)` is a stream sync timeout.
pub(crate) fn code_in_words(code: &str) -> String {
    const BEGINS: [&str; 3] = ["ACL_ERROR_RT_", "ACL_ERROR_", "ACL_"];
    let name = code.split(' ').next().unwrap_or_default();
    let plain = BEGINS.iter().find_map(|begin| name.strip_prefix(begin));
    match plain {
        Some(plain) => plain.replace('_', " ").to_lowercase(),
        None => "an error without a name".to_owned(),
    }
}

fn head(report: &Report, begin: i64) -> String {
    let quiet = format!(
        "nothing has moved for {}, since {}",
        duration(report.quiet_ns),
        moment(report.moved_ns.saturating_sub(begin))
    );
    let before = format!(
        "the longest pause before was {}",
        duration(report.longest_pause_ns)
    );
    match (report.verdict, report.exit_status) {
        (Verdict::Ended, Some(status)) => {
            format!("nothing hangs: the program ended with status {status}\n")
        }
        (Verdict::Ended | Verdict::Moving, _) => {
            let before = match report.quiet_ns {
                0 => String::new(),
                quiet => format!("{} before ", duration(quiet)),
            };
            format!("nothing hangs: something moved until {before}the end of the recording\n")
        }
        (Verdict::Quiet, _) => {
            let running = report.culprits.first().map(|it| it.kind) == Some(RootKind::Running);
            let waits = match running {
                true => "the program waits for work that runs: ",
                false => "",
            };
            format!("{waits}{quiet}; {before}. The program may be slow\n")
        }
        (Verdict::Hangs, _) => format!("the program hangs: {quiet}; {before}\n"),
    }
}

fn paragraph(culprit: &Culprit, report: &Report) -> String {
    let waiters = |noun: &str, all: &[String]| match all {
        [] => String::new(),
        [one] => format!("{noun} {one}"),
        all => format!("{noun}s {}", listed(all)),
    };
    let threads: Vec<String> = culprit.threads.iter().map(u32::to_string).collect();
    let streams = stream_names(culprit, report);
    let who = [waiters("thread", &threads), waiters("stream", &streams)];
    let who: Vec<String> = who.into_iter().filter(|it| !it.is_empty()).collect();
    let since = culprit.since_ns.map_or_else(String::new, |since| {
        let ago = duration(report.end_ns.saturating_sub(since).max(0));
        format!(", {ago} so far")
    });
    let sure = match (culprit.certain, culprit.kind) {
        (true, _) | (_, RootKind::Outside | RootKind::Unknown) => "",
        (false, _) => " (it may still come)",
    };
    let waits = match culprit.kind {
        // Itself alone.
        RootKind::Outside if culprit.threads.len() <= 1 => String::new(),
        _ => format!("    waits: {}{since}\n", who.join("; ")),
    };
    let text = format!(
        "\n{} [{}]{sure}\n{waits}    {}\n",
        culprit.what,
        culprit.kind.name(),
        culprit.advice,
    );
    lines(&text)
}

/// The streams that wait for a culprit, with their devices if there are several.
fn stream_names(culprit: &Culprit, report: &Report) -> Vec<String> {
    let device = report.streams.first().map(|it| it.device);
    if report.streams.iter().all(|it| Some(it.device) == device) {
        return culprit.streams.iter().map(i64::to_string).collect();
    }
    let is_it = |at: usize| {
        let own = report.culprits.get(at);
        own.is_some_and(|it| std::ptr::eq(it, culprit))
    };
    let own = report.streams.iter();
    let own = own.filter(|it| it.culprit.is_some_and(is_it));
    own.map(|it| format!("{} of device {}", it.stream_id, it.device))
        .collect()
}

/// `1, 2, 3 and 5 more`.
fn listed(all: &[String]) -> String {
    const NAMED: usize = 8;
    let named = all
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Names come from the traced program, and may hold anything.
fn lines(text: &str) -> String {
    let lines = text.lines().map(|line| format!("{}\n", plain(line)));
    lines.collect()
}

fn more(text: &mut String, all: usize, shown: usize, noun: &str) {
    if all > shown {
        let more = count((all - shown) as u64);
        text.push_str(&format!("\n{more} more {noun}: --json has all\n"));
    }
}

fn waiting(report: &Report) -> impl Iterator<Item = &ThreadState> {
    report.threads.iter().filter(|it| !it.chain.is_empty())
}

/// From a thread to the end of its chain of waits.
fn chain(thread: &ThreadState) -> String {
    let mut text = String::from("\n");
    for (depth, link) in thread.chain.iter().enumerate() {
        let arrow = if depth == 0 { "" } else { "→ " };
        text += &format!("{}{arrow}{}\n", "  ".repeat(depth.min(8)), link.what);
    }
    lines(&text)
}

fn threads(report: &Report) -> TextTable {
    let open = |it: &ThreadState| it.open_calls.last().cloned();
    TableRows::of(report.threads.iter().take(ROWS))
        .right("process", |it| it.process)
        .right("thread", |it| it.tid)
        .left("name", |it| it.thread.clone())
        .left("is in", |it| match open(it) {
            Some(call) => call.name,
            None if it.ended => "no call: it has ended".to_owned(),
            None if it.polls => "asks again and again".to_owned(),
            None => "outside AscendCL".to_owned(),
        })
        .left("on", |it| {
            open(it).map_or_else(String::new, |it| place(&it))
        })
        .left("called at", |it| {
            open(it).map_or_else(String::new, |it| site(it.at.as_ref()))
        })
        .right("for", |it| match (open(it), it.last_calls.last()) {
            (Some(call), _) => duration(call.length_ns),
            (None, _) if it.ended => "-".to_owned(),
            (None, Some(last)) if it.polls => {
                let since = it.polls_since_ns.unwrap_or(last.begin_ns);
                duration(report.end_ns.saturating_sub(since).max(0))
            }
            (None, Some(last)) => duration(report.end_ns.saturating_sub(last.end_ns).max(0)),
            (None, None) => "-".to_owned(),
        })
        .table()
}

/// Whether stacks of calls were recorded.
fn has_sites(report: &Report) -> bool {
    report.threads.iter().any(|it| {
        let open = it.open_calls.iter().any(|call| call.at.is_some());
        open || it.last_calls.iter().any(|call| call.at.is_some())
    })
}

/// Where in the program a call was made.
fn site(at: Option<&CallSite>) -> String {
    at.map_or_else(String::new, |it| plain(&it.call_site).into_owned())
}

fn place(call: &OpenCall) -> String {
    on(call.stream_id, call.event)
}

fn on(stream: Option<i64>, event: Option<u32>) -> String {
    match (stream, event) {
        (Some(stream), _) => format!("stream {stream}"),
        (None, Some(event)) => format!("event {event}"),
        (None, None) => String::new(),
    }
}

fn last_calls(report: &Report, begin: i64) -> TextTable {
    let threads = report.threads.iter().take(ROWS);
    let calls = threads.flat_map(|thread| thread.last_calls.iter().map(move |it| (thread, it)));
    let code = |it: &LastCall| match it.code {
        Some(0) => String::new(),
        Some(code) => code.to_string(),
        None => "left".to_owned(),
    };
    TableRows::of(calls)
        .right("process", |it| it.0.process)
        .right("thread", |it| it.0.tid)
        .right("returned", |it| moment(it.1.end_ns.saturating_sub(begin)))
        .right("took", |it| duration(it.1.end_ns - it.1.begin_ns))
        .left("call", |it| it.1.name.clone())
        .left("on", |it| on(it.1.stream_id, it.1.event))
        .left("called at", |it| site(it.1.at.as_ref()))
        .left("result", |it| code(it.1))
        .table()
}

fn streams(report: &Report) -> TextTable {
    TableRows::of(report.streams.iter().take(ROWS))
        .right("process", |it| it.process)
        .right("device", |it| it.device)
        .right("stream", |it| it.stream_id)
        .right("pending", |it| count(it.pending))
        .left("head", |it| it.head.clone())
        .left("waits for", |it| it.waits_for.clone())
        .right("submitted", |it| {
            format!(
                "{} ago",
                duration(report.end_ns.saturating_sub(it.submitted_ns).max(0))
            )
        })
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_in_the_text() {
        assert_eq!(
            code_in_words("ACL_ERROR_RT_STREAM_ABORT (107023)"),
            "stream abort"
        );
        assert_eq!(
            code_in_words("ACL_ERROR_INVALID_PARAM (1)"),
            "invalid param"
        );
        assert_eq!(code_in_words("4711"), "an error without a name");
    }
}
