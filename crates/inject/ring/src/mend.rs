//! Mends what another process has done to the shared memory: it cut the file, or wrote over what only the
//! collector writes.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use ascend_trace_format::record::{RecordHead, SLOT_BYTES, SLOT_WORDS, pair, unpair};
use ascend_trace_format::session::{
    CHANNELS, OPEN_BYTES, OPEN_OFFSET, SEGMENT_BYTES, SEGMENT_SLOTS, SEGMENTS_OFFSET,
};
use ascend_trace_format::version::{SESSION_MAGIC, SESSION_VERSION};
use ascend_trace_format::window::Condition;

use crate::arena::{Arena, ChannelInfo, allocate};
use crate::layout::{LostRecords, state};

/// The damage that [`Arena::mend`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// Another process has cut the file: records that were not read yet may be missing.
    pub is_cut: bool,
    /// Places in the memory that hold values which the producers never write.
    pub damaged: u64,
}

impl Arena {
    /// Looks for damage and mends it; to be called before each pass over the channels.
    pub fn mend(&mut self) -> Repair {
        let is_cut = self.guard.check_length(&self.home.file);
        // A file that cannot be repaired is as good as cut.
        let is_cut = is_cut.unwrap_or(true);
        if is_cut {
            self.provide_again();
        }
        let damaged = self.mend_header() + self.mend_channels();
        // The zeros of a cut are reported as such.
        let damaged = if is_cut { 0 } else { damaged };
        Repair { is_cut, damaged }
    }

    /// The file has lost the memory that producers may touch.
    fn provide_again(&mut self) {
        let open_calls = self.open_provided as usize * OPEN_BYTES;
        let segments = self.provided() as usize * SEGMENT_BYTES;
        // Where there is no room, the program may not find its memory: that cannot be helped.
        let _ = allocate(&self.home.file, 0, OPEN_OFFSET + open_calls);
        let _ = allocate(&self.home.file, SEGMENTS_OFFSET, segments);
        self.session.header().taken.store(self.held(), Relaxed);
        for position in &mut self.positions {
            position.is_damaged = true;
        }
    }

    /// Writes what only the collector writes. Returns how much of it was different.
    pub(crate) fn restore_header(&self) -> u64 {
        let (header, settings) = (self.session.header(), self.settings);
        let numbers = [
            (&header.version, SESSION_VERSION),
            (&header.timing, settings.timing.code()),
            (&header.ticks, settings.ticks.code()),
            (&header.stacks, settings.stacks),
            (&header.begins_paused, u32::from(settings.window.is_paused)),
            (&header.control.switch, self.switch.0),
            (&header.control.timing, self.timing.0.code()),
            (&header.control.budget, self.timing.1),
            (&header.budget, settings.budget),
            (&header.segments, self.session.segments()),
            (&header.open_provided, self.open_provided),
            (&header.limit, self.limit),
        ];
        let mut different = 0;
        for (place, value) in numbers {
            different += restore(place, value);
        }
        let words = [
            (&header.table_hash, settings.table_hash),
            (&header.magic, SESSION_MAGIC),
        ];
        let window = [settings.window.start, settings.window.stop];
        let window = window.into_iter().flat_map(Condition::words);
        let window = header.window.iter().zip(window);
        let filters = header.filters.iter().zip(settings.filters.words());
        for (place, value) in words.into_iter().chain(window).chain(filters) {
            different += restore_word(place, value);
        }
        different
    }

    fn mend_header(&mut self) -> u64 {
        let mut damaged = self.restore_header() + self.mend_provided();
        let header = self.session.header();
        // No segment is being given back now, so no more can be taken than there are.
        if header.taken.load(Acquire) > self.provided() {
            header.taken.store(self.held(), Relaxed);
            damaged += 1;
        }
        let free = header.free.load(Acquire);
        let (first, tag) = unpair(free);
        if first > self.provided() {
            let none = pair(0, tag.wrapping_add(1));
            let _ = header.free.compare_exchange(free, none, AcqRel, Relaxed);
            damaged += 1;
        }
        let used = header.channels_used.load(Acquire) as usize;
        if (self.used..=CHANNELS).contains(&used) {
            self.used = used;
        } else {
            self.used = self.used.max(self.last_claimed());
            header.channels_used.store(self.used as u32, Release);
            damaged += 1;
        }
        self.joined = self.joined.max(header.attached.load(Relaxed));
        damaged
    }

