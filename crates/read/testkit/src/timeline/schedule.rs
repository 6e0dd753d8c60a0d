//! Derives the open values of a timeline: generations, times, launch calls, nesting.

mod order;

use std::collections::HashMap;

use ascend_trace_format::api::Untimed;

use super::SyntaxError;
use super::syntax::{
    CallItem, CallWhat, EventRef, LaneKey, LaneText, TaskItem, TaskWhat, TimeSpec,
};
use order::submission_order;

/// Everything that happens, with nothing left open.
#[derive(Debug, Default)]
pub(super) struct TimelinePlan<'a> {
    /// In the order of the text.
    pub(super) streams: Vec<(LaneKey, u32)>,
    pub(super) tasks: Vec<PlannedTask<'a>>,
    pub(super) calls: Vec<PlannedCall<'a>>,
}

#[derive(Debug)]
pub(super) struct PlannedTask<'a> {
    pub(super) stream: LaneKey,
    pub(super) sequence: u32,
    pub(super) item: &'a TaskItem,
    /// The event recorded or waited for, and its generation.
    pub(super) event: Option<(&'a str, u32)>,
    pub(super) time: Option<(i64, i64)>,
    /// The thread that submits it unless the item says otherwise.
    by: u32,
    /// The task before it on its stream, and the record it waits for.
    after: [Option<usize>; 2],
    /// Where its stream stands when this task is through.
    cursor: i64,
}

#[derive(Debug)]
pub(super) struct PlannedCall<'a> {
    pub(super) thread: LaneKey,
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) depth: u8,
    pub(super) origin: CallOrigin<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum CallOrigin<'a> {
    /// The launch call of a task, by its position in the plan.
    Task(usize),
    /// A call that is written out, and the generation of the event it names.
    Call(&'a CallItem, u32),
}

pub(super) fn schedule(lanes: &[LaneText]) -> Result<TimelinePlan<'_>, SyntaxError> {
    let mut plan = TimelinePlan {
        streams: streams(lanes)?,
        ..TimelinePlan::default()
    };
    let events = list(lanes, &mut plan)?;
    bind(&mut plan, &events)?;
    let order = submission_order(&plan.tasks, |place, _| place)?;
    for place in order {
        settle_time(&mut plan.tasks, place)?;
    }
    launch(&mut plan)?;
    nest(&mut plan)?;
    Ok(plan)
}

/// The streams with their devices.
fn streams(lanes: &[LaneText]) -> Result<Vec<(LaneKey, u32)>, SyntaxError> {
    let mut all: Vec<(LaneKey, Option<u32>)> = Vec::new();
    for lane in lanes {
        let LaneText::Stream {
            stream,
            device,
            offset,
            ..
        } = lane
        else {
            continue;
        };
        match all.iter_mut().find(|(key, _)| key == stream) {
            None => all.push((*stream, *device)),
            Some((_, known)) => match (*known, device) {
                (Some(known), Some(device)) if known != *device => {
                    let message = format!("s{} is on device {known} already", stream.1);
                    return Err(SyntaxError::new(*offset, message));
                }
                (None, Some(device)) => *known = Some(*device),
                _ => {}
            },
        }
    }
    Ok(all
        .into_iter()
        .map(|(key, device)| (key, device.unwrap_or(0)))
        .collect())
}

/// By process and event name: the tasks that record it, in the order of the text.
type Records<'a> = HashMap<(u32, &'a str), Vec<usize>>;

