//! How the clocks of hosts are aligned, in words.

use ascend_trace_analysis::align::{
    AlignedHost, Alignment, AlignmentBasis, Contradiction, Culprit, Obstacle, Recorded,
    WallClockReason,
};
use ascend_trace_recording::rows::HostRow;
use ascend_trace_recording::units::{duration, signed_duration};

use crate::text_table::count;

/// The row of a host in the file.
pub(crate) fn row(placed: &AlignedHost, alignment: &Alignment) -> HostRow {
    let (aligned_by, collectives, with) = match placed.how {
        AlignmentBasis::Reference => ("reference", 0, 0),
        AlignmentBasis::Collectives { rounds, with } => ("collectives", rounds, with),
        AlignmentBasis::WallClock(_) => ("wall-clock", 0, 0),
    };
    let through = match with {
        0 => String::new(),
        with => alignment.hosts[with].host.clone(),
    };
    HostRow {
        host: placed.host.clone(),
        aligned_by: aligned_by.to_owned(),
        offset_ns: placed.offset_ns,
        rate_ppb: placed.rate_ppb,
        bar_ns: placed.bar_ns,
        widest_bar_ns: placed.widest_bar_ns,
        collectives,
        through,
        ..HostRow::default()
    }
}

/// How a host is aligned.
pub(crate) fn line(placed: &AlignedHost, alignment: &Alignment) -> String {
    of_row(&row(placed, alignment))
}

pub(crate) fn of_row(host: &HostRow) -> String {
    let name = &host.host;
    let offset = signed_duration(host.offset_ns);
    match (&*host.aligned_by, host.bar_ns) {
        ("reference", _) => format!("host {name}: the reference"),
        ("collectives", Some(bar)) => {
            let through = match &*host.through {
                "" => String::new(),
                through => format!(" with host {through}"),
            };
            format!(
                "host {name}: clock {offset}, ±{} from {} collectives{through}",
                duration(bar),
                count(host.collectives)
            )
        }
        _ => format!("host {name}: clock {offset}, aligned by wall clock only"),
    }
}

/// Notes, each with the number of the host.
pub(crate) fn notes(
    alignment: &Alignment,
    recorded: &[Recorded],
    name: impl Fn(usize) -> String,
) -> Vec<(usize, String)> {
    let mut notes = Vec::new();
    for (number, it) in recorded.iter().enumerate() {
        let hindered = it.participants.iter().filter_map(|it| {
            let who = rank_and_file(it.rank, &name(number));
            Some(match it.obstacle? {
                Obstacle::Lost(calls) => {
                    format!("{who}: {calls} calls were lost, so its collectives were not used")
                }
                Obstacle::Filtered => {
                    format!("{who}: filters may have left out collectives, so none was used")
                }
            })
        });
        for note in hindered {
            notes.push((alignment.host_of[number], note));
        }
    }
    for culprit in &alignment.culprits {
        let host = alignment.host_of[culprit.recording];
        notes.push((host, contradiction(culprit, alignment, &name)));
    }
    for (number, placed) in alignment.hosts.iter().enumerate() {
        if placed.how == AlignmentBasis::WallClock(WallClockReason::NothingCommon) {
            let host = &placed.host;
            let note = format!("host {host}: aligned by wall clock only: no common collective");
            notes.push((number, note));
        }
    }
    notes
}

fn rank_and_file(rank: Option<u64>, file: &str) -> String {
    match rank {
        Some(rank) => format!("rank {rank} ({file})"),
        None => file.to_owned(),
    }
}

fn contradiction(
    culprit: &Culprit,
    alignment: &Alignment,
    name: impl Fn(usize) -> String,
) -> String {
    let rank_and_file = rank_and_file(culprit.rank, &name(culprit.recording));
    match culprit.what {
        Contradiction::Shapes { odd, rounds } => format!(
            "{rank_and_file}: {} of {} collectives are others than those of its peers, so they were not used",
            count(odd),
            count(rounds)
        ),
        Contradiction::OneHost { rounds } => format!(
            "{rank_and_file}: {} collectives contradict those of another rank of its host, so they were not used",
            count(rounds)
        ),
        Contradiction::Clocks => {
            format!(
                "{rank_and_file}: its collectives contradict those of the others, so they were not used"
            )
        }
        Contradiction::Either { other } => {
            let other = &alignment.hosts[other].host;
            format!(
                "{rank_and_file}: its collectives and those of host {other} contradict each other, so they were not used"
            )
        }
    }
}
