//! The channel as its two sides use it: across threads, across processes, and through the crashes
//! that the crate's documentation names.

#![expect(unsafe_code, reason = "the tests fork and kill processes")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ascend_trace_format::filter::Filters;
use ascend_trace_format::record::{RecordHead, RecordKind, SLOT_WORDS};
use ascend_trace_format::session::{CHANNELS, SEGMENT_SLOTS, TickSource, Timing};
use ascend_trace_format::window::{Condition, Switch, Window};
use ascend_trace_ring::{
    Arena, AttachError, ChannelInfo, DrainResult, FREE_THREADS, LostRecords, Producer, Session,
    SessionSettings,
};

const SETTINGS: SessionSettings = SessionSettings {
    timing: Timing::Events,
    ticks: TickSource::Counter,
    table_hash: 77,
    stacks: 32,
    window: Window {
        start: Condition::Step { number: 9 },
        stop: Condition::Replay { count: 3 },
        is_paused: true,
    },
    budget: 0,
    filters: Filters::NONE,
};

struct Fixture {
    arena: Arena,
    _directory: tempfile::TempDir,
}

fn fixture(budget: usize) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let arena = Arena::create(directory.path(), budget, SETTINGS).unwrap();
    Fixture {
        arena,
        _directory: directory,
    }
}

fn attach(path: &Path) -> Session {
    Session::attach(&CString::new(path.as_os_str().as_bytes()).unwrap()).unwrap()
}

/// Writes a record of `slots` slots with `value` as its second word.
fn write(producer: &mut Producer, value: u64, slots: usize) -> bool {
    let Some(words) = producer.reserve(slots) else {
        producer.count_dropped(RecordKind::Call);
        return false;
    };
    let head = RecordHead {
        kind: RecordKind::Call,
        slots: slots as u8,
    };
    words[0] = head.encode();
    words[1] = value;
    words[slots * SLOT_WORDS - 1] = value;
    producer.publish(slots);
    true
}

fn drain(arena: &mut Arena, channel: usize, gone: bool) -> (Vec<u64>, DrainResult) {
    let mut values = Vec::new();
    let drained = arena.drain(channel, gone, &mut |record| {
        let value = record[1];
        assert_eq!(record.last(), Some(&value), "a record is published whole");
        values.push(value);
    });
    (values, drained)
}

fn only_channel(arena: &Arena) -> (usize, ChannelInfo) {
    let channels = arena.channels();
    assert_eq!(channels.len(), 1);
    channels[0]
}

#[test]
fn a_record_is_put_only_where_the_segment_has_room() {
    let mut fixture = fixture(1 << 20);
    let mut producer = Producer::claim(attach(fixture.arena.path()), 1, 2, 3).unwrap();
    let put = |producer: &mut Producer, value: u64, slots: usize| {
        producer.put(slots, |words| {
            let head = RecordHead {
                kind: RecordKind::Call,
                slots: slots as u8,
            };
            words[0] = head.encode();
            words[1] = value;
            words[slots * SLOT_WORDS - 1] = value;
        })
    };
    assert!(!put(&mut producer, 0, 1), "no segment");
    assert!(write(&mut producer, 0, 1));
    let full = SEGMENT_SLOTS as u64 - 1;
    // All but one slot.
    assert!((1..full - 1).all(|value| put(&mut producer, value, 1)));
    assert!(!put(&mut producer, 0, 2), "one slot is left");
    assert!(put(&mut producer, full - 1, 1));
    assert!(!put(&mut producer, 0, 1), "full");
    let (channel, _) = only_channel(&fixture.arena);
    let (values, drained) = drain(&mut fixture.arena, channel, true);
    assert_eq!(values, (0..full).collect::<Vec<_>>());
    assert_eq!(drained.dropped, LostRecords::default());
}

#[test]
fn requests_of_the_collector_reach_the_program() {
    let fixture = fixture(1 << 20);
    assert_eq!(attach(fixture.arena.path()).settings(), Some(SETTINGS));
}

