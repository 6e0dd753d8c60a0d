//! The reading side of the shared memory, with any bytes that a traced program, or a bug in it, may
//! leave.
#![no_main]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

use ascend_trace_format::filter::Filters;
use ascend_trace_format::record::MAX_WORDS;
use ascend_trace_format::session::{CHANNELS_OFFSET, SEGMENTS_OFFSET, TickSource, Timing};
use ascend_trace_format::window::Window;
use ascend_trace_ring::{Arena, SessionSettings};
use libfuzzer_sys::fuzz_target;

mod collector;

use collector::clock::TickClock;
use collector::decode::{Decoder, RecordOrigin};
use collector::tables;

const ORIGIN: RecordOrigin = RecordOrigin {
    process: 1,
    thread: 2,
    tid: 3,
};

/// Starting one takes longer than decoding.
fn clock() -> &'static TickClock {
    static CLOCK: OnceLock<TickClock> = OnceLock::new();
    CLOCK.get_or_init(TickClock::start)
}

/// Decodes records as they come.
fn records(data: &[u8]) {
    let words: Vec<u64> = data
        .chunks(8)
        .map(|part| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            u64::from_le_bytes(word)
        })
        .collect();
    let clock = clock();
    let mut decoder = Decoder::default();
    for record in words.chunks(MAX_WORDS) {
        decoder.decode(record, ORIGIN, tables::FUNCTIONS, clock);
    }
}

/// Writes over the channels and segments of a session, then reads all of it.
fn session(data: &[u8]) -> Option<()> {
    let settings = SessionSettings {
        timing: Timing::Off,
        ticks: TickSource::Monotonic,
        table_hash: 0,
        stacks: 0,
        budget: 0,
        window: Window::default(),
        filters: Filters::NONE,
    };
    let mut arena = Arena::create(Path::new("/dev/shm"), 1 << 18, settings).ok()?;
    let file = File::options().write(true).open(arena.path()).ok()?;
    // One channel is in use and begins with the first segment.
    let channel: Vec<u8> = [2_u32, 7, 7, 1]
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect();
    file.write_all_at(&channel, CHANNELS_OFFSET as u64).ok()?;
    let mut rest = data;
    while let Some((&[place, low, high, length], after)) = rest.split_first_chunk() {
        let (bytes, after) = after.split_at(usize::from(length).min(after.len()));
        rest = after;
        let offset = u64::from(low) | u64::from(high) << 8;
        let base = match place % 4 {
            0 => CHANNELS_OFFSET,
            _ => SEGMENTS_OFFSET,
        };
        file.write_all_at(bytes, base as u64 + offset).ok()?;
    }
    let clock = clock();
    let mut decoder = Decoder::default();
    for gone in [false, true] {
        for (index, _) in arena.channels() {
            arena.drain(index, gone, &mut |words| {
                decoder.decode(words, ORIGIN, tables::FUNCTIONS, clock);
            });
        }
    }
    Some(())
}

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((&which, rest)) if which < 8 => drop(session(rest)),
        Some((_, rest)) => records(rest),
        None => {}
    }
});
