use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use ascend_trace_export::{ExportSink, ExportSource, Exporter, WantedPart, WindowSize, stream};
use ascend_trace_recording::{Recording, Trace};

/// Files by name.
#[derive(Debug, Default)]
pub(crate) struct MemorySink(BTreeMap<String, Vec<u8>>);

/// The same while they are written.
#[derive(Debug, Default)]
struct OpenFiles(BTreeMap<String, SharedBytes>);

#[derive(Clone, Debug, Default)]
struct SharedBytes(Rc<RefCell<Vec<u8>>>);

impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> ExportSink<'w> for OpenFiles {
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + 'w>> {
        let file = self.0.entry(name.to_owned()).or_default();
        Ok(Box::new(file.clone()))
    }
}

impl MemorySink {
    fn of(files: OpenFiles) -> Self {
        let files = files.0.into_iter();
        Self(files.map(|(name, file)| (name, file.0.take())).collect())
    }

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

pub(crate) fn export(exporter: &dyn Exporter, trace: &Trace) -> MemorySink {
    export_source(exporter, &ExportSource::new(trace))
}

pub(crate) fn export_source(exporter: &dyn Exporter, source: &ExportSource<'_>) -> MemorySink {
    let mut files = OpenFiles::default();
    exporter
        .export(source, &mut files)
        .expect("memory takes everything");
    MemorySink::of(files)
}

/// Exports a file, a step at a time.
pub(crate) fn export_file(exporter: &dyn Exporter, file: &[u8], step: WindowSize) -> MemorySink {
    export_some(exporter, file, step, &WantedPart::default())
}

/// Exports the wanted part of a file, a step at a time.
pub(crate) fn export_some(
    exporter: &dyn Exporter,
    file: &[u8],
    step: WindowSize,
    wanted: &WantedPart,
) -> MemorySink {
    let mut files = OpenFiles::default();
    let mut recording = Recording::from_bytes(file.to_vec()).expect("a trace file");
    let nothing = &mut |_, _| {};
    let what = (exporter, wanted);
    stream(&mut recording, what, step, &mut files, nothing).expect("memory takes everything");
    MemorySink::of(files)
}