    /// Producers provide segments as well, so this number grows.
    fn mend_provided(&mut self) -> u64 {
        let provided = &self.session.header().provided;
        let now = provided.load(Acquire);
        if (self.provided..=self.session.segments()).contains(&now) {
            self.provided = now;
            return 0;
        }
        provided.store(self.provided, Release);
        1
    }

    /// One more than the last channel that looks claimed.
    fn last_claimed(&self) -> usize {
        let is_claimed = |index: &usize| {
            let channel = self.session.channel(*index);
            let state = channel.state.load(Acquire);
            (state::CLAIMED..=state::CLOSED).contains(&state) && channel.pid.load(Relaxed) != 0
        };
        (0..CHANNELS)
            .rev()
            .find(is_claimed)
            .map_or(0, |last| last + 1)
    }

    fn mend_channels(&mut self) -> u64 {
        (0..self.used).map(|index| self.mend_channel(index)).sum()
    }

    fn mend_channel(&mut self, index: usize) -> u64 {
        let channel = self.session.channel(index);
        let now = channel.state.load(Acquire);
        if let Some(Some(tenant)) = self.tenants.get(index) {
            let mut different =
                restore(&channel.pid, tenant.pid) + restore(&channel.tid, tenant.tid);
            let words = [
                (&channel.process_key, tenant.process_key),
                (&channel.namespace, tenant.namespace),
            ];
            for (place, value) in words {
                different += restore_word(place, value);
            }
            if !(state::CLAIMED..=state::CLOSED).contains(&now) {
                channel.state.store(state::LIVE, Release);
                different += 1;
            }
            return u64::from(different > 0);
        }
        let has_pid = channel.pid.load(Acquire) != 0;
        let is_used = has_pid || channel.first.load(Relaxed) != 0;
        let is_damaged = match now {
            // Only the collector frees a channel: it was free all the time.
            state::FREE => is_used && channel.state.load(Acquire) == state::FREE,
            state::CLAIMED => false,
            state::LIVE | state::CLOSED => !has_pid,
            _ => true,
        };
        if is_damaged {
            self.free(index);
        }
        u64::from(is_damaged)
    }

    /// Whether the owner of a channel has been admitted.
    pub fn is_admitted(&self, index: usize) -> bool {
        self.tenants.get(index).is_some_and(Option::is_some)
    }

    /// The channel is this thread's until it is drained to its end.
    pub fn admit(&mut self, index: usize, info: ChannelInfo) {
        if let Some(tenant) = self.tenants.get_mut(index) {
            *tenant = Some(info);
        }
    }

    /// Frees a channel that names a wrong owner.
    pub fn refuse(&mut self, index: usize) {
        self.free(index);
    }

    /// Records that a channel has lost.
    pub fn dropped(&self, index: usize) -> LostRecords {
        self.session.channel(index).dropped()
    }

    /// The first record of a channel before its first drain. `None`: the thread has published nothing. Empty: the
    /// record is damaged.
    pub fn first_record(&self, index: usize) -> Option<Vec<u64>> {
        let segment = self.session.channel(index).first.load(Acquire);
        if segment == 0 {
            return None;
        }
        if !self.may_hold(segment) {
            return Some(Vec::new());
        }
        let committed = self.session.segment_header(segment)?;
        let committed = committed.committed.load(Acquire) as usize;
        if committed == 0 {
            return None;
        }
        let start = self.session.segment(segment)?;
        // SAFETY: slot 1 lies inside the segment, which has memory, and is published.
        let head = unsafe { start.add(SLOT_BYTES).cast::<u64>().read_volatile() };
        let slots = RecordHead::decode(head).map_or(0, |head| usize::from(head.slots));
        if slots > committed || committed >= SEGMENT_SLOTS {
            return Some(Vec::new());
        }
        // SAFETY: these slots are published and lie inside the segment; nothing writes them until it has been
        // through the pool.
        let record = unsafe {
            std::slice::from_raw_parts(start.add(SLOT_BYTES).cast::<u64>(), slots * SLOT_WORDS)
        };
        Some(record.to_vec())
    }
}