#[test]
fn records_arrive_in_order_across_many_segments() {
    let mut fixture = fixture(16 << 20);
    let session = attach(fixture.arena.path());
    let mut producer = Producer::claim(session, 10, 11, 12).unwrap();
    let count = 3 * SEGMENT_SLOTS as u64;
    for value in 0..count {
        assert!(write(&mut producer, value, 1 + (value % 5) as usize));
    }
    let (channel, info) = only_channel(&fixture.arena);
    assert_eq!(
        info,
        ChannelInfo {
            pid: 10,
            tid: 11,
            process_key: 12,
            namespace: 0,
        }
    );
    let (values, drained) = drain(&mut fixture.arena, channel, false);
    assert_eq!(values, (0..count).collect::<Vec<_>>());
    assert!(!drained.ended);
    write(&mut producer, 5, 1);
    producer.close();
    let (values, drained) = drain(&mut fixture.arena, channel, false);
    assert_eq!((values, drained.ended), (vec![5], true));
    assert!(
        fixture.arena.channels().is_empty(),
        "a closed and drained channel is free again"
    );
}

#[test]
fn an_unpublished_record_is_never_read() {
    let mut fixture = fixture(1 << 20);
    let mut producer = Producer::claim(attach(fixture.arena.path()), 1, 1, 1).unwrap();
    write(&mut producer, 1, 1);
    let words = producer.reserve(2).unwrap();
    words.fill(u64::MAX);
    let (channel, _) = only_channel(&fixture.arena);
    assert_eq!(drain(&mut fixture.arena, channel, true).0, [1]);
}

#[test]
fn a_full_pool_drops_and_counts_and_recovers() {
    let mut fixture = fixture(4 << 20);
    let mut producer = Producer::claim(attach(fixture.arena.path()), 1, 1, 1).unwrap();
    let mut written = 0;
    while write(&mut producer, written, 1) {
        written += 1;
    }
    assert_eq!(
        written,
        64 * (SEGMENT_SLOTS as u64 - 1),
        "the whole budget is used"
    );
    let (channel, _) = only_channel(&fixture.arena);
    let (values, drained) = drain(&mut fixture.arena, channel, false);
    assert_eq!(values.len() as u64, written);
    assert_eq!(drained.dropped.calls, 1);
    assert!(
        write(&mut producer, 9, 1),
        "read segments are written again"
    );
    assert_eq!(drain(&mut fixture.arena, channel, false).0, [9]);
}

#[test]
fn lost_records_are_counted_by_kind_until_the_channel_changes_hands() {
    let mut fixture = fixture(4 << 20);
    let session = attach(fixture.arena.path());
    let producer = Producer::claim(session, 1, 1, 1).unwrap();
    let kinds = [
        RecordKind::Call,
        RecordKind::TaskTime,
        RecordKind::Stream,
        RecordKind::Call,
        RecordKind::Anchor,
    ];
    kinds
        .into_iter()
        .for_each(|kind| producer.count_dropped(kind));
    producer.close();
    let (channel, _) = only_channel(&fixture.arena);
    let expected = LostRecords {
        calls: 2,
        times: 1,
        others: 2,
    };
    assert_eq!(
        drain(&mut fixture.arena, channel, false).1.dropped,
        expected
    );
    Producer::claim(session, 1, 2, 1).unwrap();
    let (channel, _) = only_channel(&fixture.arena);
    assert_eq!(
        drain(&mut fixture.arena, channel, false).1.dropped,
        LostRecords::default()
    );
}

#[test]
fn every_thread_finds_room_for_its_first_records_however_many_there_are() {
    let mut fixture = fixture(4 << 20);
    let session = attach(fixture.arena.path());
    let mut producers = Vec::new();
    for number in 0..CHANNELS as u32 {
        // The collector keeps looking, as it does in a recording.
        fixture.arena.replenish().unwrap();
        producers.push(Producer::claim(session, 1, number, 1).unwrap());
        if number as usize >= FREE_THREADS {
            let last = producers.last_mut().unwrap();
            assert!(write(last, 7, 1), "thread {number}");
        }
    }
    assert!(Producer::claim(session, 1, 1, 1).is_none());
}

