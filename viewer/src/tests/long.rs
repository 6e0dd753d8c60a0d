//! How a very long recording opens and scrolls. Run by hand; it makes its file in a temporary folder:
//! `cargo test --release -p ascend-trace-viewer -- --ignored --nocapture hundred_million`

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use ascend_trace_model::Archive;
use ascend_trace_model::file::{Batch, ChunkWriter, Encoder};
use ascend_trace_model::rows::Row;
use ascend_trace_testkit::workload::{self, Workload};

use super::harness::{LARGE, Player};
use crate::part::Overview;

/// Calls and task times of one step of the workload, roughly.
const ROWS_PER_STEP: u64 = 65;
/// Calls and tasks that are read one by one, as in the command.
const MOST: u64 = 150_000;
const FRAMES: usize = 300;

fn generate(path: &Path, rows: u64) {
    let (session, tables) = workload::leading();
    let out = BufWriter::new(File::create(path).expect("a temporary file"));
    let mut writer = ChunkWriter::create(out, &session, &tables).expect("it takes a header");
    let (sender, batches) = sync_channel::<Batch>(8);
    let packer = std::thread::spawn(move || {
        for batch in batches {
            writer.write(&batch).expect("there is room for the file");
        }
    });
    let mut encoder = Encoder::new();
    let workload = Workload {
        steps: (rows / ROWS_PER_STEP) as u32,
        ..Workload::default()
    };
    workload::run(workload, |row| {
        let is_end = matches!(row, Row::End(_));
        if encoder.push(&row) || is_end {
            sender.send(encoder.seal()).expect("the packer runs");
        }
    });
    drop(sender);
    packer.join().expect("the packer has ended well");
}

fn overview(archive: &mut Archive) -> Overview {
    let counts = archive.counts();
    let whole = archive.summary((i64::MIN, i64::MAX), 4_096);
    let whole = Arc::new(whole.expect("the file reads"));
    Overview {
        span: archive.span(),
        calls: counts.calls,
        tasks: counts.tasks,
        near: Arc::clone(&whole),
        whole,
        loaded: None,
        opening: None,
    }
}

/// Largest amount of memory that this process has had, in kilobytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().split(' ').next());
    number.and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// What the reading thread of the command does for a range.
fn look(player: &mut Player, archive: &mut Archive) -> Duration {
    let begin = Instant::now();
    let range = (player.app.viewport.begin(), player.app.viewport.end());
    let near = Arc::new(archive.summary(range, 4_096).expect("the file reads"));
    if let Some(overview) = &mut player.overview {
        overview.near = near;
    }
    match archive.window(range, MOST) {
        Ok(trace) => player.take_part(trace, Some(range)),
        Err(_) => player.take_part(archive.things().clone(), None),
    }
    begin.elapsed()
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "{what}: median {:.1?}, p99 {:.1?}, worst {:.1?}",
        at(50),
        at(99),
        at(100)
    );
}

#[test]
#[ignore = "measures, judges nothing; writes half a gigabyte"]
fn a_hundred_million_rows() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for rows in [10_000, 1_000_000, 100_000_000] {
        let path = folder.path().join(format!("{rows}.atrace"));
        let begin = Instant::now();
        generate(&path, rows);
        println!(
            "\n{rows} rows written in {:.1?}, peak {} kB",
            begin.elapsed(),
            peak()
        );
        let begin = Instant::now();
        let mut archive = Archive::open(&path, |_, _| true).expect("the file opens");
        let opened = begin.elapsed();
        let overview = overview(&mut archive);
        let mut player = Player::of_parts(archive.things().clone(), overview, LARGE);
        player.draw();
        println!(
            "{} rows: opened {opened:.1?}, first frame after {:.1?}, peak {} kB",
            archive.rows(),
            begin.elapsed(),
            peak()
        );
        let (mut frames, mut looks) = (Vec::new(), Vec::new());
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..FRAMES {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let keys = ["w", "W", "W", "s", "S", "d", "a", "d", "a", "0"];
            player.play(keys[(random >> 20) as usize % keys.len()]);
            // Before what is on screen has been read, and after.
            for _ in 0..2 {
                let begin = Instant::now();
                player.draw();
                frames.push(begin.elapsed());
                if frames.len() % 2 == 1 {
                    looks.push(look(&mut player, &mut archive));
                }
            }
        }
        report("frames", frames);
        report("reading what is on screen", looks);
        println!("peak {} kB", peak());
    }
}
