//! How a very long recording opens and scrolls. Run by hand; it makes its file in a temporary folder:
//! `cargo test --release -p ascend-trace-viewer -- --ignored --nocapture --test-threads 1 million_rows`

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use ascend_trace_recording::file::{ChunkWriter, Encoder, RowBatch};
use ascend_trace_recording::rows::Row;
use ascend_trace_recording::{Recording, TimeRange, Trace};
use ascend_trace_testkit::workload::{self, Workload};

use super::harness::{LARGE, Player};
use super::parts::overview;
use crate::derived_data::{DerivedData, LoadedExtent};
use crate::viewport::{MIN_LENGTH, Viewport};

/// Calls and task times of one step of the workload, roughly.
const ROWS_PER_STEP: u64 = 70;
/// Calls and tasks that are read one by one, and entries of sums, as in the command.
const MOST: u64 = 150_000;
const ENTRIES: usize = 4_096;
/// Places that are looked at, at each length of the visible range.
const PLACES: usize = 100;

fn generate(path: &Path, rows: u64) {
    let (session, tables) = workload::leading();
    let out = BufWriter::new(File::create(path).expect("a temporary file"));
    let mut writer = ChunkWriter::create(out, &session, &tables).expect("it takes a header");
    let (sender, batches) = sync_channel::<RowBatch>(8);
    let packer = std::thread::spawn(move || {
        for batch in batches {
            writer.write(&batch).expect("there is room for the file");
        }
    });
    let mut encoder = Encoder::new();
    let workload = Workload {
        steps: (rows / ROWS_PER_STEP) as u32,
        everything: true,
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

/// Largest amount of memory that this process has had since [`forget_peak`], in megabytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().split(' ').next());
    number.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// What making the file took is not what looking at it takes. Without permission the figure is larger
/// than it should be.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The work of the command's reading thread for a range: with the same width on either side, if that is
/// not too much. Returns its result and its duration.
fn look(player: &mut Player, recording: &mut Recording) -> (LoadedPart, Duration) {
    let begin = Instant::now();
    let range = player.app.camera.viewport.range();
    let wide = range.widened(range.duration());
    let near = Arc::new(recording.summary(wide, ENTRIES).expect("the file reads"));
    player.overview.near = near;
    let loaded = [wide, range]
        .into_iter()
        .find_map(|range| Some((recording.window_with_graphs(range, MOST).ok()?, Some(range))));
    let (mut trace, range) = loaded.unwrap_or_else(|| (recording.entities().clone(), None));
    let extent = LoadedExtent {
        is_whole: false,
        is_final: true,
    };
    let derived = DerivedData::of(&mut trace, extent);
    let part = LoadedPart {
        trace,
        derived,
        range,
    };
    (part, begin.elapsed())
}

/// A part of the recording, as the reading thread hands it over to the view.
struct LoadedPart {
    trace: Trace,
    derived: DerivedData,
    range: Option<TimeRange>,
}

/// The time that `share` of a hundred do not exceed.
fn within(times: &mut [Duration], share: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * share / 100]
}

/// Processor time of this thread: what else the machine has to do does not count.
fn processor() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}

/// How long frames took, by the clock and by the processor.
#[derive(Default)]
struct FrameTimes {
    clock: Vec<Duration>,
    processor: Vec<Duration>,
}

impl FrameTimes {
    fn draw(&mut self, player: &mut Player) {
        self.draw_after(player, |_| ());
    }

    /// Draws after something that the view has to do before.
    fn draw_after(&mut self, player: &mut Player, first: impl FnOnce(&mut Player)) {
        let (clock, own) = (Instant::now(), processor());
        first(player);
        player.draw();
        self.processor.push(processor() - own);
        self.clock.push(clock.elapsed());
    }

    fn words(&mut self) -> String {
        format!(
            "frame {:.2?}, p99 {:.2?} by the clock; {:.2?}, p99 {:.2?} of the processor",
            within(&mut self.clock, 50),
            within(&mut self.clock, 99),
            within(&mut self.processor, 50),
            within(&mut self.processor, 99),
        )
    }
}

/// Visits places all over the recording, with three frames each: before the data has been read, while
/// it is handed over, and with a selection.
fn look_around(
    player: &mut Player,
    recording: &mut Recording,
    length: i64,
) -> (FrameTimes, Vec<Duration>) {
    let TimeRange { begin, end } = player.app.document.span.expect("there is something");
    let (mut frames, mut looks) = (FrameTimes::default(), Vec::new());
    for place in 0..PLACES as i64 {
        let room = (end - begin - length).max(0);
        let from = begin + room / PLACES as i64 * place;
        player.app.camera.viewport = Viewport::new(from, from + length);
        frames.draw(player);
        let (part, took) = look(player, recording);
        looks.push(took);
        frames.draw_after(player, |it| {
            it.take_derived(part.trace, part.derived, part.range)
        });
        player.play(["right", "n", "down", "up"][place as usize % 4]);
        player.app.camera.viewport = Viewport::new(from, from + length);
        player.app.jobs = Default::default();
        frames.draw(player);
    }
    (frames, looks)
}