#[test]
fn a_burst_beyond_the_budget_is_counted_exactly() {
    const THREADS: u64 = 4;
    const RECORDS: u64 = 50_000;
    let mut fixture = fixture(4 << 20);
    let session = attach(fixture.arena.path());
    // No reader runs meanwhile.
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            scope.spawn(move || {
                let mut producer = Producer::claim(session, 1, number as u32, 1).unwrap();
                for value in 0..RECORDS {
                    write(&mut producer, value, 1 + (value % 2) as usize);
                }
                producer.close();
            });
        }
    });
    let (mut received, mut dropped) = (0, 0);
    for (channel, _) in fixture.arena.channels() {
        let (values, drained) = drain(&mut fixture.arena, channel, false);
        assert!(values.is_sorted(), "order is kept across losses");
        received += values.len() as u64;
        dropped += drained.dropped.calls;
    }
    assert!(dropped > 0);
    assert_eq!(received + dropped, THREADS * RECORDS);
}

#[test]
fn memory_is_provided_on_demand_up_to_the_budget() {
    let mut fixture = fixture(64 << 20);
    let mut producer = Producer::claim(attach(fixture.arena.path()), 1, 1, 1).unwrap();
    let mut written = 0u64;
    loop {
        if written.is_multiple_of(1000) {
            fixture.arena.replenish().unwrap();
        }
        if !write(&mut producer, written, 1) {
            break;
        }
        written += 1;
    }
    assert_eq!(written, 1024 * (SEGMENT_SLOTS as u64 - 1));
}

#[test]
fn a_burst_uses_the_whole_budget_before_the_collector_looks() {
    const SEGMENTS: u64 = 1024;
    let mut fixture = fixture(64 << 20);
    let session = attach(fixture.arena.path());
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let mut producer = Producer::claim(session, 1, number, 1).unwrap();
                for value in 0..SEGMENTS / 4 * (SEGMENT_SLOTS as u64 - 1) {
                    assert!(write(&mut producer, value, 1));
                }
                producer.close();
            });
        }
    });
    let mut received = 0;
    for (channel, _) in fixture.arena.channels() {
        let (values, drained) = drain(&mut fixture.arena, channel, false);
        assert!(values.is_sorted());
        received += values.len() as u64;
        assert_eq!((drained.dropped.calls, drained.damaged), (0, 0));
    }
    assert_eq!(received, SEGMENTS * (SEGMENT_SLOTS as u64 - 1));
}

#[test]
fn a_pass_does_not_read_one_channel_alone() {
    let mut fixture = fixture(64 << 20);
    let mut producer = Producer::claim(attach(fixture.arena.path()), 1, 1, 1).unwrap();
    let mut written = 0;
    while write(&mut producer, written, 1) {
        written += 1;
    }
    let (channel, _) = only_channel(&fixture.arena);
    let (mut received, mut passes) = (Vec::new(), 0);
    while received.len() < written as usize {
        received.extend(drain(&mut fixture.arena, channel, false).0);
        passes += 1;
    }
    assert!(received.into_iter().eq(0..written));
    assert_eq!(passes, 2);
    producer.close();
}

