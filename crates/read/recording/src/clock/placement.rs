//! Places a task on the host's clock, from the events around it and from the host's facts about their
//! submission.
//!
//! On an idle stream, the event before a task completes before the task is even submitted, and the
//! event after it may be submitted long after the task has ended. A task on an idle stream runs one
//! *submit latency* after its submission. That latency is known already: the lower end of the clock's
//! band is where the quickest submission of all would have run at once. So a submission at host time
//! `h` cannot have run earlier than `h` plus the latency, and ran then if its stream was idle.

use ascend_trace_format::api::TaskKind;
use ascend_trace_format::time::{DeviceNs, HostNs};

use crate::trace::{TaskRun, TaskTime};

use super::DeviceClockMap;

/// A longer one is not used: the clock is known so badly then that nothing was learnt.
const LONGEST_LATENCY_NS: i64 = 10_000_000;

/// The events around a task. Durations are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PairReading {
    pub(crate) begin: DeviceNs,
    pub(crate) end: DeviceNs,
    pub(crate) kind: TaskKind,
    /// Duration of the event record after the task, and its error. Its time is that of its end.
    pub(crate) record: i64,
    pub(crate) record_open: i64,
    /// The device takes this long from the event to the task, and from the task to the next event.
    pub(crate) turn: i64,
    /// How much shorter and how much longer the task may be since that is not known exactly.
    pub(crate) shorter: i64,
    pub(crate) longer: i64,
    /// The part of both by which the mean of many tasks is not off.
    pub(crate) noise: i64,
    /// Its ends are times of events, not entries of the hardware's log.
    pub(crate) is_of_events: bool,
}

impl PairReading {
    /// Events around a kernel, with records that take no time.
    #[cfg(test)]
    pub(super) fn of_kernel(begin: DeviceNs, end: DeviceNs) -> Self {
        Self {
            begin,
            end,
            kind: TaskKind::Kernel,
            record: 0,
            record_open: 0,
            turn: 0,
            shorter: 0,
            longer: 0,
            noise: 0,
            is_of_events: true,
        }
    }

    /// The task takes no time and has only the event after it.
    pub(super) fn is_moment(self) -> bool {
        self.kind == TaskKind::Record
    }

    /// By how much the duration may be shorter and longer, since records and the way to them are not known exactly.
    fn open_duration(self) -> (i64, i64) {
        let open = |turns: i64| self.open().max(turns.saturating_add(self.record_open));
        (open(self.shorter), open(self.longer))
    }

    /// How much of the duration of records is unknown, at either end: a record task is a record itself.
    fn open(self) -> i64 {
        match self.is_moment() {
            true => self.record_open.saturating_mul(2),
            false => self.record_open,
        }
    }

    /// How far either end may be off in the device's own time.
    fn open_at_ends(self) -> i64 {
        let (shorter, longer) = self.open_duration();
        // A duration is exact to twice the error.
        self.open().max((shorter.max(longer) + 1) / 2)
    }

    /// The same against the host, which does not know on which side of the task the time was spent.
    fn open_on_host(self) -> i64 {
        self.open_at_ends()
            .saturating_add(self.turn)
            .saturating_add(self.shorter.max(self.longer) / 2)
    }

    /// The same with the end where the event after the task began. The record of an event of the
    /// program's takes as long as one of the tool's.
    fn without_record(self) -> Self {
        let end = self.end.minus(self.record.saturating_add(self.turn));
        let begin = if self.is_moment() {
            end.minus(self.record)
        } else {
            self.begin.plus(self.turn)
        };
        Self {
            begin,
            end: end.max(begin),
            ..self
        }
    }
}

/// The host's facts about the submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaunchTimes {
    /// The call that submitted the task.
    pub(crate) begin: HostNs,
    pub(crate) end: HostNs,
    /// The event after the task was submitted by then; `None` when that is not known.
    pub(crate) closed: Option<HostNs>,
}

