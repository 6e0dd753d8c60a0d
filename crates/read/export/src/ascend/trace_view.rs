//! The process `Communication` of `trace_view.json`: each collective by group, and its wait for the last rank.

use std::io;

use super::collectives::{NamedCollective, NamedCollectives};
use super::overlap::track;
use crate::chrome::EventOutput;

/// The number of the process, above those of devices and tracks.
const PID: u32 = 30_000_100;

const PROCESS: &str = "Communication";
const WAIT: &str = "Notify_Wait";

/// A thread with the collectives of a group on a stream, and the one with their waits below it.
struct GroupLane {
    group: usize,
    stream: (u32, i64),
    until: i64,
}

/// Writes all collectives of a rank.
pub(super) fn write(named: &NamedCollectives, output: &mut EventOutput<'_>) -> io::Result<()> {
    if named.all.is_empty() {
        return Ok(());
    }
    output.label(track(PID, 0), "process", PROCESS, i64::from(PID))?;
    let mut lanes: Vec<GroupLane> = Vec::new();
    for collective in &named.all {
        let (group, stream) = (collective.group, collective.ran.stream());
        let is_own = |it: &GroupLane| it.group == group && it.stream == stream;
        let place = match lanes.iter().position(is_own) {
            Some(place) => place,
            None => {
                let is_first = lanes.iter().all(|it| it.group != group);
                let suffix = match is_first {
                    true => String::new(),
                    false => format!(" on stream {} of device {}", stream.1, stream.0),
                };
                name_lane(named, (group, &suffix), lanes.len(), output)?;
                let until = i64::MIN;
                lanes.push(GroupLane {
                    group,
                    stream,
                    until,
                });
                lanes.len() - 1
            }
        };
        if let Some(lane) = lanes.get_mut(place) {
            // Collectives of a stream are apart, but their measured times may overlap by an error.
            let begin = collective.ran.time.begin.max(lane.until);
            lane.until = lane.until.max(collective.ran.time.end);
            event(collective, (begin, lane.until), place, output)?;
        }
    }
    Ok(())
}

/// The numbers of the threads of a lane.
fn numbers(lane: usize) -> [u32; 2] {
    let first = 2 * lane as u32 + 1;
    [first, first + 1]
}

fn name_lane(
    named: &NamedCollectives,
    (group, suffix): (usize, &str),
    lane: usize,
    output: &mut EventOutput<'_>,
) -> io::Result<()> {
    let name = named.groups.get(group).map_or("", |it| &it.name.name);
    let names = [
        format!("Group {name} Communication{suffix}"),
        "Plane 0".to_owned(),
    ];
    for (number, name) in numbers(lane).into_iter().zip(names) {
        output.label(track(PID, number), "thread", &name, i64::from(number))?;
    }
    Ok(())
}

fn event(
    collective: &NamedCollective,
    (begin, end): (i64, i64),
    lane: usize,
    output: &mut EventOutput<'_>,
) -> io::Result<()> {
    let [whole, waits] = numbers(lane);
    output.event(b'X', track(PID, whole), |members| {
        members.named(&collective.name, "hccl");
        members.lasting(begin, end);
        members.args(|json| {
            json.name("connection_id")
                .integer(collective.ran.connection);
        });
    })?;
    let Some((wait, transfer)) = collective.split.filter(|it| it.0.ns > 0) else {
        return Ok(());
    };
    output.event(b'X', track(PID, waits), |members| {
        members.named(WAIT, "hccl");
        members.lasting(begin, end.min(begin + wait.ns));
        members.args(|json| {
            json.name("error_ns").integer(wait.error_ns());
            json.name("transfer_error_ns").integer(transfer.error_ns());
        });
    })
}
