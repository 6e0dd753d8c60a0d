//! A stall in words.

use ascend_trace_recording::units::duration;

use super::stall::{MeanwhileStats, StallStats};

pub(super) fn stream_words((device, stream): (u32, i64)) -> String {
    format!("device {device} stream {stream}")
}

/// What stalled.
pub(super) fn place(stall: &StallStats) -> String {
    match (stall.tid, stall.device, stall.stream_id) {
        (Some(tid), ..) => format!("thread {tid}"),
        (None, Some(device), Some(stream)) => stream_words((device, stream)),
        _ => format!("process {}", stall.pid),
    }
}

/// The work of the submitting thread, for exports.
pub(super) fn meanwhile(stall: &StallStats) -> String {
    let all = stall.meanwhile.iter();
    let words = all.map(|it| format!("{} {} {}", it.name, it.count, it.total_ns));
    words.collect::<Vec<_>>().join("; ")
}

/// The cause.
pub(super) fn culprit(stall: &StallStats) -> String {
    let event = stall.event.map(|event| format!("event {event}"));
    let is_other = stall.culprit_process.is_some_and(|it| it != stall.process);
    let rank = stall.culprit_rank.filter(|_| is_other);
    let stream = stall.culprit_device.zip(stall.culprit_stream_id);
    let chain = stall.chain.get(1..).filter(|it| !it.is_empty());
    let parts = [
        rank.map(|it| format!("rank {it}")),
        event,
        stream.map(stream_words),
        stall.culprit_task.clone(),
        chain.map(|links| format!("via {}", links.join(", "))),
        stall.root.as_ref().map(|root| format!("root {root}")),
        stall.culprit_call.clone().filter(|it| *it != stall.name),
        stall.late.as_ref().map(|late| late.words()),
        most_meanwhile(stall),
        stall.why.clone(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn most_meanwhile(stall: &StallStats) -> Option<String> {
    // The reason for the host's delay says more than that no call was running.
    let says_more = |name: &str| stall.late.is_none() || name != MeanwhileStats::OUTSIDE;
    let most = stall.meanwhile.first().filter(|it| says_more(&it.name))?;
    let time = duration(most.total_ns);
    Some(match most.count {
        0 if most.name == MeanwhileStats::EARLIER => {
            format!("meanwhile {time} before the last calls")
        }
        0 => format!("meanwhile {} for {time}", most.name),
        1 => format!("meanwhile 1 call of {} for {time}", most.name),
        count => format!("meanwhile {count} calls of {} for {time}", most.name),
    })
}
