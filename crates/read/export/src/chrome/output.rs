//! The file's frame, and one event per line inside it.

use std::io::{self, Write};

use crate::by_name::ByName;
use crate::json::JsonText;
use crate::lane_labels::UNNAMED;
use crate::tracks::SliceTrack;

/// Bytes that are collected before they are handed on.
const CHUNK: usize = 256 * 1024;

/// A file of trace events in the making.
pub(crate) struct EventOutput<'a> {
    file: Box<dyn Write + 'a>,
    /// Text that is not passed on yet.
    json: JsonText,
    /// The timestamp that is written as 0.
    begin: i64,
    /// The timestamp of the begin of the recording.
    first: i64,
    /// Whether the file is only a list of events, with timestamps as texts: as numbers, those of the
    /// wall clock have more digits than readers keep.
    is_list: bool,
    is_first: bool,
    /// Number of the last flow.
    pub(super) flows: u64,
    heads: EventHeads,
    labels: LabelCache,
}

impl<'a> EventOutput<'a> {
    /// A file with a list of events alone.
    pub(crate) fn list(file: Box<dyn Write + 'a>) -> Self {
        Self::new(file, true, b"[")
    }

    /// A file with an object that has the list; `head` is what else is to stand before it.
    pub(crate) fn object(file: Box<dyn Write + 'a>, head: &str) -> Self {
        let text = format!("{{\"displayTimeUnit\":\"ns\"{head},\"traceEvents\":[");
        Self::new(file, false, text.as_bytes())
    }

    fn new(file: Box<dyn Write + 'a>, is_list: bool, head: &[u8]) -> Self {
        let mut json = JsonText::on(Vec::with_capacity(CHUNK + CHUNK / 8));
        json.plain(head);
        Self {
            file,
            is_list,
            json,
            begin: 0,
            first: 0,
            is_first: true,
            flows: 0,
            heads: EventHeads::default(),
            labels: LabelCache::default(),
        }
    }

    /// Writes the begin of the recording as this time, and all others accordingly.
    pub(crate) fn beginning_at(self, first: i64) -> Self {
        Self { first, ..self }
    }

    /// Sets the begin of the recording.
    pub(super) fn set_base(&mut self, base: i64) {
        self.begin = base.saturating_sub(self.first);
    }

    /// Names a track or a process.
    pub(crate) fn label(
        &mut self,
        track: SliceTrack,
        what: &str,
        name: &str,
        order: i64,
    ) -> io::Result<()> {
        self.event(b'M', track, |members| {
            members.named(&format!("{what}_name"), "");
            members.args(|json| json.name("name").string(name));
        })?;
        self.event(b'M', track, |members| {
            members.named(&format!("{what}_sort_index"), "");
            members.args(|json| json.name("sort_index").integer(order));
        })
    }

