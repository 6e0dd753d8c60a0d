//! The process `Communication` of `trace_view.json`: each collective by group, and its wait for the last rank.

use std::io;

use super::collectives::{NamedCollective, NamedCollectives};
use super::overlap::track;
use crate::chrome::EventOutput;

/// The number of the process, above those of devices and tracks.
const PID: u32 = 30_000_100;

const PROCESS: &str = "Communication";
const WAIT: &str = "Notify_Wait";

/// A thread with collectives of a group that are apart, and the one with their waits below it.
struct GroupLane {
    group: usize,
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
        let time = collective.ran.time;
        let is_free = |it: &GroupLane| it.group == collective.group && it.until <= time.begin;
        let place = match lanes.iter().position(is_free) {
            Some(place) => place,
            None => {
                name_lane(named, collective.group, lanes.len(), output)?;
                lanes.push(GroupLane {
                    group: collective.group,
                    until: i64::MIN,
                });
                lanes.len() - 1
            }
        };
        if let Some(lane) = lanes.get_mut(place) {
            lane.until = time.end;
        }
        event(collective, place, output)?;
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
    group: usize,
    lane: usize,
    output: &mut EventOutput<'_>,
) -> io::Result<()> {
    let name = named.groups.get(group).map_or("", |it| &it.name.name);
    let names = [format!("Group {name} Communication"), "Plane 0".to_owned()];
    for (number, name) in numbers(lane).into_iter().zip(names) {
        output.label(track(PID, number), "thread", &name, i64::from(number))?;
    }
    Ok(())
}

fn event(
    collective: &NamedCollective,
    lane: usize,
    output: &mut EventOutput<'_>,
) -> io::Result<()> {
    let [whole, waits] = numbers(lane);
    let time = collective.ran.time;
    output.event(b'X', track(PID, whole), |members| {
        members.named(&collective.name, "hccl");
        members.lasting(time.begin, time.end);
        members.args(|json| {
            json.name("connection_id")
                .integer(collective.ran.connection);
        });
    })?;
    let Some((wait, transfer)) = collective.split else {
        return Ok(());
    };
    output.event(b'X', track(PID, waits), |members| {
        members.named(WAIT, "hccl");
        members.lasting(time.begin, time.begin + wait.ns);
        members.args(|json| {
            json.name("error_ns").integer(wait.error_ns());
            json.name("transfer_error_ns").integer(transfer.error_ns());
        });
    })
}
