//! Measures whether the live view keeps up, and how much it slows the recording down.
//!
//! `cargo bench --bench live [-- SECONDS]` records a paced program twice at each rate: under the view
//! in a terminal of 150 by 40 cells, and without it. It prints the longest time without a repaint, the
//! latency of key presses, the lag of the view, and the losses in both cases. A thread that sleeps ten
//! milliseconds in a loop shows the delay that the machine itself adds.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod support {
    pub(crate) mod command;
    pub(crate) mod programs;
    pub(crate) mod soft;
}

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::Pty;

use support::command::{Result, TOOL};

const THREADS: u64 = 2;
const RATES: [u64; 4] = [10_000, 100_000, 1_000_000, 3_000_000];
const ROWS: u16 = 40;
const COLUMNS: u16 = 150;
/// Bytes that come closer together than this belong to one repaint.
const PAUSE: Duration = Duration::from_millis(2);
/// Pause between the repaint after one key press and the next key press.
const BETWEEN_KEYS: Duration = Duration::from_millis(150);
/// From one look at the processor time of threads to the next one.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// Limit for the repaint after a key press.
const PATIENCE: Duration = Duration::from_secs(60);
/// Text that the first key shows, and the second key removes.
const PROMPT: &str = "/regex/  argument=value";

fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let seconds = std::env::args().find_map(|word| word.parse().ok());
    let seconds: u64 = seconds.unwrap_or(15);
    let paced = support::programs::compile(&["paced.c"], "paced", folder.path())?;
    println!("calls/s: offered, made | still at most | key: median, p99 | calls on screen after");
    println!("  behind: share of the time, most | lost with, without the view");
    println!(
        "  recorder's processor time with, without it; share of a processor | late wake-ups: p99, most"
    );
    for rate in RATES {
        let words = [THREADS, rate, seconds].map(|number| number.to_string());
        let program = |folder: &Path| -> Command {
            let mut command = Command::new(TOOL);
            command.args(["record", "--force", "--soft", "--timing", "off", "-o"]);
            command.arg(trace(folder));
            command
        };
        let mut command = program(folder.path());
        command.arg("--").arg(&paced).args(&words);
        let sleeper = Sleeper::start();
        let watched = watch(command, folder.path())?;
        let late = sleeper.finish();
        let mut command = program(folder.path());
        command.args(["--no-tui", "--"]).arg(&paced).args(&words);
        let output = command.output()?;
        let alone = figures(&String::from_utf8(output.stdout)?)?;
        let lost_alone = lost(&String::from_utf8(output.stderr)?, alone)?;
        watched.print(rate, seconds, &late, (alone, lost_alone));
    }
    let load = std::fs::read_to_string("/proc/loadavg")?;
    println!("load of the machine at the end: {}", load.trim());
    Ok(())
}

fn trace(folder: &Path) -> PathBuf {
    folder.join("bench.atrace")
}

/// Figures of the view in one recording.
#[derive(Default)]
struct ViewFigures {
    /// Between two repaints, while the program ran.
    gaps: Vec<Duration>,
    keys: Vec<Duration>,
    /// When the first calls were on screen.
    filled: Option<Duration>,
    /// Repaints, and those that said that the view was behind.
    repaints: usize,
    behind: usize,
    /// The longest reported lag, in milliseconds.
    lag: f64,
    /// Calls, seconds, the program's processor seconds, those of the process that started it.
    figures: [f64; 4],
    /// Processor seconds of the recorder's threads, by name.
    threads: BTreeMap<String, f64>,
    lost: u64,
}