    /// Writes an event of a phase on a track; `rest` adds its other members.
    #[inline]
    pub(crate) fn event(
        &mut self,
        phase: EventPhase,
        track: SliceTrack,
        rest: impl FnOnce(&mut EventMembers<'_>),
    ) -> io::Result<()> {
        let head = self.heads.of(phase, track);
        self.json
            .plain(if self.is_first { &head[1..] } else { head });
        self.is_first = false;
        rest(&mut EventMembers {
            json: &mut self.json,
            labels: &mut self.labels,
            begin: self.begin,
            is_text: self.is_list,
        });
        self.json.close(b'}');
        self.hand_on(CHUNK)
    }

    /// Closes the list of events and adds facts about the file: as `otherData`, which Chrome's viewer
    /// shows, and as `metadata`, which Perfetto imports.
    pub(super) fn close(&mut self, about: impl Fn(&mut JsonText)) -> io::Result<()> {
        if self.is_list {
            self.json.plain(b"\n]\n");
        } else {
            self.json.plain(b"\n],\"otherData\":");
            self.json.open(b'{');
            about(&mut self.json);
            self.json.close(b'}');
            self.json.plain(b",\n\"metadata\":");
            self.json.open(b'{');
            about(&mut self.json);
            self.json.close(b'}');
            self.json.plain(b"}\n");
        }
        self.hand_on(0)?;
        self.file.flush()
    }

    #[inline]
    fn hand_on(&mut self, beyond: usize) -> io::Result<()> {
        if self.json.as_bytes().len() > beyond {
            self.file.write_all(self.json.as_bytes())?;
            self.json.drain();
        }
        Ok(())
    }
}

/// What kind of event it is: a letter.
pub(crate) type EventPhase = u8;

/// How the events of a track begin, up to the name: with what separates them from the one before.
#[derive(Debug, Default)]
struct EventHeads {
    recent: [EventHead; HEADS],
}

/// Tracks that are remembered at a time.
const HEADS: usize = 16;

#[derive(Debug, Default)]
struct EventHead {
    of: Option<(EventPhase, SliceTrack)>,
    text: Vec<u8>,
}

impl EventHeads {
    #[inline]
    fn of(&mut self, phase: EventPhase, track: SliceTrack) -> &[u8] {
        let place = (track.number as usize ^ usize::from(phase) << 1) % HEADS;
        let head = &mut self.recent[place];
        if head.of != Some((phase, track)) {
            head.of = Some((phase, track));
            head.write(phase, track);
        }
        &head.text
    }
}

impl EventHead {
    fn write(&mut self, phase: EventPhase, track: SliceTrack) {
        let mut json = JsonText::on(std::mem::take(&mut self.text));
        json.drain();
        json.plain(b",\n{\"ph\":\"");
        json.plain(&[phase]);
        json.next(b"\",\"pid\":").unsigned(u64::from(track.pid));
        json.next(b",\"tid\":").unsigned(u64::from(track.tid));
        self.text = json.into_bytes();
    }
}

/// Names with their categories, as they are written.
type LabelCache = ByName<Vec<u8>>;

fn label(name: &str, category: &str) -> Vec<u8> {
    let mut json = JsonText::default();
    json.next(b",\"name\":").string(name);
    if !category.is_empty() {
        json.next(b",\"cat\":").string(category);
    }
    json.into_bytes()
}

/// The members of one event.
pub(crate) struct EventMembers<'a> {
    pub(crate) json: &'a mut JsonText,
    labels: &'a mut LabelCache,
    begin: i64,
    is_text: bool,
}

impl EventMembers<'_> {
    #[inline]
    pub(crate) fn named(&mut self, name: &str, category: &str) {
        let name = match name.is_empty() {
            true => UNNAMED,
            false => name,
        };
        if let Some(label) = self.labels.get(name, category) {
            self.json.plain(label);
            return;
        }
        let label = label(name, category);
        self.json.plain(&label);
        self.labels.insert(name, category, label);
    }

    #[inline]
    pub(crate) fn at(&mut self, time: i64) {
        if self.is_text {
            self.json.next(b",\"ts\":\"").micros(time - self.begin);
            self.json.plain(b"\"");
            return;
        }
        self.json.next(b",\"ts\":").micros(time - self.begin);
    }

    /// A mark is about its thread.
    pub(crate) fn scope_of_thread(&mut self) {
        self.json.plain(b",\"s\":\"t\"");
    }

    #[inline]
    pub(crate) fn lasting(&mut self, begin: i64, end: i64) {
        self.at(begin);
        self.json.next(b",\"dur\":").micros(end - begin);
    }

    /// As [`EventMembers::lasting`], for a slice that holds a mark at its very end. Readers count whole
    /// nanoseconds and take a slice for over at its end, so it gets one more.
    pub(super) fn lasting_until(&mut self, begin: i64, end: i64) {
        let more = i64::from(begin < end);
        self.lasting(begin, end.saturating_add(more));
    }

    #[inline]
    pub(crate) fn args(&mut self, write: impl FnOnce(&mut JsonText)) {
        self.json.plain(b",\"args\":{");
        write(self.json);
        self.json.close(b'}');
    }
}
