//! Random programs: a named culprit always has unfinished work.

use ascend_trace_analysis::{Cause, Dependencies, Lane, Node, Root, Stall, Stalls};
use ascend_trace_recording::{TaskId, Trace};
pub(super) use ascend_trace_testkit::racy::Dice;
use ascend_trace_testkit::timeline;

const STREAMS: usize = 3;

/// A thread that submits work, records, waits and copies to three streams, sleeps, and waits for streams,
/// events and the device: each for as long as it has to, and then a little longer.
pub(super) fn program(dice: &mut Dice, operations: usize) -> String {
    let mut text = String::new();
    let (mut now, mut ready) = (0, [0_i64; STREAMS]);
    let mut records: Vec<i64> = Vec::new();
    for _ in 0..operations {
        let stream = dice.roll(STREAMS as u64) as usize;
        let (called, returned) = (now, now + 1_000);
        let begin = ready[stream].max(returned);
        let late = [10, 300, 9_000][dice.roll(3) as usize];
        let by = format!("by t1[{called}..{returned}]");
        let on = format!("s{}:", stream + 1);
        now = returned;
        match dice.roll(8) {
            0 => {
                records.push(begin);
                ready[stream] = begin;
                text += &format!("{on} rec(E{})[{begin}..{begin}] {by}\n", records.len() - 1);
            }
            1 if !records.is_empty() => {
                let event = dice.roll(records.len() as u64) as usize;
                let end = begin.max(records[event]);
                ready[stream] = end;
                text += &format!("{on} wait(E{event})[{begin}..{end}] {by}\n");
            }
            2 if !records.is_empty() => {
                let event = dice.roll(records.len() as u64) as usize;
                now = called.max(records[event]) + late;
                text += &format!("t1: sync(E{event})[{called}..{now}]\n");
            }
            3 => {
                now = called.max(ready[stream]) + late;
                text += &format!("t1: sync(s{})[{called}..{now}]\n", stream + 1);
            }
            4 => {
                now = called.max(ready.into_iter().max().unwrap_or(0)) + late;
                text += &format!("t1: sync()[{called}..{now}]\n");
            }
            5 => {
                now = called.max(ready[stream]) + late;
                text += &format!("{on} memcpy(64)[host-copy] by t1[{called}..{now}]\n");
            }
            6 => now += 5 * late,
            _ => {
                ready[stream] = begin + [500, 4_000, 40_000][dice.roll(3) as usize];
                text += &format!("{on} K[{begin}..{}] {by}\n", ready[stream]);
            }
        }
    }
    text
}

/// The tasks that are named for a stall.
fn named(
    trace: &Trace,
    dependencies: &Dependencies,
    stalls: &Stalls,
    stall: &Stall,
) -> Vec<TaskId> {
    let evidence = stalls.evidence(trace, dependencies, stall);
    let links = evidence.chain.links.iter();
    let mut named: Vec<TaskId> = links
        .flat_map(|link| [Some(link.record), link.task])
        .flatten()
        .collect();
    named.extend(evidence.culprit.record);
    named.extend(evidence.culprit.task);
    if let Some(Root::Task(task)) = evidence.chain.root {
        named.push(task);
    }
    named
}

#[test]
fn no_task_that_ended_before_the_stall_is_named() {
    let mut dice = Dice(5);
    let (mut waits, mut named_tasks) = (0, 0);
    for _ in 0..60 {
        let text = program(&mut dice, 60);
        let trace = timeline(&text);
        let dependencies = Dependencies::of(&trace);
        let stalls = Stalls::with(&trace, &dependencies);
        for stall in stalls.iter() {
            waits += usize::from(stall.cause == Cause::HostSync);
            for task in named(&trace, &dependencies, &stalls, stall) {
                named_tasks += 1;
                let time = trace.task(task).time;
                let end = time.map_or(i64::MAX, |time| time.end.saturating_add(time.error));
                assert!(
                    end >= stall.begin,
                    "{stall:?} names {task:?}, {end}:\n{text}"
                );
            }
        }
    }
    assert!(waits > 150 && named_tasks > 250, "{waits} {named_tasks}");
}

#[test]
fn a_blocking_call_is_waiting_and_return_latency_and_nothing_else() {
    let mut dice = Dice(9);
    let mut latencies = 0;
    for _ in 0..30 {
        let trace = timeline(&program(&mut dice, 60));
        let stalls = Stalls::of(&trace);
        for thread in (0..trace.threads().len() as u32).map(ascend_trace_recording::ThreadId) {
            for id in trace.thread_calls(thread) {
                let call = trace.call(*id);
                let own = stalls.lane(Lane::Thread(thread)).iter();
                let own: Vec<&Stall> = own.filter(|it| it.node == Node::Call(*id)).collect();
                let name = &trace.function(call.function).name;
                if !name.contains("Synchronize") {
                    continue;
                }
                let sum: i64 = own.iter().map(|it| it.length()).sum();
                assert_eq!(sum, call.end - call.begin, "{own:?}");
                // How long this program's calls take to return.
                let last = own.last().map(|it| (it.cause, it.length()));
                assert!(
                    matches!(last, Some((Cause::ReturnLatency, 10 | 300 | 9_000))),
                    "{own:?}"
                );
                latencies += 1;
            }
        }
    }
    assert!(latencies > 300, "{latencies}");
}
