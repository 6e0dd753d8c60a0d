use std::collections::BTreeMap;
use std::io::{self, Write};

use ascend_trace_export::{Exporter, Sink, Source};
use ascend_trace_model::Trace;

/// Files by name.
#[derive(Debug, Default)]
pub(crate) struct Memory(BTreeMap<String, Vec<u8>>);

impl Sink for Memory {
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + '_>> {
        Ok(Box::new(self.0.entry(name.to_owned()).or_default()))
    }
}

impl Memory {
    pub(crate) fn text(&self, name: &str) -> &str {
        std::str::from_utf8(&self.0[name]).expect("UTF-8")
    }

    pub(crate) fn bytes(&self, name: &str) -> &[u8] {
        &self.0[name]
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

pub(crate) fn export(exporter: &dyn Exporter, trace: &Trace) -> Memory {
    let mut memory = Memory::default();
    exporter
        .export(&Source::new(trace), &mut memory)
        .expect("memory takes everything");
    memory
}