/// Writes a value where another one is. Returns how many were different. It writes nothing to sound memory, which
/// other processors may have in their caches.
fn restore(place: &AtomicU32, value: u32) -> u64 {
    let is_different = place.load(Relaxed) != value;
    if is_different {
        place.store(value, Relaxed);
    }
    u64::from(is_different)
}

fn restore_word(place: &AtomicU64, value: u64) -> u64 {
    let is_different = place.load(Relaxed) != value;
    if is_different {
        place.store(value, Release);
    }
    u64::from(is_different)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs::OpenOptions;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use ascend_trace_format::filter::Filters;
    use ascend_trace_format::record::RecordKind;
    use ascend_trace_format::session::{TickSource, Timing};
    use ascend_trace_format::window::Window;

    use super::*;
    use crate::{Producer, Session, SessionSettings};

    const KEY: u64 = 5;
    const SOUND: Repair = Repair {
        is_cut: false,
        damaged: 0,
    };

    fn arena(folder: &Path) -> Arena {
        let settings = SessionSettings {
            timing: Timing::Off,
            ticks: TickSource::Monotonic,
            table_hash: 1,
            stacks: 0,
            window: Window::ALWAYS,
            filters: Filters::NONE,
            budget: 0,
        };
        Arena::create(folder, 4 << 20, settings).unwrap()
    }

    fn producer(arena: &Arena, pid: u32) -> Producer {
        let path = CString::new(arena.path().as_os_str().as_bytes()).unwrap();
        let session = Session::attach(&path).unwrap();
        Producer::claim(session, pid, pid, KEY).unwrap()
    }

    fn write(producer: &mut Producer, value: u64) {
        let kind = RecordKind::Call;
        let head = RecordHead { kind, slots: 1 }.encode();
        let room = producer.reserve(1).unwrap();
        room.copy_from_slice(&[head, value, 0, 0, 0, 0, 0, 0]);
        producer.publish(1);
    }

    fn drain(arena: &mut Arena, gone: bool) -> (Vec<u64>, u64) {
        let (mut values, mut damaged) = (Vec::new(), 0);
        for (channel, info) in arena.channels() {
            arena.admit(channel, info);
            let mut visit = |words: &[u64]| values.push(words[1]);
            damaged += arena.drain(channel, gone, &mut visit).damaged;
        }
        (values, damaged)
    }

    fn cut(arena: &Arena, bytes: u64) {
        let file = OpenOptions::new().write(true).open(arena.path()).unwrap();
        file.set_len(bytes).unwrap();
    }

    #[test]
    fn a_thread_goes_on_recording_after_the_file_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let mut arena = arena(folder.path());
        let mut producer = producer(&arena, 7);
        write(&mut producer, 1);
        assert_eq!(arena.mend(), SOUND);
        assert_eq!(drain(&mut arena, false), (vec![1], 0));
        cut(&arena, 0);
        let found = arena.mend();
        assert_eq!((found.is_cut, found.damaged), (true, 0));
        assert_eq!(arena.mend(), SOUND, "it is reported once");
        write(&mut producer, 2);
        assert_eq!(drain(&mut arena, false), (vec![2], 0));
        assert_eq!(arena.channels()[0].1.pid, 7);
        drain(&mut arena, true);
        assert!(arena.channels().is_empty());
    }

    #[test]
    fn a_cut_in_the_middle_of_a_pass_does_not_end_the_recorder() {
        for bytes in [0, 4096, OPEN_OFFSET as u64, SEGMENTS_OFFSET as u64] {
            let folder = tempfile::tempdir().unwrap();
            let mut arena = arena(folder.path());
            let mut producer = producer(&arena, 7);
            write(&mut producer, 1);
            drain(&mut arena, false);
            cut(&arena, bytes);
            // No check of the length comes before it.
            drain(&mut arena, false);
            assert!(arena.mend().is_cut, "{bytes}");
            arena.replenish().unwrap();
            drain(&mut arena, true);
        }
    }

    #[test]
    fn a_channel_keeps_its_thread_until_it_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let mut arena = arena(folder.path());
        let mut producer = producer(&arena, 7);
        write(&mut producer, 1);
        drain(&mut arena, false);
        let before = arena.channels();
        let channel = arena.session.channel(before[0].0);
        channel.pid.store(8, Relaxed);
        channel.state.store(state::FREE, Relaxed);
        assert_eq!(arena.mend().damaged, 1);
        assert_eq!(arena.channels(), before);
        write(&mut producer, 2);
        assert_eq!(drain(&mut arena, false), (vec![2], 0));
        producer.close();
        drain(&mut arena, false);
        assert!(arena.channels().is_empty());
        assert_eq!(arena.mend(), SOUND);
    }

    #[test]
    fn what_only_the_collector_writes_is_restored() {
        let folder = tempfile::tempdir().unwrap();
        let mut arena = arena(folder.path());
        let header = arena.session.header();
        header.provided.store(u32::MAX, Relaxed);
        header.taken.store(u32::MAX, Relaxed);
        header.free.store(u64::MAX, Relaxed);
        header.channels_used.store(u32::MAX, Relaxed);
        header.limit.store(0, Relaxed);
        assert_eq!(arena.mend().damaged, 5);
        assert_eq!(arena.mend(), SOUND);
        arena.replenish().unwrap();
        assert!(arena.channels().is_empty() && !arena.is_pressed());
    }

    #[test]
    fn a_program_that_finds_no_memory_goes_on_and_records_when_there_is_some() {
        let folder = tempfile::tempdir().unwrap();
        let settings = arena(folder.path()).settings;
        let mut arena = Arena::create(folder.path(), 64 << 20, settings).unwrap();
        let mut producer = producer(&arena, 7);
        let provided = arena.provided();
        // An access past the end of the file raises SIGBUS, as one to a full file system does.
        let bytes = SEGMENTS_OFFSET + provided as usize * SEGMENT_BYTES;
        cut(&arena, bytes as u64);
        let fill = |producer: &mut Producer| {
            let mut count = 0;
            while producer.reserve(1).is_some() {
                write(producer, count);
                count += 1;
            }
            count
        };
        let records_of_a_segment = SEGMENT_SLOTS as u64 - 1;
        let first = fill(&mut producer);
        assert_eq!(first, u64::from(provided) * records_of_a_segment);
        assert!(producer.has_little_room());
        assert!(arena.mend().is_cut);
        assert!(arena.replenish().is_err(), "it is reported");
        arena.replenish().unwrap();
        assert!(fill(&mut producer) > u64::from(provided));
    }

    #[test]
    fn chains_that_lead_into_each_other_and_words_that_are_no_heads_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut arena = arena(folder.path());
        let (mut one, mut two) = (producer(&arena, 7), producer(&arena, 8));
        write(&mut one, 1);
        write(&mut two, 2);
        assert_eq!(drain(&mut arena, false), (vec![1, 2], 0));
        let first = |index| arena.session.channel(index).first.load(Relaxed);
        let segments = [first(0), first(1)];
        let header = |number| arena.session.segment_header(number).unwrap();
        header(segments[0]).next.store(segments[1], Relaxed);
        header(segments[1]).committed.store(3, Relaxed);
        assert_eq!(drain(&mut arena, false), (vec![], 1 + 2));
        assert_eq!(drain(&mut arena, false), (vec![], 0), "it is counted once");
        let header = arena.session.segment_header(segments[1]).unwrap();
        header.committed.store(u32::MAX, Relaxed);
        assert_eq!(drain(&mut arena, true), (vec![], 1));
    }
}