#[test]
fn threads_that_come_and_go_leave_nothing_behind() {
    let mut fixture = fixture(4 << 20);
    let session = attach(fixture.arena.path());
    let mut seen = 0;
    for round in 0..300u64 {
        let threads: Vec<_> = (0..16)
            .map(|number| {
                std::thread::spawn(move || {
                    let mut producer = Producer::claim(session, 1, number, 1).unwrap();
                    write(&mut producer, round, 1);
                    producer.close();
                })
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        for (channel, _) in fixture.arena.channels() {
            seen += drain(&mut fixture.arena, channel, false).1.records;
        }
    }
    assert_eq!(seen, 300 * 16);
    assert!(fixture.arena.channels().is_empty());
    let mut producer = Producer::claim(session, 1, 1, 1).unwrap();
    let mut written = 0;
    while write(&mut producer, 0, 1) {
        written += 1;
    }
    assert_eq!(
        written,
        64 * (SEGMENT_SLOTS - 1),
        "every segment came back to the pool"
    );
}

#[test]
fn many_threads_and_a_reader_lose_nothing_they_do_not_count() {
    const THREADS: u64 = 8;
    const RECORDS: u64 = 100_000;
    let mut fixture = fixture(8 << 20);
    let session = attach(fixture.arena.path());
    let done = AtomicBool::new(false);
    let mut received = vec![0u64; THREADS as usize];
    let mut dropped = 0;
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS)
            .map(|number| {
                scope.spawn(move || {
                    let mut producer = Producer::claim(session, 1, number as u32, 1).unwrap();
                    for value in 0..RECORDS {
                        write(
                            &mut producer,
                            number << 32 | value,
                            1 + (value % 3) as usize,
                        );
                    }
                    producer.close();
                })
            })
            .collect();
        let done = &done;
        let waiter = scope.spawn(move || {
            writers
                .into_iter()
                .for_each(|writer| writer.join().unwrap());
            done.store(true, Ordering::Release);
        });
        let mut last = vec![None; THREADS as usize];
        loop {
            let finished = done.load(Ordering::Acquire);
            fixture.arena.replenish().unwrap();
            for (channel, _) in fixture.arena.channels() {
                let (values, drained) = drain(&mut fixture.arena, channel, false);
                for value in values {
                    let (number, value) = ((value >> 32) as usize, value & 0xffff_ffff);
                    assert!(
                        last[number].is_none_or(|last| last < value),
                        "order is kept"
                    );
                    last[number] = Some(value);
                    received[number] += 1;
                }
                if drained.ended {
                    dropped += drained.dropped.calls;
                }
            }
            if finished {
                break;
            }
        }
        waiter.join().unwrap();
    });
    assert_eq!(received.iter().sum::<u64>() + dropped, THREADS * RECORDS);
}

/// Runs `child` in a forked process and returns its pid.
fn fork(child: impl FnOnce()) -> i32 {
    // SAFETY: the child only runs code that takes no lock of the parent, then leaves by `_exit`.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        child();
        // SAFETY: ends the child without running the test harness's exit handlers.
        unsafe { libc::_exit(0) };
    }
    pid
}

fn wait(pid: i32) {
    let mut status = 0;
    // SAFETY: waits for the child that `fork` made.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
}

#[test]
fn a_killed_process_keeps_everything_it_had_published() {
    let mut fixture = fixture(64 << 20);
    let session = attach(fixture.arena.path());
    let mut pipe = [0; 2];
    // SAFETY: `pipe` has room for two descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    let pid = fork(|| {
        let Some(mut producer) = Producer::claim(session, 99, 99, 1) else {
            return;
        };
        for value in 0u64.. {
            if !write(&mut producer, value, 1 + (value % 4) as usize) {
                // The pool is empty: wait here to be killed.
                // SAFETY: sleeps until a signal comes.
                unsafe { libc::pause() };
            }
            if value % 1000 == 0 {
                // SAFETY: writes eight bytes of a live local to the pipe.
                unsafe { libc::write(pipe[1], (&raw const value).cast(), 8) };
            }
        }
    });
    let mut acknowledged = 0u64;
    for _ in 0..20 {
        // SAFETY: reads eight bytes into a live local.
        unsafe { libc::read(pipe[0], (&raw mut acknowledged).cast(), 8) };
    }
    // SAFETY: kills the child made above.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    wait(pid);
    let (channel, _) = only_channel(&fixture.arena);
    let (values, drained) = drain(&mut fixture.arena, channel, true);
    assert!(drained.ended);
    assert!(values.len() as u64 > acknowledged);
    let expected = 0..values.len() as u64;
    assert!(
        values.iter().copied().eq(expected),
        "no gap and no torn record"
    );
}