fn measure(folder: &Path, rows: u64) {
    let path = folder.join(format!("{rows}.atrace"));
    let begin = Instant::now();
    generate(&path, rows);
    println!("\n{rows} rows written in {:.1?}", begin.elapsed());
    forget_peak();
    let begin = Instant::now();
    let mut recording = Recording::open(&path, |_, _| true).expect("the file opens");
    let opened = begin.elapsed();
    let overview = overview(&mut recording, ENTRIES);
    let mut player = Player::of_parts(recording.entities().clone(), overview, LARGE);
    player.draw();
    let first = begin.elapsed();
    let size = std::fs::metadata(&path).map_or(0, |it| it.len()) >> 20;
    let rows = recording.rows();
    println!("{rows} rows, {size} MB: opened {opened:.1?}, first frame after {first:.1?}");
    let TimeRange { begin, end } = player.app.document.span.expect("there is something");
    let mut length = end - begin;
    let (mut all, mut looks, mut worst) = (FrameTimes::default(), Vec::new(), Duration::ZERO);
    while length > MIN_LENGTH {
        let (mut frames, mut times) = look_around(&mut player, &mut recording, length);
        println!(
            "{:>9} on screen: {}; reading {:.2?}",
            crate::text::duration(length),
            frames.words(),
            within(&mut times, 50),
        );
        worst = worst.max(within(&mut frames.processor, 99));
        all.clock.extend(frames.clock);
        all.processor.extend(frames.processor);
        looks.extend(times);
        length /= 5;
    }
    println!(
        "all: {}, p99 of the worst length {worst:.2?}; reading {:.2?}; peak {} MB",
        all.words(),
        within(&mut looks, 50),
        peak()
    );
    // A file of this length is not kept longer than it is needed.
    let _ = std::fs::remove_file(path);
}

#[test]
fn the_measured_recording_has_every_kind_of_lane() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("short.atrace");
    generate(&path, 100_000);
    let mut recording = Recording::open(&path, |_, _| true).expect("the file opens");
    let overview = overview(&mut recording, ENTRIES);
    let mut player = Player::of_parts(recording.entities().clone(), overview, LARGE);
    player.play("W home");
    let (part, _) = look(&mut player, &mut recording);
    player.take_derived(part.trace, part.derived, part.range);
    let picture = player.picture();
    let lanes = [
        "device 1",
        "stream 5",
        "└ nodes",
        "└ callbacks",
        "HCCL 0000 rank 1/8",
        "ranges",
        "worker1",
        "overhead",
        "losses",
    ];
    for lane in lanes {
        assert!(picture.contains(lane), "no {lane} in\n{picture}");
    }
}

#[test]
fn nodes_of_a_graph_are_known_far_from_where_it_was_made() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("short.atrace");
    generate(&path, 100_000);
    let mut recording = Recording::open(&path, |_, _| true).expect("the file opens");
    let overview = overview(&mut recording, ENTRIES);
    let mut player = Player::of_parts(recording.entities().clone(), overview, LARGE);
    let TimeRange { begin, end } = player.app.document.span.expect("a span");
    // Between the first and the second capture of each thread.
    let middle = begin + (end - begin) / 6;
    player.app.camera.viewport = Viewport::new(middle, middle + 2_000_000);
    let (part, _) = look(&mut player, &mut recording);
    let captures = part.trace.calls().iter();
    let first = captures.map(|call| call.begin).min().expect("calls");
    assert!(
        first < begin + 1_000_000,
        "the capture at the begin is loaded"
    );
    player.take_derived(part.trace, part.derived, part.range);
    let line = player.line_with("└ nodes");
    assert!(line.contains('⣀') && !line.contains('·'), "{line}");
    // An invisible window does without.
    let range = player.app.camera.viewport.range();
    let plain = recording.window(range, MOST).expect("it is short");
    let first = plain.calls().iter().map(|call| call.begin).min();
    assert!(first.is_some_and(|first| first > begin + 10_000_000));
}

#[test]
#[ignore = "measures, judges nothing"]
fn ten_thousand_to_ten_million_rows() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for rows in [10_000, 100_000, 1_000_000, 10_000_000] {
        measure(folder.path(), rows);
    }
}

#[test]
#[ignore = "measures, judges nothing; writes more than half a gigabyte"]
fn a_hundred_million_rows() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    measure(folder.path(), 100_000_000);
}