/// Lists tasks and written calls and gives references to events their generations.
fn list<'a>(
    lanes: &'a [LaneText],
    plan: &mut TimelinePlan<'a>,
) -> Result<Records<'a>, SyntaxError> {
    let mut records = Records::new();
    let mut last: HashMap<LaneKey, usize> = HashMap::new();
    let mut sequences: HashMap<LaneKey, u32> = HashMap::new();
    for lane in lanes {
        match lane {
            LaneText::Stream {
                stream, by, tasks, ..
            } => {
                for item in tasks {
                    let place = plan.tasks.len();
                    let event = event_of(&item.what, stream.0, place, &mut records)?;
                    let before = last.insert(*stream, place);
                    let next = sequences.entry(*stream).or_default();
                    let sequence = *next;
                    // What only became a node has the number of the next task that runs.
                    *next += u32::from(item.time != TimeSpec::Untimed(Untimed::Captured));
                    plan.tasks.push(PlannedTask {
                        stream: *stream,
                        sequence,
                        item,
                        event,
                        time: None,
                        by: *by,
                        after: [before, None],
                        cursor: 0,
                    });
                }
            }
            LaneText::Thread { thread, calls } => {
                for item in calls {
                    let generation = match &item.what {
                        CallWhat::SyncEvent(event) | CallWhat::QueryEvent(event, _) => {
                            generation(event, thread.0, &records)?
                        }
                        _ => 0,
                    };
                    plan.calls.push(PlannedCall {
                        thread: *thread,
                        begin: item.time.begin,
                        end: item.time.end,
                        depth: 0,
                        origin: CallOrigin::Call(item, generation),
                    });
                }
            }
        }
    }
    Ok(records)
}

fn event_of<'a>(
    what: &'a TaskWhat,
    process: u32,
    place: usize,
    records: &mut Records<'a>,
) -> Result<Option<(&'a str, u32)>, SyntaxError> {
    Ok(match what {
        TaskWhat::Record(name) => {
            let all = records.entry((process, name)).or_default();
            all.push(place);
            Some((name, all.len() as u32))
        }
        TaskWhat::Wait(event) => Some((&event.name, generation(event, process, records)?)),
        TaskWhat::Reset(name) => {
            let so_far = records.get(&(process, name.as_str())).map_or(0, Vec::len);
            Some((name, so_far as u32))
        }
        TaskWhat::Kernel(..) | TaskWhat::Work(..) => None,
    })
}

/// The generation that a reference means at its place in the text.
fn generation(event: &EventRef, process: u32, records: &Records<'_>) -> Result<u32, SyntaxError> {
    let so_far = records.get(&(process, &event.name)).map_or(0, Vec::len);
    match event.generation {
        Some(number) => Ok(number),
        None if so_far > 0 => Ok(so_far as u32),
        None => {
            let name = &event.name;
            let message =
                format!("no rec({name}) before this; write {name}#1, or {name}#0 for unrecorded");
            Err(SyntaxError::new(event.offset, message))
        }
    }
}

/// Ties each wait to the record it waits for and checks that every generation exists.
fn bind(plan: &mut TimelinePlan<'_>, records: &Records<'_>) -> Result<(), SyntaxError> {
    let find = |process: u32, name: &str, number: u32, offset: usize| {
        let Some(before) = number.checked_sub(1) else {
            return Ok(None);
        };
        let all = records.get(&(process, name)).map_or(&[][..], Vec::as_slice);
        match all.get(before as usize) {
            Some(place) => Ok(Some(*place)),
            None => {
                let message = format!("{name} is recorded {} times only", all.len());
                Err(SyntaxError::new(offset, message))
            }
        }
    };
    for task in &mut plan.tasks {
        if let (TaskWhat::Wait(event), Some((name, number))) = (&task.item.what, task.event) {
            task.after[1] = find(task.stream.0, name, number, event.offset)?;
        }
    }
    for call in &plan.calls {
        if let CallOrigin::Call(item, number) = call.origin
            && let CallWhat::SyncEvent(event) | CallWhat::QueryEvent(event, _) = &item.what
        {
            find(call.thread.0, &event.name, number, event.offset)?;
        }
    }
    Ok(())
}

