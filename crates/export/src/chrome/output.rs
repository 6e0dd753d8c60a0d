//! The file's frame, and one event per line inside it.

use std::io::{self, Write};

use crate::json::Json;
use crate::tracks::Track;

/// Bytes that are collected before they are handed on.
const CHUNK: usize = 64 * 1024;

/// A file of trace events in the making.
pub(super) struct Output<'a> {
    file: &'a mut dyn Write,
    chunk: Vec<u8>,
    json: Json,
    /// The moment that is written as 0.
    begin: i64,
    first: bool,
}

impl<'a> Output<'a> {
    pub(super) fn new(file: &'a mut dyn Write, begin: i64) -> Self {
        Self {
            file,
            chunk: Vec::with_capacity(CHUNK + CHUNK / 8),
            json: Json::default(),
            begin,
            first: true,
        }
    }

    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.raw("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")
    }

    /// Writes an event of a phase on a track; `rest` adds its other members.
    pub(super) fn event(
        &mut self,
        phase: &str,
        track: Track,
        rest: impl FnOnce(&mut Members<'_>),
    ) -> io::Result<()> {
        self.raw(if self.first { "\n" } else { ",\n" })?;
        self.first = false;
        self.json.clear();
        self.json.open('{');
        self.json.name("ph").string(phase);
        self.json.name("pid").unsigned(u64::from(track.pid));
        self.json.name("tid").unsigned(u64::from(track.tid));
        rest(&mut Members {
            json: &mut self.json,
            begin: self.begin,
        });
        self.json.close('}');
        self.chunk.extend_from_slice(self.json.as_str().as_bytes());
        Ok(())
    }

    /// Closes the list of events and adds the file's `otherData`.
    pub(super) fn end(&mut self, other: impl FnOnce(&mut Json)) -> io::Result<()> {
        self.json.clear();
        self.json.open('{');
        other(&mut self.json);
        self.json.close('}');
        self.chunk.extend_from_slice(b"\n],\"otherData\":");
        self.chunk.extend_from_slice(self.json.as_str().as_bytes());
        self.chunk.extend_from_slice(b"}\n");
        self.file.write_all(&self.chunk)?;
        self.chunk.clear();
        self.file.flush()
    }

    fn raw(&mut self, text: &str) -> io::Result<()> {
        self.chunk.extend_from_slice(text.as_bytes());
        if self.chunk.len() >= CHUNK {
            self.file.write_all(&self.chunk)?;
            self.chunk.clear();
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
        self.json.name("name").string(name);
        if !category.is_empty() {
            self.json.name("cat").string(category);
        }
    }

    pub(super) fn at(&mut self, time: i64) {
        self.json.name("ts").micros(time - self.begin);
    }

    pub(super) fn lasting(&mut self, begin: i64, end: i64) {
        self.at(begin);
        self.json.name("dur").micros(end - begin);
    }

    pub(super) fn args(&mut self, write: impl FnOnce(&mut Json)) {
        self.json.name("args").open('{');
        write(self.json);
        self.json.close('}');
    }
}
