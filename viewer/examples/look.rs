//! Opens the view on a synthetic trace, to try changes of the view.
//!
//! `look` shows a small trace, `look live` lets it grow, `look N` shows N steps of a long one.

use std::borrow::Cow;
use std::error::Error;
use std::time::{Duration, Instant};

use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::whole::GrowingRecording;
use ascend_trace_testkit::workload::{self, Workload};
use ascend_trace_viewer::{
    DerivedData, LoadedExtent, ProgramLog, RecordingOverview, RecordingState, SourceProgress,
    TraceSource, ViewOptions, run,
};

const SCENE: &str = "
s0: memset(65536)[60us..90us] Dropout[timing-off]
s1: memcpy(4194304)[100us..480us] rec(in) memcpy(4194304)[500us..890us] rec(in2)
s1: memcpy(4194304)[900us..1280us] rec(in3)
s2: wait(in) MatMul[481us..1100us] rec(mid) Gelu[1101us..1180us] wait(in3) MatMul[1281us..1700us] rec(out)
s3: wait(mid) Softmax[1101us..1500us] rec(side) Add[1502us..1540us] hostfunc[1545us..1600us]
s4@1: wait(out) LayerNorm[1701us..1900us] memcpy(1048576)[1905us..2100us] rec(done)
t1: aclrtMalloc(4194304)[5us..25us] aclrtMalloc(4194304)[26us..40us] sync(s3)[700us..1610us]
t1: aclrtFree(64)[1620us..1640us]=107000 sync(done)[1650us..2101us] aclrtFree(65)[2110us..2130us]
t2: query(s2)[800us..803us] query(s2)[900us..904us] query(s2)[1000us..1003us] sync(s2)[1200us..1702us]
";

/// Rows that appear over time, as in a recording.
struct Playback {
    rows: std::iter::Peekable<std::vec::IntoIter<Row>>,
    builder: GrowingRecording,
    /// As of the last look.
    shown: Trace,
    overview: RecordingOverview,
    has_more: bool,
    begin: Instant,
    /// Rows per second; `None` for all rows at once.
    pace: Option<f64>,
    taken: usize,
    log: GeneratedLog,
}

struct GeneratedLog(Vec<String>);

impl ProgramLog for GeneratedLog {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn line(&self, index: usize) -> Option<Cow<'_, str>> {
        self.0.get(index).map(Cow::from)
    }
}

impl TraceSource for Playback {
    fn poll(&mut self) -> Result<SourceProgress, Box<dyn Error + Send + Sync>> {
        let due = match self.pace {
            Some(pace) => (self.begin.elapsed().as_secs_f64() * pace) as usize,
            None => usize::MAX,
        };
        let before = self.taken;
        while self.taken < due {
            let Some(row) = self.rows.next() else {
                break;
            };
            self.builder.apply(row);
            self.taken += 1;
            if self.pace.is_some() {
                self.log.0.push(format!(
                    "step {}: loss {:.4}",
                    self.taken,
                    1.0 / self.taken as f64
                ));
            }
        }
        self.builder.settle();
        let recording = match self.rows.peek() {
            Some(_) => RecordingState::Running,
            None => RecordingState::Ended { status: 0 },
        };
        self.has_more |= self.taken > before;
        Ok(SourceProgress {
            changed: self.taken > before,
            recording,
            lag: Some(Duration::from_millis(12)),
            ..SourceProgress::default()
        })
    }

    fn next_part(&mut self) -> Option<DerivedData> {
        if !std::mem::take(&mut self.has_more) {
            return None;
        }
        self.shown = self.builder.trace().clone();
        self.overview = RecordingOverview::of_whole(&self.shown);
        let extent = LoadedExtent {
            is_whole: true,
            is_final: self.rows.peek().is_none(),
        };
        Some(DerivedData::of(&mut self.shown, extent))
    }

    fn overview(&self) -> &RecordingOverview {
        &self.overview
    }

    fn trace(&self) -> &Trace {
        &self.shown
    }

    fn log(&self) -> Option<&dyn ProgramLog> {
        self.pace.is_some().then_some(&self.log)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let (session, tables, rows) = match argument.parse() {
        Ok(steps) => {
            let (session, tables) = workload::leading();
            let mut rows = Vec::new();
            let workload = Workload {
                steps,
                ..Workload::default()
            };
            workload::run(workload, |row| rows.push(row));
            (session, tables, rows)
        }
        Err(_) => {
            let timeline = Timeline::parse(SCENE)?;
            (timeline.session, timeline.tables, timeline.rows)
        }
    };
    let live = argument == "live";
    let mut source = Playback {
        rows: rows.into_iter().peekable(),
        builder: GrowingRecording::new(session, tables),
        shown: Trace::default(),
        overview: RecordingOverview::default(),
        has_more: false,
        begin: Instant::now(),
        pace: live.then_some(8.0),
        taken: 0,
        log: GeneratedLog(Vec::new()),
    };
    let options = ViewOptions {
        title: "./train --steps 3".to_owned(),
        live,
        ..ViewOptions::default()
    };
    let outcome = run(&mut source, options)?;
    let mut out = std::io::stdout().lock();
    std::io::Write::write_fmt(&mut out, format_args!("{outcome:?}\n"))?;
    Ok(())
}