#[test]
fn foreign_and_missing_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("not-a-session");
    std::fs::write(&path, vec![7u8; 4 << 20]).unwrap();
    let refused =
        |path: &Path| Session::attach(&CString::new(path.as_os_str().as_bytes()).unwrap());
    assert_eq!(refused(&path).err(), Some(AttachError::Foreign));
    std::fs::write(&path, b"short").unwrap();
    assert_eq!(refused(&path).err(), Some(AttachError::Foreign));
    let missing = directory.path().join("missing");
    assert_eq!(
        refused(&missing).err(),
        Some(AttachError::System(libc::ENOENT))
    );
}

#[test]
fn a_session_file_is_removed_by_its_owner_or_after_a_kill_by_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    let create = || Arena::create(directory.path(), 1 << 20, SETTINGS).unwrap();
    let killed = fork(|| {
        let arena = create();
        // SAFETY: ends this process, without destructors.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        drop(arena);
    });
    wait(killed);
    let files = || -> Vec<_> {
        let folders = std::fs::read_dir(directory.path()).unwrap().flatten();
        folders
            .flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten())
            .map(|file| file.path())
            .collect()
    };
    assert_eq!(files().len(), 1, "it is left behind");
    let (first, second) = (create(), create());
    let mut living = [first.path().to_owned(), second.path().to_owned()];
    let mut found = files();
    living.sort();
    found.sort();
    assert_eq!(found, living);
    drop((first, second));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_directory_that_cannot_be_written_is_named_in_the_error() {
    let missing = Path::new("/nonexistent-directory");
    let message = Arena::create(missing, 1 << 20, SETTINGS)
        .err()
        .unwrap()
        .to_string();
    assert!(
        message.contains("/nonexistent-directory/ascend-trace-"),
        "{message}"
    );
}

#[test]
fn threads_that_come_find_room_that_a_burst_cannot_take() {
    let directory = tempfile::tempdir().unwrap();
    // The smallest budget: 64 segments.
    let mut arena = Arena::create(directory.path(), 4 << 20, SETTINGS).unwrap();
    let session = attach(arena.path());
    let claim = |tid| Producer::claim(session, 1, tid, 1).unwrap();
    let mut few: Vec<_> = (0..70).map(claim).collect();
    // Some at a time.
    for _ in 0..20 {
        arena.replenish().unwrap();
    }
    let mut burst = claim(70);
    let mut written = 0;
    while write(&mut burst, written, 1) {
        written += 1;
    }
    // The collector does not run meanwhile.
    for producer in &mut few {
        assert!(write(producer, 1, 1));
    }
    for tid in 71..900 {
        assert!(write(&mut claim(tid), 1, 1), "{tid}");
    }
    let segments = written / (SEGMENT_SLOTS as u64 - 1);
    assert_eq!(segments, 64, "all of the budget, and no more");
}

#[test]
fn the_recorders_switch_reaches_processes_and_is_restored() {
    let mut fixture = fixture(4 << 20);
    let session = attach(fixture.arena.path());
    assert_eq!(session.switch().load(Ordering::SeqCst), 0);
    let paused = Switch::default().paused();
    fixture.arena.set_switch(paused);
    assert_eq!(session.switch().load(Ordering::SeqCst), paused.0);
    session.switch().store(77, Ordering::SeqCst);
    assert_eq!(fixture.arena.mend().damaged, 1);
    assert_eq!(session.switch().load(Ordering::SeqCst), paused.0);
    assert_eq!(fixture.arena.begun(), 0);
    session.count_begun();
    assert_eq!(fixture.arena.begun(), 1);
}