impl ViewFigures {
    fn print(&self, rate: u64, seconds: u64, late: &[Duration], alone: ([f64; 4], u64)) {
        let per_call = |seconds: f64, figures: [f64; 4]| seconds * 1e9 / figures[0];
        let own = self.threads.values().sum();
        let share = |seconds: &f64| 100.0 * seconds / self.figures[1];
        let threads = self.threads.iter();
        let threads: Vec<String> = threads
            .map(|(name, seconds)| (name, share(seconds)))
            .filter(|(_, share)| *share >= 0.5)
            .map(|(name, share)| format!("{name} {share:.0} %"))
            .collect();
        println!(
            "{rate}, {:.0} | {:.0} ms | {:.1} ms, {:.1} ms ({} keys) | {:.2} s",
            self.figures[0] / self.figures[1],
            ms(quantile(&self.gaps, 1.0)),
            ms(quantile(&self.keys, 0.5)),
            ms(quantile(&self.keys, 0.99)),
            self.keys.len(),
            self.filled.map_or(f64::NAN, |time| time.as_secs_f64()),
        );
        println!(
            "  {:.0} % of {} repaints in {seconds} s, {:.0} ms | {} lost, {} lost without the view",
            100.0 * self.behind as f64 / self.repaints.max(1) as f64,
            self.repaints,
            self.lag,
            self.lost,
            alone.1,
        );
        println!(
            "  {:.0} ns a call, {:.0} ns a call; {} | {:.1} ms, {:.1} ms",
            per_call(own, self.figures),
            per_call(alone.0[3], alone.0),
            threads.join(", "),
            ms(quantile(late, 0.99)),
            ms(quantile(late, 1.0)),
        );
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn quantile(times: &[Duration], part: f64) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    let place = (times.len() as f64 * part) as usize;
    let last = times.len().saturating_sub(1);
    times.get(place.min(last)).copied().unwrap_or_default()
}

/// The terminal that the view runs in.
struct Terminal {
    pty: Arc<Pty>,
    written: Receiver<(Instant, Vec<u8>)>,
    screen: vt100::Parser,
}

/// Result of waiting for the view.
enum WaitResult {
    Repaint(Instant),
    Nothing,
    Closed,
}

impl Terminal {
    /// Waits for a repaint, until `until` at the latest.
    fn next(&mut self, until: Instant) -> WaitResult {
        let mut begun = None;
        loop {
            let now = Instant::now();
            let wait = match begun {
                None => until.saturating_duration_since(now),
                Some(_) => PAUSE,
            };
            match self.written.recv_timeout(wait) {
                Ok((at, bytes)) => {
                    begun.get_or_insert(at);
                    self.screen.process(&bytes);
                }
                Err(RecvTimeoutError::Timeout) => {
                    return begun.map_or(WaitResult::Nothing, WaitResult::Repaint);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return begun.map_or(WaitResult::Closed, WaitResult::Repaint);
                }
            }
        }
    }

    fn shows(&self, text: &str) -> bool {
        self.screen.screen().contents().contains(text)
    }

    fn press(&self, keys: &str) -> std::io::Result<()> {
        (&*self.pty).write_all(keys.as_bytes())
    }
}

fn start(command: Command) -> Result<(Terminal, std::process::Child)> {
    let (pty, pts) = pty_process::blocking::open()?;
    pty.resize(Size::new(ROWS, COLUMNS))?;
    let command = pty_process::blocking::Command::from(command);
    let child = command.env("TERM", "xterm-256color").spawn(pts)?;
    let pty = Arc::new(pty);
    let (sender, written) = channel();
    let source = Arc::clone(&pty);
    std::thread::spawn(move || {
        let mut buffer = [0; 1 << 16];
        while let Ok(length @ 1..) = (&*source).read(&mut buffer) {
            if sender
                .send((Instant::now(), buffer[..length].to_vec()))
                .is_err()
            {
                return;
            }
        }
    });
    let size = |cells: u16| std::num::NonZero::new(cells).ok_or("an empty screen");
    let terminal = Terminal {
        pty,
        written,
        screen: vt100::Parser::new(size(ROWS)?, size(COLUMNS)?, 0),
    };
    Ok((terminal, child))
}

/// Watches a recording in the view and presses keys meanwhile.
fn watch(command: Command, folder: &Path) -> Result<ViewFigures> {
    let log = folder.join("bench.atrace.log");
    // An existing log would not be replaced.
    let _ = std::fs::remove_file(&log);
    let (mut terminal, mut child) = start(command)?;
    let begun = Instant::now();
    let mut watched = ViewFigures::default();
    let mut last: Option<Instant> = None;
    // The key press without a repaint yet, its time, and whether it opens the prompt.
    let mut asked: Option<Instant> = None;
    let mut opens = true;
    let mut looked = begun;
    let mut next_key = begun + Duration::from_secs(1);
    loop {
        let limit = asked.unwrap_or(begun) + PATIENCE;
        let until = if asked.is_none() { next_key } else { limit };
        match terminal.next(until) {
            WaitResult::Repaint(at) => {
                if terminal.shows("● live") {
                    if let Some(last) = last.replace(at) {
                        watched.gaps.push(at - last);
                    }
                    watched.note(&terminal, at - begun);
                }
                if let Some(pressed) = asked
                    && terminal.shows(PROMPT) == opens
                {
                    watched.keys.push(at.saturating_duration_since(pressed));
                    asked = None;
                    opens = !opens;
                    next_key = at + BETWEEN_KEYS;
                }
                if looked.elapsed() > BETWEEN_LOOKS && !terminal.shows("program ended") {
                    looked = Instant::now();
                    // Threads that have ended keep their last value.
                    watched.threads.extend(processor_seconds(child.id()));
                }
                if terminal.shows("program ended") && asked.is_none() {
                    break;
                }
            }
            WaitResult::Nothing if asked.is_some() => {
                return Err("a key had no effect in time".into());
            }
            WaitResult::Nothing => {
                terminal.press(if opens { "/" } else { "\x1b" })?;
                asked = Some(Instant::now());
            }
            WaitResult::Closed => return Err("the view ended by itself".into()),
        }
    }
    if !opens {
        terminal.press("\x1b")?;
        std::thread::sleep(BETWEEN_KEYS);
    }
    terminal.press("q")?;
    let mut said = Vec::new();
    while let Ok((_, bytes)) = terminal.written.recv_timeout(PATIENCE) {
        said.extend(bytes);
    }
    child.wait()?;
    watched.figures = figures(&std::fs::read_to_string(&log)?)?;
    watched.lost = lost(&String::from_utf8_lossy(&said), watched.figures)?;
    Ok(watched)
}

impl ViewFigures {
    /// Reads the figures from the last lines of the screen.
    fn note(&mut self, terminal: &Terminal, time: Duration) {
        let contents = terminal.screen.screen().contents();
        let Some(status) = contents.lines().find(|line| line.contains("tasks ")) else {
            return;
        };
        self.repaints += 1;
        self.behind += usize::from(status.contains("behind "));
        if self.filled.is_none() && !status.contains("calls 0 ") && contents.contains("thread ") {
            self.filled = Some(time);
        }
        let mut words = status.split_whitespace().skip_while(|word| *word != "lag");
        if let (Some(_), Some(number), Some(unit)) = (words.next(), words.next(), words.next()) {
            let unit = match unit {
                "s" => 1e3,
                "µs" => 1e-3,
                _ => 1.0,
            };
            let lag = number.parse::<f64>().unwrap_or(0.0) * unit;
            self.lag = self.lag.max(lag);
        }
    }
}

/// Processor time of the threads of a process, by name: the first one draws.
fn processor_seconds(process: u32) -> BTreeMap<String, f64> {
    let mut seconds = BTreeMap::new();
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let read = |name: &str| std::fs::read_to_string(task.path().join(name));
        let used = read("schedstat").unwrap_or_default();
        let used = used
            .split(' ')
            .next()
            .and_then(|used| used.parse::<f64>().ok());
        let name = match task.file_name() == *process.to_string() {
            true => "view".to_owned(),
            false => read("comm").unwrap_or_default().trim().to_owned(),
        };
        *seconds.entry(name).or_default() += used.unwrap_or(0.0) / 1e9;
    }
    seconds
}

