//! Duration of a frame for traces of different sizes. Run by hand:
//! `cargo test --release -p ascend-trace-viewer -- --ignored --nocapture frames`

use std::time::{Duration, Instant};

use ascend_trace_testkit::whole::GrowingRecording;
use ascend_trace_testkit::workload::{self, Workload};

use super::harness::{LARGE, Player};

#[test]
#[ignore = "measures, judges nothing"]
fn frames_of_a_short_and_a_long_trace() {
    for steps in [50, 500, 5_000, 50_000] {
        let (session, tables) = workload::leading();
        let mut builder = GrowingRecording::new(session, tables);
        let workload = Workload {
            steps,
            ..Workload::default()
        };
        workload::run(workload, |row| builder.apply(row));
        let trace = builder.finish();
        let items = trace.calls().len() + trace.tasks().len();
        let begin = Instant::now();
        let mut player = Player::of(trace, LARGE);
        let opened = begin.elapsed();
        player.play("n right");
        let mut frames = Vec::new();
        for _ in 0..30 {
            let begin = Instant::now();
            player.draw();
            frames.push(begin.elapsed());
            player.play("w");
        }
        frames.sort_unstable();
        let worst = frames.last().copied().unwrap_or(Duration::ZERO);
        println!(
            "{items} items: index {opened:?}, frame {:?}, worst {worst:?}",
            frames[15]
        );
    }
}
