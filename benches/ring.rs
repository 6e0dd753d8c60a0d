//! Measures whether a recording that keeps its last part costs the program more than one that keeps all, and whether a snapshot
//! holds the program up.
//!
//! `cargo bench --bench ring [-- MIB SECONDS]` records a program that times each of its calls: plainly, with `--ring MIBM`, and
//! with a snapshot of this ring in each second. The ways take turns, and each keeps its least figures. The longest call is that
//! of a machine with other work, so it is compared with that of the plain recording.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod support {
    pub(crate) mod command;
    pub(crate) mod programs;
    pub(crate) mod soft;
}

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::command::{Result, TOOL};

const THREADS: &str = "1";
/// A call of the least record takes seven bytes of the file.
const CALLS_PER_SECOND: &str = "3000000";
const TURNS: usize = 2;

/// How a program is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Plain,
    Ring,
    Snapshots,
}

/// Nanoseconds that calls took: the median, all but one of ten thousand, and the longest.
type CallTimes = [u64; 3];

fn main() -> Result<()> {
    let numbers: Vec<u64> = std::env::args()
        .filter_map(|word| word.parse().ok())
        .collect();
    let (mib, seconds) = match numbers[..] {
        [mib, seconds] => (mib, seconds),
        _ => (64, 20),
    };
    let folder = tempfile::tempdir()?;
    let program = support::programs::compile(&["gaps.c"], "gaps", folder.path())?;
    let manners = [Manner::Plain, Manner::Ring, Manner::Snapshots];
    let mut least = [CallTimes::from([u64::MAX; 3]); 3];
    let mut snapshots = 0;
    for _ in 0..TURNS {
        for (least, manner) in least.iter_mut().zip(manners) {
            let (times, taken) = record(&program, manner, (mib, seconds), folder.path())?;
            snapshots += taken;
            for (least, time) in least.iter_mut().zip(times) {
                *least = time.min(*least);
            }
        }
    }
    println!("ring of {mib} MiB, {seconds} s, {snapshots} snapshots in {TURNS} turns");
    println!("           median ns   99.99 % ns   longest ns");
    for (manner, [median, most, longest]) in manners.into_iter().zip(least) {
        println!(
            "{:10} {median:>9}   {most:>10}   {longest:>10}",
            format!("{manner:?}")
        );
    }
    let ratio =
        |manner: usize, figure: usize| least[manner][figure] as f64 / least[0][figure] as f64;
    println!(
        "median: ring / plain {:.2}, snapshots / plain {:.2}; longest: {:.2}, {:.2}",
        ratio(1, 0),
        ratio(2, 0),
        ratio(1, 2),
        ratio(2, 2)
    );
    Ok(())
}

/// Records the program once. Returns the times of its calls, and the number of snapshots.
fn record(
    program: &Path,
    manner: Manner,
    (mib, seconds): (u64, u64),
    folder: &Path,
) -> Result<(CallTimes, usize)> {
    let mut command = Command::new(TOOL);
    command.args([
        "record", "--no-tui", "--force", "--soft", "--timing", "off", "--buffer", "64",
    ]);
    if manner != Manner::Plain {
        command.args(["--keep", "2", &format!("--ring={mib}M")]);
    }
    command.arg("-o").arg(folder.join("bench.atrace")).arg("--");
    command.arg(program).args([THREADS, CALLS_PER_SECOND]);
    command
        .arg(seconds.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let taken = match manner {
        Manner::Snapshots => take_snapshots(&mut child)?,
        _ => 0,
    };
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || said.contains("LOST") {
        return Err(format!("{manner:?}: {said}").into());
    }
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<u64> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    match numbers[..] {
        [_, median, most, longest] => Ok(([median, most, longest], taken)),
        _ => Err(format!("the program printed {text:?}").into()),
    }
}

/// Takes a snapshot in each second until the recording ends.
fn take_snapshots(recorder: &mut Child) -> Result<usize> {
    let pid = recorder.id().to_string();
    let mut taken = 0;
    while recorder.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_secs(1));
        let asked = Command::new(TOOL)
            .args(["ctl", &pid, "snapshot", "bench"])
            .output()?;
        taken += usize::from(asked.status.success());
    }
    Ok(taken)
}
