//! The file's frame, and one event per line inside it.

use std::io::{self, Write};

use crate::json::Json;
use crate::tracks::Track;

/// Bytes that are collected before they are handed on.
const CHUNK: usize = 64 * 1024;

/// A file of trace events in the making.
pub(super) struct Output<'a> {
    file: &'a mut dyn Write,
    /// What is not handed on yet.
    json: Json,
    /// The moment that is written as 0.
    begin: i64,
    first: bool,
}

impl<'a> Output<'a> {
    pub(super) fn new(file: &'a mut dyn Write, begin: i64) -> Self {
        Self {
            file,
            json: Json::default(),
            begin,
            first: true,
        }
    }

    pub(super) fn begin(&mut self) {
        self.json
            .plain(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    }

    /// Writes an event of a phase on a track; `rest` adds its other members.
    pub(super) fn event(
        &mut self,
        phase: &str,
        track: Track,
        rest: impl FnOnce(&mut Members<'_>),
    ) -> io::Result<()> {
        self.json.plain(if self.first { b"\n" } else { b",\n" });
        self.first = false;
        self.json.open(b'{');
        self.json.key("ph").string(phase);
        self.json.key("pid").unsigned(u64::from(track.pid));
        self.json.key("tid").unsigned(u64::from(track.tid));
        rest(&mut Members {
            json: &mut self.json,
            begin: self.begin,
        });
        self.json.close(b'}');
        self.hand_on(CHUNK)
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
        self.json.key("name").string(name);
        if !category.is_empty() {
            self.json.key("cat").string(category);
        }
    }

    pub(super) fn at(&mut self, time: i64) {
        self.json.key("ts").micros(time - self.begin);
    }

    pub(super) fn lasting(&mut self, begin: i64, end: i64) {
        self.at(begin);
        self.json.key("dur").micros(end - begin);
    }

    pub(super) fn args(&mut self, write: impl FnOnce(&mut Json)) {
        self.json.key("args").open(b'{');
        write(self.json);
        self.json.close(b'}');
    }
}