/// Gives a task its time once those before it have theirs.
fn settle_time(tasks: &mut [PlannedTask<'_>], place: usize) -> Result<(), SyntaxError> {
    let [before, record] = tasks[place].after;
    let before = before.map(|place| tasks[place].cursor);
    let start = before.unwrap_or(0);
    let launched = tasks[place]
        .item
        .by
        .map_or(start, |by| start.max(by.time.begin));
    let recorded = record.and_then(|place| tasks[place].time);
    let task = &mut tasks[place];
    task.time = match task.item.time {
        TimeSpec::Given(begin, end) => {
            if before.is_some_and(|before| begin < before) {
                let message = "the task begins before the one before it on the stream ends";
                return Err(SyntaxError::new(task.item.offset, message));
            }
            Some((begin, end))
        }
        TimeSpec::Derived => {
            let end = recorded.map_or(launched, |(_, end)| end.max(launched));
            Some((launched, end))
        }
        TimeSpec::Untimed(_) => None,
    };
    task.cursor = task.time.map_or(launched, |(_, end)| end);
    Ok(())
}

/// Gives every task its launch call: those that are not written out as late as can be.
fn launch(plan: &mut TimelinePlan<'_>) -> Result<(), SyntaxError> {
    for (place, task) in plan.tasks.iter().enumerate() {
        let Some(by) = task.item.by else { continue };
        if by.time.begin > latest_launch(task) {
            let message = "the task begins before its launch call does";
            return Err(SyntaxError::new(task.item.offset, message));
        }
        plan.calls.push(PlannedCall {
            thread: (task.stream.0, by.thread),
            begin: by.time.begin,
            end: by.time.end,
            depth: 0,
            origin: CallOrigin::Task(place),
        });
    }
    let written: Vec<(LaneKey, i64, i64)> = plan
        .calls
        .iter()
        .map(|call| (call.thread, call.begin, call.end))
        .collect();
    let mut deadlines: Vec<i64> = plan.tasks.iter().map(latest_launch).collect();
    let mut next_call: HashMap<LaneKey, i64> = HashMap::new();
    let order = submission_order(&plan.tasks, |place, task| (latest_launch(task), place))?;
    for place in order.into_iter().rev() {
        let task = &plan.tasks[place];
        let begin = match task.item.by {
            Some(by) => by.time.begin,
            None => {
                let thread = (task.stream.0, task.by);
                let next = next_call.get(&thread).copied().unwrap_or(i64::MAX);
                let end = free_end(&written, thread, deadlines[place].min(next));
                next_call.insert(thread, end - 1);
                plan.calls.push(PlannedCall {
                    thread,
                    begin: end - 1,
                    end,
                    depth: 0,
                    origin: CallOrigin::Task(place),
                });
                end - 1
            }
        };
        for before in task.after.into_iter().flatten() {
            deadlines[before] = deadlines[before].min(begin);
        }
    }
    Ok(())
}

fn latest_launch(task: &PlannedTask<'_>) -> i64 {
    task.time.map_or(task.cursor, |(begin, _)| begin)
}

/// The latest time, not after `end`, at which a call of 1 ns can end outside all written calls.
fn free_end(written: &[(LaneKey, i64, i64)], thread: LaneKey, mut end: i64) -> i64 {
    let in_the_way = |end: i64| {
        let mut calls = written.iter().filter(|(key, _, _)| *key == thread);
        calls
            .find(|(_, begin, stop)| *begin < end && end - 1 < *stop)
            .map(|(_, begin, _)| *begin)
    };
    while let Some(begin) = in_the_way(end) {
        end = begin;
    }
    end
}

/// Finds out which calls were made inside others.
fn nest(plan: &mut TimelinePlan<'_>) -> Result<(), SyntaxError> {
    plan.calls
        .sort_by_key(|call| (call.thread, call.begin, std::cmp::Reverse(call.end)));
    let mut open: Vec<(LaneKey, i64)> = Vec::new();
    for call in &mut plan.calls {
        while open
            .last()
            .is_some_and(|(thread, end)| *thread != call.thread || *end <= call.begin)
        {
            open.pop();
        }
        if open.last().is_some_and(|(_, end)| *end < call.end) {
            let offset = match call.origin {
                CallOrigin::Task(place) => plan.tasks[place].item.offset,
                CallOrigin::Call(item, _) => item.offset,
            };
            let message = "the call ends after the one it was made in";
            return Err(SyntaxError::new(offset, message));
        }
        call.depth = open.len().min(usize::from(u8::MAX)) as u8;
        open.push((call.thread, call.end));
    }
    Ok(())
}
