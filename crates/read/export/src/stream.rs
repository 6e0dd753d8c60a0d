//! Exports of trace files of any size: the file is read once, from begin to end. Of the written part,
//! only the data that the rest depends on is kept.

use std::sync::Arc;

use ascend_trace_analysis::collectives::Communicators;
use ascend_trace_analysis::{WindowSize, Windows};
use ascend_trace_recording::{OpenError, Recording};

use crate::export_source::ExportSource;
use crate::selection::ShownLanes;
use crate::{ExportError, ExportSink, Exporter, WantedPart};

/// Why an export of a file stopped.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Export(#[from] ExportError),
}

impl From<StreamError> for std::io::Error {
    fn from(error: StreamError) -> Self {
        Self::other(error)
    }
}

/// Exports the wanted part of a file, a step at a time. `progress` gets the number of finished rows,
/// and the number of all rows. For a selection the file is read twice: the threads and streams with
/// shown content must be known before the first slice is written. Returns whether anything was written.
pub fn stream<'w>(
    recording: &mut Recording,
    (exporter, wanted): (&dyn Exporter, &WantedPart),
    step: WindowSize,
    sink: &mut dyn ExportSink<'w>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<bool, StreamError> {
    let (mut shown, mut before) = (ShownLanes::default(), 0);
    if !wanted.is_all() {
        let on_progress = &mut |done, all| progress(done, 2 * all);
        shown = ShownLanes::find(recording, wanted, step.rows, on_progress)?;
        before = recording.rows();
    }
    let has_any = wanted.is_all() || !shown.is_empty();
    let shown = Arc::new(shown);
    let mut pass = exporter.begin(sink)?;
    let mut communicators = Arc::new(Communicators::default());
    let mut windows = Windows::of(recording, step, exporter.needs());
    while let Some(written) = windows.next(|window| {
        Arc::make_mut(&mut communicators).take(Communicators::of(window.trace));
        let known = Arc::clone(&communicators);
        let source = ExportSource::of_window(window.clone(), (wanted, &shown), known);
        pass.step(&source, sink)
    })? {
        written?;
        let (done, all) = windows.progress();
        progress(before + done, before + all);
    }
    pass.finish()?;
    Ok(has_any)
}
