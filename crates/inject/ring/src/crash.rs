//! Makes each state that a killed process can leave, as in the crate's documentation, and checks the
//! collector's reaction.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering::{Relaxed, Release};

use ascend_trace_format::filter::Filters;
use ascend_trace_format::record::{RecordHead, RecordKind, SLOT_WORDS};
use ascend_trace_format::session::{SEGMENT_SLOTS, TickSource, Timing};
use ascend_trace_format::window::Window;

use crate::layout::{SessionSettings, state};
use crate::{Arena, Producer, Session, pool};

const PID: u32 = 4711;

struct CrashedSession {
    arena: Arena,
    session: Session,
    _folder: tempfile::TempDir,
}

fn crash() -> CrashedSession {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = SessionSettings {
        timing: Timing::Off,
        ticks: TickSource::Monotonic,
        table_hash: 1,
        stacks: 0,
        window: Window::ALWAYS,
        filters: Filters::NONE,
        budget: 0,
    };
    let arena = Arena::create(folder.path(), 4 << 20, settings).expect("a session");
    let path = CString::new(arena.path().as_os_str().as_bytes()).expect("no NUL");
    let session = Session::attach(&path).expect("a session to attach to");
    CrashedSession {
        arena,
        session,
        _folder: folder,
    }
}

impl CrashedSession {
    fn producer(&self) -> Producer {
        Producer::claim(self.session, PID, PID, 1).expect("a channel")
    }

    /// Records that the collector reads after the end of the process.
    fn records(&mut self) -> Vec<u64> {
        let mut values = Vec::new();
        for (channel, info) in self.arena.channels() {
            assert_eq!(info.pid, PID);
            let drained = self
                .arena
                .drain(channel, true, &mut |words| values.push(words[1]));
            assert!(drained.ended);
        }
        values
    }

    /// Compares the free segments and channels with those of a new session.
    #[track_caller]
    fn leaves_behind(&mut self, segments: usize, channels: usize) {
        assert!(self.arena.channels().is_empty());
        let header = self.session.header();
        assert_eq!(header.taken.load(Relaxed) as usize, segments);
        let mut free = 0;
        while pool::pop(&self.session).is_some() {
            free += 1;
        }
        assert_eq!(free, 64 - segments);
        let claimed = std::iter::from_fn(|| Producer::claim(self.session, PID, 1, 1)).count();
        assert_eq!(claimed, 4096 - channels);
    }
}

fn write(producer: &mut Producer, value: u64) {
    let words = producer.reserve(1).expect("room");
    words.copy_from_slice(&record(value));
    producer.publish(1);
}

fn record(value: u64) -> [u64; SLOT_WORDS] {
    let kind = RecordKind::Call;
    [
        RecordHead { kind, slots: 1 }.encode(),
        value,
        0,
        0,
        0,
        0,
        0,
        0,
    ]
}

#[test]
fn while_filling_reserved_slots() {
    let mut crash = crash();
    let mut producer = crash.producer();
    write(&mut producer, 1);
    producer
        .reserve(1)
        .expect("room")
        .copy_from_slice(&record(2));
    assert_eq!(crash.records(), [1]);
    crash.leaves_behind(0, 0);
}

#[test]
fn between_linking_a_segment_and_its_first_record() {
    let mut crash = crash();
    let mut producer = crash.producer();
    let full = SEGMENT_SLOTS as u64 - 1;
    (0..full).for_each(|value| write(&mut producer, value));
    // The next reservation links a new segment.
    producer.reserve(1).expect("room");
    assert_eq!(crash.session.header().taken.load(Relaxed), 2);
    assert_eq!(crash.records().len() as u64, full);
    crash.leaves_behind(0, 0);
}

#[test]
fn between_taking_a_segment_and_linking_it() {
    let mut crash = crash();
    write(&mut crash.producer(), 5);
    pool::take(&crash.session, true).expect("a segment");
    assert_eq!(crash.records(), [5]);
    crash.leaves_behind(1, 0);
}

#[test]
fn between_claiming_a_channel_and_naming_its_owner() {
    let mut crash = crash();
    let channel = crash.session.channel(0);
    channel.state.store(state::CLAIMED, Release);
    crash.session.header().channels_used.store(1, Release);
    write(&mut crash.producer(), 6);
    assert_eq!(crash.records(), [6]);
    crash.leaves_behind(0, 1);
}

#[test]
fn between_naming_the_owner_and_going_live() {
    let mut crash = crash();
    let channel = crash.session.channel(0);
    channel.state.store(state::CLAIMED, Release);
    crash.session.header().channels_used.store(1, Release);
    channel.pid.store(PID, Relaxed);
    assert_eq!(crash.records(), []);
    crash.leaves_behind(0, 0);
}

#[test]
fn before_the_first_record() {
    let mut crash = crash();
    crash.producer();
    assert_eq!(crash.records(), []);
    crash.leaves_behind(0, 0);
}

#[test]
fn after_many_records() {
    let mut crash = crash();
    let mut producer = crash.producer();
    (0..5000).for_each(|value| write(&mut producer, value));
    assert_eq!(crash.records(), (0..5000).collect::<Vec<_>>());
    crash.leaves_behind(0, 0);
}

#[test]
fn after_closing() {
    let mut crash = crash();
    let mut producer = crash.producer();
    write(&mut producer, 8);
    producer.close();
    assert_eq!(crash.records(), [8]);
    crash.leaves_behind(0, 0);
}