/// A task's time on the host's clock; `None` while nothing is known about the device's. `near` is kept from one task of the
/// device to the next.
pub(crate) fn place(
    clock: &DeviceClockMap,
    near: &mut usize,
    reading: PairReading,
    launch: LaunchTimes,
) -> Option<TaskTime> {
    let reading = clock.pairs.known(reading);
    let with_record = clock.map_near(reading.end, near)?;
    let reached = with_record.host;
    let end = reading.end;
    let reading = reading.without_record();
    let first = clock.map_near(reading.begin, near)?;
    let last = match reading.end == end {
        true => with_record,
        false => clock.map_near(reading.end, near)?,
    };
    // The length is rounded once and not at both ends.
    let length = reading.end.since(reading.begin);
    let stretched = (last.offset - first.offset).round() as i64;
    let last_host = first.host.plus(length).plus(stretched);
    let (open_shorter, open_longer) = reading.open_duration();
    let Some(closed) = launch.closed else {
        let begin = first.host.max(launch.begin);
        let local_error = clock.tick().saturating_add(reading.open_at_ends());
        return Some(TaskTime {
            begin: begin.ns(),
            end: last_host.max(begin).ns(),
            error: (first.error.max(last.error)).saturating_add(reading.open_on_host()),
            local_error,
            shorter: narrow(clock.tick().saturating_add(open_shorter)),
            longer: narrow(clock.tick().saturating_add(open_longer)),
            noise: narrow(reading.noise),
        });
    };
    // When it ran if its stream was idle, by when the call may have submitted it.
    let latency = Some(first.latency).filter(|latency| *latency <= LONGEST_LATENCY_NS);
    // It was learnt from events, each of which took its time.
    let latency = latency.unwrap_or(0).saturating_sub(reading.record).max(0);
    let earliest = launch.begin.plus(latency);
    let latest = launch.end.plus(first.latency);
    let begin = first.host.max(earliest).min(last_host.max(launch.begin));
    let end = last_host.max(begin);
    // The unknown part of the latency allows for an event that came late; and so does the unknown part
    // of its record's duration, compared with the quickest submission, from which the latency was
    // learnt.
    let is_busy = reached
        > closed
            .plus(last.latency)
            .plus(last.vague)
            .plus(reading.record_open.saturating_mul(2));
    // If the stream was idle when the event after the task arrived, the task had ended before.
    let end_open = match (is_busy, reading.is_moment()) {
        (true, _) => 0,
        (false, true) => end.since(earliest).max(0),
        (false, false) => end.since(begin),
    };
    // The learnt latency is too long by the time that the quickest submission lost between its entry
    // and the queue. On a busy machine that can be much; but the task did not begin before the event
    // before it, and no submission takes less than no time.
    let is_learnt = !reading.is_moment() && begin > first.host;
    let learnt_open = if is_learnt {
        let most = first.latency.saturating_add(first.error);
        begin.since(first.host).min(most)
    } else {
        0
    };
    let vague = if is_learnt { first.vague } else { 0 };
    // Where the quickest submission is far from here, this submission may have taken that much longer too.
    let late_open = if reading.is_moment() {
        end_open
    } else {
        let latest = latest.plus(first.vague);
        latest.min(end).since(begin).max(0)
    };
    // Against the host, a latency that was learnt too long matters as far as the task may have begun earlier: never
    // before its call, and not before the event before it.
    let not_before = match reading.is_moment() {
        true => launch.begin,
        false => launch.begin.max(first.host.minus(first.error)),
    };
    let begin_error = match reading.is_moment() {
        true => 0,
        false => first
            .error
            .saturating_add(late_open)
            .max(begin.since(not_before)),
    };
    let end_error = match is_busy {
        true => last.error,
        false => last.error.max(end.since(not_before)),
    };
    let begin = if reading.is_moment() {
        end.minus(reading.record)
    } else {
        begin
    };
    let rate_open = first.rate_open.max(last.rate_open) * end.since(begin) as f64;
    // How much is open of any task, and at either end.
    let read_open = clock.tick().saturating_add(rate_open.round() as i64);
    let end_read_open = read_open.saturating_add(reading.open_at_ends());
    // The begin may have been earlier, and the end not later. The begin may have been later, and the end earlier.
    let longer = learnt_open.saturating_add(vague);
    let shorter = late_open.max(end_open);
    Some(TaskTime {
        begin: begin.ns(),
        end: end.ns(),
        error: begin_error
            .max(end_error)
            .saturating_add(reading.open_on_host()),
        local_error: end_read_open.saturating_add(longer.max(shorter)),
        shorter: narrow(
            read_open
                .saturating_add(open_shorter)
                .saturating_add(shorter),
        ),
        longer: narrow(read_open.saturating_add(open_longer).saturating_add(longer)),
        noise: narrow(reading.noise),
    })
}

