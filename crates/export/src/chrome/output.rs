//! The file's frame, and one event per line inside it.

use std::io::{self, Write};

use crate::json::Json;
use crate::tracks::Track;

/// Bytes that are collected before they are handed on.
const CHUNK: usize = 64 * 1024;

/// A file of trace events in the making.
pub(super) struct Output<'a> {
    file: Box<dyn Write + 'a>,
    /// What is not handed on yet.
    json: Json,
    /// The moment that is written as 0.
    begin: i64,
    is_first: bool,
}

impl<'a> Output<'a> {
    pub(super) fn new(file: Box<dyn Write + 'a>) -> Self {
        Self {
            file,
            json: Json::default(),
            begin: 0,
            is_first: true,
        }
    }

    pub(super) fn set_begin(&mut self, begin: i64) {
        self.begin = begin;
    }

    pub(super) fn begin(&mut self) {
        self.json
            .plain(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    }

    /// Writes an event of a phase on a track; `rest` adds its other members.
    pub(super) fn event(
        &mut self,
        phase: &'static str,
        track: Track,
        rest: impl FnOnce(&mut Members<'_>),
    ) -> io::Result<()> {
        self.write_head(phase, track);
        rest(&mut Members {
            json: &mut self.json,
            begin: self.begin,
        });
        self.json.close(b'}');
        self.hand_on(CHUNK)
    }

    /// The members that every event has, and what separates it from the one before.
    fn write_head(&mut self, phase: &'static str, track: Track) {
        let json = &mut self.json;
        json.plain(if self.is_first { b"\n" } else { b",\n" });
        self.is_first = false;
        json.plain(b"{\"ph\":\"");
        json.plain(phase.as_bytes());
        json.next(b"\",\"pid\":").unsigned(u64::from(track.pid));
        json.next(b",\"tid\":").unsigned(u64::from(track.tid));
    }

    /// Closes the list of events and adds the file's `otherData`.
    pub(super) fn end(&mut self, other: impl FnOnce(&mut Json)) -> io::Result<()> {
        self.json.plain(b"\n],\"otherData\":");
        self.json.open(b'{');
        other(&mut self.json);
        self.json.close(b'}');
        self.json.plain(b"}\n");
        self.hand_on(0)?;
        self.file.flush()
    }

    fn hand_on(&mut self, beyond: usize) -> io::Result<()> {
        if self.json.as_bytes().len() > beyond {
            self.file.write_all(self.json.as_bytes())?;
            self.json.drain();
        }
        Ok(())
    }
}

/// The members of one event.
pub(super) struct Members<'a> {
    pub(super) json: &'a mut Json,
    begin: i64,
}

impl Members<'_> {
    pub(super) fn named(&mut self, name: &str, category: &str) {
        self.json.next(b",\"name\":").string(name);
        if !category.is_empty() {
            self.json.next(b",\"cat\":").string(category);
        }
    }

    pub(super) fn at(&mut self, time: i64) {
        self.json.next(b",\"ts\":").micros(time - self.begin);
    }

    pub(super) fn lasting(&mut self, begin: i64, end: i64) {
        self.at(begin);
        self.json.next(b",\"dur\":").micros(end - begin);
    }

    /// As [`Members::lasting`], for a slice that holds something at its very end. Readers turn
    /// microseconds into milliseconds and add in floating point, which can fall short of the end:
    /// the duration gets a small part of a nanosecond more, by how coarse a double is there.
    pub(super) fn lasting_until(&mut self, begin: i64, end: i64) {
        self.lasting(begin, end);
        if begin < end {
            self.json
                .more_digits(match (end - self.begin) / 1_000_000_000 {
                    ..1_000 => "0005",
                    1_000..10_000 => "005",
                    _ => "05",
                });
        }
    }

    pub(super) fn args(&mut self, write: impl FnOnce(&mut Json)) {
        self.json.plain(b",\"args\":{");
        write(self.json);
        self.json.close(b'}');
    }
}