/// The four numbers that the program prints.
fn figures(said: &str) -> Result<[f64; 4]> {
    let numbers = said.split_whitespace().map(str::parse::<f64>);
    let numbers: Vec<f64> = numbers.collect::<std::result::Result<_, _>>()?;
    <[f64; 4]>::try_from(numbers).map_err(|numbers| format!("no figures: {numbers:?}").into())
}

/// Lost calls by the summary: recorded and lost calls add up to all calls.
fn lost(said: &str, figures: [f64; 4]) -> Result<u64> {
    let lines = || said.lines();
    let recorded = lines().find(|line| line.contains("bench.atrace ("));
    let recorded = recorded.and_then(|line| number_before(line, " call"));
    let recorded = recorded.ok_or_else(|| format!("the summary names no calls: {said}"))?;
    let lost = lines().find(|line| line.contains("LOST") && line.contains("no room in memory"));
    let lost = lost
        .and_then(|line| number_before(line, " call"))
        .unwrap_or(0);
    // In addition to the measured calls, the program initialises, and each thread sets its device.
    let made = figures[0] as u64 + 1 + THREADS;
    match recorded + lost == made {
        true => Ok(lost),
        false => {
            Err(format!("{made} calls, but {recorded} recorded and {lost} lost: {said}").into())
        }
    }
}

/// The first number, with commas in it, that stands before these words.
fn number_before(text: &str, words: &str) -> Option<u64> {
    text.match_indices(words).find_map(|(at, _)| {
        let before = &text[..at];
        let digits = before
            .rsplit(|c: char| !c.is_ascii_digit() && c != ',')
            .next()?;
        digits.replace(',', "").parse().ok()
    })
}

/// A thread that sleeps and notes by how much it wakes up late.
struct Sleeper {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<Vec<Duration>>,
}

impl Sleeper {
    fn start() -> Self {
        const NAP: Duration = Duration::from_millis(10);
        let stop = Arc::<AtomicBool>::default();
        let own = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut late = Vec::new();
            while !own.load(Ordering::Relaxed) {
                let begin = Instant::now();
                std::thread::sleep(NAP);
                late.push(begin.elapsed().saturating_sub(NAP));
            }
            late
        });
        Self { stop, thread }
    }

    fn finish(self) -> Vec<Duration> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}