/// The time of a run of tasks that one pair of events encloses. `launch` is that of the first task, and `closed` is the
/// submission of the event after the last one.
pub(crate) fn place_run(
    clock: &DeviceClockMap,
    near: &mut usize,
    (reading, tasks): (PairReading, u32),
    launch: LaunchTimes,
) -> Option<TaskRun> {
    let time = place(clock, near, reading, launch)?;
    let first = clock.map_near(reading.begin, near)?;
    let between = clock.pairs.between_tasks(reading);
    let gaps = i64::from(tasks.saturating_sub(1));
    let switches = |each: i64| each.saturating_mul(gaps);
    // Once the event after them was in the queue, the tasks did not wait for the host.
    let arrived = launch.closed.map(|closed| {
        let open = reading.record_open.saturating_mul(2);
        closed
            .plus(first.latency)
            .plus(first.vague)
            .plus(open.saturating_add(first.error))
    });
    let idle = arrived.map_or(i64::MAX, |arrived| arrived.since(first.host).max(0));
    let (shortest, longest) = time.durations();
    let least = shortest
        .saturating_sub(switches(between.most))
        .saturating_sub(idle);
    let most = longest.saturating_sub(switches(between.least));
    let total = time.duration().saturating_sub(switches(between.usual));
    let least = least.max(0);
    let most = most.max(least);
    Some(TaskRun {
        tasks,
        time,
        total: total.clamp(least, most),
        least,
        most,
    })
}

