//! Recordings with known true times.

use ascend_trace_format::api::AnchorSource;
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::*;
use ascend_trace_recording::{Recording, TaskTime, Trace};
use ascend_trace_testkit::whole::from_rows;

pub(super) const SECOND: i64 = 1_000_000_000;
pub(super) const TICK: i64 = 20;

/// A device clock: its reading at a host time.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceClock {
    pub(super) offset: i64,
    pub(super) drift_ppm: f64,
    /// The drift swings by this much, once a minute.
    pub(super) swing_ppm: f64,
    pub(super) tick: i64,
}

impl DeviceClock {
    pub(super) fn steady(offset: i64, drift_ppm: f64) -> Self {
        Self {
            offset,
            drift_ppm,
            swing_ppm: 0.0,
            tick: TICK,
        }
    }

    pub(super) fn read(&self, host: i64) -> i64 {
        let period = 60.0 * SECOND as f64 / std::f64::consts::TAU;
        let swing = self.swing_ppm * period * (1.0 - (host as f64 / period).cos());
        let gained = (host as f64 * self.drift_ppm + swing) / 1e6;
        (host + gained as i64 + self.offset).div_euclid(self.tick) * self.tick
    }
}

/// A small random generator: shrinking would take the randomness out of the jitter.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn below(&mut self, limit: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % limit.max(1) as u64) as i64
    }
}

/// A recording of one stream with known true times.
pub(super) struct KnownRecording {
    pub(super) clock: DeviceClock,
    pub(super) phase: i64,
    pub(super) random: Random,
    pub(super) rows: Vec<Row>,
    pub(super) truth: Vec<(i64, i64)>,
}

impl KnownRecording {
    pub(super) fn new(clock: DeviceClock, seed: u64) -> Self {
        Self {
            clock,
            phase: 0,
            random: Random(seed | 1),
            rows: Vec::new(),
            truth: Vec::new(),
        }
    }

    /// An anchor with a band up to `band` wide, and the reading anywhere in it.
    pub(super) fn anchor(&mut self, before_ns: i64, band: i64) {
        self.reading(before_ns, band, AnchorSource::Event);
    }

    /// The same, from the driver. Times of events are on a clock that is `phase` off the driver's.
    pub(super) fn driver(&mut self, before_ns: i64, band: i64) {
        self.reading(before_ns, band, AnchorSource::Driver);
    }

    fn reading(&mut self, before_ns: i64, band: i64, source: AnchorSource) {
        let phase = if source == AnchorSource::Driver {
            self.phase
        } else {
            0
        };
        let inside = self.random.below(band);
        let after_ns = before_ns + inside + self.random.below(band - inside);
        self.rows.push(Row::Anchor(AnchorRow {
            process: 0,
            device: 0,
            before_ns,
            after_ns,
            device_ns: self.clock.read(before_ns + inside) + phase,
            source: source as u8,
        }));
    }

    /// A task that ran from `begin` to `end` and was launched and seen that much earlier and later.
    pub(super) fn task(&mut self, begin: i64, end: i64, launched: i64, seen: i64) {
        let sequence = self.truth.len() as u32;
        self.truth.push((begin, end));
        self.rows.push(Row::Call(CallRow {
            begin_ns: begin - launched,
            end_ns: begin - launched,
            device: Some(0),
            stream: Some(0),
            task: Some(TaskRow {
                sequence,
                kind: 3,
                untimed: 0,
            }),
            ..CallRow::default()
        }));
        self.rows.push(Row::TaskTime(TaskTimeRow {
            process: 0,
            stream: 0,
            sequence,
            untimed: 0,
            begin_device_ns: self.clock.read(begin),
            end_device_ns: self.clock.read(end),
            seen_ns: end + seen,
            arming_ns: 0,
            submitting_ns: 0,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        }));
    }

    /// A task of a call that begins at `called` on an idle stream, with the events around it: it begins
    /// a `latency` after its call, plus the time that the call lost.
    pub(super) fn idle_task(&mut self, called: i64, latency: i64, lost: i64, length: i64) {
        let (begin, armed, closed) = (called + lost + latency, 500, lost + 600);
        let end = begin + length.max(600);
        self.task(
            begin,
            end,
            begin - called,
            2_000 + self.random.0 as i64 % 512,
        );
        // The time that the call lost before the queue took the task is part of the call.
        if let Some(Row::Call(row)) = self.rows.iter_mut().rev().nth(1) {
            row.end_ns = called + lost;
        }
        let before = self.clock.read(called - armed + latency + 50);
        if let Some(Row::TaskTime(row)) = self.rows.last_mut() {
            row.begin_device_ns = before;
            row.arming_ns = armed as u32;
            row.submitting_ns = closed as u32;
        }
    }

    /// The same with event records that take time: an event's time is that of the end of its record.
    pub(super) fn idle_task_with_records(&mut self, called: i64, latency: i64, record: i64) {
        self.idle_task(called, latency, 0, 1_000);
        // The host was held up between the launch and the record after it.
        let closed = called + 20_000 - self.random.below(2) * 19_400;
        let end = (called + latency + 1_000).max(closed + latency);
        let armed = record + 500;
        let before = self.clock.read(called - armed + latency + 50 + record);
        let after = self.clock.read(end + record);
        if let Some(Row::TaskTime(row)) = self.rows.last_mut() {
            row.begin_device_ns = before;
            row.arming_ns = armed as u32;
            row.end_device_ns = after;
            row.seen_ns = end + record + 5_000;
            row.submitting_ns = (closed - called + 50) as u32;
            row.record_ns = record as u32;
        }
    }

    /// Tasks back to back over a while, launched long before and seen long after.
    pub(super) fn busy(&mut self, from: i64, to: i64, step: i64) {
        let mut begin = from;
        while begin < to {
            let end = begin + 1 + self.random.below(step);
            self.task(begin, end, SECOND, SECOND);
            begin = end;
        }
    }

    /// The trace when the recording has ended, or while it goes on.
    pub(super) fn load(&self, ended: bool) -> Trace {
        let end = ended.then(|| Row::End(EndRow::default()));
        let rows = self.rows.iter().cloned().chain(end);
        from_rows(SessionRow::default(), TablesRow::default(), rows)
    }

    /// The trace of the ended recording as read from a file with an index of the tightest bounds.
    pub(super) fn read(&self) -> Trace {
        let (session, tables) = (SessionRow::default(), TablesRow::default());
        let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
        for row in &self.rows {
            writer.push(row.clone()).unwrap();
        }
        let bytes = writer.finish(EndRow::default()).unwrap();
        let mut recording = Recording::from_bytes(bytes).unwrap();
        recording.window((i64::MIN, i64::MAX), u64::MAX).unwrap()
    }

    /// The tasks' mapped times with their true ones.
    pub(super) fn judged(&self) -> Vec<(TaskTime, (i64, i64))> {
        self.judge(&self.load(true))
    }

    pub(super) fn judge(&self, trace: &Trace) -> Vec<(TaskTime, (i64, i64))> {
        let times = trace.tasks().iter().map(|task| task.time.unwrap());
        times.zip(self.truth.iter().copied()).collect()
    }
}
