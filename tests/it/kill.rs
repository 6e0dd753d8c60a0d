//! SIGKILL at any time: returned calls are in the trace, and the trace is whole.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use ascend_trace_recording::Trace;
use ascend_trace_testkit::whole::opened;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Run, process::finish, program};

/// The layout of the file in which the program counts: its pid, then a thread's id and count each.
const THREADS: usize = 3;
const WORDS: usize = 1 + 2 * THREADS;

/// How often the program is killed, and how often when there is time.
const TIMES: u32 = 100;
const MANY_TIMES: u32 = 1_000;

fn counts(path: &Path) -> [u64; WORDS] {
    let mut bytes = [0; WORDS * 8];
    let file = std::fs::File::open(path).unwrap();
    file.read_exact_at(&mut bytes, 0).unwrap();
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().unwrap());
    }
    words
}

/// A number below `limit`; the same ones in every run of the tests.
fn random(state: &mut u64, limit: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % limit
}

/// Waits until the program has counted its first call, and returns its pid.
fn until_it_counts(path: &Path) -> Pid {
    let begin = Instant::now();
    loop {
        let words = counts(path);
        if words[2] > 0 {
            return Pid::from_raw(words[0] as i32).unwrap();
        }
        assert!(
            begin.elapsed() < Duration::from_secs(300),
            "it never counted"
        );
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_killed_program_loses_no_call_that_had_returned() {
    kill_often(TIMES, 2026, 40_000);
}

#[test]
#[ignore = "takes minutes"]
fn a_program_that_is_killed_a_thousand_times_loses_no_call_that_had_returned() {
    kill_often(MANY_TIMES, 7, 100_000);
}

fn kill_often(times: u32, seed: u64, most_us: u64) {
    let program = program("counting");
    let mut state = seed;
    for time in 0..times {
        // Mostly two threads, sometimes one or three.
        let threads = [2, 2, 1, 2, THREADS][time as usize % 5];
        let after = Duration::from_micros(1_000 + random(&mut state, most_us));
        kill_once(&program, threads, after);
    }
}

#[track_caller]
fn kill_once(program: &Path, threads: usize, after: Duration) {
    let folder = tempfile::tempdir().unwrap();
    let counted = folder.path().join("counts");
    std::fs::write(&counted, [0; WORDS * 8]).unwrap();
    let run = Run::new(program).words(&[counted.to_str().unwrap(), &threads.to_string()]);
    let mut command = run.command(folder.path());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let pid = until_it_counts(&counted);
    std::thread::sleep(after);
    kill_process(pid, Signal::KILL).unwrap();
    let outcome = finish(child).unwrap().expect(137);

    let words = counts(&counted);
    let (trace, warnings) = opened(folder.path().join("t.atrace")).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(trace.losses().others, 0);
    // Where nothing else of the machine is left for the recorder, a program that does nothing but call fills the memory
    // between them: then every call that is not in the trace is counted.
    let lost = trace.losses().calls;
    assert_eq!(outcome.err().contains("LOST"), lost > 0, "{outcome}");
    assert_eq!(trace.end().map(|end| end.1), Some(137));
    let slots = words[1..].chunks_exact(2);
    let (mut seen, mut missing) = (0, 0);
    for slot in slots.filter(|slot| slot[1] > 0) {
        let (thread, returned) = (slot[0], slot[1]);
        let traced = calls_of(&trace, thread);
        // One more may have returned without being counted any more.
        assert!(
            traced <= returned + 1,
            "{traced} of {returned} calls of thread {thread} after {after:?}"
        );
        missing += returned.saturating_sub(traced);
        seen += 1;
    }
    // So it may with those that were lost.
    let counted = missing..=missing + if lost > 0 { seen } else { 0 };
    assert!(
        counted.contains(&lost),
        "{missing} calls are missing and {lost} lost, after {after:?}"
    );
    assert!((1..=threads as u64).contains(&seen));
}

/// How many of the counted calls the trace has of a thread.
fn calls_of(trace: &Trace, thread: u64) -> u64 {
    let calls = trace.calls().iter().filter(|call| {
        u64::from(trace.thread(call.thread).tid) == thread
            && trace.function(call.function).name == "aclrtGetDevice"
    });
    calls.count() as u64
}