/// In half of the room, since there is one for each task; more than it holds is as much as it holds.
fn narrow(open: i64) -> u32 {
    u32::try_from(open).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::ClockBound;
    use super::*;

    const OFFSET: i64 = 1_000_000;
    /// From submission to execution on an idle stream.
    const LATENCY: i64 = 3_000;

    /// A clock that was compared with submissions to an idle stream, which were seen complete
    /// after a microsecond.
    fn clock() -> DeviceClockMap {
        let mut clock = DeviceClockMap::new(0);
        let bounds: Vec<ClockBound> = (0..100)
            .map(|i| ClockBound {
                device: DeviceNs::new(i * 10_000_000 + OFFSET),
                earliest: HostNs::new(i * 10_000_000 - LATENCY),
                latest: HostNs::new(i * 10_000_000 + 1_000),
            })
            .collect();
        clock.extend(&bounds, &[]);
        clock.look_back();
        clock
    }

    /// A task's begin and end by host time, and the submission of it and of the event after it.
    fn placed(events: (i64, i64), call: (i64, i64), closed: i64) -> TaskTime {
        let reading = PairReading::of_kernel(
            DeviceNs::new(events.0 + OFFSET),
            DeviceNs::new(events.1 + OFFSET),
        );
        let launch = LaunchTimes {
            begin: HostNs::new(call.0),
            end: HostNs::new(call.1),
            closed: Some(HostNs::new(closed)),
        };
        place(&clock(), &mut 0, reading, launch).unwrap()
    }

    const AT: i64 = 500_000_000;

    #[test]
    fn on_a_busy_stream_the_events_decide() {
        let time = placed((AT, AT + 20_000), (AT - 90_000, AT - 89_000), AT - 88_000);
        assert_eq!(time.end - time.begin, 20_000);
        assert_eq!(time.local_error, 0);
        assert!((time.begin - AT).abs() <= time.error && time.error <= 2_400);
    }

    #[test]
    fn on_an_idle_stream_a_task_begins_a_latency_after_its_submission() {
        // The event before it was done long ago, or just now.
        for (before, open) in [(50_000, 3_900..=4_500), (300, 400..=600)] {
            let time = placed(
                (AT - before, AT + 20_000),
                (AT - 3_400, AT - 2_900),
                AT - 2_500,
            );
            assert!((time.begin - AT).abs() <= 500 + time.error, "{time:?}");
            assert!((time.end - time.begin - 20_000).abs() <= 600, "{time:?}");
            assert!(open.contains(&time.local_error), "{time:?}");
        }
    }

    /// No submission was quick: each lost 400 ns, or five times as much, before it came to the queue.
    #[test]
    fn a_latency_that_was_learnt_too_long_is_covered_by_the_bar() {
        for lost in [400, 2_000] {
            let mut clock = DeviceClockMap::new(0);
            let bounds: Vec<ClockBound> = (0..100)
                .map(|i| ClockBound {
                    device: DeviceNs::new(i * 10_000_000 + OFFSET),
                    earliest: HostNs::new(i * 10_000_000 - LATENCY - lost),
                    latest: HostNs::new(i * 10_000_000 + 1_000_000),
                })
                .collect();
            clock.extend(&bounds, &[]);
            clock.look_back();
            let reading = PairReading::of_kernel(
                DeviceNs::new(AT - lost + OFFSET),
                DeviceNs::new(AT + 20_000 + OFFSET),
            );
            let launch = LaunchTimes {
                begin: HostNs::new(AT - LATENCY - 100),
                end: HostNs::new(AT - LATENCY + 50),
                closed: Some(HostNs::new(AT - LATENCY + 500)),
            };
            let time = place(&clock, &mut 0, reading, launch).unwrap();
            let off = (time.end - time.begin - 20_000).abs();
            assert!(off > lost / 2, "{time:?}");
            assert!(off <= time.local_error, "{time:?}");
        }
    }

    #[test]
    fn a_rate_that_is_hardly_known_leaves_lengths_open() {
        let length = 400_000;
        let placed = |bounds: i64| {
            let mut clock = DeviceClockMap::new(0);
            let bounds: Vec<ClockBound> = (0..bounds)
                .map(|i| ClockBound {
                    device: DeviceNs::new(i * 10_000_000 + OFFSET),
                    earliest: HostNs::new(i * 10_000_000 - LATENCY),
                    latest: HostNs::new(i * 10_000_000 + 1_000),
                })
                .collect();
            clock.extend(&bounds, &[]);
            clock.look_back();
            let reading =
                PairReading::of_kernel(DeviceNs::new(OFFSET), DeviceNs::new(OFFSET + length));
            let launch = LaunchTimes {
                begin: HostNs::new(-90_000),
                end: HostNs::new(-89_000),
                closed: Some(HostNs::new(-88_000)),
            };
            place(&clock, &mut 0, reading, launch).unwrap().local_error
        };
        // One comparison gives no rate; many leave nearly nothing open.
        assert!((80..=172).contains(&placed(1)), "{}", placed(1));
        assert!(placed(100) <= 4, "{}", placed(100));
    }

    #[test]
    fn the_time_of_the_event_after_a_task_is_subtracted_and_its_error_kept() {
        let reading = PairReading {
            record: 1_500,
            record_open: 300,
            ..PairReading::of_kernel(
                DeviceNs::new(AT + OFFSET),
                DeviceNs::new(AT + 21_500 + OFFSET),
            )
        };
        let launch = LaunchTimes {
            begin: HostNs::new(AT - 90_000),
            end: HostNs::new(AT - 89_000),
            closed: Some(HostNs::new(AT - 88_000)),
        };
        let time = place(&clock(), &mut 0, reading, launch).unwrap();
        assert_eq!(time.end - time.begin, 20_000);
        assert_eq!(time.local_error, 300);
        let moment = PairReading {
            begin: DeviceNs::new(AT + 21_500 + OFFSET),
            kind: TaskKind::Record,
            ..reading
        };
        let time = place(&clock(), &mut 0, moment, launch).unwrap();
        assert_eq!(time.end - time.begin, 1_500, "a record itself");
        assert_eq!(time.local_error, 600);
        assert!((time.end - AT - 20_000).abs() <= time.error, "{time:?}");
    }

    #[test]
    fn an_end_event_that_came_late_leaves_the_end_open() {
        // The thread lost its processor for a millisecond between the task and the event.
        let late = 1_000_000;
        let end = AT + late;
        let call = (AT - 3_400, AT - 2_900);
        let time = placed((AT - 300, end), call, end - LATENCY + 100);
        assert!(time.error >= late - 1_000, "{time:?}");
        assert!(time.local_error >= late - 1_000);
        // On a busy stream it was still early enough.
        let time = placed((AT - 300, end), call, end - 2 * LATENCY);
        assert!(time.error < 3_200, "{time:?}");
    }

    /// The latency was learnt from an event with a shorter record.
    #[test]
    fn an_end_event_that_came_late_and_took_long_leaves_the_end_open() {
        let late = 1_000_000;
        let reading = PairReading {
            record: 1_500,
            record_open: 350,
            ..PairReading::of_kernel(
                DeviceNs::new(AT - 300 + OFFSET),
                DeviceNs::new(AT + late + OFFSET),
            )
        };
        let launch = LaunchTimes {
            begin: HostNs::new(AT - 3_400),
            end: HostNs::new(AT - 2_900),
            closed: Some(HostNs::new(AT + late - LATENCY - 600)),
        };
        let time = place(&clock(), &mut 0, reading, launch).unwrap();
        assert!(time.local_error >= late - 3_000, "{time:?}");
    }

    #[test]
    fn nothing_ends_before_it_begins_or_begins_before_its_call() {
        for shift in [-90_000, -4_000, 0, 4_000, 90_000] {
            let time = placed(
                (AT, AT + 10),
                (AT + shift, AT + shift + 50),
                AT + shift + 90,
            );
            assert!(
                time.begin >= AT + shift && time.end >= time.begin,
                "{time:?}"
            );
        }
    }
}
